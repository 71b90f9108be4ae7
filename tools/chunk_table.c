/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of arrays: the tables of `info --chunks`, the bytes of `cat --chunk`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "suggest.h"

enum { FAILURES = 100 }; /* of a table that are told one by one */

static const char *const state_name[] = { "data", "zero", "nan", "uninit", "value", "missing" };
static const char *const place_name[] = { "none", "file", "memory", "decoded" };

/* --- the table ------------------------------------------------------------------------------- */

static void print_elements(const cip_chunk_info *c)
{
    if (c->nelem == 0) {
        putchar('-');
        return;
    }
    if (!c->box_exact && c->range_exact) {
        printf("%" PRIu64 " to %" PRIu64, c->first, c->first + c->nelem - 1);
        return;
    }
    fputs(c->box_exact ? "[" : "within [", stdout);
    for (int k = 0; k < c->ndim; k++)
        printf("%s%" PRId64 ":%" PRId64, k == 0 ? "" : ", ", c->box.start[k], c->box.stop[k]);
    putchar(']');
}

static void print_row(const cip_chunk_info *c)
{
    char number[48], offset[24] = "-";
    int n = snprintf(number, sizeof number, "%" PRIu64, c->index);
    if (c->run > 1)
        snprintf(number + n, sizeof number - (size_t)n, "-%" PRIu64, c->index + c->run - 1);
    if (c->offset != CIP_NO_OFFSET)
        snprintf(offset, sizeof offset, "%" PRIu64, c->offset);
    printf("%5s %12s %12" PRIu64 " %12" PRIu64 " %s ", number, offset, c->stored_nbytes,
           c->decoded_nbytes, state_name[c->state]);
    print_escaped(stdout, c->codec);
    putchar(' ');
    print_elements(c);
    if (c->member[0] != '\0') {
        putchar(' ');
        print_escaped(stdout, c->member);
    }
    if (c->why != CIP_OK)
        printf(" (%s)", cip_status_name(c->why));
    putchar('\n');
}

static void print_row_json(FILE *f, const cip_chunk_info *c)
{
    fprintf(f, "{\"chunk\": %" PRIu64 ", \"run\": %" PRIu64 ", \"state\": \"%s\", \"box\": [",
            c->index, c->run, state_name[c->state]);
    for (int k = 0; k < c->ndim; k++)
        fprintf(f, "%s[%" PRId64 ", %" PRId64 "]", k == 0 ? "" : ", ", c->box.start[k],
                c->box.stop[k]);
    fprintf(f,
            "], \"box_exact\": %s, \"first\": %" PRIu64 ", \"nelem\": %" PRIu64
            ", \"range_exact\": %s, \"place\": \"%s\", \"offset\": ",
            c->box_exact ? "true" : "false", c->first, c->nelem, c->range_exact ? "true" : "false",
            place_name[c->place]);
    if (c->offset != CIP_NO_OFFSET)
        fprintf(f, "%" PRIu64, c->offset);
    else
        fputs("null", f);
    fprintf(f, ", \"stored_nbytes\": %" PRIu64 ", \"decoded_nbytes\": %" PRIu64 ", \"codec\": ",
            c->stored_nbytes, c->decoded_nbytes);
    print_json_string(f, c->codec);
    fputs(", \"checksum\": \"", f);
    print_checksum(f, c->checksum_value, c->checksum_nbytes);
    fputs("\", \"checksum_kind\": ", f);
    print_json_string(f, c->checksum);
    fputs(", \"member\": ", f);
    if (c->member[0] != '\0')
        print_json_string(f, c->member);
    else
        fputs("null", f);
    if (c->why != CIP_OK) {
        fputs(", \"why\": ", f);
        print_json_string(f, cip_status_name(c->why));
    }
    putc('}', f);
}

static void print_failure_json(FILE *f, uint64_t i, const cip_err *err)
{
    fprintf(f, "{\"chunk\": %" PRIu64 ", \"error\": \"%s\", \"why\": ", i,
            cip_status_name((cip_status)err->code));
    print_json_string(f, err->text);
    putc('}', f);
}

static void print_failure(uint64_t i, const cip_err *err)
{
    printf("%5" PRIu64 " (", i);
    print_words(stdout, err->text);
    fputs(")\n", stdout);
}

uint64_t print_chunk_json(FILE *f, const cip_array *a, uint64_t i, bool *failed)
{
    cip_chunk_info c = { .size = sizeof c };
    cip_err err = CIP_ERR_INIT;
    *failed = cip_chunk_at(a, i, &c, &err) != CIP_OK;
    if (*failed)
        print_failure_json(f, i, &err);
    else
        print_row_json(f, &c);
    return *failed ? 1 : c.run;
}

static void print_rows(const cip_array *a, uint64_t n, bool json)
{
    cip_chunk_info c = { .size = sizeof c };
    unsigned nfailed = 0;
    for (uint64_t i = 0; i < n && nfailed < FAILURES; i += c.run) {
        cip_err err = CIP_ERR_INIT;
        bool failed = false;
        if (json) {
            fputs(i != 0 ? ",\n  " : "", stdout);
            c.run = print_chunk_json(stdout, a, i, &failed);
        } else if (cip_chunk_at(a, i, &c, &err) == CIP_OK) {
            print_row(&c);
        } else {
            print_failure(i, &err);
            failed = true;
            c.run = 1;
        }
        nfailed += failed;
    }
    if (nfailed == FAILURES && !json)
        puts("      and so on");
}

static void print_array(const cip_array *a, bool named, bool json)
{
    cip_err err = CIP_ERR_INIT;
    const char *path = cip_array_path(a)[0] != '\0' ? cip_array_path(a) : ".";
    uint64_t n = 0;
    bool fine = cip_chunk_count(a, &n, &err) == CIP_OK;
    if (json) {
        fputs("{\"path\": ", stdout);
        print_json_string(stdout, cip_array_path(a));
        printf(", \"state\": \"%s\", ", cip_status_name((cip_status)err.code));
        if (!fine) {
            fputs("\"why\": ", stdout);
            print_json_string(stdout, err.text);
            fputs(", ", stdout);
        }
        printf("\"nchunk\": %" PRIu64 ", \"chunks\": [", n);
        print_rows(a, n, json);
        fputs("]}", stdout);
        return;
    }
    if (named || !fine) {
        print_escaped(stdout, path);
        putchar(':');
    }
    if (!fine) {
        fputs(" (", stdout);
        print_words(stdout, err.text);
        putchar(')');
    }
    fputs(named || !fine ? "\n" : "", stdout);
    if (n != 0)
        puts("chunk       offset       stored      decoded state codec elements");
    print_rows(a, n, json);
}

int print_chunks(const cip_file *f, const char *name, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    const cip_array *one = o->path != NULL ? cip_find(f, o->path, &err) : NULL;
    if (o->path != NULL && one == NULL) {
        suggest_path(f, o->path, true, &err);
        complain(name, &err);
    }
    size_t n = o->path != NULL ? one != NULL : cip_file_narray(f);
    fputs(o->json ? "[" : "", stdout);
    for (size_t i = 0; i < n; i++) {
        fputs(o->json && i != 0 ? ",\n " : "", stdout);
        print_array(one != NULL ? one : cip_file_array(f, i), n > 1, o->json);
    }
    fputs(o->json ? "]" : "", stdout);
    return err.code == CIP_OK ? EXIT_FINE : EXIT_FAILED;
}

/* --- bytes ----------------------------------------------------------------------------------- */

int cat_chunk(const cip_array *a, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = sizeof c };
    if (cip_chunk_at(a, (uint64_t)o->chunk, &c, &err) != CIP_OK)
        return complain(o->pos[0], &err);
    uint64_t n = o->stored ? c.stored_nbytes : c.decoded_nbytes;
    char *bytes = n <= most_bytes(o) ? malloc((size_t)n + 1) : NULL;
    if (bytes == NULL) {
        fputs("cippus: --chunk: expected a chunk that fits into memory; see --max-memory\n",
              stderr);
        return EXIT_FAILED;
    }
    size_t got = 0;
    int rc = EXIT_FINE;
    if (cip_chunk_read(a, (uint64_t)o->chunk, o->stored, bytes, (size_t)n, &got, &err) != CIP_OK)
        rc = complain(o->pos[0], &err);
    else if (write_stdout(NULL, bytes, got) != 0)
        rc = EXIT_FAILED;
    free(bytes);
    return rc;
}
