/* SPDX-License-Identifier: BSD-3-Clause
 * For each space a sorted list. What is full is thinned: the space whose checkpoints take the most
 * loses every other one, so that what is left lies as evenly as before. */
#include "space/sequential/checkpoints.h"

#include <string.h>

#include "base/num.h"

enum { SMALL = 1 << 10, MOST = 1024 /* large checkpoints of a space at first */ };

typedef struct entry {
    cip_checkpoint checkpoint; /* its window is owned */
} entry;

typedef struct set {
    struct set *next;
    uint64_t id;
    uint64_t gap;
    uint64_t nbytes; /* of windows and entries */
    size_t n, cap;
    entry *at;
} set;

struct cip_checkpoints {
    cip_env *env;
    pthread_mutex_t lock; /* guards all below; a leaf */
    uint64_t max, gap, nbytes;
    set *first;
};

cip_status cip_checkpoints_new(cip_env *env, uint64_t max_bytes, uint64_t gap,
                               cip_checkpoints **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->env = env;
    (*out)->max = max_bytes;
    (*out)->gap = gap;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CIP_OK;
}

static uint64_t cost_of(const cip_checkpoint *checkpoint)
{
    return sizeof(entry) + checkpoint->window_len;
}

static void take_out(cip_checkpoints *m, set *s, size_t i)
{
    uint64_t n = cost_of(&s->at[i].checkpoint);
    cip_mem_put(&m->env->mem, (void *)s->at[i].checkpoint.window);
    s->nbytes -= n;
    m->nbytes -= n;
}

void cip_checkpoints_free(cip_checkpoints *m)
{
    if (m == NULL)
        return;
    while (m->first != NULL) {
        set *s = m->first;
        m->first = s->next;
        for (size_t i = 0; i < s->n; i++)
            take_out(m, s, i);
        s->n = 0;
        cip_mem_put(&m->env->mem, s->at);
        cip_mem_put(&m->env->mem, s);
    }
    pthread_mutex_destroy(&m->lock);
    cip_mem_put(&m->env->mem, m);
}

/* --- under the lock -------------------------------------------------------------------------- */

static set *set_of(cip_checkpoints *m, uint64_t id)
{
    set *s = m->first;
    while (s != NULL && s->id != id)
        s = s->next;
    return s;
}

static uint64_t first_gap(const cip_checkpoints *m, uint64_t len)
{
    return cip_max_u64(m->gap, len / MOST);
}

/* Checkpoints at `raw` or before. */
static size_t count_to(const set *s, uint64_t raw)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->at[mid].checkpoint.raw <= raw)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static uint64_t gap_of(const set *s, const cip_checkpoint *checkpoint)
{
    return checkpoint->window_len <= SMALL ? s->gap / 8 : s->gap;
}

static bool make_room(cip_checkpoints *m, uint64_t need)
{
    while (need > m->max || m->nbytes > m->max - need) {
        set *most = NULL;
        for (set *s = m->first; s != NULL; s = s->next)
            if (s->n > 1 && (most == NULL || s->nbytes > most->nbytes))
                most = s;
        if (most == NULL || need > m->max)
            return false;
        size_t kept = 0; /* every other one goes */
        for (size_t i = 0; i < most->n; i++) {
            if (i % 2 == 0)
                take_out(m, most, i);
            else
                most->at[kept++] = most->at[i];
        }
        most->n = kept;
        most->gap *= 2;
    }
    return true;
}

/* Whether a checkpoint there lies far enough from its neighbours. */
static bool is_wanted(const set *s, size_t i, const cip_checkpoint *checkpoint)
{
    uint64_t gap = gap_of(s, checkpoint);
    return (i == 0 ? checkpoint->raw >= gap / 8 && checkpoint->raw != 0
                   : checkpoint->raw - s->at[i - 1].checkpoint.raw >= gap) &&
           (i == s->n || s->at[i].checkpoint.raw - checkpoint->raw >= gap);
}

static bool put(cip_checkpoints *m, set *s, const cip_checkpoint *checkpoint)
{
    void *window = NULL;
    uint64_t need = cost_of(checkpoint);
    if (!is_wanted(s, count_to(s, checkpoint->raw), checkpoint) || !make_room(m, need) ||
        CIP_ROOM(&m->env->mem, &s->at, s->n, &s->cap, NULL) != CIP_OK ||
        cip_mem_get(&m->env->mem, checkpoint->window_len, &window, NULL) != CIP_OK)
        return false;
    size_t i = count_to(s, checkpoint->raw); /* there may be fewer now */
    if (checkpoint->window_len != 0)
        memcpy(window, checkpoint->window, checkpoint->window_len);
    memmove(s->at + i + 1, s->at + i, (s->n - i) * sizeof *s->at);
    s->at[i].checkpoint = *checkpoint;
    s->at[i].checkpoint.window = window;
    s->n++;
    s->nbytes += need;
    m->nbytes += need;
    return true;
}

/* Where the next one is wanted behind `raw`; `first`: where there is none before. */
static uint64_t next_in(const set *s, uint64_t raw, uint64_t first)
{
    uint64_t next = cip_max_u64(raw, first);
    for (size_t i = s != NULL ? count_to(s, raw) : 0; s != NULL && i != 0 && i <= s->n; i++) {
        uint64_t gap = gap_of(s, &s->at[i - 1].checkpoint);
        next = cip_max_u64(raw, s->at[i - 1].checkpoint.raw + gap);
        if (i == s->n || s->at[i].checkpoint.raw - next >= gap) /* modulo 2^64: it lies before */
            break;
    }
    return next;
}

/* A gap of its kind behind the checkpoint before, or behind where it would have been. */
static uint64_t after_refusal(const set *s, const cip_checkpoint *checkpoint)
{
    size_t i = count_to(s, checkpoint->raw);
    uint64_t gap = gap_of(s, checkpoint),
             next = i != 0 ? s->at[i - 1].checkpoint.raw + gap : gap / 8;
    next = next > checkpoint->raw ? next : checkpoint->raw + gap;
    return cip_max_u64(next, next_in(s, checkpoint->raw, 0));
}

static void copy_out(const set *s, size_t i, cip_checkpoint *out,
                     uint8_t window[CIP_CHECKPOINT_WINDOW])
{
    *out = s->at[i].checkpoint;
    if (out->window_len != 0)
        memcpy(window, out->window, out->window_len);
    out->window = window;
}

/* --------------------------------------------------------------------------------------------- */

uint64_t cip_checkpoints_next(cip_checkpoints *m, uint64_t id, uint64_t len, uint64_t raw)
{
    pthread_mutex_lock(&m->lock);
    const set *s = set_of(m, id);
    uint64_t next = next_in(s, raw, (s != NULL ? s->gap : first_gap(m, len)) / 8);
    pthread_mutex_unlock(&m->lock);
    return next;
}

uint64_t cip_checkpoints_put(cip_checkpoints *m, uint64_t id, uint64_t len,
                             const cip_checkpoint *checkpoint)
{
    uint64_t gap = first_gap(m, len), next = checkpoint->raw + gap;
    if (checkpoint->window_len > CIP_CHECKPOINT_WINDOW)
        return next;
    pthread_mutex_lock(&m->lock);
    set *s = set_of(m, id);
    if (s == NULL && CIP_NEW(&m->env->mem, &s, 1, NULL) == CIP_OK) {
        s->id = id;
        s->gap = gap;
        s->next = m->first;
        m->first = s;
    }
    if (s != NULL && put(m, s, checkpoint))
        next = next_in(s, checkpoint->raw, 0);
    else if (s != NULL)
        next = after_refusal(s, checkpoint);
    pthread_mutex_unlock(&m->lock);
    return next;
}

bool cip_checkpoints_find(cip_checkpoints *m, uint64_t id, uint64_t pos, cip_checkpoint *out,
                          uint8_t window[CIP_CHECKPOINT_WINDOW])
{
    pthread_mutex_lock(&m->lock);
    set *s = set_of(m, id);
    size_t i = s != NULL ? count_to(s, pos) : 0;
    if (i != 0)
        copy_out(s, i - 1, out, window);
    pthread_mutex_unlock(&m->lock);
    return i != 0;
}

bool cip_checkpoints_at(cip_checkpoints *m, uint64_t id, size_t i, cip_checkpoint *out,
                        uint8_t window[CIP_CHECKPOINT_WINDOW])
{
    pthread_mutex_lock(&m->lock);
    set *s = set_of(m, id);
    bool found = s != NULL && i < s->n;
    if (found)
        copy_out(s, i, out, window);
    pthread_mutex_unlock(&m->lock);
    return found;
}

uint64_t cip_checkpoints_nbytes(cip_checkpoints *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t n = m->nbytes;
    pthread_mutex_unlock(&m->lock);
    return n;
}

size_t cip_checkpoints_count(cip_checkpoints *m, const uint64_t *id)
{
    size_t n = 0;
    pthread_mutex_lock(&m->lock);
    for (set *s = m->first; s != NULL; s = s->next)
        n += id == NULL || s->id == *id ? s->n : 0;
    pthread_mutex_unlock(&m->lock);
    return n;
}
