/* SPDX-License-Identifier: BSD-3-Clause
 * YAML text on its way to libyaml: checked first, directives that libyaml would stumble over made
 * comments on the way, and its marks, which count code points, turned into bytes. */
#ifndef CIP_TREE_YAML_SOURCE_H
#define CIP_TREE_YAML_SOURCE_H

#include "base/buffer.h"
#include "tree/yaml.h"

typedef struct cip_yaml_source {
    cip_env *env;
    const char *part; /* in errors and warnings */
    bool quiet;
    cip_bytes text;             /* without a byte order mark */
    uint64_t skipped;           /* bytes of that mark */
    uint64_t base;              /* of text, in errors and warnings */
    bool ascii;                 /* a byte is a code point */
    bool names_primary;         /* %TAG says what the handle `!` stands for */
    cip_buf comments;           /* of size_t: each `%` that libyaml is to see as `#`, in order */
    size_t fed;                 /* bytes given to libyaml */
    size_t mark_index, mark_at; /* a code point's number and its place in bytes */
} cip_yaml_source;

/* `text` and `opt` are borrowed. Warns of a byte order mark. LIMIT over max_tree_bytes. */
cip_status cip_yaml_source_init(cip_yaml_source *s, cip_env *env, cip_bytes text,
                                const cip_yaml_options *opt, cip_err *err);
void cip_yaml_source_clear(cip_yaml_source *s);

/* Well-formed UTF-8 of the characters that YAML 1.1 allows, else CORRUPT; sets s->ascii. */
cip_status cip_yaml_check_chars(cip_yaml_source *s, cip_err *err);
/* Reads the directives in front of the document. LIMIT over max_directives, as libyaml takes the
 * square of their number. */
cip_status cip_yaml_read_directives(cip_yaml_source *s, cip_err *err);
/* After the document, which ended at byte `at`: nothing but blanks, comments and `...`. */
cip_status cip_yaml_check_tail(const cip_yaml_source *s, size_t at, cip_err *err);

/* A yaml_read_handler_t; `data` is the source. */
int cip_yaml_feed(void *data, unsigned char *buffer, size_t size, size_t *size_read);
/* Where in the text the code point of this number starts. Quick when near the last one asked for.
 */
size_t cip_yaml_byte_of(cip_yaml_source *s, size_t index);

/* Fails at byte `at` of the text, in the source's part. */
#define CIP_YAML_FAIL(s, err, code, at, ...)                                                       \
    cip_fail_in((err), cip_fail((err), (code), (s)->base + (at), __VA_ARGS__), "%s", (s)->part)

#endif
