/* SPDX-License-Identifier: BSD-3-Clause
 * What this build has: formats and codecs by name, and the library's version. */
#include <string.h>

#include "cippus/version.h"
#include "codec/with.h"
#include "core/handle.h"
#include "io/remote/url.h"
#include "tree/msgpack.h"

#if CIP_WITH_PNG
#include <png.h>
#endif

static const cip_format_kind *kind_of(const cip_format *f, const char *name)
{
    for (const cip_format_kind *k = f->kinds; name != NULL && k != NULL && k->name != NULL; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

const cip_format *cip_format_find(const char *name)
{
    for (size_t i = 0; cip_formats[i] != NULL; i++)
        if (strcmp(cip_formats[i]->name, name) == 0 || kind_of(cip_formats[i], name) != NULL)
            return cip_formats[i];
    return NULL;
}

/* What follows the last dot of the name, or (`two`) the one before it. NULL: there is none. */
static const char *extension_of(const char *path, bool two)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *end = dot;
    while (two && dot != NULL && dot != name && *--dot != '.')
        ;
    if (dot == NULL || dot[1] == '\0' || (two && (dot == end || *dot != '.')))
        return NULL;
    return dot + 1;
}

const cip_format *cip_format_of_name(const char *path)
{
    for (int n = 2; n != 0; n--) {
        const char *extension = extension_of(path, n == 2);
        for (size_t i = 0; extension != NULL && cip_formats[i] != NULL; i++)
            if (cip_is_word_of(cip_formats[i]->extensions, extension, strlen(extension)))
                return cip_formats[i];
    }
    return NULL;
}

/* A kind "NAME.EXTENSION" is what a file with that extension is, when `name` is asked for. */
static const cip_format_kind *kind_by_both(const cip_format *f, const char *name, const char *path)
{
    const char *extension = path != NULL ? extension_of(path, false) : NULL;
    const size_t n = strlen(name);
    for (const cip_format_kind *k = f->kinds; extension != NULL && k != NULL && k->name != NULL;
         k++)
        if (strncmp(k->name, name, n) == 0 && k->name[n] == '.' &&
            strcmp(k->name + n + 1, extension) == 0)
            return k;
    return NULL;
}

const cip_format *cip_format_to_write(const char *name, const char *path, const char **kind)
{
    const cip_format *f = name != NULL ? cip_format_find(name) : cip_format_of_name(path);
    const cip_format_kind *k = NULL;
    if (f != NULL && name != NULL) {
        k = kind_by_both(f, name, path);
        k = k != NULL ? k : kind_of(f, name);
    } else if (f != NULL) {
        k = kind_of(f, extension_of(path, true));
        k = k != NULL ? k : kind_of(f, extension_of(path, false));
    }
    *kind = k != NULL ? k->name : NULL;
    return f;
}

static cip_status left_out(const cip_format_absent *f, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "this build does not include the format %s", f->title);
}

/* Names of kinds of files begin with the format's, or are extensions. */
cip_status cip_format_check_name(const char *name, const char *path, cip_err *err)
{
    const char *word = name != NULL ? name : extension_of(path, false);
    const char *both = name != NULL ? NULL : extension_of(path, true);
    for (const cip_format_absent *f = cip_formats_absent; word != NULL && f->name != NULL; f++)
        if (cip_is_word_of(f->extensions, word, strlen(word)) ||
            (both != NULL && cip_is_word_of(f->extensions, both, strlen(both))) ||
            (name != NULL && strncmp(name, f->name, strlen(f->name)) == 0))
            return left_out(f, err);
    return CIP_OK;
}

cip_status cip_format_check_file(cip_io *io, cip_bytes head, cip_err *err)
{
    for (const cip_format_absent *f = cip_formats_absent; f->name != NULL; f++) {
        cip_io *member = NULL;
        for (const cip_format_mark *m = f->mark; m->bytes != NULL; m++)
            if (head.len >= m->len && memcmp(head.ptr, m->bytes, m->len) == 0)
                return left_out(f, err);
        for (const char *const *name = f->member; cip_io_is_folder(io) && *name != NULL; name++)
            if (cip_io_open_beneath(io, *name, 0, &member, NULL) == CIP_OK) {
                cip_io_close(member);
                return left_out(f, err);
            }
    }
    return CIP_OK;
}

const char *cip_format_of_path(const char *path, bool *folder)
{
    const cip_format *f = path != NULL ? cip_format_of_name(path) : NULL;
    const char *extension = f != NULL ? extension_of(path, false) : NULL;
    if (folder != NULL)
        *folder =
            extension != NULL && cip_is_word_of(f->folder_extensions, extension, strlen(extension));
    return f != NULL ? f->name : NULL;
}

/* Behind each format the kinds of its files; behind all those that were left out. */
const char *cip_format_at(size_t i, const char **title, const char **caps)
{
    for (size_t k = 0; cip_formats[k] != NULL; k++) {
        if (i-- == 0) {
            if (title != NULL)
                *title = cip_formats[k]->title;
            if (caps != NULL)
                *caps = cip_formats[k]->store != NULL ? "read verify write" : "read verify";
            return cip_formats[k]->name;
        }
        for (const cip_format_kind *kind = cip_formats[k]->kinds;
             kind != NULL && kind->name != NULL; kind++) {
            if (i-- != 0)
                continue;
            if (title != NULL)
                *title = kind->title;
            if (caps != NULL)
                *caps = "write";
            return kind->name;
        }
    }
    for (const cip_format_absent *f = cip_formats_absent; f->name != NULL; f++) {
        if (i-- != 0)
            continue;
        if (title != NULL)
            *title = f->title;
        if (caps != NULL)
            *caps = "";
        return f->name;
    }
    return NULL;
}

const char *cip_format_option_at(const char *format, size_t i, const char **help)
{
    const cip_format *f = format != NULL ? cip_format_find(format) : NULL;
    const cip_format_option *o = f != NULL ? f->options : NULL;
    for (; i != 0 && o != NULL && o->key != NULL; i--)
        o++;
    if (o == NULL || o->key == NULL)
        return NULL;
    if (help != NULL)
        *help = o->help;
    return o->key;
}

const char *cip_codec_at(size_t i, bool *available, const char **version)
{
    const char *text = "";
    const cip_codec *c = cip_codec_row(i, &text);
    if (c == NULL && (i == 0 || cip_codec_row(i - 1, &text) == NULL))
        return NULL;
    /* The row behind the codecs is a library that a build may be without as well. */
    text = c != NULL ? text : cip_msgpack_version();
    if (available != NULL)
        *available = c != NULL ? cip_codec_available(c) : text[0] != '\0';
    if (version != NULL)
        *version = text;
    return c != NULL ? c->name : "msgpack";
}

const char *cip_library_at(size_t i, bool *available, const char **version)
{
    const char *const curl = i == 0 ? cip_url_library() : NULL;
    const struct {
        const char *name, *version; /* NULL: not in this build */
    } row[] = {
        { "libcurl", curl },
#if CIP_WITH_PNG
        { "libpng", png_get_libpng_ver(NULL) },
#else
        { "libpng", NULL },
#endif
        { "libaec", CIP_WITH_AEC ? "" : NULL }, /* which does not tell its version */
    };
    if (i >= sizeof row / sizeof *row)
        return NULL;
    if (available != NULL)
        *available = row[i].version != NULL;
    if (version != NULL)
        *version = row[i].version != NULL ? row[i].version : "";
    return row[i].name;
}

const char *cip_version(void)
{
    return CIP_VERSION_STRING;
}

int cip_version_number(void)
{
    return CIP_VERSION_NUM;
}
