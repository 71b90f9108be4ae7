/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures as PNG files, by libpng: 8 bits of red, green and blue, and of alpha where a pixel is
 * not opaque. */
#include "picture/picture_axes.h"

#if CIP_WITH_PNG
#include <png.h>

typedef struct png_file {
    cip_mem *mem;
    cip_err *err;
    cip_status st;
    cip_write_fn *fn;
    void *user;
} png_file;

/* libpng's own text is of its working, not of the file: no such error comes of our calls. */
static void on_error(png_structp png, png_const_charp text)
{
    png_file *f = png_get_error_ptr(png);
    if (f->st == CIP_OK)
        f->st = cip_fail(f->err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory to encode a PNG (%.80s)",
                         text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void write_piece(png_structp png, png_bytep bytes, png_size_t n)
{
    png_file *f = png_get_io_ptr(png);
    if (f->fn(f->user, bytes, n) == 0)
        return;
    f->st = cip_fail(f->err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    png_error(png, "stopped");
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static png_voidp get(png_structp png, png_alloc_size_t n)
{
    png_file *f = png_get_mem_ptr(png);
    void *p = NULL;
    return cip_mem_get(f->mem, n, &p, NULL) == CIP_OK ? p : NULL;
}

static void put(png_structp png, png_voidp p)
{
    png_file *f = png_get_mem_ptr(png);
    cip_mem_put(f->mem, p);
}

static bool is_opaque(const cip_canvas *c)
{
    for (size_t i = 0, n = (size_t)c->width * c->height; i < n; i++)
        if (c->pixels[4 * i + 3] != 255)
            return false;
    return true;
}

static void write_canvas(png_structp png, png_infop info, const cip_canvas *c)
{
    const bool opaque = is_opaque(c);
    png_set_write_fn(png, png_get_error_ptr(png), write_piece, flush_nothing);
    png_set_IHDR(png, info, c->width, c->height, 8,
                 opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 6);
    png_set_filter(png, 0, PNG_FILTER_NONE); /* few colours, in runs: deflate does it alone */
    png_write_info(png, info);
    if (opaque)
        png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < c->height; y++)
        png_write_row(png, c->pixels + 4 * (size_t)y * c->width);
    png_write_end(png, info);
}

static cip_status encode(const cip_canvas *c, png_file *f)
{
    png_structp png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, f, on_error, on_warning, f, get, put);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    if (info == NULL)
        f->st = cip_fail(f->err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory to encode a PNG");
    else if (setjmp(png_jmpbuf(png)) == 0)
        write_canvas(png, info, c);
    png_destroy_write_struct(&png, &info);
    return f->st;
}

cip_status cip_picture_png(const cip_picture *p, bool axes, cip_write_fn *fn, void *user,
                           cip_err *err)
{
    cip_mem mem;
    cip_canvas c = { 0 };
    if (p == NULL)
        return cip_fail_null(err, "a picture");
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given((const void *)(uintptr_t)fn, "a function", err));
    cip_mem_init(&mem, NULL, p->mem.limit);
    c = (cip_canvas){ p->facts.width, p->facts.height, p->pixels };
    if (axes)
        CIP_TRY(cip_picture_with_axes(p, &mem, &c, err));
    png_file f = { .mem = &mem, .err = err, .fn = fn, .user = user };
    const cip_status st = encode(&c, &f);
    if (axes)
        cip_mem_put(&mem, c.pixels);
    return st;
}
#else
cip_status cip_picture_png(const cip_picture *p, bool axes, cip_write_fn *fn, void *user,
                           cip_err *err)
{
    (void)axes;
    (void)fn;
    (void)user;
    if (p == NULL)
        return cip_fail_null(err, "a picture");
    return cip_fail(cip_err_enter(err), CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "this build has no libpng, which PNG files need");
}
#endif
