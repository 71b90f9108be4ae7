/* SPDX-License-Identifier: BSD-3-Clause
 * The central directory of a zip archive, and local headers.
 *
 * An archive says most things twice: the directory at its end and a header before each member, the
 * end record and that of zip64. Programs differ in which they believe, and hostile archives live on
 * that, so here both must agree. Nothing may lie before the first member's header but members, and
 * the directory, its end and the comment follow each other up to the last byte: then there is one
 * way only to find them. Gaps between members are fine, as programs that replace one leave them. */
#include "io/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum {
    END_MAGIC = 0x06054b50,
    END64_MAGIC = 0x06064b50,
    PLACE64_MAGIC = 0x07064b50,
    ENTRY_MAGIC = 0x02014b50,
    HEADER_MAGIC = 0x04034b50,
    DESCRIPTOR_MAGIC = 0x08074b50,
    END = 22,
    END64 = 56,
    PLACE64 = 20,
    ENTRY = 46,
    HEADER = 30,
    DESCRIPTOR_MOST = 24,
    COMMENT_MOST = 0xffff
};

enum {
    FLAG_ENCRYPTED = 1,
    FLAG_LEVEL = 6,      /* how hard the compressor tried: says nothing */
    FLAG_DESCRIPTOR = 8, /* sizes and CRC follow the data; the header has zeros */
    FLAG_STRONG = 0x40,
    FLAG_MASKED = 0x2000 /* parts of the header are hidden, the directory is encrypted */
};

enum { EXTRA_ZIP64 = 1 };

static const uint32_t wide32 = UINT32_MAX; /* the value is in the zip64 field */

/* One byte of a deflate stream holds at most 4 runs of 258 bytes. */
enum { DEFLATE_MOST = 1032 };

/* --- names ------------------------------------------------------------------------------------ */

/* Code page 437 from 0x80 on: of names that are not marked as UTF-8. */
static const uint16_t cp437[128] = {
    0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7, 0x00ea, 0x00eb, 0x00e8, 0x00ef,
    0x00ee, 0x00ec, 0x00c4, 0x00c5, 0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9,
    0x00ff, 0x00d6, 0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192, 0x00e1, 0x00ed, 0x00f3, 0x00fa,
    0x00f1, 0x00d1, 0x00aa, 0x00ba, 0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb,
    0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556, 0x2555, 0x2563, 0x2551, 0x2557,
    0x255d, 0x255c, 0x255b, 0x2510, 0x2514, 0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f,
    0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256c, 0x2567, 0x2568, 0x2564, 0x2565, 0x2559,
    0x2558, 0x2552, 0x2553, 0x256b, 0x256a, 0x2518, 0x250c, 0x2588, 0x2584, 0x258c, 0x2590, 0x2580,
    0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4, 0x03a6, 0x0398, 0x03a9, 0x03b4,
    0x221e, 0x03c6, 0x03b5, 0x2229, 0x2261, 0x00b1, 0x2265, 0x2264, 0x2320, 0x2321, 0x00f7, 0x2248,
    0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0,
};

/* The name in UTF-8: as it is stored, or from code page 437. */
static cip_status name_to_utf8(cip_arena *a, cip_zip_member *m, cip_err *err)
{
    size_t n = 0;
    void *room;
    char *copy;
    CIP_TRY(cip_arena_copy(a, m->raw.ptr, m->raw.len, &copy, err));
    m->raw.ptr = (const uint8_t *)copy;
    m->name = copy;
    if ((m->flags & CIP_ZIP_UTF8) != 0)
        return CIP_OK;
    CIP_TRY(cip_arena_get(a, 3 * m->raw.len + 1, &room, err));
    char *p = room;
    for (size_t i = 0; i < m->raw.len; i++) {
        const unsigned byte = m->raw.ptr[i], cp = byte < 0x80 ? byte : cp437[byte - 0x80];
        if (cp >= 0x800)
            p[n++] = (char)(0xe0 | cp >> 12);
        if (cp >= 0x80)
            p[n++] = (char)(cp >= 0x800 ? 0x80 | (cp >> 6 & 0x3f) : 0xc0 | cp >> 6);
        p[n++] = (char)(cp >= 0x80 ? 0x80 | (cp & 0x3f) : cp);
    }
    p[n] = '\0';
    m->name = p;
    return CIP_OK;
}

/* A name that, taken for a path beneath a folder, stays in it on every system. */
const char *cip_zip_name_fault(const char *name, size_t n)
{
    if (n == 0)
        return "a name";
    if (memchr(name, 0, n) != NULL)
        return "a name without NUL";
    if (name[0] == '/')
        return "a relative name";
    if (memchr(name, '\\', n) != NULL)
        return "a name without backslashes";
    for (size_t i = 0, len; i < n; i += len + 1) {
        const char *slash = memchr(name + i, '/', n - i);
        len = slash != NULL ? (size_t)(slash - name) - i : n - i;
        if (len == 0 || (len <= 2 && memcmp(name + i, "..", len) == 0))
            return "a name without empty segments, '.' and '..'";
    }
    return NULL;
}

/* In a name of code page 437 these bytes are themselves. */
static cip_status check_name(const cip_zip_member *m, cip_err *err)
{
    const char *why = cip_zip_name_fault((const char *)m->raw.ptr, m->raw.len);
    return why == NULL ? CIP_OK
                       : cip_fail(err, CIP_ERR_CORRUPT, m->entry, "member '%.200s': expected %s",
                                  m->name, why);
}

/* --- where the directory is ------------------------------------------------------------------- */

typedef struct directory {
    uint64_t off, len, n;
    uint64_t end; /* where the file's end record begins, zip64's or the only one */
} directory;

static cip_status fail_split(cip_err *err, uint64_t at)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                    "expected a whole archive, found a part of one that is split");
}

/* What zip64 says, which must not contradict the end record where that says anything. */
static cip_status read_end64(cip_io *io, uint64_t place_at, uint64_t at, directory *d, cip_err *err)
{
    uint8_t raw[END64];
    if (place_at < END64 || at > place_at - END64)
        return cip_fail(err, CIP_ERR_CORRUPT, place_at,
                        "expected a zip64 end record before %" PRIu64 ", found its place at "
                        "%" PRIu64,
                        place_at, at);
    CIP_TRY(cip_io_read(io, at, raw, sizeof raw, err));
    cip_cursor c = cip_cursor_le((cip_bytes){ raw, sizeof raw });
    if (cip_get_u32(&c) != END64_MAGIC)
        return cip_fail(err, CIP_ERR_CORRUPT, at, "expected a zip64 end record, found none");
    const uint64_t len = cip_get_u64(&c);
    if (len != place_at - at - 12)
        return cip_fail(err, CIP_ERR_CORRUPT, at + 4,
                        "expected a zip64 end record of %" PRIu64 " bytes, found %" PRIu64,
                        place_at - at - 12, len);
    cip_get_u32(&c); /* versions */
    const uint32_t disk = cip_get_u32(&c), disk_of = cip_get_u32(&c);
    const uint64_t here = cip_get_u64(&c), n = cip_get_u64(&c);
    if (disk != 0 || disk_of != 0 || here != n)
        return fail_split(err, at);
    const uint64_t dir_len = cip_get_u64(&c), dir_off = cip_get_u64(&c);
    const directory wide = { .n = n, .len = dir_len, .off = dir_off, .end = at };
    if ((d->n != UINT16_MAX && d->n != wide.n) || (d->len != wide32 && d->len != wide.len) ||
        (d->off != wide32 && d->off != wide.off))
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected the same numbers in both end records of the archive, found "
                        "others");
    *d = wide;
    return CIP_OK;
}

/* The end record at `at`, of the `tail` that begins at tail_off, and zip64's before it. */
static cip_status read_end(cip_io *io, uint64_t at, const uint8_t *raw, cip_zip *z, directory *d,
                           cip_err *err)
{
    cip_cursor c = cip_cursor_le((cip_bytes){ raw, END });
    cip_get_u32(&c); /* magic */
    const unsigned disk = cip_get_u16(&c), disk_of = cip_get_u16(&c), here = cip_get_u16(&c);
    d->n = cip_get_u16(&c);
    d->len = cip_get_u32(&c);
    d->off = cip_get_u32(&c);
    d->end = at;
    z->ncomment = cip_get_u16(&c);
    uint8_t place[PLACE64];
    if (at >= PLACE64) {
        CIP_TRY(cip_io_read(io, at - PLACE64, place, sizeof place, err));
        cip_cursor p = cip_cursor_le((cip_bytes){ place, sizeof place });
        if (cip_get_u32(&p) == PLACE64_MAGIC) {
            const uint32_t disk64 = cip_get_u32(&p);
            const uint64_t off64 = cip_get_u64(&p);
            if (disk64 != 0 || cip_get_u32(&p) > 1)
                return fail_split(err, at - PLACE64);
            z->wide = true;
            CIP_TRY(read_end64(io, at - PLACE64, off64, d, err));
        }
    }
    /* With a zip64 record they may be 0xffff: that says the numbers. */
    if ((disk != 0 && !(z->wide && disk == UINT16_MAX)) ||
        (disk_of != 0 && !(z->wide && disk_of == UINT16_MAX)) ||
        (here != d->n && !(z->wide && here == UINT16_MAX)))
        return fail_split(err, at);
    return CIP_OK;
}

/* The end record is the last of the file but for the comment, whose length it ends with. A second
 * place that may be one is in a comment made to be taken for one, or before such a comment. */
static cip_status find_end(cip_io *io, cip_zip *z, directory *d, cip_err *err)
{
    const uint64_t ntail = cip_min_u64(io->size, END + COMMENT_MOST);
    const uint64_t off = io->size - ntail;
    uint8_t *tail, *found = NULL;
    uint64_t loose = CIP_NO_OFFSET; /* a record that is not the last of the file */
    cip_status st;
    CIP_TRY(cip_mem_get(&io->env->mem, (size_t)ntail, (void **)&tail, err));
    CIP_GO(cip_io_read(io, off, tail, (size_t)ntail, err));
    for (size_t i = ntail >= END ? (size_t)ntail - END + 1 : 0; i-- > 0;) {
        cip_cursor c = cip_cursor_le((cip_bytes){ tail + i, END });
        if (tail[i] != 'P' || cip_get_u32(&c) != END_MAGIC)
            continue;
        c.pos = END - 2;
        if (cip_get_u16(&c) != ntail - i - END) {
            loose = off + i;
            continue;
        }
        if (found != NULL)
            CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, off + i,
                            "expected one end of the archive, found two, the other at %" PRIu64,
                            off + (uint64_t)(found - tail)));
        found = tail + i;
    }
    if (found == NULL && loose != CIP_NO_OFFSET)
        CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, loose,
                        "expected the end record of the archive and its comment up to the end of "
                        "the file, found other bytes after it"));
    if (found == NULL)
        CIP_GO(cip_fail(err, CIP_ERR_TRUNCATED, io->size,
                        "expected the end record of a zip archive, found none"));
    st = read_end(io, off + (uint64_t)(found - tail), found, z, d, err);
done:
    cip_mem_put(&io->env->mem, tail);
    return st;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* The numbers of an entry or a local header that may be in its zip64 field. */
typedef struct wide_numbers {
    uint64_t *at[3]; /* size, stored, header; NULL: no such one */
    uint32_t disk;   /* in the directory; 0xffff there: in the field */
} wide_numbers;

/* In this order, those that do not fit have 8 bytes each in the field, a disk's number 4. A field
 * of another length would be read differently by others; where none is wanted it says nothing. */
static cip_status read_extra(cip_bytes extra, uint64_t at, wide_numbers *w, cip_err *err)
{
    size_t want = 0;
    cip_cursor c = cip_cursor_le(extra);
    bool seen = false;
    for (int i = 0; i < 3; i++)
        want += w->at[i] != NULL && *w->at[i] == wide32 ? 8 : 0;
    want += w->disk == UINT16_MAX ? 4 : 0;
    /* Some programs pad this area with less than a field has. */
    while (cip_cursor_left(&c) >= 4) {
        const unsigned id = cip_get_u16(&c), len = cip_get_u16(&c);
        cip_cursor f = cip_cursor_le(cip_get_bytes(&c, len));
        if (c.bad)
            return cip_fail(err, CIP_ERR_CORRUPT, at,
                            "expected extra fields of %zu bytes, found one of %u that is longer",
                            extra.len, len);
        if (id != EXTRA_ZIP64)
            continue;
        if (seen || (want != 0 && len != want))
            return cip_fail(err, CIP_ERR_CORRUPT, at,
                            "expected one zip64 field of %zu bytes, found %s of %u", want,
                            seen ? "another" : "one", len);
        seen = true;
        for (int i = 0; want != 0 && i < 3; i++)
            if (w->at[i] != NULL && *w->at[i] == wide32)
                *w->at[i] = cip_get_u64(&f);
        if (want != 0 && w->disk == UINT16_MAX)
            w->disk = cip_get_u32(&f);
    }
    return want == 0 || seen ? CIP_OK
                             : cip_fail(err, CIP_ERR_CORRUPT, at,
                                        "expected a zip64 field of %zu bytes, found none", want);
}

static cip_status check_sizes(const cip_zip_member *m, cip_err *err)
{
    if (m->method == CIP_ZIP_STORED && (m->flags & FLAG_ENCRYPTED) == 0 && m->stored != m->size)
        return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                        "member '%.200s': expected as many stored bytes as its size %" PRIu64
                        ", found %" PRIu64,
                        m->name, m->size, m->stored);
    if (m->method == CIP_ZIP_DEFLATED && m->size / DEFLATE_MOST > m->stored)
        return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                        "member '%.200s': expected a size that %" PRIu64
                        " stored bytes can have, found %" PRIu64,
                        m->name, m->stored, m->size);
    return CIP_OK;
}

/* One entry at the cursor. */
static cip_status read_entry(cip_arena *a, cip_cursor *c, const directory *d, cip_zip_member *m,
                             cip_err *err)
{
    m->entry = d->off + c->pos;
    if (cip_cursor_left(c) < ENTRY || cip_get_u32(c) != ENTRY_MAGIC)
        return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                        "expected an entry of the archive's directory, found none");
    cip_get_u32(c); /* versions */
    m->flags = cip_get_u16(c);
    m->method = cip_get_u16(c);
    cip_get_u32(c); /* time and date */
    m->crc = cip_get_u32(c);
    m->stored = cip_get_u32(c);
    m->size = cip_get_u32(c);
    const size_t nname = cip_get_u16(c), nextra = cip_get_u16(c), ncomment = cip_get_u16(c);
    wide_numbers w = { .at = { &m->size, &m->stored, &m->header }, .disk = cip_get_u16(c) };
    cip_get_u16(c), cip_get_u32(c); /* attributes */
    m->header = cip_get_u32(c);
    m->raw = cip_get_bytes(c, nname);
    const cip_bytes extra = cip_get_bytes(c, nextra);
    cip_get_bytes(c, ncomment);
    if (c->bad)
        return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                        "expected an entry of %zu bytes, found the end of the directory",
                        ENTRY + nname + nextra + ncomment);
    CIP_TRY(name_to_utf8(a, m, err));
    CIP_TRY(check_name(m, err));
    CIP_TRY(read_extra(extra, m->entry, &w, err));
    if (w.disk != 0)
        return fail_split(err, m->entry);
    return check_sizes(m, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const cip_zip_member *const *)a)->name,
                  (*(const cip_zip_member *const *)b)->name);
}

static int by_header(const void *a, const void *b)
{
    const uint64_t p = (*(const cip_zip_member *const *)a)->header;
    const uint64_t q = (*(const cip_zip_member *const *)b)->header;
    return (p > q) - (p < q);
}

/* A header has at least the name in it; what else it has is seen when the member is read. */
static cip_status check_places(cip_zip *z, cip_zip_member **order, cip_err *err)
{
    qsort(order, z->n, sizeof *order, by_header);
    for (size_t i = 0; i < z->n; i++) {
        cip_zip_member *m = order[i];
        uint64_t end = 0;
        m->end = i + 1 < z->n ? order[i + 1]->header : z->directory;
        if (cip_add_overflow(m->header, HEADER + m->raw.len, &end) ||
            cip_add_overflow(end, m->stored, &end) || end > m->end)
            return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                            "member '%.200s': expected %" PRIu64 " bytes at %" PRIu64
                            " before %s at %" PRIu64 ", found an overlap",
                            m->name, m->stored, m->header,
                            i + 1 < z->n ? "the next member" : "the directory", m->end);
    }
    return CIP_OK;
}

static cip_status read_entries(cip_io *io, cip_arena *a, cip_bytes raw, const directory *d,
                               cip_zip *z, cip_err *err)
{
    cip_cursor c = cip_cursor_le(raw);
    cip_zip_member **order;
    CIP_TRY(CIP_ARENA_NEW(a, &z->at, (size_t)d->n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &z->by_name, (size_t)d->n, err));
    for (z->n = 0; z->n < d->n; z->n++)
        CIP_TRY(read_entry(a, &c, d, &z->at[z->n], err));
    if (cip_cursor_left(&c) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, d->off + c.pos,
                        "expected %" PRIu64 " entries in the archive's directory, found %zu more "
                        "bytes",
                        d->n, cip_cursor_left(&c));
    if (z->n == 0)
        return CIP_OK;
    for (size_t i = 0; i < z->n; i++)
        z->by_name[i] = &z->at[i];
    qsort(z->by_name, z->n, sizeof *z->by_name, by_name);
    for (size_t i = 1; i < z->n; i++)
        if (strcmp(z->by_name[i - 1]->name, z->by_name[i]->name) == 0)
            return cip_fail(err, CIP_ERR_CORRUPT, z->by_name[i]->entry,
                            "member '%.200s' is in the archive twice", z->by_name[i]->name);
    CIP_TRY(CIP_NEW(&io->env->mem, &order, z->n, err));
    for (size_t i = 0; i < z->n; i++)
        order[i] = &z->at[i];
    const cip_status st = check_places(z, order, err);
    cip_mem_put(&io->env->mem, order);
    return st;
}

cip_status cip_zip_read(cip_io *io, cip_arena *a, cip_zip *out, cip_err *err)
{
    directory d = { .off = 0 };
    uint8_t *raw;
    *out = (cip_zip){ .n = 0 };
    CIP_TRY(find_end(io, out, &d, err));
    if (d.off > d.end || d.len != d.end - d.off)
        return cip_fail(err, CIP_ERR_CORRUPT, d.end,
                        "expected the archive's directory of %" PRIu64 " bytes at %" PRIu64
                        " to end at %" PRIu64 ", where its end record is",
                        d.len, d.off, d.end);
    if (d.n > d.len / ENTRY)
        return cip_fail(err, CIP_ERR_CORRUPT, d.end,
                        "expected at most %" PRIu64 " members in a directory of %" PRIu64
                        " bytes, found %" PRIu64,
                        d.len / ENTRY, d.len, d.n);
    if (d.n > io->env->limits.max_blocks)
        return cip_fail(err, CIP_ERR_LIMIT, d.end,
                        "expected at most %" PRIu64 " members, found %" PRIu64,
                        io->env->limits.max_blocks, d.n);
    out->directory = d.off;
    CIP_TRY(cip_mem_get(&io->env->mem, (size_t)d.len, (void **)&raw, err));
    cip_status st = cip_io_read(io, d.off, raw, (size_t)d.len, err);
    if (st == CIP_OK)
        st = read_entries(io, a, (cip_bytes){ raw, (size_t)d.len }, &d, out, err);
    cip_mem_put(&io->env->mem, raw);
    return st;
}

const cip_zip_member *cip_zip_find(const cip_zip *z, const char *name)
{
    const cip_zip_member key = { .name = name }, *const at = &key;
    const cip_zip_member *const *found =
        z->n == 0 ? NULL : bsearch(&at, z->by_name, z->n, sizeof *z->by_name, by_name);
    return found != NULL ? *found : NULL;
}

bool cip_zip_is_folder(const cip_zip_member *m)
{
    return m->name[strlen(m->name) - 1] == '/';
}

/* --- local headers ---------------------------------------------------------------------------- */

/* Behind the data of a member that was written to a pipe: CRC and sizes, of 4 or 8 bytes, perhaps
 * behind a magic. */
static cip_status check_descriptor(cip_io *io, const cip_zip_member *m, uint64_t at, cip_err *err)
{
    uint8_t raw[DESCRIPTOR_MOST];
    const size_t n = (size_t)cip_min_u64(m->end - at, sizeof raw);
    CIP_TRY(cip_io_read(io, at, raw, n, err));
    for (int form = 0; form < 4; form++) {
        cip_cursor c = cip_cursor_le((cip_bytes){ raw, n });
        if ((form & 1) != 0 && cip_get_u32(&c) != DESCRIPTOR_MAGIC)
            continue;
        const uint32_t crc = cip_get_u32(&c);
        const uint64_t stored = (form & 2) != 0 ? cip_get_u64(&c) : cip_get_u32(&c);
        const uint64_t size = (form & 2) != 0 ? cip_get_u64(&c) : cip_get_u32(&c);
        if (!c.bad && crc == m->crc && stored == m->stored && size == m->size)
            return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_CORRUPT, at,
                    "member '%.200s': expected its sizes and CRC-32 after its data, found others",
                    m->name);
}

static cip_status fail_header(const cip_zip_member *m, const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, m->header,
                    "member '%.200s': expected the same %s in its local header as in the "
                    "directory, found another",
                    m->name, what);
}

/* The header, in all of which `c` stands behind the magic, says what the directory does; *off:
 * where it ends. */
static cip_status check_header(const cip_zip_member *m, cip_cursor *c, cip_err *err)
{
    cip_get_u16(c); /* version needed */
    if (((cip_get_u16(c) ^ m->flags) & ~FLAG_LEVEL) != 0)
        return fail_header(m, "flags", err);
    if ((m->flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED)) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, m->header, "member '%.200s' is encrypted",
                        m->name);
    if (cip_get_u16(c) != m->method)
        return fail_header(m, "method", err);
    cip_get_u32(c); /* time and date */
    const uint32_t crc = cip_get_u32(c);
    uint64_t stored = cip_get_u32(c), size = cip_get_u32(c);
    wide_numbers w = { .at = { &size, &stored } };
    const size_t nname = cip_get_u16(c), nextra = cip_get_u16(c);
    const cip_bytes name = cip_get_bytes(c, nname), extra = cip_get_bytes(c, nextra);
    if (nname != m->raw.len || memcmp(name.ptr, m->raw.ptr, nname) != 0)
        return fail_header(m, "name", err);
    CIP_TRY(read_extra(extra, m->header, &w, err));
    const bool later = (m->flags & FLAG_DESCRIPTOR) != 0;
    if (crc != m->crc && !(later && crc == 0))
        return fail_header(m, "CRC-32", err);
    if ((stored != m->stored && !(later && stored == 0)) ||
        (size != m->size && !(later && size == 0)))
        return fail_header(m, "size", err);
    return CIP_OK;
}

cip_status cip_zip_data(cip_io *io, const cip_zip_member *m, uint64_t *off, cip_err *err)
{
    uint8_t room[512], *long_one = NULL;
    size_t got;
    cip_status st = CIP_OK;
    CIP_TRY(cip_io_read_some(io, m->header, room, sizeof room, &got, err));
    cip_cursor c = cip_cursor_le((cip_bytes){ room, got });
    if (cip_get_u32(&c) != HEADER_MAGIC)
        return cip_fail(err, CIP_ERR_CORRUPT, m->header,
                        "member '%.200s': expected its local header, found none", m->name);
    cip_cursor lens = cip_cursor_le((cip_bytes){ room, HEADER });
    lens.pos = HEADER - 4;
    const size_t nname = cip_get_u16(&lens), n = HEADER + nname + cip_get_u16(&lens);
    /* Directory and headers lie within the file: no overflow. */
    if (n > m->end - m->header || m->stored > m->end - m->header - n)
        return cip_fail(err, CIP_ERR_CORRUPT, m->header,
                        "member '%.200s': expected %" PRIu64 " bytes at %" PRIu64 " before %" PRIu64
                        ", found an overlap",
                        m->name, m->stored, m->header + n, m->end);
    if (n > got) {
        CIP_TRY(cip_mem_get(&io->env->mem, n, (void **)&long_one, err));
        CIP_GO(cip_io_read(io, m->header, long_one, n, err));
        c.in.ptr = long_one;
    }
    c.in.len = n;
    CIP_GO(check_header(m, &c, err));
    *off = m->header + n;
    if ((m->flags & FLAG_DESCRIPTOR) != 0)
        st = check_descriptor(io, m, *off + m->stored, err);
done:
    cip_mem_put(&io->env->mem, long_one);
    return st;
}
