/* SPDX-License-Identifier: BSD-3-Clause
 * cippus set: one node of the tree changed in place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "suggest.h"
#include "update.h"

/* What PATH names before the change. */
typedef struct old_node {
    bool known;    /* the file could be read */
    bool there;    /* and has such a node */
    bool array;    /* which is an array */
    bool elements; /* of an array: "image[0, 0]", which is no node */
    size_t narray; /* arrays that it is or holds */
    char *text;    /* its value on one line */
    suggestion near;
} old_node;

static int count_array(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    (void)path;
    (void)depth;
    void **u = user;
    const bool found = cip_array_of_node(u[0], node) != NULL;
    *(size_t *)u[1] += found;
    return found; /* a quantity's value is not another one */
}

static int offer(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    (void)node;
    (void)depth;
    suggest_offer(user, path);
    return 0;
}

/* A scalar as it is written, of a collection its kind and length. */
static char *text_of(const cip_node *n)
{
    size_t len;
    char *text = NULL;
    const char *scalar = cip_node_text(n, NULL);
    FILE *f = open_memstream(&text, &len);
    if (f == NULL)
        return NULL;
    if (scalar != NULL)
        print_escaped(f, scalar);
    else
        fprintf(f, "(%s of %zu)", cip_node_kind(n) == CIP_NODE_SEQ ? "seq" : "map",
                cip_node_len(n));
    fclose(f);
    return text;
}

/* An array's path with a slice behind it. */
static bool names_elements(const cip_file *f, const char *path)
{
    const char *open = strchr(path, '[');
    char *array = open != NULL && path[strlen(path) - 1] == ']' ? strdup(path) : NULL;
    if (array == NULL)
        return false;
    array[open - path] = '\0';
    const cip_node *n = cip_tree_get(cip_file_tree(f), array, NULL);
    free(array);
    return open != path && n != NULL && cip_array_of_node(f, n) != NULL;
}

/* Of a file that cannot be read nothing is known: the update says why it cannot be changed. */
static void look_at_old(const opts *o, old_node *old)
{
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    cip_file *f;
    *old = (old_node){ .near = { .wanted = o->pos[1] } };
    if (o->pos[1][0] == '\0' || cip_open(o->pos[0], &open, &f, NULL) != CIP_OK)
        return;
    const cip_node *root = cip_file_tree(f), *n = cip_tree_get(root, o->pos[1], NULL);
    old->known = root != NULL;
    old->there = n != NULL;
    if (n != NULL) {
        old->array = cip_array_of_node(f, n) != NULL;
        cip_tree_visit(f, n, count_array, (void *[]){ f, &old->narray }, NULL);
        old->text = text_of(n);
    } else if (root != NULL) {
        old->elements = names_elements(f, o->pos[1]);
        cip_tree_visit(f, root, offer, &old->near, NULL);
    }
    cip_file_close(f);
}

static int not_yaml(const cip_err *err)
{
    static const char front[] = "expected YAML, found ";
    const size_t n = sizeof front - 1;
    fprintf(stderr, "cippus: VALUE is not YAML at byte %" PRIu64 ": ", err->offset);
    print_escaped(stderr, err->text + (strncmp(err->text, front, n) == 0 ? n : 0));
    fputs("; --string takes it as it is\n", stderr);
    return EXIT_USAGE;
}

static int refuse_array(const opts *o, const old_node *old)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, o->pos[0]);
    fputs(": '", stderr);
    print_escaped(stderr, o->pos[1]);
    if (old->elements)
        fputs("' are elements of an array, which 'cippus put' changes; --force adds a value\n",
              stderr);
    else if (old->array)
        fputs("' is an array; --force replaces it\n", stderr);
    else
        fprintf(stderr, "' holds %zu array%s; --force replaces it with all of them\n", old->narray,
                old->narray == 1 ? "" : "s");
    return EXIT_FAILED;
}

/* A slip of the keys would add a node: that one came is said, and what is like it. */
static void say_added(const opts *o, const old_node *old)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, o->pos[0]);
    fputs(": added '", stderr);
    print_escaped(stderr, o->pos[1]);
    putc('\'', stderr);
    if (!suggest_print(&old->near, ""))
        putc('\n', stderr);
}

/* "exposure/time: 107.5 -> 5", which is the caller's. */
static char *change_of(const opts *o, const old_node *old)
{
    size_t len;
    char *text = NULL;
    FILE *f = open_memstream(&text, &len);
    if (f == NULL)
        return NULL;
    print_escaped(f, o->pos[1]);
    fprintf(f, old->there ? ": %s -> " : ": added: ", old->text != NULL ? old->text : "");
    print_escaped(f, o->pos[2]);
    fclose(f);
    return text;
}

static int set_node(const opts *o, const old_node *old)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = o->string ? cip_change_set_string(edit, o->pos[1], o->pos[2], &err)
                              : cip_change_set_typed(edit, o->pos[1], o->pos[2], &err);
    if (st == CIP_ERR_CORRUPT && strcmp(err.part, "value") == 0)
        return update_give_up(edit, not_yaml(&err));
    char *change = old->known ? change_of(o, old) : NULL;
    rc = update_finish_saying(o, edit, st, &err, change);
    free(change);
    if (rc == EXIT_FINE && !o->dry_run && old->known && !old->there)
        say_added(o, old);
    return rc;
}

int cmd_set(const opts *o)
{
    old_node old;
    look_at_old(o, &old);
    const int rc =
        (old.narray != 0 || old.elements) && !o->force ? refuse_array(o, &old) : set_node(o, &old);
    free(old.text);
    return rc;
}
