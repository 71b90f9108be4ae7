/* SPDX-License-Identifier: BSD-3-Clause
 * FILE [PATH] [SLICE]: which array, and which part of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "input.h"
#include "print.h"
#include "suggest.h"

/* In a file of one array the path may be left out: a word that starts with "[" is then the slice.
 */
static void split(const opts *o, const char **path, const char **slice)
{
    *path = o->npos > 1 ? o->pos[1] : "";
    *slice = o->npos > 2 ? o->pos[2] : NULL;
    if (o->npos == 2 && (*path)[0] == '[') {
        *slice = *path;
        *path = "";
    }
}

cip_dtype *dtype_option(const char *option, const char *text, int *rc)
{
    cip_err err = CIP_ERR_INIT;
    cip_dtype *d = text != NULL ? cip_dtype_parse(text, &err) : NULL;
    if (text == NULL || d != NULL)
        return d;
    fprintf(stderr, "cippus: %s: ", option);
    print_escaped(stderr, err.text);
    suggestion s = { .wanted = text };
    for (int k = CIP_BOOL; k <= CIP_C128; k++)
        suggest_offer(&s, cip_dtype_name(cip_dtype_of((cip_kind)k)));
    if (strstr(err.text, "; try ") != NULL || !suggest_print(&s, ""))
        putc('\n', stderr);
    *rc = EXIT_USAGE;
    return NULL;
}

static bool are_files(const opts *o)
{
    for (int i = 1; i < o->npos; i++)
        if (o->pos[i][0] == '[' || access(o->pos[i], F_OK) != 0)
            return false;
    return strcmp(o->pos[0], "-") != 0 && strcmp(o->pos[1], ".") != 0;
}

bool is_path(const opts *o, const char *path, int *rc)
{
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    const char *field;
    cip_file *f = NULL;
    const int kind = input_kind_of(o, o->pos[0]);
    *rc = kind < 0 ? EXIT_USAGE : EXIT_FINE;
    if (kind == INPUT_KNOWN)
        (void)cip_open(o->pos[0], &open, &f, NULL);
    else if (kind >= 0)
        f = input_open(o->pos[0], o, rc);
    *rc = f != NULL ? EXIT_FINE : *rc;
    const cip_array *a = f != NULL ? cip_find_field(f, path, &field, NULL) : NULL;
    const cip_read_args args = { .size = sizeof args, .field = a != NULL ? field : NULL };
    const bool there =
        f != NULL && ((a != NULL && (field[0] == '\0' ||
                                     cip_read_shape(a, &args, NULL, NULL, NULL, NULL) == CIP_OK)) ||
                      cip_tree_get(cip_file_tree(f), path, NULL) != NULL);
    cip_file_close(f);
    return there;
}

int files_or_path(const opts *o, int max, bool *files)
{
    int rc = EXIT_FINE;
    *files = o->npos > 1 && are_files(o) && !is_path(o, o->pos[1], &rc);
    if (rc != EXIT_FINE || *files || o->npos <= max)
        return rc;
    fputs("cippus: one argument too many: ", stderr);
    print_escaped(stderr, o->pos[max]);
    putc('\n', stderr);
    return EXIT_USAGE;
}

void note_unchecked(const char *name, const cip_file *f, const cip_array *a)
{
    cip_array_storage s = { .size = sizeof s };
    if (cip_array_get_storage(a, &s, NULL) != CIP_OK || strcmp(s.kind, "external") == 0)
        return; /* the other file's blocks are compared */
    const cip_block_info *b = s.block >= 0 ? cip_file_block(f, (size_t)s.block) : NULL;
    cip_chunk_info c = { .size = sizeof c };
    const cip_finding none = { .part = cip_array_path(a),
                               .text = "no checksum is stored for its data: nothing is compared" };
    bool block = b != NULL && b->checksum[0] != '\0';
    if (!block && (cip_chunk_at(a, 0, &c, NULL) != CIP_OK || c.checksum[0] == '\0'))
        print_told(name, "note: ", &none);
}

/* An index alone is taken for a path, as that of a list's item. */
static void suggest_index(const char *path, cip_err *err)
{
    const size_t n = strlen(err->text), digits = strspn(path + (path[0] == '-'), "0123456789");
    if (err->code == CIP_ERR_NOT_FOUND && digits != 0 && path[digits + (path[0] == '-')] == '\0')
        snprintf(err->text + n, sizeof err->text - n, "; '[%s]' is an index", path);
}

int target_open(const opts *o, bool quiet, target *t)
{
    int rc;
    cip_file *f = input_open(o->pos[0], o, &rc);
    return f != NULL ? target_in(o, quiet, f, t) : rc;
}

int target_in(const opts *o, bool quiet, cip_file *file, target *t)
{
    cip_err err = CIP_ERR_INIT;
    const char *path, *slice, *field;
    int rc = EXIT_FINE;
    memset(t, 0, sizeof *t);
    split(o, &path, &slice);
    t->file = file;
    if (!quiet)
        t->nwarning = print_warnings(o->pos[0], t->file, 0);
    t->args.size = sizeof t->args;
    t->args.selection = slice;
    t->args.reversed = o->column_major;
    t->args.overflow = o->accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR;
    t->array = cip_find_field(t->file, path, &field, &err);
    t->args.field = field;
    if (t->array == NULL) {
        suggest_path(t->file, path, true, &err);
        suggest_index(path, &err);
        rc = complain(o->pos[0], &err);
    } else if (o->check) {
        note_unchecked(o->pos[0], t->file, t->array);
    }
    t->args.dtype = t->dtype = dtype_option("--dtype", o->dtype, &rc);
    t->args.as = t->as = dtype_option("--as", o->as, &rc);
    o->bar->unit = "elements";
    t->args.progress = show_progress;
    t->args.user = o->bar;
    if (rc != EXIT_FINE)
        target_close(t);
    return rc;
}

void target_close(target *t)
{
    cip_file_close(t->file);
    cip_dtype_free(t->dtype);
    cip_dtype_free(t->as);
    memset(t, 0, sizeof *t);
}
