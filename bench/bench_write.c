/* SPDX-License-Identifier: BSD-3-Clause
 * Rows that write: raw data with and without a checksum, compressed data, one value changed in a
 * tree, rows appended. What was written is read again and compared, outside the timing. Nothing is
 * synced unless the row says so. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "cippus/change.h"

/* The row that runs. */
static const char *now_row;

/* Where a contender writes; "check" looks at what the peer wrote. */
static void outputs_name(const char *path, const char *who, char *out, size_t cap)
{
    const char *name = strncmp(who, "cippus", 6) == 0 ? "cippus"
                       : strcmp(who, "check") == 0    ? "peer"
                                                      : who;
    snprintf(out, cap, "%s.%s.%s.asdf", path, now_row, name);
}

static unsigned threads_of(const char *who)
{
    return strncmp(who, "cippus-", 7) == 0 ? (unsigned)strtoul(who + 7, NULL, 10) : 1;
}

/* Digest of the first array, and bytes of the file. */
static void check_file(const char *path, bench_turn *out)
{
    struct stat st;
    size_t n;
    const uint8_t *p = bench_load(path, &n, NULL);
    out->digest = bench_digest(p, n);
    out->stored = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* --- whole files --------------------------------------------------------------------------------
 */

static uint64_t put(const char *to, const uint8_t *data, size_t n, const cip_dtype *dtype,
                    const cip_change_options *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const int64_t shape[] = { (int64_t)(n / cip_dtype_itemsize(dtype)) };
    uint64_t start = bench_now();
    cip_create(to, o, &w, &err);
    cip_change_put(w, "data", dtype, 1, shape, data, NULL, &err);
    if (cip_change_commit(&w, &err) != CIP_OK)
        bench_die(to, &err);
    return bench_now() - start;
}

static void write_raw(const char *who, const char *path, bool md5, bench_turn *out)
{
    char to[2200];
    size_t n;
    const cip_dtype *dtype;
    outputs_name(path, who, to, sizeof to);
    if (strcmp(who, "check") == 0) {
        check_file(to, out);
        return;
    }
    const uint8_t *data = bench_load(path, &n, &dtype);
    cip_limits limits = { .size = sizeof limits, .max_memory = UINT64_C(4) << 30 };
    if (strcmp(who, "bare") == 0) {
        uint64_t start = bench_now();
        bare_write(to, data, n, md5);
        out->ns = bench_now() - start;
        unlink(to);
        return;
    }
    out->ns = put(to, data, n, dtype,
                  CIP_CHANGE_OPTIONS(.checksum = md5 ? "md5" : "none", .limits = &limits,
                                     .level = CIP_LEVEL_PROCESS, .threads = threads_of(who)));
    check_file(to, out);
    unlink(to);
}

/* Row "CODEC-KIND": so many MiB of it, where the machine's patience ends. */
static const struct {
    const char *codec;
    size_t nbytes;
} codecs[] = { { "zlib", 64 << 20 }, { "lz4", 256 << 20 }, { "bzp2", 16 << 20 } };

static void compress(const char *codec, size_t most, const char *who, const char *path,
                     bench_turn *out)
{
    char to[2200];
    size_t n;
    const cip_dtype *dtype;
    outputs_name(path, who, to, sizeof to);
    if (strcmp(who, "check") == 0) {
        check_file(to, out);
        return;
    }
    const uint8_t *data = bench_load(path, &n, &dtype);
    n = n < most ? n : most;
    if (strcmp(who, "bare") == 0) {
        uint64_t start = bench_now();
        out->stored = bare_compress(codec, data, n, to);
        out->ns = bench_now() - start;
        unlink(to);
        return;
    }
    out->ns = put(to, data, n, dtype,
                  CIP_CHANGE_OPTIONS(.codec = strcmp(codec, "bzp2") == 0 ? "bzip2" : codec,
                                     .checksum = "none", .level = CIP_LEVEL_PROCESS,
                                     .threads = threads_of(who)));
    check_file(to, out);
    unlink(to);
}

/* --- one value in a tree ------------------------------------------------------------------------
 */

/* A file of our own beside `path`, made once: its array, and a value to change. */
static void make_copy(const char *path, const char *to)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_change *w;
    if (access(to, F_OK) == 0)
        return;
    f = bench_open(path, 0);
    cip_create(to, CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS), &w, &err);
    cip_change_set_int(w, "value", 10000000, &err);
    cip_change_put_array(w, "data", cip_file_array(f, 0), NULL, NULL, &err);
    if (cip_change_commit(&w, &err) != CIP_OK)
        bench_die(to, &err);
    cip_file_close(f);
}

static int64_t value_of(const char *path)
{
    cip_err err = CIP_ERR_INIT;
    int64_t v = -1;
    cip_file *f = bench_open(path, 1);
    cip_tree_get_int(cip_file_tree(f), "value", &v, &err);
    cip_file_close(f);
    return v;
}

static void set_value(const char *who, const char *path, bool power, bench_turn *out)
{
    static int64_t next = 10000001; /* as long as what it replaces */
    char to[2200];
    cip_err err = CIP_ERR_INIT;
    cip_change *e;
    int64_t v = next++;
    outputs_name(path, who, to, sizeof to);
    if (strcmp(who, "check") == 0) {
        out->digest = value_of(to) > 10000000;
        return;
    }
    make_copy(path, to);
    uint64_t start = bench_now();
    if (strcmp(who, "bare") == 0) {
        bare_set(to, v, power);
    } else {
        cip_change_open(
            to, CIP_CHANGE_OPTIONS(.level = power ? CIP_LEVEL_POWER : CIP_LEVEL_PROCESS), &e, &err);
        cip_change_set_int(e, "value", v, &err);
        if (cip_change_commit(&e, &err) != CIP_OK)
            bench_die(to, &err);
    }
    out->ns = bench_now() - start;
    out->digest = value_of(to) == v;
}

/* --- rows ---------------------------------------------------------------------------------------
 */

enum { ROWS = 1000, COLUMNS = 100 };

static void make_stream(const char *to)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const int64_t shape[] = { 0, COLUMNS };
    cip_create(to, CIP_CHANGE_OPTIONS(.overwrite = true, .level = CIP_LEVEL_PROCESS), &w, &err);
    cip_change_put(w, "rows", cip_dtype_of(CIP_F32), 2, shape, NULL,
                   CIP_ARRAY_OPTIONS(.storage = "streamed"), &err);
    if (cip_change_commit(&w, &err) != CIP_OK)
        bench_die(to, &err);
}

static void append_rows(const char *who, const char *path, bench_turn *out)
{
    char to[2200];
    cip_err err = CIP_ERR_INIT;
    float row[COLUMNS];
    outputs_name(path, who, to, sizeof to);
    if (strcmp(who, "check") == 0) {
        check_file(to, out);
        out->stored = 0;
        return;
    }
    make_stream(to);
    if (strcmp(who, "bare") != 0) { /* the peer finds an empty stream too */
        char other[2200];
        outputs_name(path, "peer", other, sizeof other);
        make_stream(other);
    }
    uint64_t start = bench_now();
    int fd = strcmp(who, "bare") == 0 ? open(to, O_WRONLY | O_APPEND) : -1;
    cip_file *f = fd < 0 ? bench_open(to, 1) : NULL;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLUMNS; k++)
            row[k] = (float)(i + k);
        if (fd >= 0 && write(fd, row, sizeof row) != sizeof row)
            bench_die(to, NULL);
        if (f != NULL &&
            cip_append(f, "rows", cip_dtype_of(CIP_F32), row, sizeof row, &err) != CIP_OK)
            bench_die(to, &err);
    }
    if (fd >= 0)
        close(fd);
    cip_file_close(f);
    out->ns = bench_now() - start;
    check_file(to, out);
    out->stored = 0;
}

bool bench_write_row(const char *row, const char *who, const char *path, bench_turn *out)
{
    *out = (bench_turn){ .digest = UINT64_MAX };
    now_row = row;
    if (strcmp(row, "write") == 0 || strcmp(row, "write-md5") == 0) {
        write_raw(who, path, row[5] != '\0', out);
        return true;
    }
    if (strcmp(row, "set") == 0 || strcmp(row, "set-power") == 0) {
        set_value(who, path, row[3] != '\0', out);
        return true;
    }
    if (strcmp(row, "append") == 0) {
        append_rows(who, path, out);
        return true;
    }
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        size_t len = strlen(codecs[i].codec);
        if (strncmp(row, codecs[i].codec, len) != 0 || row[len] != '-')
            continue;
        compress(codecs[i].codec, codecs[i].nbytes, who, path, out);
        return true;
    }
    return false;
}
