/* SPDX-License-Identifier: BSD-3-Clause
 * A file or folder behind a URL as an io. What opening brings, its first bytes, is kept: formats
 * look there. A folder notes what became of its members, as formats ask for the same ones more than
 * once, and for many that are not there. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/stop.h"
#include "base/strmap.h"
#include "io/io.h"
#include "io/remote/http.h"
#include "io/remote/s3_list.h"
#include "io/remote/url.h"

enum {
    HEAD = 64 << 10,        /* bytes of the first request */
    AHEAD = 1 << 20,        /* the same of a member that is going to be read whole */
    KEPT_AT_ONCE = 256,     /* blocks of the cache, read and filled together */
    PAGE = 8 << 20,         /* at most of a page of names */
    NOTES = 4096,           /* of members, at most ... */
    NOTES_BYTES = 16 << 20, /* ... with so many bytes in all */
    PAGES = 100000          /* of names: a server may go on without end */
};

/* A member as it was when it was first asked for. */
typedef struct note {
    char *name;
    bool absent;
    cip_http_version version;
    uint8_t *head;
    size_t nhead;
} note;

typedef struct url_io {
    cip_io io;
    cip_http *http;
    char *url;          /* "http..." or "s3://..." */
    cip_http_file file; /* zeroed of a folder */
    uint8_t *head;
    size_t nhead;
    cip_kept kept;        /* zeroed until it is opened */
    bool copied;          /* it is read from there alone */
    pthread_mutex_t lock; /* guards what follows; a leaf */
    cip_strmap noted;     /* name -> index of note[] */
    note *note;
    size_t nnote, cap, oldest; /* oldest, modulo nnote: whose bytes go first */
    uint64_t noted_bytes;
} url_io;

static cip_status open_url(cip_env *env, cip_http *http, const char *url, note *known, bool *folder,
                           cip_io **out, cip_err *err);

/* Blocks of the cache that a read needs, and their bytes. */
typedef struct blocks {
    uint64_t number[KEPT_AT_ONCE]; /* rising */
    size_t n;
    uint8_t *bytes; /* CIP_KEPT_BLOCK of each */
} blocks;

/* Those that are not kept are asked for, neighbours together, and kept from then on. */
static cip_status fill_blocks(url_io *u, const blocks *b, cip_err *err)
{
    cip_range missing[KEPT_AT_ONCE];
    size_t m = 0;
    for (size_t i = 0; i < b->n; i++) {
        uint8_t *at = b->bytes + i * CIP_KEPT_BLOCK;
        const uint64_t off = b->number[i] * CIP_KEPT_BLOCK;
        const size_t len = cip_kept_block_len(&u->kept, b->number[i]);
        if (cip_kept_take(&u->kept, b->number[i], at))
            continue;
        if (m != 0 && missing[m - 1].offset + missing[m - 1].nbytes == off)
            missing[m - 1].nbytes += len; /* their bytes are neighbours here, too */
        else
            missing[m++] = (cip_range){ off, len, at };
    }
    if (m == 0)
        return CIP_OK;
    if (u->copied)
        return cip_fail(err, CIP_ERR_IO, missing[0].offset,
                        "a part of the copy in the cache was removed or damaged: open it again");
    CIP_TRY(cip_http_read(&u->file, missing, m, err));
    for (size_t i = 0; i < m; i++)
        for (size_t at = 0; at < missing[i].nbytes; at += CIP_KEPT_BLOCK)
            cip_kept_store(&u->kept, (missing[i].offset + at) / CIP_KEPT_BLOCK,
                           (const uint8_t *)missing[i].dst + at);
    return CIP_OK;
}

/* What the ranges want of the blocks. */
static void copy_blocks(const url_io *u, const blocks *b, const cip_range *r, size_t n)
{
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t off = b->number[i] * CIP_KEPT_BLOCK;
        const uint64_t end = off + cip_kept_block_len(&u->kept, b->number[i]);
        for (size_t k = 0; k < n && r[k].offset < end; k++) {
            const uint64_t from = cip_max_u64(off, r[k].offset);
            const uint64_t to = cip_min_u64(end, r[k].offset + r[k].nbytes);
            if (from < to)
                memcpy((uint8_t *)r[k].dst + (from - r[k].offset),
                       b->bytes + i * CIP_KEPT_BLOCK + (from - off), (size_t)(to - from));
        }
    }
}

static cip_status flush_blocks(url_io *u, blocks *b, const cip_range *r, size_t n, cip_err *err)
{
    CIP_TRY(fill_blocks(u, b, err));
    copy_blocks(u, b, r, n);
    b->n = 0;
    return CIP_OK;
}

/* By way of the cache. */
static cip_status read_kept(url_io *u, const cip_range *r, size_t n, cip_err *err)
{
    cip_mem *mem = &u->io.env->mem;
    const uint64_t last = (r[n - 1].offset + r[n - 1].nbytes - 1) / CIP_KEPT_BLOCK;
    const uint64_t most = cip_min_u64(last - r[0].offset / CIP_KEPT_BLOCK + 1, KEPT_AT_ONCE);
    blocks b = { .n = 0 };
    void *room;
    uint64_t next = 0;
    cip_status st = cip_mem_get(mem, (size_t)most * CIP_KEPT_BLOCK, &room, err);
    b.bytes = room;
    for (size_t k = 0; k < n && st == CIP_OK; k++) {
        const uint64_t end = r[k].offset + r[k].nbytes;
        uint64_t i = cip_max_u64(next, r[k].offset / CIP_KEPT_BLOCK);
        for (; i * CIP_KEPT_BLOCK < end && st == CIP_OK; i++) {
            if (b.n == most)
                st = flush_blocks(u, &b, r, n, err);
            b.number[b.n++] = i;
        }
        next = i;
    }
    if (st == CIP_OK)
        st = flush_blocks(u, &b, r, n, err);
    cip_mem_put(mem, room);
    return st;
}

static cip_status read_far(url_io *u, const cip_range *r, size_t n, cip_err *err)
{
    if (n == 0)
        return CIP_OK;
    return u->kept.folder != NULL && u->kept.fd != -1 ? read_kept(u, r, n, err)
                                                      : cip_http_read(&u->file, r, n, err);
}

/* What lies in the first bytes needs no request. */
static cip_status url_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    url_io *u = (url_io *)io;
    cip_range *left;
    size_t nleft = 0;
    CIP_TRY(CIP_NEW(&io->env->mem, &left, n, err));
    for (size_t i = 0; i < n; i++) {
        const size_t here = (size_t)cip_min_u64(cip_bytes_left(u->nhead, r[i].offset), r[i].nbytes);
        if (here != 0)
            memcpy(r[i].dst, u->head + r[i].offset, here);
        if (here != r[i].nbytes)
            left[nleft++] =
                (cip_range){ r[i].offset + here, r[i].nbytes - here, (uint8_t *)r[i].dst + here };
    }
    const cip_status st = read_far(u, left, nleft, err);
    cip_mem_put(&io->env->mem, left);
    return st;
}

static cip_status folder_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    (void)n;
    return cip_fail(err, CIP_ERR_TRUNCATED, r->offset, "'%.120s' is a folder", io->name);
}

/* --- members */

/* A copy of its bytes, as these may go. False where nothing is noted, or there is no memory. */
static bool find_note(url_io *u, const char *name, note *out)
{
    char *head = NULL;
    pthread_mutex_lock(&u->lock);
    const size_t i = cip_strmap_get(&u->noted, (cip_bytes){ (const uint8_t *)name, strlen(name) });
    bool found = i != SIZE_MAX;
    if (found && !u->note[i].absent)
        found = u->note[i].head != NULL && cip_mem_copy(&u->io.env->mem, u->note[i].head,
                                                        u->note[i].nhead, &head, NULL) == CIP_OK;
    if (found) {
        *out = u->note[i];
        out->head = (uint8_t *)head;
    }
    pthread_mutex_unlock(&u->lock);
    return found;
}

/* Under the lock: room for so many bytes; the oldest go. */
static void make_room(url_io *u, size_t n)
{
    for (size_t i = 0; i < u->nnote && u->noted_bytes + n > NOTES_BYTES; i++) {
        note *old = &u->note[u->oldest++ % u->nnote];
        u->noted_bytes -= old->nhead;
        cip_mem_put(&u->io.env->mem, old->head);
        old->head = NULL;
        old->nhead = 0;
    }
}

/* Under the lock. `absent`: nothing else counts. */
static cip_status note_member(url_io *u, const char *name, bool absent,
                              const cip_http_version *version, const uint8_t *head, size_t nhead)
{
    cip_mem *mem = &u->io.env->mem;
    const cip_bytes key = { (const uint8_t *)name, strlen(name) };
    char *copy = NULL;
    size_t i = cip_strmap_get(&u->noted, key);
    if (i == SIZE_MAX) {
        char *own;
        if (u->nnote == NOTES)
            return CIP_ERR_LIMIT;
        CIP_TRY(CIP_ROOM(mem, &u->note, u->nnote, &u->cap, NULL));
        CIP_TRY(cip_mem_copy(mem, name, key.len, &own, NULL));
        if (cip_strmap_put(&u->noted, (cip_bytes){ (uint8_t *)own, key.len }, u->nnote, NULL,
                           NULL) != CIP_OK) {
            cip_mem_put(mem, own);
            return CIP_ERR_NOMEM;
        }
        u->note[i = u->nnote++] = (note){ .name = own };
    }
    u->note[i].absent = absent;
    if (absent || u->note[i].head != NULL)
        return CIP_OK;
    make_room(u, nhead);
    CIP_TRY(cip_mem_copy(mem, head, nhead, &copy, NULL));
    u->note[i].version = *version;
    u->note[i].head = (uint8_t *)copy;
    u->note[i].nhead = nhead;
    u->noted_bytes += nhead;
    return CIP_OK;
}

/* What there is no room for is not noted, and asked for again. */
static void add_note(url_io *u, const char *name, const url_io *member)
{
    pthread_mutex_lock(&u->lock);
    if (member != NULL)
        (void)note_member(u, name, false, &member->file.version, member->head, member->nhead);
    else
        (void)note_member(u, name, true, NULL, NULL, 0);
    pthread_mutex_unlock(&u->lock);
}

static bool is_s3(const char *url)
{
    return cip_url_scheme_of(url) == CIP_URL_S3;
}

/* The file of http that a URL means. */
static cip_status new_file(cip_http *http, const char *url, cip_http_file *out, cip_err *err)
{
    cip_buf asked = { .mem = cip_http_mem(http) };
    cip_status st = CIP_OK;
    if (is_s3(url))
        st = cip_aws_url(cip_http_aws(http), url, &asked, err);
    if (st == CIP_OK)
        st = cip_http_file_new(http, is_s3(url) ? (const char *)asked.ptr : url, out, err);
    cip_buf_clear(&asked);
    return st;
}

/* Adds the URL of a member; of S3 a name is a name, in which nothing is encoded. */
static cip_status member_url(const url_io *u, const char *name, cip_buf *out, cip_err *err)
{
    const char *end = u->url + (is_s3(u->url) ? cip_aws_key_end(u->url) : 0);
    while (end != u->url && *end != '/')
        end--;
    if (is_s3(u->url))
        CIP_TRY(cip_buf_addf(out, err, "%.*s%s", (int)(end + 1 - u->url), u->url, name));
    else
        CIP_TRY(cip_url_member(out, u->url, name, err));
    return cip_buf_nul(out, err);
}

static cip_status url_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                             cip_err *err)
{
    url_io *u = (url_io *)io;
    cip_buf url = { .mem = &io->env->mem };
    cip_err own = CIP_ERR_INIT;
    note known;
    (void)flags;
    *out = NULL;
    if (name[0] == '/' || strcmp(name, "..") == 0 || strncmp(name, "../", 3) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' lies outside the folder of the URL, where nothing is opened",
                        name);
    const bool seen = find_note(u, name, &known);
    if (seen && known.absent)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "there is no '%.120s'", name);
    cip_status st = member_url(u, name, &url, &own);
    if (st == CIP_OK)
        st = open_url(io->env, u->http, (const char *)url.ptr, seen ? &known : NULL, NULL, out,
                      &own);
    cip_buf_clear(&url);
    if (seen)
        cip_mem_put(&io->env->mem, known.head);
    if (st == CIP_OK && !seen)
        add_note(u, name, (const url_io *)*out);
    if (st == CIP_ERR_NOT_FOUND)
        add_note(u, name, NULL);
    return cip_err_give(err, &own, st);
}

/* A member that is going to be read. */
typedef struct expected {
    const char *name;
    cip_http_file file;
    uint8_t *head;
} expected;

/* Those of which nothing is noted, each with its file and room. */
static size_t list_expected(url_io *u, const char (*name)[CIP_IO_NUMBER_NAME], size_t n,
                            expected *out)
{
    size_t m = 0;
    for (size_t i = 0; i < n && m < CIP_HTTP_AT_ONCE; i++) {
        cip_buf url = { .mem = &u->io.env->mem };
        pthread_mutex_lock(&u->lock);
        const size_t at =
            cip_strmap_get(&u->noted, (cip_bytes){ (const uint8_t *)name[i], strlen(name[i]) });
        const bool known = at != SIZE_MAX && (u->note[at].absent || u->note[at].head != NULL);
        pthread_mutex_unlock(&u->lock);
        void *head = NULL;
        if (known || member_url(u, name[i], &url, NULL) != CIP_OK ||
            new_file(u->http, (const char *)url.ptr, &out[m].file, NULL) != CIP_OK) {
            cip_buf_clear(&url);
            continue;
        }
        cip_buf_clear(&url);
        out[m].name = name[i];
        if (cip_mem_get(&u->io.env->mem, AHEAD, &head, NULL) == CIP_OK)
            out[m++].head = head;
        else
            cip_http_file_clear(&out[m].file);
    }
    return m;
}

/* At most CIP_HTTP_AT_ONCE. */
static void expect_some(url_io *u, const char (*name)[CIP_IO_NUMBER_NAME], size_t n)
{
    cip_io *io = &u->io;
    expected e[CIP_HTTP_AT_ONCE];
    cip_http_file *file[CIP_HTTP_AT_ONCE];
    uint8_t *head[CIP_HTTP_AT_ONCE];
    size_t got[CIP_HTTP_AT_ONCE];
    cip_status st[CIP_HTTP_AT_ONCE];
    const size_t m = list_expected(u, name, n, e);
    for (size_t i = 0; i < m; i++) {
        file[i] = &e[i].file;
        head[i] = e[i].head;
        st[i] = CIP_ERR_IO;
    }
    if (m != 0)
        (void)cip_http_open_all(u->http, file, head, AHEAD, m, got, st, NULL);
    for (size_t i = 0; i < m; i++) {
        pthread_mutex_lock(&u->lock);
        if (st[i] == CIP_OK)
            (void)note_member(u, e[i].name, false, &e[i].file.version, head[i], got[i]);
        else if (st[i] == CIP_ERR_NOT_FOUND)
            (void)note_member(u, e[i].name, true, NULL, NULL, 0);
        pthread_mutex_unlock(&u->lock);
        cip_http_file_clear(&e[i].file);
        cip_mem_put(&io->env->mem, head[i]);
    }
}

static void url_expect(cip_io *io, const char (*name)[CIP_IO_NUMBER_NAME], size_t n)
{
    for (size_t i = 0; i < n; i += CIP_HTTP_AT_ONCE)
        expect_some((url_io *)io, name + i, (size_t)cip_min_u64(n - i, CIP_HTTP_AT_ONCE));
}

/* --- names */

/* One page; `next` is the token of the following one, from the one before on. */
static cip_status list_page(const url_io *u, const char *folder, cip_io_list_fn *fn, void *user,
                            cip_buf *next, bool *stopped, cip_err *err)
{
    cip_mem *mem = &u->io.env->mem;
    cip_buf url = { .mem = mem };
    cip_http_file page = { .http = NULL };
    void *text = NULL;
    size_t got;
    const char *prefix = strchr(folder + strlen("s3://"), '/') + 1;
    cip_status st;
    CIP_GO(cip_buf_nul(next, err));
    CIP_GO(cip_aws_list_url(cip_http_aws(u->http), folder, (const char *)next->ptr, &url, err));
    CIP_GO(cip_http_file_new(u->http, (const char *)url.ptr, &page, err));
    CIP_GO(cip_mem_get(mem, PAGE, &text, err));
    CIP_GO(cip_http_text(&page, text, PAGE, &got, err));
    CIP_GO(cip_s3_list_parse(mem, text, got, prefix, fn, user, next, stopped, err));
done:
    cip_mem_put(mem, text);
    cip_http_file_clear(&page);
    cip_buf_clear(&url);
    return st;
}

/* Pages that lead back to one that was there would never end: each is compared with one before it,
 * which is put forward at the second, fourth, eighth, ... page, so that every circle is found. */
static cip_status list_s3(const url_io *u, const char *folder, cip_io_list_fn *fn, void *user,
                          cip_err *err)
{
    cip_buf next = { .mem = &u->io.env->mem }, before = { .mem = &u->io.env->mem };
    cip_status st = CIP_OK;
    bool stopped = false;
    for (size_t i = 1; st == CIP_OK && !stopped && (i == 1 || next.len != 0); i++) {
        st = list_page(u, folder, fn, user, &next, &stopped, err);
        if (st == CIP_OK && next.len != 0 && next.len == before.len &&
            memcmp(next.ptr, before.ptr, next.len) == 0)
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected the next page of names, found one that was there before");
        if (st == CIP_OK && i == PAGES && next.len != 0)
            st = cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                          "expected at most %d pages of names, found more", PAGES);
        if (st == CIP_OK && (i & (i - 1)) == 0) {
            before.len = 0;
            st = cip_buf_add(&before, next.ptr, next.len, err);
        }
    }
    cip_buf_clear(&before);
    cip_buf_clear(&next);
    return st;
}

static cip_status url_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                           void *user, cip_err *err)
{
    const url_io *u = (const url_io *)io;
    cip_buf folder = { .mem = &io->env->mem };
    if ((flags & CIP_IO_LINKS) != 0)
        return CIP_OK;
    if (!is_s3(u->url))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' cannot be listed: web servers have no lists of names",
                        path[0] != '\0' ? path : io->name);
    cip_status st = member_url(u, path, &folder, err);
    if (st == CIP_OK && path[0] != '\0') {
        st = cip_buf_puts(&folder, "/", err);
        st = st == CIP_OK ? cip_buf_nul(&folder, err) : st;
    }
    if (st == CIP_OK)
        st = list_s3(u, (const char *)folder.ptr, fn, user, err);
    cip_buf_clear(&folder);
    return st;
}

static cip_status url_unchanged(cip_io *io, cip_err *err)
{
    url_io *u = (url_io *)io;
    return u->copied ? CIP_OK : cip_http_unchanged(&u->file, err);
}

static void url_close(cip_io *io)
{
    url_io *u = (url_io *)io;
    cip_mem *mem = &io->env->mem;
    cip_kept_close(&u->kept);
    cip_http_file_clear(&u->file);
    cip_http_drop(u->http);
    for (size_t i = 0; i < u->nnote; i++) {
        cip_mem_put(mem, u->note[i].name);
        cip_mem_put(mem, u->note[i].head);
    }
    cip_mem_put(mem, u->note);
    cip_strmap_clear(&u->noted);
    pthread_mutex_destroy(&u->lock);
    cip_mem_put(mem, u->head);
    cip_mem_put(mem, u->url);
    cip_io_free(io);
}

static const cip_io_ops url_ops = {
    .name = "url",
    .read_ranges = url_read,
    .open_member = url_member,
    .unchanged = url_unchanged,
    .close = url_close,
};
static const cip_io_ops url_folder_ops = {
    .name = "url folder",
    .read_ranges = folder_read,
    .open_member = url_member,
    .list = url_list,
    .expect = url_expect,
    .close = url_close,
};

/* --- opening */

/* Of a file nothing is asked yet. *out may be there on failure, too. */
static cip_status new_io(cip_env *env, cip_http *http, const char *url, bool folder, url_io **out,
                         cip_err *err)
{
    cip_buf shown = { .mem = &env->mem };
    cip_io *io = NULL;
    *out = NULL;
    cip_status st = cip_url_show(&shown, url, err);
    if (st == CIP_OK && folder && shown.len != 0 && shown.ptr[shown.len - 1] == '/')
        shown.len--; /* so that its name may tell the format */
    if (st == CIP_OK)
        st = cip_buf_nul(&shown, err);
    if (st == CIP_OK)
        st = cip_io_new(env, folder ? &url_folder_ops : &url_ops, sizeof(url_io),
                        (const char *)shown.ptr, &io, err);
    cip_buf_clear(&shown);
    CIP_TRY(st);
    url_io *u = (url_io *)io;
    u->http = cip_http_keep(http);
    u->noted.mem = &env->mem;
    pthread_mutex_init(&u->lock, NULL);
    io->far = true;
    io->folder = folder;
    *out = u;
    return cip_mem_copy(&env->mem, url, strlen(url), &u->url, err);
}

/* A copy as it comes, a block at a time. */
typedef struct copying {
    cip_kept *kept;
    uint8_t block[CIP_KEPT_BLOCK];
} copying;

static cip_status take_copy(void *user, uint64_t off, const void *bytes, size_t n, cip_err *err)
{
    copying *c = user;
    const uint8_t *from = bytes;
    CIP_TRY(cip_stop_ask(err));
    while (n != 0) {
        const uint64_t i = off / CIP_KEPT_BLOCK;
        const size_t at = (size_t)(off % CIP_KEPT_BLOCK);
        const size_t len = cip_kept_block_len(c->kept, i);
        const size_t now = (size_t)cip_min_u64(n, len - at); /* it ends where the file does */
        memcpy(c->block + at, from, now);
        if (at + now == len)
            cip_kept_store(c->kept, i, c->block);
        from += now;
        off += now;
        n -= now;
    }
    return CIP_OK;
}

static bool is_copied(const cip_kept *k, uint8_t *room)
{
    for (uint64_t i = 0; i * CIP_KEPT_BLOCK < k->size; i++)
        if (!cip_kept_take(k, i, room))
            return false;
    return true;
}

/* A file that the server sends whole only is copied into the cache, unless it is there. `why`: what
 * opening said, which stays where there is no cache or it cannot tell versions apart. */
static cip_status copy_whole(url_io *u, const cip_err *why, cip_err *err)
{
    const cip_kept_folder *folder = cip_http_kept(u->http);
    const cip_http_version *v = &u->file.version;
    copying *c;
    void *room;
    cip_kept_open(&u->kept, folder, &u->io.env->mem, u->file.url, u->io.name, v);
    if (folder->fd == -1)
        return cip_err_give(err, why, CIP_ERR_UNSUPPORTED);
    if (!cip_http_tag_is_strong(v->tag))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the server neither supports range requests nor gives a strong entity tag, "
                        "by which a copy in the cache would be known: download the file");
    if (u->kept.fd == -1)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "no file can be made in the cache");
    if (v->size + v->size / 1024 + (1 << 20) > folder->limit)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "the server sends the file whole only, and its %" PRIu64
                        " bytes do not fit the cache",
                        v->size);
    CIP_TRY(cip_mem_get(&u->io.env->mem, sizeof *c, &room, err));
    c = room;
    c->kept = &u->kept;
    cip_status st = CIP_OK;
    if (!is_copied(c->kept, c->block)) {
        st = cip_http_copy(&u->file, take_copy, c, err);
        if (st == CIP_OK && !is_copied(c->kept, c->block))
            st = cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the file cannot be kept in the cache");
    }
    cip_mem_put(&u->io.env->mem, room);
    u->copied = st == CIP_OK;
    u->io.size = v->size;
    return st;
}

/* *folder: a web server says that it is one. */
static cip_status first_request(url_io *u, bool *folder, cip_err *err)
{
    cip_mem *mem = &u->io.env->mem;
    cip_err own = CIP_ERR_INIT;
    char region[CIP_HTTP_REGION];
    void *head = NULL;
    CIP_TRY(new_file(u->http, u->url, &u->file, err));
    CIP_TRY(cip_mem_get(mem, HEAD, &head, err));
    cip_status st = cip_http_open(&u->file, head, HEAD, &u->nhead, folder, region, &own);
    if (st != CIP_OK && is_s3(u->url) && cip_http_set_region(u->http, region)) {
        cip_http_file_clear(&u->file);
        st = new_file(u->http, u->url, &u->file, &own);
        if (st == CIP_OK)
            st = cip_http_open(&u->file, head, HEAD, &u->nhead, folder, region, &own);
    }
    if (st == CIP_ERR_UNSUPPORTED && u->file.whole_only) {
        cip_mem_put(mem, head);
        return copy_whole(u, &own, err);
    }
    if (st == CIP_OK && u->nhead < HEAD)
        (void)cip_mem_resize(mem, &head, u->nhead + 1, NULL);
    u->head = head;
    u->io.size = u->file.version.size;
    return cip_err_give(err, &own, st);
}

/* What was noted of it is as good as asked; its bytes go over. */
static cip_status take_note(url_io *u, note *known, cip_err *err)
{
    CIP_TRY(new_file(u->http, u->url, &u->file, err));
    u->head = known->head;
    known->head = NULL;
    u->nhead = known->nhead;
    u->file.version = known->version;
    u->io.size = known->version.size;
    return CIP_OK;
}

static int any_name(void *user, const char *name, bool is_folder)
{
    (void)name;
    (void)is_folder;
    *(bool *)user = true;
    return 1;
}

/* What is no object of S3 may be what the names of others begin with. */
static bool is_s3_folder(const url_io *u)
{
    cip_buf folder = { .mem = &u->io.env->mem }, next = { .mem = &u->io.env->mem };
    bool any = false, stopped;
    if (is_s3(u->url) && cip_buf_addf(&folder, NULL, "%s/%c", u->url, 0) == CIP_OK)
        (void)list_page(u, (const char *)folder.ptr, any_name, &any, &next, &stopped, NULL);
    cip_buf_clear(&folder);
    cip_buf_clear(&next);
    return any;
}

/* `known`: what was noted of it, or NULL. *folder (may be NULL: NOT_FOUND): it is one, and not
 * opened. */
static cip_status open_url(cip_env *env, cip_http *http, const char *url, note *known, bool *folder,
                           cip_io **out, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    url_io *u;
    bool is_folder = false;
    *out = NULL;
    cip_status st = new_io(env, http, url, false, &u, &own);
    if (st == CIP_OK)
        st = known != NULL ? take_note(u, known, &own) : first_request(u, &is_folder, &own);
    if (st == CIP_ERR_NOT_FOUND && folder != NULL && is_s3_folder(u))
        is_folder = true;
    if (folder != NULL)
        *folder = is_folder;
    if (is_folder)
        st = folder != NULL ? CIP_OK
                            : cip_fail(&own, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                       "'%.120s' is a folder", u->io.name);
    if (st == CIP_OK && !is_folder && !u->copied && u->nhead < u->io.size)
        cip_kept_open(&u->kept, cip_http_kept(http), &env->mem, u->file.url, u->io.name,
                      &u->file.version);
    if (st == CIP_OK && !is_folder)
        *out = &u->io;
    else if (u != NULL)
        url_close(&u->io);
    return cip_err_give(err, &own, st);
}

/* `slash`: what its URL lacks. */
static cip_status open_folder(cip_env *env, cip_http *http, const char *url, const char *slash,
                              cip_io **out, cip_err *err)
{
    cip_buf full = { .mem = &env->mem };
    url_io *u = NULL;
    cip_status st = cip_buf_addf(&full, err, "%s%s%c", url, slash, 0);
    if (st == CIP_OK)
        st = new_io(env, http, (const char *)full.ptr, true, &u, err);
    cip_buf_clear(&full);
    if (st == CIP_OK)
        *out = &u->io;
    else if (u != NULL)
        url_close(&u->io);
    return st;
}

static cip_status new_http(cip_env *env, const char *url, const cip_url_cache *cache,
                           cip_http **out, cip_err *err)
{
    cip_aws aws = { .region = "" };
    cip_kept_folder kept = { .fd = -1 };
    const bool s3 = is_s3(url);
    if (s3)
        CIP_TRY(cip_aws_find(&env->mem, &aws, err));
    if (cache != NULL && cache->folder != NULL)
        CIP_TRY(cip_kept_folder_open(cache->folder, cache->nbytes, &kept, err));
    const cip_status st =
        cip_http_new(&env->mem, &cip_http_tuning_default, s3 ? &aws : NULL, &kept, out, err);
    memset(&aws, 0, sizeof aws);
    return st;
}

cip_status cip_io_open_url(cip_env *env, const char *url, const cip_url_cache *cache, cip_io **out,
                           cip_err *err)
{
    cip_http *http;
    *out = NULL;
    const bool s3 = is_s3(url);
    if (!s3)
        CIP_TRY(cip_url_check(url, err));
    const bool bucket_alone = s3 && strchr(url + strlen("s3://"), '/') == NULL;
    bool folder = bucket_alone || (s3 ? url[strlen(url) - 1] == '/' : cip_url_is_folder(url));
    const bool slashed = folder && !bucket_alone;
    CIP_TRY(new_http(env, url, cache, &http, err));
    cip_status st = folder ? CIP_OK : open_url(env, http, url, NULL, &folder, out, err);
    if (st == CIP_OK && folder)
        st = open_folder(env, http, url, slashed ? "" : "/", out, err);
    cip_http_drop(http);
    return st;
}

const char *cip_io_url(const cip_io *io)
{
    const bool is = io->ops == &url_ops || io->ops == &url_folder_ops;
    return is ? ((const url_io *)io)->url : NULL;
}
