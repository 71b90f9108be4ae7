/* SPDX-License-Identifier: BSD-3-Clause
 * cippus info: what a file is. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "listed.h"
#include "print.h"

/* Bytes of all arrays as they are decoded; the one without a path beside others is made of them. */
static uint64_t decoded_nbytes(const cip_file *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        uint64_t n = 0;
        if (cip_file_narray(f) > 1 && cip_array_path(cip_file_array(f, i))[0] == '\0')
            continue;
        if (cip_read_shape(cip_file_array(f, i), NULL, NULL, NULL, &n, NULL) == CIP_OK)
            sum += n;
    }
    return sum;
}

enum { MOST_ARRAYS = 100 }; /* that are printed as text */

/* "array: image float32 [128, 160] lz4, ratio 1.4". */
static void print_arrays(const char *file, const cip_file *f)
{
    size_t n = 0, at = 0;
    for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL; n++) {
        listed l;
        if (n >= MOST_ARRAYS)
            continue;
        listed_look(file, f, a, &l);
        fputs("array: ", stdout);
        listed_print_path(stdout, &l);
        putchar(' ');
        print_escaped(stdout, cip_dtype_name(cip_array_dtype(a)));
        putchar(' ');
        print_shape(stdout, cip_array_shape(a), cip_array_ndim(a));
        if (l.s.chunk != NULL) {
            fputs(" chunks ", stdout);
            print_shape(stdout, l.s.chunk, cip_array_ndim(a));
        }
        if (l.s.codec != NULL && l.s.codec[0] != '\0') {
            putchar(' ');
            print_escaped(stdout, l.s.codec);
        }
        if (listed_ratio(&l) != 0)
            printf(", ratio %.*f", listed_ratio(&l) < 100 ? 2 : 0, listed_ratio(&l));
        if (l.err.code != CIP_OK) {
            fputs(" (", stdout);
            print_words(stdout, l.err.text);
            putchar(')');
        }
        if (l.missing != 0)
            printf(" (%" PRIu64 " chunk%s missing)", l.missing, l.missing == 1 ? "" : "s");
        putchar('\n');
    }
    if (n > MOST_ARRAYS)
        printf("more arrays: %zu (cippus ls lists them)\n", n - MOST_ARRAYS);
}

static void print_arrays_json(FILE *out, const char *file, const cip_file *f)
{
    size_t at = 0;
    bool any = false;
    for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL; any = true) {
        listed l;
        listed_look(file, f, a, &l);
        fputs(any ? ", {\"path\": " : "{\"path\": ", out);
        print_json_string(out, cip_array_path(a));
        fputs(", \"dtype\": ", out);
        print_json_string(out, cip_dtype_name(cip_array_dtype(a)));
        fputs(", \"shape\": ", out);
        print_shape(out, cip_array_shape(a), cip_array_ndim(a));
        if (l.s.chunk != NULL) {
            fputs(", \"chunk\": ", out);
            print_shape(out, l.s.chunk, cip_array_ndim(a));
        }
        fputs(", \"codec\": ", out);
        print_json_string(out, l.s.codec != NULL ? l.s.codec : "");
        listed_print_sizes_json(out, &l);
        putc('}', out);
    }
}

static void print_facts(const cip_file *f, const char *path)
{
    const char *key, *value;
    fputs("file: ", stdout);
    print_file_name(stdout, path);
    fputs("\nformat: ", stdout);
    print_escaped(stdout, cip_file_format(f));
    if (cip_file_version(f)[0] != '\0') {
        putchar(' ');
        print_escaped(stdout, cip_file_version(f));
    }
    fputs("\nsize: ", stdout);
    print_nbytes(stdout, cip_file_nbytes(f));
    printf("\narrays: %zu", cip_file_narray(f));
    uint64_t n = decoded_nbytes(f);
    if (n != 0) {
        fputs("\narray data: ", stdout);
        print_nbytes(stdout, n);
        printf(", %.3g times the file", (double)n / (double)cip_file_nbytes(f));
    }
    putchar('\n');
    for (size_t i = 0; cip_file_fact(f, i, &key, &value); i++) {
        print_escaped(stdout, key);
        fputs(": ", stdout);
        print_escaped(stdout, value);
        putchar('\n');
    }
    print_arrays(path, f);
}

static bool is_named_before(const cip_file *f, size_t i, const char *key)
{
    const char *earlier, *value;
    for (size_t k = 0; k < i && cip_file_fact(f, k, &earlier, &value); k++)
        if (strcmp(earlier, key) == 0)
            return true;
    return false;
}

/* A count as a number, any other text as a string. */
static void print_value_json(FILE *out, const char *value)
{
    const size_t n = strlen(value);
    const bool number =
        n > 0 && n < 16 && strspn(value, "0123456789") == n && (n == 1 || value[0] != '0');
    if (number)
        fputs(value, out);
    else
        print_json_string(out, value);
}

/* All values of the key of fact i: one as a string, several as a list. */
static void print_values_json(FILE *out, const cip_file *f, size_t i, const char *key)
{
    const char *other, *value;
    size_t n = 0;
    for (size_t k = i; cip_file_fact(f, k, &other, &value); k++)
        n += strcmp(other, key) == 0;
    fputs(n > 1 ? "[" : "", out);
    for (size_t k = i, left = n; cip_file_fact(f, k, &other, &value); k++)
        if (strcmp(other, key) == 0) {
            print_value_json(out, value);
            fputs(--left != 0 ? ", " : "", out);
        }
    fputs(n > 1 ? "]" : "", out);
}

void print_facts_json(FILE *out, const cip_file *f, const char *path)
{
    const char *key, *value;
    fputs("{\"file\": ", out);
    print_json_string(out, path);
    fputs(", \"format\": ", out);
    print_json_string(out, cip_file_format(f));
    fputs(", \"version\": ", out);
    print_json_string(out, cip_file_version(f));
    fprintf(out,
            ", \"nbytes\": %" PRIu64 ", \"arrays\": %zu, \"decoded_nbytes\": %" PRIu64
            ", \"blocks\": %zu, \"facts\": {",
            cip_file_nbytes(f), cip_file_narray(f), decoded_nbytes(f), cip_file_nblock(f));
    for (size_t i = 0; cip_file_fact(f, i, &key, &value); i++) {
        if (is_named_before(f, i, key))
            continue;
        fputs(i == 0 ? "" : ", ", out);
        print_json_string(out, key);
        fputs(": ", out);
        print_values_json(out, f, i, key);
    }
    fputs("}, \"array_list\": [", out);
    print_arrays_json(out, path, f);
    fputs("]}", out);
}

void print_checksum(FILE *f, const uint8_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%02x", value[i]);
}

static void print_block(size_t i, const cip_block_info *b)
{
    printf("%5zu %12" PRIu64 " %6" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %5" PRIx64
           " ",
           i, b->offset, b->header_nbytes, b->allocated_nbytes, b->stored_nbytes, b->decoded_nbytes,
           b->flags);
    print_escaped(stdout, b->codec);
    fputs(b->checksum[0] != '\0' ? " " : " -", stdout);
    print_checksum(stdout, b->checksum_value, b->checksum_nbytes);
    if (b->member != NULL) {
        putchar(' ');
        print_escaped(stdout, b->member);
    }
    if (b->state != CIP_OK)
        printf(" (%s)", cip_status_name(b->state));
    putchar('\n');
}

static void print_block_json(size_t i, const cip_block_info *b)
{
    printf("%s{\"block\": %zu, \"offset\": %" PRIu64 ", \"header_nbytes\": %" PRIu64
           ", \"data_offset\": %" PRIu64 ", \"allocated_nbytes\": %" PRIu64
           ", \"stored_nbytes\": %" PRIu64 ", \"decoded_nbytes\": %" PRIu64 ", \"flags\": %" PRIu64
           ", \"codec\": ",
           i == 0 ? "" : ",\n ", i, b->offset, b->header_nbytes, b->data_offset,
           b->allocated_nbytes, b->stored_nbytes, b->decoded_nbytes, b->flags);
    print_json_string(stdout, b->codec);
    fputs(", \"checksum\": \"", stdout);
    print_checksum(stdout, b->checksum_value, b->checksum_nbytes);
    fputs("\", \"checksum_kind\": ", stdout);
    print_json_string(stdout, b->checksum);
    fputs(", \"state\": ", stdout);
    print_json_string(stdout, cip_status_name(b->state));
    fputs(", \"member\": ", stdout);
    if (b->member != NULL)
        print_json_string(stdout, b->member);
    else
        fputs("null", stdout);
    putchar('}');
}

void print_blocks(const cip_file *f, bool json)
{
    size_t n = cip_file_nblock(f);
    fputs(json ? "[" : "", stdout);
    bool members = false;
    for (size_t i = 0; i < n; i++)
        members = members || cip_file_block(f, i)->member != NULL;
    if (!json && n != 0)
        printf("block       offset header    allocated       stored      decoded flags codec "
               "checksum%s\n",
               members ? " member" : "");
    for (size_t i = 0; i < n; i++)
        (json ? print_block_json : print_block)(i, cip_file_block(f, i));
    fputs(json ? "]\n" : "", stdout);
}

static int print_query(const cip_file *f, const char *path)
{
    cip_err err = CIP_ERR_INIT;
    if (cip_file_query(f, write_stdout, NULL, &err) != CIP_OK)
        return complain(path, &err);
    return EXIT_FINE;
}

/* In JSON each file is an object of one list. */
static int print_table(const cip_file *f, const char *path, const opts *o)
{
    int rc = EXIT_FINE;
    if (o->json) {
        fputs("{\"file\": ", stdout);
        print_json_string(stdout, path);
        fputs(o->chunks ? ", \"arrays\": " : ", \"blocks\": ", stdout);
    } else if (o->npos > 1) {
        print_file_name(stdout, path);
        puts(":");
    }
    if (o->chunks)
        rc = print_chunks(f, path, o);
    else
        print_blocks(f, o->json);
    fputs(o->json ? "}" : "", stdout);
    return rc;
}

static int info_one(const cip_file *f, const char *path, const opts *o)
{
    if (o->query)
        return print_query(f, path);
    if (o->blocks || o->chunks)
        return print_table(f, path, o);
    if (o->json)
        print_facts_json(stdout, f, path);
    else
        print_facts(f, path);
    return EXIT_FINE;
}

int cmd_info(const opts *o)
{
    int rc = EXIT_FINE;
    bool any = false;
    if (o->query && (o->json || o->blocks || o->chunks)) {
        fputs("cippus: --query cannot be combined with --json, --blocks or --chunks; see 'cippus "
              "info --help'\n",
              stderr);
        return EXIT_USAGE;
    }
    if ((o->blocks && o->chunks) || (o->path != NULL && !o->chunks)) {
        fputs("cippus: --chunks and --blocks cannot be combined, and --path requires --chunks; see "
              "'cippus info --help'\n",
              stderr);
        return EXIT_USAGE;
    }
    fputs(o->json ? "[" : "", stdout);
    for (int i = 0; i < o->npos; i++) {
        cip_file *f = open_file(o->pos[i], o);
        if (f == NULL) {
            rc = EXIT_FAILED;
            continue;
        }
        fputs(o->json && any ? ",\n " : "", stdout);
        any = true;
        if (info_one(f, o->pos[i], o) != EXIT_FINE)
            rc = EXIT_FAILED;
        print_warnings(o->pos[i], f, 0);
        cip_file_close(f);
    }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(rc);
}
