/* SPDX-License-Identifier: BSD-3-Clause
 * What the command tells of one array. */
#include "listed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* What a table calls the column whose data are the array: "table/columns/3/data" has a name beside
 * it. */
static const char *name_of_column(const cip_file *f, const cip_array *a)
{
    const char *slash = strrchr(cip_array_path(a), '/'), *name = NULL;
    if (slash == NULL || strcmp(slash, "/data") != 0)
        return NULL;
    char *above = strndup(cip_array_path(a), (size_t)(slash - cip_array_path(a)));
    if (above != NULL)
        cip_tree_get_string(cip_tree_get(cip_file_tree(f), above, NULL), "name", &name, NULL);
    free(above);
    return name;
}

/* Data in another file: what is stored there, or that it is not there. */
static void look_outside(listed *l)
{
    cip_chunk_info c = { .size = sizeof c };
    uint64_t n = 0;
    if (cip_chunk_count(l->array, &n, &l->err) != CIP_OK || n != 1 ||
        cip_chunk_at(l->array, 0, &c, &l->err) != CIP_OK)
        return;
    l->s.stored_nbytes = c.stored_nbytes;
    snprintf(l->codec, sizeof l->codec, "%s", c.codec);
    l->s.codec = l->codec;
}

/* Chunks in files of their own that are not there. Of a great many the first ones are looked at. */
static void count_missing(listed *l)
{
    enum { MOST = 10000 };
    cip_chunk_info c = { .size = sizeof c };
    uint64_t n = 0;
    if (cip_chunk_count(l->array, &n, NULL) != CIP_OK)
        return;
    for (uint64_t i = 0; i < n && i < MOST; i += c.run) {
        if (cip_chunk_at(l->array, i, &c, NULL) != CIP_OK)
            c.run = 1;
        else if (c.member[0] == '\0' && c.state == CIP_CHUNK_DATA)
            return; /* they lie in this file */
        else if (c.member[0] != '\0' && c.state == CIP_CHUNK_MISSING)
            l->missing += c.run;
    }
}

void listed_look(const char *file, const cip_file *f, const cip_array *a, listed *l)
{
    *l = (listed){
        .array = a, .s = { .size = sizeof l->s }, .name = name_of_column(f, a), .err = CIP_ERR_INIT
    };
    cip_array_get_storage(a, &l->s, NULL);
    if (cip_array_state(a, &l->err) == CIP_OK && l->s.kind != NULL &&
        strcmp(l->s.kind, "external") == 0)
        look_outside(l);
    else if (l->err.code == CIP_OK && l->s.chunk != NULL &&
             !is_url(file)) /* where each chunk is a request */
        count_missing(l);
    cip_read_shape(a, NULL, NULL, NULL, &l->decoded, NULL);
}

bool listed_lacks_files(const listed *l)
{
    return l->missing != 0 || (l->err.code == CIP_ERR_NOT_FOUND && l->s.kind != NULL &&
                               strcmp(l->s.kind, "external") == 0);
}

double listed_ratio(const listed *l)
{
    return l->s.stored_nbytes != 0 ? (double)l->decoded / (double)l->s.stored_nbytes : 0;
}

void listed_print_stored(FILE *f, const listed *l, const char *unknown)
{
    if (l->s.stored_nbytes == 0 && l->s.chunk != NULL && l->decoded != 0)
        fputs(unknown, f);
    else
        fprintf(f, "%" PRIu64, l->s.stored_nbytes);
}

void listed_print_path(FILE *f, const listed *l)
{
    const char *path = cip_array_path(l->array);
    print_escaped(f, path[0] != '\0' ? path : ".");
    if (l->name != NULL) {
        fputs(" (", f);
        print_escaped(f, l->name);
        putc(')', f);
    }
}

void listed_print_sizes_json(FILE *f, const listed *l)
{
    fputs(", \"stored_nbytes\": ", f);
    listed_print_stored(f, l, "null");
    fprintf(f, ", \"decoded_nbytes\": %" PRIu64 ", \"ratio\": ", l->decoded);
    if (listed_ratio(l) != 0)
        fprintf(f, "%.4g", listed_ratio(l));
    else
        fputs("null", f);
}

void listed_print_json(FILE *f, const char *file, const listed *l)
{
    const cip_array *a = l->array;
    const cip_status st = (cip_status)l->err.code;
    fputs("{\"file\": ", f);
    print_json_string(f, file);
    fputs(", \"path\": ", f);
    print_json_string(f, cip_array_path(a));
    if (l->name != NULL) {
        fputs(", \"name\": ", f);
        print_json_string(f, l->name);
    }
    fputs(", \"dtype\": ", f);
    print_json_string(f, cip_dtype_name(cip_array_dtype(a)));
    fprintf(f, ", \"byteorder\": \"%s\", \"shape\": ",
            cip_dtype_is_big(cip_array_dtype(a)) ? "big" : "little");
    print_shape(f, cip_array_shape(a), cip_array_ndim(a));
    if (l->s.chunk != NULL) {
        fputs(", \"chunk\": ", f);
        print_shape(f, l->s.chunk, cip_array_ndim(a));
    }
    fputs(", \"storage\": ", f);
    print_json_string(f, l->s.kind != NULL ? l->s.kind : "");
    fputs(", \"codec\": ", f);
    print_json_string(f, l->s.codec != NULL ? l->s.codec : "");
    listed_print_sizes_json(f, l);
    fprintf(f, ", \"block\": %" PRId64 ", \"masked\": %s, \"state\": ", l->s.block,
            l->s.masked ? "true" : "false");
    print_json_string(f, cip_status_name(st));
    if (st != CIP_OK) {
        fputs(", \"why\": ", f);
        print_json_string(f, l->err.text);
    }
    if (l->missing != 0)
        fprintf(f, ", \"missing_chunks\": %" PRIu64, l->missing);
    putc('}', f);
}
