/* SPDX-License-Identifier: BSD-3-Clause
 * cippus ls: a line for each array, on terminals as a table with a header; of files, or with
 * --recursive of all that lies in folders. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "folders.h"
#include "listed.h"
#include "print.h"

typedef struct lister {
    const opts *o;
    bool any;     /* in JSON: an array was printed before, of any file */
    bool several; /* each file is named */
    int rc;
} lister;

/* --- one array ------------------------------------------------------------------------------- */

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
    listed_print_stored(f, l, "-");
}

static void cell_ratio(FILE *f, const listed *l)
{
    const double ratio = listed_ratio(l);
    if (ratio != 0)
        fprintf(f, "%.*f", ratio < 100 ? 2 : 0, ratio);
    else
        putc('-', f);
}

/* What is out of the ordinary. */
static void cell_notes(FILE *f, const listed *l)
{
    const char *between = l->s.masked ? "; " : "";
    fputs(l->s.masked ? "masked" : "", f);
    if (l->err.code != CIP_OK) {
        fputs(between, f);
        print_words(f, l->err.text);
    }
    if (l->missing != 0)
        fprintf(f, "%s%" PRIu64 " chunk%s missing", between, l->missing,
                l->missing == 1 ? "" : "s");
}

/* All that a line for programs has behind the codec. */
static void cell_rest(FILE *f, const listed *l)
{
    listed_print_stored(f, l, "-");
    fputs(l->s.masked ? " masked" : "", f);
    if (l->err.code != CIP_OK) {
        fputs(" (", f);
        print_words(f, l->err.text);
        putc(')', f);
    }
    if (l->missing != 0)
        fprintf(f, " (%" PRIu64 " chunk%s missing)", l->missing, l->missing == 1 ? "" : "s");
}

enum { PATH, DTYPE, SHAPE, CHUNKS, STORAGE, CODEC, STORED, RATIO, NOTES, NCELL };

static const struct cell {
    const char *head;
    void (*print)(FILE *f, const listed *l);
} cells[NCELL] = {
    [PATH] = { "path", listed_print_path },  [DTYPE] = { "dtype", cell_dtype },
    [SHAPE] = { "shape", cell_shape },       [CHUNKS] = { "chunks", cell_chunks },
    [STORAGE] = { "storage", cell_storage }, [CODEC] = { "codec", cell_codec },
    [STORED] = { "stored", cell_bytes },     [RATIO] = { "ratio", cell_ratio },
    [NOTES] = { "notes", cell_notes },
};

/* Letters that a terminal shows; all of them are taken to be one column wide. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* In a column of that width; what is longer ends in "...". */
static void pad(const char *text, int width)
{
    const int n = width_of(text);
    int left = n > width ? width - 3 : n;
    size_t end = 0;
    for (; text[end] != '\0'; end++) {
        left -= ((unsigned char)text[end] & 0xc0) != 0x80;
        if (left < 0)
            break;
    }
    printf("%.*s%*s", (int)end, text, n < width ? width - n : 0, "");
    fputs(n > width ? "..." : "", stdout);
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
        if (n > width[i])
            width[i] = n;
        free(text);
    }
}

/* Narrows the types, then the notes, until the table fits; then leaves columns out. */
static void fit(int *width)
{
    static const int least[NCELL] = { [DTYPE] = 16, [NOTES] = 24 };
    static const int order[] = { DTYPE, NOTES, STORAGE, CHUNKS, CODEC, RATIO };
    int over = -2 - terminal_width();
    for (int i = 0; i < NCELL; i++)
        over += width[i] != 0 ? width[i] + 2 : 0;
    for (size_t i = 0; i < sizeof order / sizeof *order && over > 0; i++) {
        int *w = &width[order[i]];
        const int most = *w - least[order[i]],
                  less = least[order[i]] == 0 || over > most ? most : over;
        if (less > 0) {
            *w -= less;
            over -= less + (*w == 0 ? 2 : 0);
        }
    }
}

/* https://no-color.org */
static bool has_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no == NULL || no[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0 &&
           isatty(STDOUT_FILENO);
}

static void print_in(const char *colour, const char *text, int width)
{
    const bool coloured = colour != NULL && has_colour();
    fputs(coloured ? colour : "", stdout);
    pad(text, width);
    fputs(coloured ? "\x1b[0m" : "", stdout);
}

static const char bold[] = "\x1b[1m", red[] = "\x1b[31m";

/* One cell of the table: numbers end at the right, and nothing follows the last one. */
static void print_cell(int i, const char *text, const char *colour, const int *width)
{
    const int n = width_of(text);
    if (width[i] == 0 || (i == NOTES && n == 0))
        return;
    if (i == STORED || i == RATIO)
        printf("  %*s", n < width[i] ? width[i] - n : 0, "");
    else
        fputs(i == 0 ? "" : "  ", stdout);
    print_in(colour, text, i < STORED || n > width[i] ? width[i] : n);
}

/* For people: columns under each other. */
static void print_row(const listed *l, const int *width)
{
    for (int i = 0; i < NCELL; i++) {
        char *text = cell_text(l, i);
        print_cell(i, text != NULL ? text : "",
                   i == NOTES && l->err.code + l->missing != 0 ? red : NULL, width);
        free(text);
    }
    putchar('\n');
}

static void print_head(const int *width)
{
    for (int i = 0; i < NCELL; i++)
        print_cell(i, cells[i].head, bold, width);
    putchar('\n');
}

/* For programs: the first column alone is padded, and what there is not is left out. */
static void print_line(const listed *l, const int *width)
{
    for (int i = 0; i < STORED; i++) {
        char *text = cell_text(l, i);
        if (text != NULL && text[0] != '\0') {
            fputs(i == 0 ? "" : cells[i].print == cell_chunks ? " chunks " : " ", stdout);
            pad(text, i == 0 ? width[0] : width_of(text));
        }
        free(text);
    }
    putchar(' ');
    cell_rest(stdout, l);
    putchar('\n');
}

static void print_tsv(const char *file, const listed *l)
{
    print_escaped(stdout, file);
    putchar('\t');
    print_escaped(stdout, cip_array_path(l->array)[0] != '\0' ? cip_array_path(l->array) : ".");
    putchar('\t');
    print_escaped(stdout, l->name != NULL ? l->name : "");
    for (int i = DTYPE; i < STORED; i++) {
        putchar('\t');
        if (i != CHUNKS || l->s.chunk != NULL)
            cells[i].print(stdout, l);
    }
    putchar('\t');
    listed_print_stored(stdout, l, "-");
    printf("\t%" PRIu64 "\t", l->decoded);
    cell_ratio(stdout, l);
    putchar('\t');
    cell_notes(stdout, l);
    putchar('\n');
}

/* --- one file -------------------------------------------------------------------------------- */

static void print_rows(lister *ls, const char *path, const cip_file *f, bool table)
{
    int width[NCELL] = { 1 };
    for (int i = 0; table && i < NOTES; i++)
        width[i] = width_of(cells[i].head);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && table) {
            fit(width);
            print_head(width);
        }
        size_t at = 0;
        for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;) {
            listed l;
            listed_look(path, f, a, &l);
            if (pass == 0)
                widen(&l, table ? NCELL : 1, width);
            else
                (table ? print_row : print_line)(&l, width);
            if (listed_lacks_files(&l) && ls->rc == EXIT_FINE)
                ls->rc = EXIT_FINDINGS;
        }
    }
}

/* As JSON or tsv. */
static void print_records(lister *ls, const char *path, const cip_file *f)
{
    size_t at = 0;
    for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;) {
        listed l;
        listed_look(path, f, a, &l);
        if (ls->o->json) {
            fputs(ls->any ? ",\n " : "", stdout);
            listed_print_json(stdout, path, &l);
        } else {
            print_tsv(path, &l);
        }
        ls->any = true;
        if (listed_lacks_files(&l) && ls->rc == EXIT_FINE)
            ls->rc = EXIT_FINDINGS;
    }
}

/* For completion in shells: the path of each array, and those of its fields. */
static void print_fields(const char *path, const cip_dtype *d, int depth)
{
    enum { DEEPEST = 8 };
    print_escaped(stdout, path[0] != '\0' ? path : ".");
    putchar('\n');
    for (size_t i = 0; depth < DEEPEST && i < cip_dtype_nfield(d); i++) {
        const cip_field *field = cip_dtype_field(d, i);
        char *below = NULL;
        if (asprintf(&below, "%s%s%s", path, path[0] != '\0' ? "/" : "", field->name) < 0)
            continue;
        if (strpbrk(below, "\n\r") == NULL) /* no line could show it */
            print_fields(below, field->dtype, depth + 1);
        free(below);
    }
}

static void print_paths(const cip_file *f)
{
    size_t at = 0;
    for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;)
        if (strpbrk(cip_array_path(a), "\n\r") == NULL)
            print_fields(cip_array_path(a), cip_array_dtype(a), 0);
}

/* A walk_fn. */
static void list(void *user, const char *path, const cip_file *f, const cip_err *err)
{
    lister *ls = user;
    if (f == NULL) {
        complain(path, err);
        ls->rc = EXIT_FAILED;
        return;
    }
    if (ls->o->only_paths) {
        print_paths(f);
    } else if (ls->o->json || ls->o->tsv) {
        print_records(ls, path, f);
    } else {
        if (ls->several) {
            print_escaped(stdout, path);
            puts(":");
        }
        print_rows(ls, path, f, isatty(STDOUT_FILENO) && cip_file_narray(f) != 0);
    }
    print_warnings(path, f, 0);
}

int cmd_ls(const opts *o)
{
    lister ls = { .o = o, .rc = EXIT_FINE };
    if (o->json + o->tsv + o->only_paths > 1) {
        fputs("cippus: --json, --tsv and --paths cannot be combined\n", stderr);
        return EXIT_USAGE;
    }
    fputs(o->json ? "[" : "", stdout);
    if (o->tsv)
        puts(
            "file\tpath\tname\tdtype\tshape\tchunk\tstorage\tcodec\tstored_nbytes\tdecoded_nbytes\t"
            "ratio\tnotes");
    for (int i = 0; i < o->npos; i++) {
        ls.several = o->npos > 1 || o->recursive || is_plain_folder(o, o->pos[i]);
        const int rc = walk_files(o, o->pos[i], list, &ls);
        ls.rc = rc > ls.rc ? rc : ls.rc;
    }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(ls.rc);
}
