/* SPDX-License-Identifier: BSD-3-Clause
 * cippus ls: a line for each array. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "print.h"

static void print_line(const cip_array *a, int width)
{
    cip_array_storage s = { 0 };
    const char *path = cip_array_path(a);
    cip_array_get_storage(a, &s, NULL);
    print_escaped(stdout, path[0] != '\0' ? path : ".");
    printf("%*s ", width - (int)strlen(path[0] != '\0' ? path : "."), "");
    print_escaped(stdout, cip_dtype_name(cip_array_dtype(a)));
    putchar(' ');
    print_shape(stdout, cip_array_shape(a), cip_array_ndim(a));
    if (s.chunk != NULL) {
        fputs(" chunks ", stdout);
        print_shape(stdout, s.chunk, cip_array_ndim(a));
    }
    printf(" %s ", s.kind);
    print_escaped(stdout, s.codec);
    printf(" %" PRIu64 "%s", s.stored_nbytes, s.masked ? " masked" : "");
    cip_err err = CIP_ERR_INIT;
    if (cip_array_state(a, &err) != CIP_OK) {
        printf(" (%s: ", cip_status_name((cip_status)err.code));
        print_escaped(stdout, err.text);
        putchar(')');
    }
    putchar('\n');
}

static void print_json(const cip_array *a, bool first)
{
    cip_array_storage s = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_array_state(a, &err);
    cip_array_get_storage(a, &s, NULL);
    fputs(first ? "{\"path\": " : ",\n {\"path\": ", stdout);
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

static void list(const cip_file *f, bool json)
{
    size_t n = cip_file_narray(f);
    int width = 1;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(cip_array_path(cip_file_array(f, i)));
        if (len < 60 && (int)len > width)
            width = (int)len;
    }
    fputs(json ? "[" : "", stdout);
    for (size_t i = 0; i < n; i++)
        if (json)
            print_json(cip_file_array(f, i), i == 0);
        else
            print_line(cip_file_array(f, i), width);
    fputs(json ? "]\n" : "", stdout);
}

int cmd_ls(const opts *o)
{
    int rc = EXIT_FINE;
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
        list(f, o->json);
        print_warnings(o->pos[i], f);
        cip_file_close(f);
    }
    return finish_stdout(rc);
}
