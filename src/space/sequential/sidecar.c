/* SPDX-License-Identifier: BSD-3-Clause
 * A checkpoint depends on all stored bytes before it, and on nothing else. So each carries a digest
 * of the bytes since the checkpoint before, and counts only when those of all checkpoints up to it
 * are right. */
#include "space/sequential/sidecar.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "space/read/reader.h"

enum { VERSION = 1, HEAD = 40, SPACE = 40, CHECKPOINTS = 40, SUM = 16, PIECE = 256 << 10 };

static const uint8_t magic[8] = { 0x89, 'C', 'I', 'P', 'M', 0x0d, 0x0a, 0x1a };

/* Which space: where its stored bytes lie in the file, what they decode to and by what. */
typedef struct key {
    uint64_t off, len, raw_len;
    uint8_t codec[8];
} key;

typedef struct record {
    key key;
    cip_bytes checkpoints; /* those not looked at yet; whole ones, checked */
    uint64_t ncheckpoint;  /* of them */
    uint64_t end;          /* stored bytes before the last that counts */
    cip_space *space;      /* that it was found to be, or NULL */
    uint64_t ncounted;     /* checkpoints of the file that count */
} record;

struct cip_sidecar {
    cip_env *env;
    pthread_mutex_t lock; /* guards all below; reads of stored bytes are done without it */
    uint8_t *bytes;       /* of the file; windows are borrowed from here */
    record *at;
    size_t n, cap;
};

cip_status cip_sidecar_new(cip_env *env, cip_sidecar **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->env = env;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CIP_OK;
}

void cip_sidecar_free(cip_sidecar *c)
{
    if (c == NULL)
        return;
    cip_mem_put(&c->env->mem, c->bytes);
    cip_mem_put(&c->env->mem, c->at);
    pthread_mutex_destroy(&c->lock);
    cip_mem_put(&c->env->mem, c);
}

/* --- reading --------------------------------------------------------------------------------- */

static cip_status fail(cip_err *err, uint64_t at, const char *what)
{
    return cip_fail(err, CIP_ERR_CORRUPT, at, "expected the checkpoints of this file, found %s",
                    what);
}

static cip_status check_head(cip_env *env, cip_bytes in, uint64_t file_nbytes, cip_err *err)
{
    if (in.len < HEAD + SUM || memcmp(in.ptr, magic, sizeof magic) != 0)
        return cip_fail(err, CIP_ERR_FORMAT, 0,
                        "expected a file of checkpoints, found something else");
    if (cip_load_u32(in.ptr + 8, false) != VERSION || cip_load_u32(in.ptr + 12, false) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 8, "expected checkpoints of version %d, found %u",
                        (int)VERSION, (unsigned)cip_load_u32(in.ptr + 8, false));
    if (cip_load_u64(in.ptr + 16, false) != in.len)
        return cip_fail(err, CIP_ERR_TRUNCATED, 16,
                        "expected %" PRIu64 " bytes of checkpoints, found %zu",
                        cip_load_u64(in.ptr + 16, false), in.len);
    if (cip_load_u64(in.ptr + 24, false) != file_nbytes)
        return fail(err, 24, "those of a file of a different length");
    cip_sum *sum;
    uint8_t found[CIP_SUM_MAX];
    CIP_TRY(cip_sum_new(&env->mem, CIP_SUM_XXH3_128, &sum, err));
    cip_sum_add(sum, in.ptr, in.len - SUM);
    cip_sum_take(sum, found);
    cip_sum_free(sum);
    if (memcmp(found, in.ptr + in.len - SUM, SUM) != 0)
        return cip_fail(err, CIP_ERR_CHECKSUM, in.len - SUM,
                        "the checkpoint file beside the data does not match its checksum");
    return CIP_OK;
}

/* One checkpoint at the cursor; its window is borrowed. What can be checked without the data is. */
static cip_status get_checkpoint(cip_cursor *c, const key *k, cip_checkpoint *checkpoint,
                                 cip_err *err)
{
    checkpoint->in_bits = cip_get_u64(c);
    checkpoint->raw = cip_get_u64(c);
    checkpoint->window_len = cip_get_u32(c);
    bool zero = cip_get_u32(c) == 0;
    cip_get_bytes(c, SUM);
    checkpoint->window = cip_get_bytes(c, checkpoint->window_len).ptr;
    if (c->bad || !zero || checkpoint->window_len > CIP_CHECKPOINT_WINDOW)
        return fail(err, CIP_NO_OFFSET, "an incomplete checkpoint");
    if (cip_div_up(checkpoint->in_bits, 8) > k->len || checkpoint->raw > k->raw_len)
        return fail(err, CIP_NO_OFFSET, "a checkpoint after the end of its data");
    return CIP_OK;
}

static cip_status get_space(cip_cursor *c, record *r, cip_err *err)
{
    cip_checkpoint checkpoint, last = { 0 };
    r->key.off = cip_get_u64(c);
    r->key.len = cip_get_u64(c);
    r->key.raw_len = cip_get_u64(c);
    cip_get_copy(c, r->key.codec, sizeof r->key.codec);
    r->ncheckpoint = cip_get_u64(c);
    size_t left = cip_cursor_left(c);
    if (c->bad || r->ncheckpoint > left / CHECKPOINTS)
        return fail(err, CIP_NO_OFFSET, "fewer checkpoints than declared");
    r->checkpoints.ptr = c->in.ptr + (c->in.len - left);
    for (uint64_t i = 0; i < r->ncheckpoint; i++, last = checkpoint) {
        CIP_TRY(get_checkpoint(c, &r->key, &checkpoint, err));
        if (checkpoint.raw <= last.raw || checkpoint.in_bits <= last.in_bits)
            return fail(err, CIP_NO_OFFSET, "checkpoints that are not ascending");
    }
    r->checkpoints.len = left - cip_cursor_left(c);
    return CIP_OK;
}

cip_status cip_sidecar_load(cip_env *env, cip_io *io, uint64_t file_nbytes, cip_sidecar **out,
                            cip_err *err)
{
    cip_sidecar *s = NULL;
    cip_status st;
    *out = NULL;
    if (io->size > CIP_SIDECAR_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d bytes of checkpoints, found %" PRIu64, CIP_SIDECAR_MAX,
                        io->size);
    CIP_GO(cip_sidecar_new(env, &s, err));
    CIP_GO(cip_mem_get(&env->mem, (size_t)io->size, (void **)&s->bytes, err));
    CIP_GO(cip_io_read(io, 0, s->bytes, (size_t)io->size, err));
    const cip_bytes in = { s->bytes, (size_t)io->size };
    CIP_GO(check_head(s->env, in, file_nbytes, err));
    uint64_t n = cip_load_u64(in.ptr + 32, false);
    cip_cursor c = cip_cursor_le((cip_bytes){ in.ptr + HEAD, in.len - HEAD - SUM });
    if (n > cip_cursor_left(&c) / SPACE)
        CIP_GO(fail(err, 32, "fewer spaces than declared"));
    CIP_GO(CIP_NEW(&s->env->mem, &s->at, (size_t)n, err));
    s->cap = (size_t)n;
    while (s->n < n)
        CIP_GO(get_space(&c, &s->at[s->n++], err));
    if (cip_cursor_left(&c) != 0)
        CIP_GO(fail(err, CIP_NO_OFFSET, "more data after them"));
    *out = s;
    return CIP_OK;
done:
    cip_sidecar_free(s);
    return st;
}

/* --- using ----------------------------------------------------------------------------------- */

/* False: its stored bytes do not lie in the layout's own file. */
static bool key_of(cip_space *s, key *k)
{
    if (s->layout->parent != NULL || s->sub.in->layout == NULL ||
        s->sub.in->layout->parent != NULL || s->step[0].codec->stream == NULL ||
        s->step[0].codec->stream->resume == NULL)
        return false;
    memset(k, 0, sizeof *k);
    k->off = cip_space_file_offset(s->sub.in, s->sub.off);
    k->len = s->sub.len;
    k->raw_len = s->len;
    const char *name = s->step[0].codec->name;
    memcpy(k->codec, name, strnlen(name, sizeof k->codec));
    return k->off != CIP_NO_OFFSET;
}

/* Under the lock: the space's record, a new one where there is none; NULL without memory. */
static record *record_of(cip_sidecar *c, cip_space *s, const key *k)
{
    for (size_t i = 0; i < c->n; i++)
        if (memcmp(&c->at[i].key, k, sizeof *k) == 0) {
            if (c->at[i].space == NULL)
                c->at[i].space = s;
            return &c->at[i];
        }
    if (CIP_ROOM(&c->env->mem, &c->at, c->n, &c->cap, NULL) != CIP_OK)
        return NULL;
    c->at[c->n] = (record){ .key = *k, .space = s };
    return &c->at[c->n++];
}

/* The digest of stored bytes [from, to). */
static cip_status digest(const cip_rd *rd, cip_space *s, uint64_t from, uint64_t to,
                         uint8_t out[SUM], cip_err *err)
{
    cip_sum *sum = NULL;
    cip_pooled room = { NULL, 0 };
    cip_status st;
    CIP_GO(cip_buffer_pool_take(rd->buffers, PIECE, &room, err));
    CIP_GO(cip_sum_new(&rd->env->mem, CIP_SUM_XXH3_128, &sum, err));
    while (from < to) {
        size_t n = (size_t)cip_min_u64(to - from, PIECE);
        CIP_GO(cip_rd_at(rd, s->sub.in, s->sub.off + from, room.ptr, n, err));
        cip_sum_add(sum, room.ptr, n);
        from += n;
    }
    cip_sum_take(sum, out);
done:
    cip_sum_free(sum);
    cip_buffer_pool_give(rd->buffers, &room);
    return st;
}

/* The first checkpoint not looked at, if it lies at `pos` or before; a copy of its record, so that
 * it can be looked at without the lock. */
static bool next_checkpoint(cip_sidecar *c, cip_space *s, const key *k, uint64_t pos, record *out,
                            cip_checkpoint *checkpoint)
{
    pthread_mutex_lock(&c->lock);
    record *r = record_of(c, s, k);
    bool found = r != NULL && r->space == s && r->ncheckpoint != 0;
    if (found) {
        cip_cursor at = cip_cursor_le(r->checkpoints);
        get_checkpoint(&at, k, checkpoint, NULL);
        *out = *r;
        found = checkpoint->raw <= pos;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* It counts, or it and all behind it do not. Unless another thread was faster. */
static void settle(cip_sidecar *c, const record *was, const cip_checkpoint *checkpoint, bool counts)
{
    size_t n = CHECKPOINTS + checkpoint->window_len;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->n; i++) {
        record *r = &c->at[i];
        if (r->space != was->space || r->checkpoints.ptr != was->checkpoints.ptr ||
            r->ncheckpoint != was->ncheckpoint)
            continue;
        r->ncheckpoint = counts ? r->ncheckpoint - 1 : 0;
        r->checkpoints = (cip_bytes){ r->checkpoints.ptr + n, r->checkpoints.len - n };
        r->ncounted += counts;
        r->end = cip_div_up(checkpoint->in_bits, 8);
    }
    pthread_mutex_unlock(&c->lock);
}

void cip_sidecar_use(const cip_rd *rd, cip_space *s, uint64_t pos)
{
    cip_sidecar *c = rd->sidecar;
    record r;
    cip_checkpoint checkpoint;
    key k;
    uint8_t found[CIP_SUM_MAX];
    if (c == NULL || !key_of(s, &k))
        return;
    while (next_checkpoint(c, s, &k, pos, &r, &checkpoint)) {
        uint64_t end = cip_div_up(checkpoint.in_bits, 8);
        if (digest(rd, s, r.end, end, found, NULL) != CIP_OK)
            return; /* the read itself will say why */
        bool counts = memcmp(found, r.checkpoints.ptr + (CHECKPOINTS - SUM), SUM) == 0;
        if (counts) {
            cip_checkpoints_put(rd->checkpoints, s->id, s->len, &checkpoint);
        } else {
            cip_warn(c->env, CIP_OK, CIP_NO_OFFSET, "checkpoints",
                     "the checkpoint file beside the data is out of date: the data changed before "
                     "byte %" PRIu64 " of %s; it is ignored from there on",
                     end, s->label != NULL ? s->label : "a block");
        }
        settle(c, &r, &checkpoint, counts);
    }
}

/* --- writing --------------------------------------------------------------------------------- */

bool cip_sidecar_has_news(cip_sidecar *c, const cip_layout *l)
{
    bool news = false;
    for (size_t i = 0; i < c->n && !news; i++)
        news = c->at[i].space != NULL &&
               cip_checkpoints_count(l->checkpoints, &c->at[i].space->id) > c->at[i].ncounted;
    return news;
}

static cip_status add_u64(cip_buf *b, uint64_t v, cip_err *err)
{
    uint8_t bytes[8];
    cip_store_u64(bytes, v, false);
    return cip_buf_add(b, bytes, sizeof bytes, err);
}

static cip_status add_head(const record *r, uint64_t ncheckpoint, cip_buf *out, cip_err *err)
{
    CIP_TRY(add_u64(out, r->key.off, err));
    CIP_TRY(add_u64(out, r->key.len, err));
    CIP_TRY(add_u64(out, r->key.raw_len, err));
    CIP_TRY(cip_buf_add(out, r->key.codec, sizeof r->key.codec, err));
    return add_u64(out, ncheckpoint, err);
}

/* What was read of the space as it is known now; of one that was not, what the file had. */
static cip_status add_space(const cip_rd *rd, const record *r, uint8_t *window, cip_buf *out,
                            cip_err *err)
{
    cip_checkpoint checkpoint;
    uint64_t from = 0;
    if (r->space == NULL) {
        CIP_TRY(add_head(r, r->ncheckpoint, out, err));
        return cip_buf_add(out, r->checkpoints.ptr, r->checkpoints.len, err);
    }
    uint64_t id = r->space->id;
    size_t at = out->len;
    CIP_TRY(add_head(r, 0, out, err));
    size_t n = 0;
    for (; cip_checkpoints_at(rd->checkpoints, id, n, &checkpoint, window); n++) {
        uint8_t sum[CIP_SUM_MAX];
        uint64_t end = cip_div_up(checkpoint.in_bits, 8);
        CIP_TRY(digest(rd, r->space, from, end, sum, err));
        CIP_TRY(add_u64(out, checkpoint.in_bits, err));
        CIP_TRY(add_u64(out, checkpoint.raw, err));
        CIP_TRY(add_u64(out, checkpoint.window_len, err)); /* and four zeros */
        CIP_TRY(cip_buf_add(out, sum, SUM, err));
        from = end;
        CIP_TRY(cip_buf_add(out, checkpoint.window, checkpoint.window_len, err));
    }
    cip_store_u64(out->ptr + at + SPACE - 8, n, false);
    return CIP_OK;
}

cip_status cip_sidecar_encode(const cip_read_how *how, uint64_t file_nbytes, cip_buf *out,
                              cip_err *err)
{
    cip_sidecar *c = how->layout->sidecar;
    cip_rd rd = cip_rd_make(how);
    uint8_t *window = NULL, sum[CIP_SUM_MAX];
    cip_status st;
    for (size_t i = 0; i < c->n; i++) /* what the file had behind what was read */
        if (c->at[i].space != NULL)
            cip_sidecar_use(&rd, c->at[i].space, UINT64_MAX);
    CIP_GO(cip_mem_get(&c->env->mem, CIP_CHECKPOINT_WINDOW, (void **)&window, err));
    CIP_GO(cip_buf_add(out, magic, sizeof magic, err));
    CIP_GO(add_u64(out, VERSION, err)); /* and flags 0 */
    CIP_GO(add_u64(out, 0, err));       /* the length, when it is known */
    CIP_GO(add_u64(out, file_nbytes, err));
    CIP_GO(add_u64(out, c->n, err));
    for (size_t i = 0; i < c->n; i++)
        CIP_GO(add_space(&rd, &c->at[i], window, out, err));
    cip_store_u64(out->ptr + 16, out->len + SUM, false);
    CIP_GO(cip_sum_of(&c->env->mem, CIP_SUM_XXH3_128, (cip_bytes){ out->ptr, out->len }, sum, err));
    st = cip_buf_add(out, sum, SUM, err);
done:
    cip_mem_put(&c->env->mem, window);
    return st;
}
