/* SPDX-License-Identifier: BSD-3-Clause
 * cippus tree: the metadata tree, whole or searched. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "suggest.h"

typedef struct search {
    const cip_file *file;
    regex_t key, value;
    bool by_key, by_value, json, any;
    const char *type;
    const char *below; /* path of the node where the search starts */
} search;

static const char *type_name(cip_node_type t)
{
    static const char *const names[] = { "none",   "null",      "bool",   "int", "int", "float",
                                         "string", "timestamp", "binary", "seq", "map" };
    return (size_t)t < sizeof names / sizeof names[0] ? names[t] : "none";
}

static bool type_fits(const search *s, const cip_node *n)
{
    if (s->type == NULL)
        return true;
    if (strcmp(s->type, "array") == 0)
        return cip_array_of_node(s->file, n) != NULL;
    const char *tag = cip_node_tag(n);
    return strcmp(s->type, type_name(cip_node_kind(n))) == 0 ||
           (tag != NULL && strstr(tag, s->type) != NULL);
}

/* The last step of a path, as it is without escapes: "~1" stays. */
static const char *last_step(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void print_node_json(FILE *f, const char *path, const cip_node *n)
{
    fputs("{\"path\": ", f);
    print_json_string(f, path);
    fprintf(f, ", \"type\": \"%s\"", type_name(cip_node_kind(n)));
    if (cip_node_tag(n) != NULL) {
        fputs(", \"tag\": ", f);
        print_json_string(f, cip_node_tag(n));
    }
    if (cip_node_text(n, NULL) != NULL) {
        fputs(", \"value\": ", f);
        print_json_scalar(f, n);
    }
    putc('}', f);
}

static void print_found(search *s, const char *path, const cip_node *n)
{
    const char *text = cip_node_text(n, NULL);
    if (s->json) {
        fputs(s->any ? ",\n " : "", stdout);
        print_node_json(stdout, path, n);
    } else {
        print_escaped(stdout, path);
        fputs(": ", stdout);
        if (text != NULL)
            print_escaped(stdout, text);
        else
            printf("(%s of %zu)", type_name(cip_node_kind(n)), cip_node_len(n));
        putchar('\n');
    }
    s->any = true;
}

static int look_at(void *user, const char *path, const cip_node *n, uint32_t depth)
{
    search *s = user;
    const char *text = cip_node_text(n, NULL);
    (void)depth;
    if (s->by_key && (path[0] == '\0' || regexec(&s->key, last_step(path), 0, NULL, 0) != 0))
        return 0;
    if (s->by_value && (text == NULL || regexec(&s->value, text, 0, NULL, 0) != 0))
        return 0;
    if (!type_fits(s, n))
        return 0;
    print_found(s, path, n);
    return s->type != NULL && strcmp(s->type, "array") == 0; /* not a quantity's value again */
}

static bool compile(regex_t *r, const char *text, const char *option)
{
    int e = regcomp(r, text, REG_EXTENDED | REG_NOSUB);
    if (e == 0)
        return true;
    char why[128];
    regerror(e, r, why, sizeof why);
    fprintf(stderr, "cippus: --%s: %s\n", option, why);
    return false;
}

/* Which tree is printed, and of which file. */
typedef struct shown {
    const opts *o;
    const char *name; /* of the file */
    const char *path; /* as it was given, or NULL */
    bool several;     /* files */
    bool any;         /* in JSON: a file was printed before */
} shown;

static int run_search(const cip_file *f, const cip_node *node, const shown *w)
{
    const opts *o = w->o;
    search s = { .file = f, .json = o->json, .type = o->type };
    cip_err err = CIP_ERR_INIT;
    int rc = EXIT_USAGE;
    if (o->find != NULL && !(s.by_key = compile(&s.key, o->find, "find")))
        goto done;
    if (o->value != NULL && !(s.by_value = compile(&s.value, o->value, "value")))
        goto done;
    fputs(o->json ? "[" : "", stdout);
    rc = EXIT_FINE;
    if (cip_tree_visit(f, node, look_at, &s, &err) != CIP_OK)
        rc = complain(w->name, &err);
    fputs(o->json ? "]\n" : "", stdout);
done:
    if (s.by_key)
        regfree(&s.key);
    if (s.by_value)
        regfree(&s.value);
    return rc;
}

static int print_tree(const cip_file *f, const cip_node *node, const shown *w)
{
    const opts *o = w->o;
    cip_err err = CIP_ERR_INIT;
    cip_tree_print_options print = { .size = sizeof print, .json = o->json, .depth = o->depth };
    print.arrays_as_nodes = w->path != NULL; /* asked for by path: shown as it stands */
    bool both = o->json && o->blocks;        /* one document */
    fputs(both ? "{\"tree\": " : "", stdout);
    if (cip_tree_print(f, node, &print, write_stdout, NULL, &err) != CIP_OK)
        return complain(w->name, &err);
    fputs(both ? ", \"blocks\": " : "", stdout);
    if (o->blocks)
        print_blocks(f, o->json);
    fputs(both ? "}\n" : "", stdout);
    return EXIT_FINE;
}

/* The root, or the node that the path names; NULL after a complaint. */
static const cip_node *find_node(const cip_file *f, const shown *w)
{
    cip_err err = CIP_ERR_INIT;
    const cip_node *root = cip_file_tree(f), *node = root;
    if (root == NULL) {
        fputs("cippus: ", stderr);
        print_escaped(stderr, w->name);
        fputs(": not found: the file has no metadata tree\n", stderr);
        return NULL;
    }
    if (w->path != NULL)
        node = cip_tree_get(root, w->path, &err);
    if (node == NULL) {
        suggest_path(f, w->path, false, &err);
        complain(w->name, &err);
    }
    return node;
}

/* In JSON each of several files is an object of one list. */
static void begin_file(shown *w)
{
    if (!w->o->json) {
        print_escaped(stdout, w->name);
        puts(":");
        return;
    }
    fputs(w->any ? ",\n {\"file\": " : "{\"file\": ", stdout);
    print_json_string(stdout, w->name);
    fputs(", \"tree\": ", stdout);
    w->any = true;
}

static int tree_of(shown *w)
{
    const opts *o = w->o;
    int rc = EXIT_FAILED;
    cip_file *f = open_file(w->name, o);
    if (f == NULL)
        return rc;
    print_warnings(w->name, f, 0);
    const cip_node *node = find_node(f, w);
    if (node != NULL) {
        if (w->several)
            begin_file(w);
        rc = o->find != NULL || o->type != NULL || o->value != NULL ? run_search(f, node, w)
                                                                    : print_tree(f, node, w);
        fputs(w->several && o->json ? "}" : "", stdout);
    }
    cip_file_close(f);
    return rc;
}

int cmd_tree(const opts *o)
{
    shown w = { .o = o };
    int rc = files_or_path(o, 2, &w.several);
    if (rc != EXIT_FINE)
        return rc;
    w.path = o->npos > 1 && !w.several ? o->pos[1] : NULL;
    fputs(w.several && o->json ? "[" : "", stdout);
    for (int i = 0; i < (w.several ? o->npos : 1); i++) {
        w.name = o->pos[i];
        const int one = tree_of(&w);
        rc = one > rc ? one : rc;
    }
    fputs(w.several && o->json ? "]\n" : "", stdout);
    return finish_stdout(rc);
}
