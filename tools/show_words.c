/* SPDX-License-Identifier: BSD-3-Clause
 * What pictures are asked for in words, and what they show as JSON: of `cippus show`, and of the
 * API of `cippus serve`. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "print.h"
#include "show.h"

const char *const show_word_names[SHOW_WORDS] = { "scale", "reduce", "limits", "percentile",
                                                  "bad" };

static const struct {
    const char *words[6];
    const char *expected;
} named[] = {
    [SHOW_SCALE] = { { "linear", "log", "asinh", "sqrt" }, "linear, log, asinh or sqrt" },
    [SHOW_REDUCE] = { { "extremes", "sample", "min", "max", "mean" },
                      "extremes, sample, min, max or mean" },
};

const char *show_word_of(show_word which, unsigned value)
{
    return named[which].words[value];
}

int show_number_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* "A,B" */
static bool parse_pair(const char *text, double *a, double *b)
{
    text = parse_number(text, a);
    text = text != NULL && *text == ',' ? parse_number(text + 1, b) : NULL;
    return text != NULL && *text == '\0';
}

/* "#rrggbb" or "#rrggbbaa" */
static bool parse_colour(const char *text, uint32_t *out)
{
    const size_t n = strlen(text), digits = n > 0 ? strspn(text + 1, "0123456789abcdefABCDEF") : 0;
    if (text[0] != '#' || digits + 1 != n || (digits != 6 && digits != 8))
        return false;
    *out = (uint32_t)strtoul(text + 1, NULL, 16);
    if (digits == 6)
        *out = *out << 8 | 0xff;
    if (*out == 0) /* which would be the default: no less invisible in red */
        *out = 0x01000000;
    return true;
}

const char *show_take_word(show_word which, const char *text, cip_picture_options *p)
{
    const int i =
        text != NULL && which <= SHOW_REDUCE ? show_number_of(text, named[which].words) : 0;
    if (text == NULL)
        return NULL;
    switch (which) {
    case SHOW_SCALE:
        p->scale = (cip_picture_scale)i;
        return i < 0 ? named[which].expected : NULL;
    case SHOW_REDUCE:
        p->reduce = (cip_picture_reduce)i;
        return i < 0 ? named[which].expected : NULL;
    case SHOW_LIMITS:
        p->has_limits = true;
        return parse_pair(text, &p->low, &p->high) ? NULL : "two numbers, as 0,100";
    case SHOW_PERCENTILE:
        return parse_pair(text, &p->low_percentile, &p->high_percentile) &&
                       p->low_percentile < p->high_percentile /* 0,0 would be the default */
                   ? NULL
                   : "two rising numbers, as 1,99";
    case SHOW_BAD:
        p->transparent = strcmp(text, "none") == 0;
        return p->transparent || parse_colour(text, &p->bad) ? NULL
                                                             : "a colour, as '#ff00ff', or none";
    default:
        return NULL;
    }
}

/* --- facts ----------------------------------------------------------------------------------- */

static void print_axis(FILE *out, const char *key, const cip_picture_axis *a)
{
    if (a->n == 0)
        fprintf(out, ", \"%s\": null", key);
    else
        fprintf(out,
                ", \"%s\": {\"axis\": %" PRId32 ", \"n\": %" PRId64 ", \"start\": %" PRId64
                ", \"step\": %" PRId64 ", \"zoom\": %" PRIu32 "}",
                key, a->axis, a->n, a->start, a->step, a->zoom);
}

static void print_pair(FILE *out, const char *key, double low, double high)
{
    fprintf(out, ", \"%s\": [", key);
    print_json_double(out, low);
    fputs(", ", out);
    print_json_double(out, high);
    putc(']', out);
}

/* The smallest and the largest value of the picture. */
static void print_range(FILE *out, const cip_picture_facts *f)
{
    double low = NAN, high = NAN;
    for (size_t i = 0; i < f->nvalue; i++) {
        low = fmin(low, f->values[i]); /* the one that is no NaN */
        high = fmax(high, f->values[i]);
    }
    print_pair(out, "range", low + f->base, high + f->base);
}

void show_facts_json(FILE *out, const cip_picture_facts *f)
{
    fprintf(out, "\"kind\": \"%s\", \"width\": %" PRIu32 ", \"height\": %" PRIu32,
            f->line ? "line" : "image", f->width, f->height);
    print_axis(out, "across", &f->across);
    print_axis(out, "down", &f->down);
    fputs(", \"first_index_of\": [", out);
    for (int32_t i = 0; i < f->nfixed; i++)
        fprintf(out, "%s%" PRId32, i != 0 ? ", " : "", f->fixed[i]);
    putc(']', out);
    print_pair(out, "limits", f->low, f->high);
    print_range(out, f);
    fprintf(out, ", \"scale\": \"%s\", \"map\": \"%s\"", show_word_of(SHOW_SCALE, f->scale),
            f->map);
    if (!f->line)
        fprintf(out, ", \"reduce\": \"%s\"", show_word_of(SHOW_REDUCE, f->reduce));
    fprintf(out,
            ", \"elements\": %" PRIu64 ", \"missing\": %" PRIu64 ", \"infinite\": %" PRIu64
            ", \"whole\": %s, \"nbytes\": %" PRIu64,
            f->nelem, f->nmissing, f->ninf, f->whole ? "true" : "false", f->nbytes);
}
