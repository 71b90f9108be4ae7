/* SPDX-License-Identifier: BSD-3-Clause
 * cippus ls: a line for each array. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "print.h"

static void print_line(const cip_array *a, int width)
{
    cip_array_storage s = { 0 };
    const char *path = cip_array_path(a)[0] != '\0' ? cip_array_path(a) : ".";
    size_t len = strlen(path);
    cip_array_get_storage(a, &s, NULL);
    print_escaped(stdout, path);
    printf("%*s ", len < (size_t)width ? width - (int)len : 0, "");
    print_escaped(stdout, cip_dtype_name(cip_array_dtype(a)));
    putchar(' ');
    print_shape(stdout, cip_array_shape(a), cip_array_ndim(a));
    if (s.chunk != NULL) {
        fputs(" chunks ", stdout);
        print_shape(stdout, s.chunk, cip_array_ndim(a));
    }
    printf(" %s ", s.kind);
    print_escaped(stdout, s.codec[0] != '\0' ? s.codec : "-"); /* not known: it lies elsewhere */
    printf(" %" PRIu64 "%s", s.stored_nbytes, s.masked ? " masked" : "");
    cip_err err = CIP_ERR_INIT;
    if (cip_array_state(a, &err) != CIP_OK) {
        printf(" (%s: ", cip_status_name((cip_status)err.code));
        print_escaped(stdout, err.text);
        putchar(')');
    }
    putchar('\n');
}

static void print_json(const char *file, const cip_array *a, bool first)
{
    cip_array_storage s = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_array_state(a, &err);
    cip_array_get_storage(a, &s, NULL);
    fputs(first ? "{\"file\": " : ",\n {\"file\": ", stdout);
    print_json_string(stdout, file);
    fputs(", \"path\": ", stdout);
    print_json_string(stdout, cip_array_path(a));
    fputs(", \"dtype\": ", stdout);
    print_json_string(stdout, cip_dtype_name(cip_array_dtype(a)));
    printf(", \"byteorder\": \"%s\", \"shape\": ",
           cip_dtype_is_big(cip_array_dtype(a)) ? "big" : "little");
    print_shape(stdout, cip_array_shape(a), cip_array_ndim(a));
    if (s.chunk != NULL) {
        fputs(", \"chunk\": ", stdout);
        print_shape(stdout, s.chunk, cip_array_ndim(a));
    }
    fputs(", \"storage\": ", stdout);
    print_json_string(stdout, s.kind != NULL ? s.kind : "");
    fputs(", \"codec\": ", stdout);
    print_json_string(stdout, s.codec != NULL ? s.codec : "");
    printf(", \"stored_nbytes\": %" PRIu64 ", \"block\": %" PRId64 ", \"masked\": %s, \"state\": ",
           s.stored_nbytes, s.block, s.masked ? "true" : "false");
    print_json_string(stdout, cip_status_name(st));
    if (st != CIP_OK) {
        fputs(", \"why\": ", stdout);
        print_json_string(stdout, err.text);
    }
    putchar('}');
}

/* *any: whether a JSON row was printed before, of any file. */
static void list(const char *file, const cip_file *f, bool json, bool *any)
{
    size_t n = cip_file_narray(f);
    int width = 1;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(cip_array_path(cip_file_array(f, i)));
        if (len < 60 && (int)len > width)
            width = (int)len;
    }
    for (size_t i = 0; i < n; i++, *any = true)
        if (json)
            print_json(file, cip_file_array(f, i), !*any);
        else
            print_line(cip_file_array(f, i), width);
}

int cmd_ls(const opts *o)
{
    int rc = EXIT_FINE;
    bool any = false;
    fputs(o->json ? "[" : "", stdout);
    for (int i = 0; i < o->npos; i++) {
        cip_file *f = open_file(o->pos[i], o);
        if (f == NULL) {
            rc = EXIT_FAILED;
            continue;
        }
        if (o->npos > 1 && !o->json) {
            print_escaped(stdout, o->pos[i]);
            puts(":");
        }
        list(o->pos[i], f, o->json, &any);
        print_warnings(o->pos[i], f, 0);
        cip_file_close(f);
    }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(rc);
}
