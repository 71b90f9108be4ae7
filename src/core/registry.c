/* SPDX-License-Identifier: BSD-3-Clause
 * What this build has: formats and codecs by name, and the library's version. */
#include <string.h>

#include "cippus/version.h"
#include "core/handle.h"
#include "tree/msgpack.h"

const cip_format *cip_format_find(const char *name)
{
    for (size_t i = 0; cip_formats[i] != NULL; i++)
        if (strcmp(cip_formats[i]->name, name) == 0)
            return cip_formats[i];
    return NULL;
}

const cip_format *cip_format_of_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    if (dot == NULL || dot[1] == '\0')
        return NULL;
    for (size_t i = 0; cip_formats[i] != NULL; i++)
        if (cip_is_word_of(cip_formats[i]->extensions, dot + 1, strlen(dot + 1)))
            return cip_formats[i];
    return NULL;
}

const char *cip_format_at(size_t i, const char **title, const char **caps)
{
    for (size_t k = 0; k <= i; k++)
        if (cip_formats[k] == NULL)
            return NULL;
    if (title != NULL)
        *title = cip_formats[i]->title;
    if (caps != NULL)
        *caps = cip_formats[i]->store != NULL ? "read verify write" : "read verify";
    return cip_formats[i]->name;
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

/* No codec, but a library that a build may be without as well: the row behind the codecs. */
static const char *msgpack_row(bool *available, const char **version)
{
    if (available != NULL)
        *available = cip_msgpack_version()[0] != '\0';
    if (version != NULL)
        *version = cip_msgpack_version();
    return "msgpack";
}

const char *cip_codec_name_at(size_t i, bool *available, const char **version)
{
    const char *text = "";
    const cip_codec *c = cip_codec_at(i, &text);
    if (c == NULL)
        return i > 0 && cip_codec_at(i - 1, &text) != NULL ? msgpack_row(available, version) : NULL;
    if (available != NULL)
        *available = cip_codec_available(c);
    if (version != NULL)
        *version = text;
    return c->name;
}

const char *cip_version(void)
{
    return CIP_VERSION_STRING;
}
