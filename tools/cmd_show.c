/* SPDX-License-Identifier: BSD-3-Clause
 * cippus show: an array as a picture, in the terminal or as a PNG file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "commands.h"
#include "input.h"
#include "printed.h"
#include "print.h"
#include "show.h"

/* --- options --------------------------------------------------------------------------------- */

static int wrong(const char *option, const char *expected, const char *found)
{
    fprintf(stderr, "cippus: --%s: expected %s, found '", option, expected);
    print_escaped(stderr, found);
    fputs("'; see 'cippus show --help'\n", stderr);
    return EXIT_USAGE;
}

static int take_options(const opts *o, cip_picture_options *p)
{
    const char *const word[SHOW_WORDS] = { [SHOW_SCALE] = o->scale,
                                           [SHOW_REDUCE] = o->reduce,
                                           [SHOW_LIMITS] = o->limits,
                                           [SHOW_PERCENTILE] = o->percentile,
                                           [SHOW_BAD] = o->bad };
    *p = (cip_picture_options){ .size = sizeof *p, .map = o->map, .max_nbytes = o->max_nbytes };
    p->max_width = o->width;
    p->max_height = o->height;
    p->zoom = o->zoom;
    for (int i = 0; i < SHOW_WORDS; i++) {
        const char *expected = show_take_word((show_word)i, word[i], p);
        if (expected != NULL)
            return wrong(show_word_names[i], expected, word[i]);
    }
    if (o->limits != NULL && o->percentile != NULL) {
        fputs("cippus: --limits cannot be combined with --percentile; see 'cippus show --help'\n",
              stderr);
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

/* --- facts ----------------------------------------------------------------------------------- */

static void print_json(const opts *o, const target *t, const cip_picture_facts *f)
{
    fputs("{\"file\": ", stdout);
    print_json_string(stdout, o->pos[0]);
    fputs(", \"path\": ", stdout);
    print_json_string(stdout, cip_array_path(t->array));
    fputs(", \"field\": ", stdout);
    print_json_string(stdout, t->args.field);
    fputs(", ", stdout);
    show_facts_json(stdout, f);
    fputs("}\n", stdout);
}

static uint64_t step_of(const cip_picture_axis *a)
{
    return a->step < 0 ? 0 - (uint64_t)a->step : (uint64_t)a->step;
}

/* In as many digits as it takes for the limits to differ. */
static void print_limits(double low, double high)
{
    char a[32], b[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(a, sizeof a, "%.*g", digits, low);
        snprintf(b, sizeof b, "%.*g", digits, high);
        if (!(low < high) || strcmp(a, b) != 0)
            break;
    }
    printf("%s to %s", a, b);
}

/* The line below a picture in the terminal. */
static void print_facts(const cip_picture_facts *f)
{
    print_limits(f->low, f->high);
    printf(", %s", show_word_of(SHOW_SCALE, f->scale));
    if (!f->line)
        printf(", %s", f->map);
    if (f->nmissing != 0)
        printf(", %" PRIu64 " missing", f->nmissing);
    if (f->ninf != 0)
        printf(", %" PRIu64 " infinite", f->ninf);
    if (f->line && step_of(&f->across) != 1)
        printf(", steps of %" PRIu64, step_of(&f->across));
    else if (!f->line && (step_of(&f->across) != 1 || step_of(&f->down) != 1))
        printf(", %s, steps of %" PRIu64 " rows and %" PRIu64 " columns",
               show_word_of(SHOW_REDUCE, f->reduce), step_of(&f->down), step_of(&f->across));
    putchar('\n');
}

/* Axes of which only the first index is shown. */
static void note_fixed(const opts *o, const target *t, const cip_picture_facts *f)
{
    const int64_t *shape = cip_array_shape(t->array);
    const int ndim = cip_array_ndim(t->array);
    for (int32_t i = 0; i < f->nfixed; i++) {
        fputs("cippus: note: ", stderr);
        print_escaped(stderr, o->pos[0]);
        fprintf(stderr, ": index 0 of axis %" PRId32 " is shown", f->fixed[i]);
        if (f->fixed[i] < ndim && !o->column_major)
            fprintf(stderr, " (it has %" PRId64 ")", shape[f->fixed[i]]);
        fputs("; name another in SLICE\n", stderr);
    }
}

/* --- pictures -------------------------------------------------------------------------------- */

typedef enum way { WAY_AUTO, WAY_BLOCKS, WAY_KITTY, WAY_ASCII, WAY_PNG, WAY_FACTS } way;

static bool has_text(const char *variable, const char *part)
{
    const char *value = getenv(variable);
    return value != NULL && strstr(value, part) != NULL;
}

/* What the terminal can do, as it says itself; letters where there is none. */
static way way_of(const opts *o)
{
    static const char *const ways[] = { "auto", "blocks", "kitty", "ascii", NULL };
    const int chosen = o->shown_as != NULL ? show_number_of(o->shown_as, ways) : -1;
    const way w = chosen >= 0 ? (way)chosen : WAY_AUTO;
    if (o->out != NULL)
        return WAY_PNG;
    if (o->json)
        return WAY_FACTS;
    if (w != WAY_AUTO)
        return w;
    if (!isatty(STDOUT_FILENO) || has_text("TERM", "dumb"))
        return WAY_ASCII;
    if (has_text("TERM", "kitty") || has_text("TERM", "ghostty") ||
        getenv("KITTY_WINDOW_ID") != NULL)
        return WAY_KITTY;
    return WAY_BLOCKS;
}

/* Columns that the numbers of rows, or values of a line, take. */
static int margin_of(const opts *o, const target *t)
{
    char text[24];
    int64_t shape[CIP_MAX_NDIM];
    int ndim = 0, most = 12;
    if (o->no_axes)
        return 0;
    if (cip_read_shape(t->array, &t->args, &ndim, shape, NULL, NULL) == CIP_OK && ndim > 1) {
        most = 4;
        for (int i = 0; i < cip_array_ndim(t->array); i++) {
            const int n = snprintf(text, sizeof text, "%" PRId64, cip_array_shape(t->array)[i]) + 1;
            most = n > most ? n : most;
        }
    }
    return most;
}

/* Pixels of a side, as many as a picture may have. */
static uint32_t at_most(uint32_t n)
{
    return n < 16384 ? n : 16384;
}

static bool is_map(const char *name, size_t n)
{
    for (size_t i = 0; cip_picture_map(i) != NULL; i++)
        if (strlen(cip_picture_map(i)) == n && memcmp(cip_picture_map(i), name, n) == 0)
            return true;
    return false;
}

/* In letters only light and dark are left of a map. Unknown ones stay, and are refused. */
static const char *grey_as(const char *map)
{
    const size_t n = map != NULL ? strlen(map) : 0;
    const bool reverse = n > 2 && strcmp(map + n - 2, "_r") == 0;
    if (map != NULL && !is_map(map, reverse ? n - 2 : n))
        return map;
    return reverse ? "gray_r" : "gray";
}

/* Pixels for a terminal: two in a letter's height, with room for what is printed around them. */
static void fit(const opts *o, way w, int margin, cip_picture_options *p)
{
    const int columns = o->width != 0 ? (int)o->width : terminal_width();
    const int lines = o->height != 0 ? (int)o->height : terminal_height() - (margin != 0 ? 3 : 2);
    if (w == WAY_KITTY) {
        p->max_width = at_most((uint32_t)columns * 8);
        p->max_height = at_most((uint32_t)lines * 16);
        return;
    }
    p->max_width = columns > margin + 8 ? (uint32_t)(columns - margin) : 8;
    p->max_height = at_most((uint32_t)lines * 2);
    p->background = w == WAY_ASCII ? 0x000000ff : 0x101010ff;
    p->line = w == WAY_ASCII ? 0xffffffff : 0x6fb7ffff;
    if (w == WAY_ASCII) {
        p->map = grey_as(p->map);
        p->bad = 0x010203ff; /* no grey */
    }
}

static int print_picture(const opts *o, const target *t, way w, int margin, const cip_picture *p,
                         const cip_picture_facts *f)
{
    cip_err err = CIP_ERR_INIT;
    const shown s = { .picture = p,
                      .facts = f,
                      .ascii = w == WAY_ASCII,
                      .margin = margin,
                      .full_colour = has_text("COLORTERM", "truecolor") ||
                                     has_text("COLORTERM", "24bit") || !isatty(STDOUT_FILENO) };
    cip_status st = CIP_OK;
    if (w == WAY_PNG)
        st = cip_picture_png(p, !o->no_axes, write_stdout, NULL, &err);
    else if (w == WAY_KITTY)
        st = show_kitty(p, !o->no_axes, &err);
    else if (w != WAY_FACTS)
        show_text(&s);
    if (st != CIP_OK)
        return complain(o->pos[0], &err);
    if (w == WAY_FACTS)
        print_json(o, t, f);
    else if (w != WAY_PNG)
        print_facts(f);
    return EXIT_FINE;
}

static int show_target(const opts *o, way w, const target *t)
{
    cip_read_args args = t->args;
    cip_picture_options p;
    cip_picture *made = NULL;
    cip_picture_facts f = { .size = sizeof f };
    cip_err err = CIP_ERR_INIT;
    int rc = take_options(o, &p);
    if (rc != EXIT_FINE)
        return rc;
    args.dtype = NULL; /* that of raw input, of which the array is */
    args.overflow = CIP_OVERFLOW_ERROR;
    const int margin = w == WAY_ASCII || w == WAY_BLOCKS ? margin_of(o, t) : 0;
    if (w != WAY_PNG && w != WAY_FACTS)
        fit(o, w, margin, &p);
    const cip_status st = cip_picture_make(t->array, &args, &p, &made, &err);
    hide_progress(o->bar);
    if (st == CIP_OK && cip_picture_get(made, &f, &err) == CIP_OK) {
        note_fixed(o, t, &f);
        rc = print_picture(o, t, w, margin, made, &f);
    } else {
        rc = cat_failed(t, o, &err);
    }
    cip_picture_free(made);
    return rc;
}

int show_preview(const opts *o, const target *t)
{
    return show_target(o, way_of(o), t);
}

static int show(const opts *o, way w)
{
    target t;
    int rc = EXIT_FINE;
    if (o->dtype != NULL && input_kind_of(o, o->pos[0]) == INPUT_KNOWN) {
        fputs("cippus: --dtype is for raw input; see 'cippus show --help --all'\n", stderr);
        return EXIT_USAGE;
    }
    rc = target_open(o, false, &t);
    if (rc != EXIT_FINE)
        return rc;
    rc = show_target(o, w, &t);
    target_close(&t);
    return rc;
}

int cmd_show(const opts *o)
{
    const way w = way_of(o);
    const char *out = o->out != NULL ? o->out : "-";
    const size_t n = strlen(out);
    if (o->out != NULL && strcmp(out, "-") != 0 && strncmp(out, "/dev/", 5) != 0 &&
        (n < 4 || strcasecmp(out + n - 4, ".png") != 0))
        return wrong("output", "a name that ends in .png", out);
    if (o->out != NULL && o->json) {
        fputs("cippus: --json cannot be combined with -o; see 'cippus show --help'\n", stderr);
        return EXIT_USAGE;
    }
    if (refuse_terminal(o->out != NULL && strcmp(out, "-") == 0))
        return EXIT_USAGE;
    const int rc = output_begin(o, out);
    return rc == EXIT_FINE ? output_end(o, out, show(o, w)) : rc;
}
