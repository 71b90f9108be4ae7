/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures over HTTP: what `cippus show` draws, as PNG, as pixels, or as the values of its places.
 */
#include <stdlib.h>
#include <string.h>

#include "../print.h"
#include "../show.h"
#include "serve.h"

enum { STOPS = 16 }; /* colours of a map that the facts list */

/* One of 32 bits; 0 where it is not given. */
static bool take_side(serve_call *c, const char *key, uint32_t *out)
{
    uint64_t n;
    const bool good = serve_take_number(c, key, 0, UINT32_MAX, &n);
    *out = good ? (uint32_t)n : 0;
    return good;
}

static bool take_options(serve_call *c, cip_picture_options *p)
{
    *p = (cip_picture_options){ .size = sizeof *p, .map = serve_url_get(&c->url, "map") };
    const char *most = serve_url_get(&c->url, "max_nbytes");
    for (int i = 0; i < SHOW_WORDS; i++) {
        const char *expected =
            show_take_word((show_word)i, serve_url_get(&c->url, show_word_names[i]), p);
        if (expected != NULL) {
            serve_refuse_argument(c, show_word_names[i], expected);
            return false;
        }
    }
    if (p->has_limits && serve_url_get(&c->url, show_word_names[SHOW_PERCENTILE]) != NULL) {
        serve_refuse_argument(c, "percentile", "no limits beside it");
        return false;
    }
    if (most != NULL && !serve_number(most, &p->max_nbytes)) {
        serve_refuse_argument(c, "max_nbytes", "a number");
        return false;
    }
    return take_side(c, "width", &p->max_width) && take_side(c, "height", &p->max_height) &&
           take_side(c, "zoom", &p->zoom);
}

/* As `cippus show --json`, and what it takes to draw the values with the same colours. */
static void print_facts(FILE *out, const cip_picture_facts *f)
{
    putc('{', out);
    show_facts_json(out, f);
    fputs(", \"base\": ", out);
    print_json_double(out, f->base);
    fputs(", \"colours\": [", out);
    for (int i = 0; i < STOPS; i++) {
        const uint8_t *c = f->colours + 4 * (i * 255 / (STOPS - 1));
        fprintf(out, "%s\"#%02x%02x%02x\"", i != 0 ? ", " : "", c[0], c[1], c[2]);
    }
    fputs("]}", out);
}

static void add_facts_header(serve_call *c, const cip_picture_facts *f)
{
    char *text = NULL;
    size_t n;
    FILE *words = open_memstream(&text, &n);
    if (words == NULL)
        return;
    print_facts(words, f);
    fclose(words);
    serve_header(c, "X-Cippus-Picture", text);
    free(text);
}

/* Little-endian, on whatever machine. */
static void write_values(serve_call *c, const cip_picture_facts *f)
{
    for (size_t i = 0; i < f->nvalue; i++) {
        uint64_t v;
        uint8_t bytes[8];
        memcpy(&v, &f->values[i], sizeof v);
        for (int k = 0; k < 8; k++)
            bytes[k] = (uint8_t)(v >> 8 * k);
        serve_write(c, bytes, sizeof bytes);
    }
}

static void send_picture(serve_call *c, const char *as, const cip_picture *p,
                         const cip_picture_facts *f)
{
    cip_err err = CIP_ERR_INIT;
    c->type = "application/octet-stream";
    if (strcmp(as, "json") == 0) {
        c->type = "application/json";
        print_facts(c->out, f);
        putc('\n', c->out);
        return;
    }
    if (strcmp(as, "pixels") == 0) {
        serve_write(c, f->pixels, 4 * (size_t)f->width * f->height);
    } else if (strcmp(as, "values") == 0) {
        write_values(c, f);
    } else {
        const char *axes = serve_url_get(&c->url, "axes");
        c->type = "image/png";
        if (cip_picture_png(p, axes != NULL && strcmp(axes, "0") != 0, serve_write, c, &err) !=
            CIP_OK) {
            fflush(c->out);
            serve_failed(c, &err);
            return;
        }
    }
    add_facts_header(c, f);
}

void serve_picture(serve_call *c, const cip_array *array, const cip_read_args *args)
{
    static const char *const forms[] = { "png", "pixels", "values", "json" };
    const char *as = serve_url_get(&c->url, "as");
    cip_picture_options options;
    cip_picture *p = NULL;
    cip_picture_facts f = { .size = sizeof f };
    cip_err err = CIP_ERR_INIT;
    size_t i = 0;
    as = as != NULL ? as : forms[0];
    while (i < sizeof forms / sizeof *forms && strcmp(as, forms[i]) != 0)
        i++;
    if (i == sizeof forms / sizeof *forms) {
        serve_refuse_argument(c, "as", "png, pixels, values or json");
        return;
    }
    if (!take_options(c, &options))
        return;
    if (cip_picture_make(array, args, &options, &p, &err) == CIP_OK &&
        cip_picture_get(p, &f, &err) == CIP_OK)
        send_picture(c, as, p, &f);
    else
        serve_failed(c, &err);
    cip_picture_free(p);
}
