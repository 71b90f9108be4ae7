/* SPDX-License-Identifier: BSD-3-Clause
 * Several inputs into one file: their arrays under the names of the files, by the calls that any
 * program has for new files. Metadata beside the arrays are left out, which is a named loss. */
#include "convert_several.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"

/* An array of the output, and the input that it comes from. */
typedef struct taken {
    char *name;
    const char *input;
} taken;

typedef struct several {
    const opts *o;
    cip_finding_fn *tell;
    void *user;
    cip_change *w;
    taken *list;
    size_t n, cap;
    size_t nloss;
} several;

static int wrong_use(const char *what)
{
    fprintf(stderr, "cippus: %s\n", what);
    return EXIT_USAGE;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The file's name without folder and extension, as a step of a path. */
static void add_stem(strbuf *out, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/')
        from--;
    size_t end = n;
    for (size_t i = n; i > from + 1; i--)
        if (path[i - 1] == '.') {
            end = i - 1;
            break;
        }
    for (size_t i = from; i < end; i++)
        text_add(out, path[i] == '~' ? "~0" : path + i, path[i] == '~' ? 2 : 1);
}

/* The array's path in the output. NULL: no memory. */
static char *name_of(const several *s, int input, const cip_file *f, const cip_array *a)
{
    strbuf name = { 0 };
    const char *path = cip_array_path(a);
    if (s->o->nname != 0)
        text_add(&name, s->o->names[input], strlen(s->o->names[input]));
    else
        add_stem(&name, s->o->pos[input]);
    if (cip_file_narray(f) > 1) {
        text_add(&name, "/", 1);
        text_add(&name, path, strlen(path));
    }
    if (!name.failed)
        return name.ptr;
    free(name.ptr);
    return NULL;
}

/* Keeps the name, which is the list's then. */
static int take_name(several *s, char *name, const char *input)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0) {
            fputs("cippus: two arrays would be called ", stderr);
            print_file_name(stderr, name);
            fputs(": of ", stderr);
            print_escaped(stderr, s->list[i].input);
            fputs(" and of ", stderr);
            print_escaped(stderr, input);
            fputs("; use --name, once for each input, to set others\n", stderr);
            free(name);
            return EXIT_USAGE;
        }
    if (s->n == s->cap) {
        s->cap = s->cap == 0 ? 16 : 2 * s->cap;
        taken *more = realloc(s->list, s->cap * sizeof *more);
        if (more == NULL) {
            free(name);
            return EXIT_FAILED;
        }
        s->list = more;
    }
    s->list[s->n++] = (taken){ name, input };
    return EXIT_FINE;
}

/* --- what is left out ------------------------------------------------------------------------- */

typedef struct search {
    const cip_file *f;
    char first[201]; /* path of what is left out */
} search;

/* Stops at what is neither an array nor of this file alone. */
static int look(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    search *s = user;
    const cip_node_type kind = cip_node_kind(node);
    if (depth != 0 && (cip_find(s->f, path, NULL) != NULL || cip_tree_is_own(s->f, path)))
        return 1;
    if (node == NULL || kind == CIP_NODE_NULL || kind >= CIP_NODE_SEQ)
        return 0;
    snprintf(s->first, sizeof s->first, "%s", path);
    return 2;
}

bool tell_left_out(const cip_file *f, const char *input, cip_finding_fn *tell, void *user)
{
    search s = { .f = f };
    char text[300];
    if (cip_tree_visit(f, NULL, look, &s, NULL) == CIP_OK)
        return false; /* else there is some, or too much to look at */
    snprintf(text, sizeof text, "metadata beside the arrays are left out (the first: %s)", s.first);
    const cip_finding found = { .severity = CIP_WARN,
                                .code = CIP_ERR_UNSUPPORTED,
                                .offset = CIP_NO_OFFSET,
                                .part = input,
                                .text = text };
    (void)tell(user, &found);
    return true;
}

/* --- the work --------------------------------------------------------------------------------- */

static int put_arrays(several *s, int input, const cip_file *f)
{
    const opts *o = s->o;
    const char *file = o->pos[input];
    const cip_array_options how = { .size = sizeof how, .storage = o->inlined ? "inline" : NULL };
    cip_err err = CIP_ERR_INIT;
    if (cip_file_narray(f) == 0) {
        fputs("cippus: ", stderr);
        print_file_name(stderr, file);
        fputs(": expected arrays, found none\n", stderr);
        return EXIT_FAILED;
    }
    s->nloss += tell_left_out(f, file, s->tell, s->user);
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        const cip_array *a = cip_file_array(f, i);
        char *name = name_of(s, input, f, a);
        const int rc = name != NULL ? take_name(s, name, file) : EXIT_FAILED;
        if (rc != EXIT_FINE)
            return rc;
        if (s->nloss != 0 && !o->accept_loss)
            continue; /* the other losses are still told */
        if (cip_change_put_array(s->w, name, a, NULL, &how, &err) != CIP_OK)
            return complain(file, &err);
    }
    return EXIT_FINE;
}

static int put_input(several *s, int input)
{
    int rc;
    opts in = *s->o;
    in.byteorder = NULL; /* of the output */
    in.check = !in.no_check;
    const int kind = input_kind_of(&in, in.pos[input]);
    if (kind < 0)
        return EXIT_USAGE;
    if (kind != INPUT_RAW && in.dtype != NULL)
        return wrong_use("--dtype applies to raw inputs only");
    cip_file *f = input_open(in.pos[input], &in, &rc);
    if (f == NULL)
        return rc;
    rc = put_arrays(s, input, f);
    cip_file_close(f);
    return rc;
}

static int check_use(const opts *o)
{
    if (strcmp(o->pos[o->npos - 1], "-") == 0)
        return wrong_use("several inputs cannot go to standard output");
    if (o->path != NULL || o->resolve_refs)
        return wrong_use("--path and --resolve-refs apply to a single input only");
    if (o->nname != 0 && o->nname != (size_t)(o->npos - 1))
        return wrong_use("expected --name once for each input");
    return EXIT_FINE;
}

static int put_all(several *s, cip_err *err)
{
    const int n = s->o->npos - 1;
    for (int i = 0; i < n; i++) {
        const int rc = put_input(s, i);
        if (rc != EXIT_FINE)
            return rc;
    }
    if (s->nloss != 0 && !s->o->accept_loss) {
        fputs("cippus: not all of the inputs can be kept; accept it with --accept-loss\n", stderr);
        return EXIT_FAILED;
    }
    return cip_change_commit(&s->w, err) == CIP_OK ? EXIT_FINE : complain(s->o->pos[n], err);
}

int convert_several(const opts *o, const cip_change_options *how, cip_finding_fn *tell, void *user)
{
    several s = { .o = o, .tell = tell, .user = user };
    cip_err err = CIP_ERR_INIT;
    int rc = check_use(o);
    if (rc != EXIT_FINE)
        return rc;
    if (cip_create(o->pos[o->npos - 1], how, &s.w, &err) != CIP_OK)
        return complain(o->pos[o->npos - 1], &err);
    rc = put_all(&s, &err);
    cip_change_abort(&s.w);
    for (size_t i = 0; i < s.n; i++)
        free(s.list[i].name);
    free(s.list);
    return rc;
}
