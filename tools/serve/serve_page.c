/* SPDX-License-Identifier: BSD-3-Clause
 * The page and its parts, as files of the build in the program. They hold no data. */
#include <string.h>

#include "serve.h"

/* Made by the build. */
#define PART(name)                                                                                 \
    extern const unsigned char name[];                                                             \
    extern const size_t name##_len
PART(serve_page_html);
PART(serve_page_js);
PART(serve_page_css);
PART(serve_uplot_js);
PART(serve_uplot_css);
PART(serve_licence);

static const struct part {
    const char *path, *type;
    const unsigned char *bytes;
    const size_t *nbytes;
} parts[] = {
    { "", "text/html; charset=utf-8", serve_page_html, &serve_page_html_len },
    { "page.js", "text/javascript; charset=utf-8", serve_page_js, &serve_page_js_len },
    { "page.css", "text/css; charset=utf-8", serve_page_css, &serve_page_css_len },
    { "uplot.js", "text/javascript; charset=utf-8", serve_uplot_js, &serve_uplot_js_len },
    { "uplot.css", "text/css; charset=utf-8", serve_uplot_css, &serve_uplot_css_len },
    { "licence.txt", "text/plain; charset=utf-8", serve_licence, &serve_licence_len },
};

void serve_page(serve_call *c)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(c->url.path, parts[i].path) == 0) {
            c->type = parts[i].type;
            serve_write(c, parts[i].bytes, *parts[i].nbytes);
            return;
        }
    serve_refuse(c, 404, "not found", "there is nothing here; the page is at /");
}
