/* SPDX-License-Identifier: BSD-3-Clause
 * The first lines of a file: "#ASDF 1.0.0", comments (one of which may name the standard), and what
 * stands between them and the tree or the first block. */
#include "format/asdf/asdf.h"

#include <string.h>

enum { FIRST_LINE_MAX = 512 };

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static size_t bom_len(cip_bytes t)
{
    return t.len >= 3 && memcmp(t.ptr, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* --- versions ------------------------------------------------------------------------------- */

/* Digits up to a dot or what ends the three numbers; at most nine of them. */
static bool number(const char **s, const char *end, uint32_t *out)
{
    const char *start = *s;
    uint32_t v = 0;
    while (*s < end && **s >= '0' && **s <= '9' && *s - start < 10)
        v = v * 10 + (uint32_t)(*(*s)++ - '0');
    *out = v;
    return *s > start && *s - start < 10;
}

static bool skip_dot(const char **s, const char *end)
{
    if (*s == end || **s != '.')
        return false;
    (*s)++;
    return true;
}

/* "-pre.release" and "+build", of letters, digits, dots and hyphens. */
static bool suffix_ok(const char *s, const char *end)
{
    if (s == end)
        return true;
    if ((*s != '-' && *s != '+') || s + 1 == end)
        return false;
    for (s++; s < end; s++) {
        bool plain = (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') ||
                     (*s >= 'A' && *s <= 'Z') || *s == '-' || *s == '.' || *s == '+';
        if (!plain)
            return false;
    }
    return true;
}

bool cip_asdf_version_parse(const char *text, size_t len, asdf_version *out)
{
    const char *s = text, *end = text + len;
    asdf_version v;
    if (!number(&s, end, &v.major) || !skip_dot(&s, end) || !number(&s, end, &v.minor) ||
        !skip_dot(&s, end) || !number(&s, end, &v.patch) || !suffix_ok(s, end))
        return false;
    *out = v;
    return true;
}

bool cip_asdf_standard_known(asdf_version v)
{
    return v.major == 1 && v.minor <= 6 && v.patch == 0;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* The line at `pos` without its end; *next is where the following one starts. False when its end is
 * not among the bytes and more may follow. */
static bool line_at(cip_bytes t, size_t pos, bool whole, cip_bytes *line, size_t *next)
{
    const uint8_t *nl = memchr(t.ptr + pos, '\n', t.len - pos);
    if (nl == NULL && !whole)
        return false;
    size_t end = nl != NULL ? (size_t)(nl - t.ptr) : t.len;
    *next = nl != NULL ? end + 1 : t.len;
    if (nl != NULL && end > pos && t.ptr[end - 1] == '\r')
        end--;
    *line = (cip_bytes){ t.ptr + pos, end - pos };
    return true;
}

/* Splits "#NAME VERSION" at blanks; false unless there are just two words and the first is `name`.
 */
static bool two_words(cip_bytes line, const char *name, cip_bytes *second)
{
    size_t n = strlen(name), i = n;
    if (line.len <= n || memcmp(line.ptr, name, n) != 0 || !is_blank(line.ptr[n]))
        return false;
    while (i < line.len && is_blank(line.ptr[i]))
        i++;
    size_t start = i;
    while (i < line.len && !is_blank(line.ptr[i]))
        i++;
    cip_bytes word = { line.ptr + start, i - start };
    while (i < line.len && is_blank(line.ptr[i]))
        i++;
    if (i < line.len || word.len == 0)
        return false;
    *second = word;
    return true;
}

bool cip_asdf_is_header(cip_bytes head, uint32_t *major)
{
    size_t skip = bom_len(head), next;
    cip_bytes line, word;
    asdf_version v;
    cip_bytes t = { head.ptr + skip, head.len - skip };
    if (t.len < 5 || memcmp(t.ptr, "#ASDF", 5) != 0)
        return false;
    line_at(t, 0, true, &line, &next);
    if (line.len > 5 && !is_blank(line.ptr[5]))
        return false;
    if (major != NULL && two_words(line, "#ASDF", &word) &&
        cip_asdf_version_parse((const char *)word.ptr, word.len, &v))
        *major = v.major;
    return true;
}

/* --- the header line ------------------------------------------------------------------------ */

static cip_status check_version(cip_layout *l, asdf_header *h, cip_bytes word, cip_err *err)
{
    bool force = (l->flags & CIP_OPEN_FORCE) != 0;
    bool parsed = cip_asdf_version_parse((const char *)word.ptr, word.len, &h->file);
    if (!parsed && !force)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 6,
                        "expected a file format version such as 1.0.0, found '%.40s'", h->version);
    if (parsed && cip_asdf_is_early(h->file))
        return CIP_OK;
    if (parsed && h->file.major != 1 && !force)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 6, "expected file format version 1, found %.40s",
                        h->version);
    if (!parsed || h->file.major != 1 || h->file.minor != 0 || h->file.patch != 0)
        cip_warn(l->env, CIP_ERR_UNSUPPORTED, 6, "header",
                 "expected file format version 1.0.0, found %.40s; it is read as 1.0.0",
                 h->version);
    return CIP_OK;
}

/* The first line, judged when it is seen for the first time; *next is where the second starts. */
static cip_status first_line(cip_layout *l, cip_bytes t, asdf_header *h, size_t *next, cip_err *err)
{
    cip_bytes line, word = { (const uint8_t *)"", 0 };
    size_t bom = bom_len(t);
    if (!cip_asdf_is_header(t, NULL))
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected '#ASDF' at the start of the file");
    /* All of the file, or at least 64 KiB of it, are at hand: a longer line is none. */
    line_at(t, bom, true, &line, next);
    if (h->version != NULL)
        return CIP_OK;
    if (line.len > FIRST_LINE_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, bom,
                        "expected a header line of at most %d bytes, found %zu", FIRST_LINE_MAX,
                        line.len);
    if (bom != 0)
        cip_warn(l->env, CIP_ERR_CORRUPT, 0, "header", "a byte order mark in front of '#ASDF'");
    two_words(line, "#ASDF", &word);
    CIP_TRY(cip_arena_copy(&l->arena, word.ptr, word.len, (char **)&h->version, err));
    return check_version(l, h, word, err);
}

/* --- what follows it ------------------------------------------------------------------------ */

static bool starts(cip_bytes t, size_t pos, const char *with, size_t n)
{
    return t.len - pos >= n && memcmp(t.ptr + pos, with, n) == 0;
}

/* Where something the search knows starts in a line: a directive anywhere, "---" in front. */
static bool tree_in_line(cip_bytes line, size_t *at)
{
    if (line.len >= 3 && (line.ptr[0] == '%' || memcmp(line.ptr, "---", 3) == 0)) {
        *at = 0;
        return line.ptr[0] == '%' || line.len == 3 || is_blank(line.ptr[3]);
    }
    const uint8_t *yaml = memmem(line.ptr, line.len, "%YAML", 5);
    *at = yaml != NULL ? (size_t)(yaml - line.ptr) : 0;
    return yaml != NULL;
}

typedef struct scan {
    cip_bytes text;
    bool whole;
    size_t pos;      /* of the line to look at */
    size_t odd;      /* of the first line that is no comment, or SIZE_MAX */
    size_t odd_text; /* of the first that is not blank either */
} scan;

static cip_status add_comment(cip_layout *l, asdf_header *h, cip_bytes line, bool keep,
                              cip_err *err)
{
    cip_bytes word;
    asdf_version v;
    if (two_words(line, "#ASDF_STANDARD", &word) && !h->has_standard &&
        cip_asdf_version_parse((const char *)word.ptr, word.len, &v)) {
        h->has_standard = true;
        h->standard = v;
        if (keep)
            return cip_arena_copy(&l->arena, word.ptr, word.len, (char **)&h->standard_text, err);
        return CIP_OK;
    }
    if (keep)
        CIP_TRY(
            cip_arena_copy(&l->arena, line.ptr, line.len, (char **)&h->comment[h->ncomment], err));
    h->ncomment++;
    return CIP_OK;
}

static void note_odd(scan *s, cip_bytes line)
{
    if (s->odd == SIZE_MAX)
        s->odd = s->pos;
    for (size_t i = 0; i < line.len && s->odd_text == SIZE_MAX; i++)
        if (!is_blank(line.ptr[i]) && line.ptr[i] != '\0')
            s->odd_text = s->pos;
}

/* Goes over the lines; fills found and at (relative to the text). `keep`: comments are copied. */
static cip_status scan_lines(cip_layout *l, scan *s, asdf_header *h, bool keep, cip_err *err)
{
    size_t next, at, comments_end = s->pos;
    cip_bytes line;
    for (;; s->pos = next) {
        if (s->pos == s->text.len && s->whole) {
            h->found = ASDF_NOTHING;
            break;
        }
        bool comment = starts(s->text, s->pos, "#", 1);
        const uint8_t *start = s->text.ptr + s->pos;
        const uint8_t *nl = memchr(start, '\n', s->text.len - s->pos);
        const size_t n = nl != NULL ? (size_t)(nl - start) : s->text.len - s->pos;
        const uint8_t *magic = comment ? NULL : memmem(start, n, ASDF_MAGIC, ASDF_MAGIC_LEN);
        if (magic != NULL) { /* what stands before it is padding */
            if (magic != start)
                note_odd(s, (cip_bytes){ start, (size_t)(magic - start) });
            h->found = ASDF_BLOCKS;
            break;
        }
        if (!line_at(s->text, s->pos, s->whole, &line, &next)) {
            h->found = ASDF_MORE;
            break;
        }
        if (comment) {
            CIP_TRY(add_comment(l, h, line, keep, err));
            comments_end = next;
        } else if (tree_in_line(line, &at)) {
            h->found = ASDF_TREE;
            if (at != 0)
                note_odd(s, line);
            h->at = s->pos + at;
            return CIP_OK;
        } else {
            note_odd(s, line);
        }
    }
    h->at = comments_end;
    return CIP_OK;
}

static void warn_of_lines(cip_layout *l, const scan *s, const asdf_header *h)
{
    if (h->has_standard && !cip_asdf_standard_known(h->standard) &&
        !(cip_asdf_is_early(h->file) && cip_asdf_is_early(h->standard)))
        cip_warn(l->env, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "header",
                 "the standard's version %.40s is not known; only known features are read",
                 h->standard_text);
    if (h->found == ASDF_NOTHING && s->odd_text == SIZE_MAX) {
        /* A valid empty file, but no writer that we know makes it: most likely it was cut. */
        cip_warn(l->env, CIP_ERR_TRUNCATED, s->text.len, "header",
                 "expected a tree or a block after the header, found the end of the file");
        return;
    }
    if (s->odd != SIZE_MAX && (h->found != ASDF_TREE || s->odd < h->at))
        cip_warn(l->env, CIP_ERR_CORRUPT, s->odd, "header",
                 "lines between the header and the tree that are not comments");
    if (h->found == ASDF_TREE && !starts(s->text, (size_t)h->at, "%YAML", 5))
        cip_warn(l->env, CIP_ERR_CORRUPT, h->at, "tree",
                 "expected '%%YAML 1.1' in front of the tree; it is read as YAML 1.1");
}

cip_status cip_asdf_header_read(cip_layout *l, cip_bytes text, bool whole, asdf_header *h,
                                cip_err *err)
{
    asdf_header look = { 0 };
    scan first = { .text = text, .whole = whole, .odd = SIZE_MAX, .odd_text = SIZE_MAX };
    size_t start = 0, end;
    CIP_TRY(first_line(l, text, h, &start, err));
    first.pos = start;
    CIP_TRY(scan_lines(l, &first, &look, false, err));
    h->found = look.found;
    if (look.found == ASDF_MORE)
        return CIP_OK;
    if (look.found != ASDF_TREE && first.odd_text != SIZE_MAX) {
        /* Text that no directive and no "---" introduces, but an end marker closes, is a tree. */
        const cip_bytes rest = { text.ptr + first.odd_text, text.len - first.odd_text };
        const asdf_end how = cip_asdf_tree_end(rest, 0, whole, &end);
        if (how == ASDF_END_MARKED || how == ASDF_END_BLANKS) {
            look.found = ASDF_TREE;
            look.at = first.odd_text;
        }
    }
    scan s = { .text = text, .whole = whole, .pos = start, .odd = SIZE_MAX, .odd_text = SIZE_MAX };
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &h->comment, look.ncomment, err));
    CIP_TRY(scan_lines(l, &s, h, true, err));
    h->found = look.found;
    h->at = look.at;
    warn_of_lines(l, &s, h);
    return CIP_OK;
}
