/* SPDX-License-Identifier: BSD-3-Clause
 * cippus ls: a line for each array, on terminals as a table with a header; of files, or with
 * --recursive of all that lies in folders. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "print.h"

typedef struct lister {
    const opts *o;
    bool any; /* in JSON: an array was printed before, of any file */
    int rc;
} lister;

/* --- one array ------------------------------------------------------------------------------- */

typedef struct listed {
    const cip_array *array;
    cip_array_storage s;
    const char *name; /* of the column that it is, or NULL */
} listed;

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

static listed look_at(const cip_file *f, const cip_array *a)
{
    listed l = { .array = a, .s = { .size = sizeof l.s }, .name = name_of_column(f, a) };
    cip_array_get_storage(a, &l.s, NULL);
    return l;
}

static void cell_path(FILE *f, const listed *l)
{
    const char *path = cip_array_path(l->array);
    print_escaped(f, path[0] != '\0' ? path : ".");
    if (l->name != NULL) {
        fputs(" (", f);
        print_escaped(f, l->name);
        putc(')', f);
    }
}

static void cell_dtype(FILE *f, const listed *l)
{
    print_escaped(f, cip_dtype_name(cip_array_dtype(l->array)));
}

static void cell_shape(FILE *f, const listed *l)
{
    print_shape(f, cip_array_shape(l->array), cip_array_ndim(l->array));
}

static void cell_chunks(FILE *f, const listed *l)
{
    if (l->s.chunk != NULL)
        print_shape(f, l->s.chunk, cip_array_ndim(l->array));
    else if (isatty(STDOUT_FILENO))
        putc('-', f);
}

static void cell_storage(FILE *f, const listed *l)
{
    fputs(l->s.kind != NULL ? l->s.kind : "-", f);
}

static void cell_codec(FILE *f, const listed *l)
{
    const char *codec = l->s.codec;
    print_escaped(f, codec != NULL && codec[0] != '\0' ? codec : "-"); /* it lies elsewhere */
}

static void cell_bytes(FILE *f, const listed *l)
{
    cip_err err = CIP_ERR_INIT;
    fprintf(f, "%" PRIu64 "%s", l->s.stored_nbytes, l->s.masked ? " masked" : "");
    if (cip_array_state(l->array, &err) == CIP_OK)
        return;
    fprintf(f, " (%s: ", cip_status_name((cip_status)err.code));
    print_words(f, err.text);
    putc(')', f);
}

enum { NCELL = 7, WIDEST = 60 };

static const struct cell {
    const char *head;
    void (*print)(FILE *f, const listed *l);
} cells[NCELL] = {
    { "path", cell_path },          { "dtype", cell_dtype },     { "shape", cell_shape },
    { "chunks", cell_chunks },      { "storage", cell_storage }, { "codec", cell_codec },
    { "stored bytes", cell_bytes },
};

/* Letters that a terminal shows; all of them are taken to be one column wide. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* In a column of that width, with so many blanks between it and the next one. */
static void pad(const char *text, int width, int gap)
{
    const int n = width_of(text);
    printf("%s%*s", text, (n < width ? width - n : 0) + gap, "");
}

/* The text of a cell, which is the caller's; "" without memory. */
static char *cell_text(const listed *l, int i)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (f != NULL) {
        cells[i].print(f, l);
        fclose(f);
    }
    return text != NULL ? text : strdup("");
}

static void widen(const listed *l, int ncell, int *width)
{
    for (int i = 0; i < ncell; i++) {
        char *text = cell_text(l, i);
        const int n = text != NULL ? width_of(text) : 0;
        if (n > width[i] && n < WIDEST)
            width[i] = n;
        free(text);
    }
}

/* For people: columns under each other. */
static void print_row(const listed *l, const int *width)
{
    for (int i = 0; i < NCELL; i++) {
        char *text = cell_text(l, i);
        if (i + 1 < NCELL)
            pad(text != NULL ? text : "", width[i], 2);
        else
            fputs(text != NULL ? text : "", stdout);
        free(text);
    }
    putchar('\n');
}

/* For programs: the first column alone is padded, and what there is not is left out. */
static void print_line(const listed *l, const int *width)
{
    for (int i = 0; i < NCELL; i++) {
        char *text = cell_text(l, i);
        if (text != NULL && text[0] != '\0') {
            fputs(i == 0 ? "" : cells[i].print == cell_chunks ? " chunks " : " ", stdout);
            pad(text, i == 0 ? width[0] : 0, 0);
        }
        free(text);
    }
    putchar('\n');
}

static void print_json(const char *file, const listed *l, bool first)
{
    const cip_array *a = l->array;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_array_state(a, &err);
    fputs(first ? "{\"file\": " : ",\n {\"file\": ", stdout);
    print_json_string(stdout, file);
    fputs(", \"path\": ", stdout);
    print_json_string(stdout, cip_array_path(a));
    if (l->name != NULL) {
        fputs(", \"name\": ", stdout);
        print_json_string(stdout, l->name);
    }
    fputs(", \"dtype\": ", stdout);
    print_json_string(stdout, cip_dtype_name(cip_array_dtype(a)));
    printf(", \"byteorder\": \"%s\", \"shape\": ",
           cip_dtype_is_big(cip_array_dtype(a)) ? "big" : "little");
    print_shape(stdout, cip_array_shape(a), cip_array_ndim(a));
    if (l->s.chunk != NULL) {
        fputs(", \"chunk\": ", stdout);
        print_shape(stdout, l->s.chunk, cip_array_ndim(a));
    }
    fputs(", \"storage\": ", stdout);
    print_json_string(stdout, l->s.kind != NULL ? l->s.kind : "");
    fputs(", \"codec\": ", stdout);
    print_json_string(stdout, l->s.codec != NULL ? l->s.codec : "");
    printf(", \"stored_nbytes\": %" PRIu64 ", \"block\": %" PRId64 ", \"masked\": %s, \"state\": ",
           l->s.stored_nbytes, l->s.block, l->s.masked ? "true" : "false");
    print_json_string(stdout, cip_status_name(st));
    if (st != CIP_OK) {
        fputs(", \"why\": ", stdout);
        print_json_string(stdout, err.text);
    }
    putchar('}');
}

/* --- one file -------------------------------------------------------------------------------- */

typedef void row_fn(const listed *l, const int *width);

static void print_rows(const cip_file *f, bool table)
{
    row_fn *print = table ? print_row : print_line;
    int width[NCELL] = { 1 };
    for (int i = 0; table && i < NCELL; i++)
        width[i] = width_of(cells[i].head);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; pass == 1 && table && i < NCELL; i++)
            if (i + 1 < NCELL)
                pad(cells[i].head, width[i], 2);
            else
                puts(cells[i].head);
        size_t at = 0;
        for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;) {
            const listed l = look_at(f, a);
            if (pass == 0)
                widen(&l, table ? NCELL : 1, width);
            else
                print(&l, width);
        }
    }
}

static void list(lister *ls, const char *path, const cip_file *f, bool several)
{
    if (ls->o->json) {
        size_t at = 0;
        for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;) {
            const listed l = look_at(f, a);
            print_json(path, &l, !ls->any);
            ls->any = true;
        }
    } else {
        if (several) {
            print_escaped(stdout, path);
            puts(":");
        }
        print_rows(f, isatty(STDOUT_FILENO) && cip_file_narray(f) != 0);
    }
    print_warnings(path, f, 0);
}

static void list_file(lister *ls, const char *path)
{
    cip_file *f = open_file(path, ls->o);
    if (f == NULL)
        ls->rc = EXIT_FAILED;
    else
        list(ls, path, f, ls->o->npos > 1);
    cip_file_close(f);
}

/* --- folders --------------------------------------------------------------------------------- */

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* What is of no known format is passed over, and a folder that is none is looked into; links are
 * not followed. */
static void list_below(lister *ls, const char *path, int depth)
{
    enum { DEEPEST = 100 };
    struct stat st;
    struct dirent **entry = NULL;
    cip_limits limits;
    const cip_open_options open = open_options(ls->o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if ((depth == 0 ? stat : lstat)(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return;
    cip_status known = cip_open(path, &open, &f, &err);
    if (known == CIP_OK)
        list(ls, path, f, true);
    cip_file_close(f);
    if (known == CIP_OK || known == CIP_ERR_FORMAT)
        return;
    if (known != CIP_ERR_UNSUPPORTED || !S_ISDIR(st.st_mode)) {
        complain(path, &err);
        ls->rc = EXIT_FAILED;
        return;
    }
    const int n = depth < DEEPEST ? scandir(path, &entry, is_shown, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        const size_t len = strlen(path) + strlen(entry[i]->d_name) + 2;
        char *below = malloc(len);
        if (below != NULL) {
            snprintf(below, len, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                     entry[i]->d_name);
            list_below(ls, below, depth + 1);
        }
        free(below);
        free(entry[i]);
    }
    free(entry);
}

int cmd_ls(const opts *o)
{
    lister ls = { .o = o, .rc = EXIT_FINE };
    fputs(o->json ? "[" : "", stdout);
    for (int i = 0; i < o->npos; i++)
        if (o->recursive)
            list_below(&ls, o->pos[i], 0);
        else
            list_file(&ls, o->pos[i]);
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(ls.rc);
}
