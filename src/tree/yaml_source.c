/* SPDX-License-Identifier: BSD-3-Clause
 * The checks in front of libyaml. Lines end where libyaml ends them: at LF, CR, CR LF, NEL, LS and
 * PS; a directive that only we saw as one, or only libyaml, would get past the bound. */
#include <string.h>

#include "base/num.h"
#include "tree/utf8.h"
#include "tree/yaml_source.h"

#define NOTE(s, code, at, ...)                                                                     \
    do {                                                                                           \
        if (!(s)->quiet)                                                                           \
            cip_warn((s)->env, (code), (s)->base + (at), (s)->part, __VA_ARGS__);                  \
    } while (0)

cip_status cip_yaml_source_init(cip_yaml_source *s, cip_env *env, cip_bytes text,
                                const cip_yaml_options *opt, cip_err *err)
{
    static const uint8_t bom[3] = { 0xef, 0xbb, 0xbf };
    const uint64_t most = cip_min_u64(env->limits.max_tree_bytes, UINT32_MAX / 2);
    *s = (cip_yaml_source){ .env = env,
                            .part = opt->part != NULL ? opt->part : "tree",
                            .quiet = opt->quiet,
                            .text = text,
                            .base = opt->base,
                            .comments = { .mem = &env->mem } };
    if (text.len > most)
        return CIP_YAML_FAIL(s, err, CIP_ERR_LIMIT, 0,
                             "expected at most %" PRIu64 " bytes of YAML, found %zu", most,
                             text.len);
    if (text.len >= sizeof bom && memcmp(text.ptr, bom, sizeof bom) == 0) {
        NOTE(s, CIP_ERR_CORRUPT, 0, "expected YAML, found a byte order mark before it");
        s->skipped = sizeof bom;
        s->base += sizeof bom;
        s->text = (cip_bytes){ text.ptr + sizeof bom, text.len - sizeof bom };
    }
    return CIP_OK;
}

void cip_yaml_source_clear(cip_yaml_source *s)
{
    cip_buf_clear(&s->comments);
}

enum { BLOCK = 64 };

/* BLOCK bytes, all of them printable ASCII, tab, LF or CR. Without branches: one vector after the
 * other. */
static bool is_plain_block(const uint8_t *p)
{
    uint8_t bad = 0;
    for (int i = 0; i < BLOCK; i++) {
        uint8_t c = p[i];
        bad |= (uint8_t)(((uint8_t)(c - 0x20) > 0x7e - 0x20) & (c != '\t') & (c != '\n') &
                         (c != '\r'));
    }
    return bad == 0;
}

cip_status cip_yaml_check_chars(cip_yaml_source *s, cip_err *err)
{
    const cip_bytes t = s->text;
    s->ascii = true;
    for (size_t i = 0; i < t.len;) {
        if (t.len - i >= BLOCK && is_plain_block(t.ptr + i)) {
            i += BLOCK;
            continue;
        }
        for (size_t stop = i + BLOCK; i < t.len && i < stop;) {
            uint32_t c = 0;
            unsigned n = cip_utf8_get(t.ptr + i, t.len - i, &c);
            if (n == 0)
                return CIP_YAML_FAIL(s, err, CIP_ERR_CORRUPT, i,
                                     "expected UTF-8, found the byte 0x%02x", t.ptr[i]);
            /* the characters of YAML 1.1 (section 5.1), of which U+FFFE and U+FFFF are none */
            if (c < 0xa0
                    ? (c < 0x20 || c >= 0x7f) && c != '\t' && c != '\n' && c != '\r' && c != 0x85
                    : c == 0xfffe || c == 0xffff)
                return CIP_YAML_FAIL(s, err, CIP_ERR_CORRUPT, i,
                                     "expected text, found the control character U+%04" PRIX32, c);
            s->ascii &= n == 1;
            i += n;
        }
    }
    return CIP_OK;
}

static uint8_t byte_at(cip_bytes t, size_t at)
{
    return at < t.len ? t.ptr[at] : 0;
}

static bool starts_with(cip_bytes t, size_t at, const char *word)
{
    size_t n = strlen(word);
    return t.len - at >= n && memcmp(t.ptr + at, word, n) == 0;
}

/* Bytes of the line break at `at`, 0 when there is none. */
static size_t break_at(cip_bytes t, size_t at)
{
    switch (byte_at(t, at)) {
    case '\n':
        return 1;
    case '\r':
        return byte_at(t, at + 1) == '\n' ? 2 : 1;
    case 0xc2: /* NEL */
        return byte_at(t, at + 1) == 0x85 ? 2 : 0;
    case 0xe2: /* LS, PS */
        return byte_at(t, at + 1) == 0x80 && (byte_at(t, at + 2) & 0xfe) == 0xa8 ? 3 : 0;
    default:
        return 0;
    }
}

static size_t skip_blanks(cip_bytes t, size_t at)
{
    while (byte_at(t, at) == ' ' || byte_at(t, at) == '\t')
        at++;
    return at;
}

static size_t next_line(cip_bytes t, size_t at)
{
    while (at < t.len && break_at(t, at) == 0)
        at++;
    return at + break_at(t, at);
}

/* The end, a blank or a line break. */
static bool is_gap(cip_bytes t, size_t at)
{
    return at >= t.len || skip_blanks(t, at) != at || break_at(t, at) != 0;
}

static size_t skip_name(cip_bytes t, size_t at)
{
    for (uint8_t c = byte_at(t, at); (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                                     (c >= 'a' && c <= 'z') || c == '_' || c == '-';)
        c = byte_at(t, ++at);
    return at;
}

static size_t skip_digits(cip_bytes t, size_t at)
{
    while (byte_at(t, at) >= '0' && byte_at(t, at) <= '9')
        at++;
    return at;
}

static cip_status make_comment(cip_yaml_source *s, size_t at, cip_err *err)
{
    return cip_buf_add(&s->comments, &at, sizeof at, err);
}

/* %YAML at `at`, its version at `from`. */
static cip_status read_version(cip_yaml_source *s, size_t at, size_t from, cip_err *err)
{
    const cip_bytes t = s->text;
    size_t dot = skip_digits(t, from);
    size_t end = byte_at(t, dot) == '.' ? skip_digits(t, dot + 1) : dot;
    if (dot == from || end <= dot + 1 || !is_gap(t, end))
        return CIP_YAML_FAIL(s, err, CIP_ERR_CORRUPT, at,
                             "expected a version as in %%YAML 1.1, found none");
    if (end - from == 3 && memcmp(t.ptr + from, "1.1", 3) == 0)
        return CIP_OK;
    NOTE(s, CIP_ERR_UNSUPPORTED, at, "expected YAML 1.1, found %.*s: read as 1.1",
         (int)cip_min_u64(end - from, 16), (const char *)t.ptr + from);
    return make_comment(s, at, err);
}

/* %TAG at `at`, its handle at `from`. */
static cip_status read_tag(cip_yaml_source *s, size_t at, size_t from, cip_err *err)
{
    const cip_bytes t = s->text;
    size_t end = from;
    if (byte_at(t, from) == '!') {
        end = skip_name(t, from + 1);
        end += byte_at(t, end) == '!';
    }
    bool primary = end == from + 1;
    if (is_gap(t, end) && (primary || (end > from && t.ptr[end - 1] == '!'))) {
        s->names_primary |= primary;
        return CIP_OK;
    }
    NOTE(s, CIP_ERR_UNSUPPORTED, at, "expected a handle as in %%TAG !x!, found none: not used");
    return make_comment(s, at, err);
}

static cip_status read_directive(cip_yaml_source *s, size_t at, bool *versioned, cip_err *err)
{
    const cip_bytes t = s->text;
    size_t end = skip_name(t, at + 1);
    size_t next = skip_blanks(t, end);
    if (end - at == 4 && starts_with(t, at, "%TAG"))
        return read_tag(s, at, next, err);
    if (end - at == 5 && starts_with(t, at, "%YAML")) {
        if (*versioned)
            return CIP_YAML_FAIL(s, err, CIP_ERR_CORRUPT, at, "expected one %%YAML, found two");
        *versioned = true;
        return read_version(s, at, next, err);
    }
    NOTE(s, CIP_ERR_UNSUPPORTED, at, "expected %%YAML or %%TAG, found an unknown directive");
    return make_comment(s, at, err);
}

static bool is_marker(cip_bytes t, size_t at, const char *marker)
{
    return starts_with(t, at, marker) && is_gap(t, at + 3);
}

cip_status cip_yaml_read_directives(cip_yaml_source *s, cip_err *err)
{
    const cip_bytes t = s->text;
    const uint32_t most = s->env->limits.max_directives;
    uint32_t n = 0;
    bool versioned = false;
    size_t at = 0;
    for (;;) {
        size_t first = skip_blanks(t, at);
        if (byte_at(t, at) == '%') {
            if (n++ == most)
                return CIP_YAML_FAIL(s, err, CIP_ERR_LIMIT, at,
                                     "expected at most %" PRIu32 " directives, found more", most);
            CIP_TRY(read_directive(s, at, &versioned, err));
        } else if (byte_at(t, first) != '#' && break_at(t, first) == 0) {
            break;
        }
        at = next_line(t, first);
    }
    if (n != 0 && !is_marker(t, at, "---"))
        return CIP_YAML_FAIL(s, err, CIP_ERR_CORRUPT, at,
                             "expected --- after the directives, found something else");
    return CIP_OK;
}

cip_status cip_yaml_check_tail(const cip_yaml_source *s, size_t at, cip_err *err)
{
    const cip_bytes t = s->text;
    while (at < t.len) {
        size_t first = skip_blanks(t, at);
        if (is_marker(t, at, "..."))
            first = skip_blanks(t, at + 3);
        if (first < t.len && t.ptr[first] != '#' && break_at(t, first) == 0)
            return CIP_YAML_FAIL(
                s, err, CIP_ERR_CORRUPT, first, "expected the end of the document, found %s",
                is_marker(t, first, "---") || t.ptr[first] == '%' ? "another one"
                                                                  : "something else");
        at = next_line(t, first);
    }
    return CIP_OK;
}

int cip_yaml_feed(void *data, unsigned char *buffer, size_t size, size_t *size_read)
{
    cip_yaml_source *s = data;
    size_t n = (size_t)cip_min_u64(size, s->text.len - s->fed);
    if (n != 0)
        memcpy(buffer, s->text.ptr + s->fed, n);
    for (size_t i = 0; i < s->comments.len; i += sizeof(size_t)) {
        size_t at;
        memcpy(&at, s->comments.ptr + i, sizeof at);
        if (at >= s->fed && at - s->fed < n)
            buffer[at - s->fed] = '#';
    }
    s->fed += n;
    *size_read = n;
    return 1;
}

static bool continues(uint8_t c)
{
    return (c & 0xc0) == 0x80;
}

size_t cip_yaml_byte_of(cip_yaml_source *s, size_t index)
{
    if (s->ascii)
        return (size_t)cip_min_u64(index, s->text.len);
    size_t at = s->mark_at, i = s->mark_index;
    for (; i < index && at < s->text.len; i++)
        while (++at < s->text.len && continues(s->text.ptr[at]))
            ;
    for (; i > index; i--)
        while (continues(s->text.ptr[--at]))
            ;
    s->mark_at = at;
    s->mark_index = i;
    return at;
}
