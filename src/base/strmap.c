/* SPDX-License-Identifier: BSD-3-Clause
 * Open addressing with linear probing, at most half full; SipHash-2-4 (Aumasson and Bernstein). */
#include "base/strmap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/endian.h"

struct cip_strmap_slot {
    cip_bytes key;
    size_t value;
    uint64_t hash;
    bool used;
};

static uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

uint64_t cip_siphash(const uint64_t key[2], cip_bytes in)
{
    uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                      key[0] ^ UINT64_C(0x6c7967656e657261),
                      key[1] ^ UINT64_C(0x7465646279746573) };
    size_t i = 0;
    for (; i + 8 <= in.len; i += 8) {
        uint64_t m = cip_load_u64(in.ptr + i, false);
        v[3] ^= m;
        sip_round(v);
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t tail = (uint64_t)in.len << 56;
    for (size_t k = 0; i + k < in.len; k++)
        tail |= (uint64_t)in.ptr[i + k] << (8 * k);
    v[3] ^= tail;
    sip_round(v);
    sip_round(v);
    v[0] ^= tail;
    v[2] ^= 0xff;
    for (int r = 0; r < 4; r++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t process_key[2];

static void make_process_key(void)
{
    if (getrandom(process_key, sizeof process_key, GRND_NONBLOCK) == (ssize_t)sizeof process_key)
        return;
    struct timespec now; /* early boot: better than a constant */
    clock_gettime(CLOCK_MONOTONIC, &now);
    process_key[0] = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now;
    process_key[1] = (uint64_t)now.tv_sec;
}

void cip_hash_seed(uint64_t key[2])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_process_key);
    memcpy(key, process_key, sizeof process_key);
}

uint64_t cip_unique_number(void)
{
    static _Atomic uint64_t calls;
    const uint64_t in[2] = { atomic_fetch_add(&calls, 1), (uint64_t)getpid() }; /* forks share it */
    uint64_t key[2];
    cip_hash_seed(key);
    return cip_siphash(key, (cip_bytes){ (const uint8_t *)in, sizeof in });
}

static cip_strmap_slot *find(const cip_strmap *m, cip_bytes key, uint64_t hash)
{
    size_t i = (size_t)hash & (m->nslot - 1);
    for (;; i = (i + 1) & (m->nslot - 1)) {
        cip_strmap_slot *s = &m->slots[i];
        if (!s->used)
            return s;
        if (s->hash == hash && s->key.len == key.len &&
            (key.len == 0 || memcmp(s->key.ptr, key.ptr, key.len) == 0))
            return s;
    }
}

cip_status cip_strmap_put(cip_strmap *m, cip_bytes key, size_t value, size_t *was, cip_err *err)
{
    if (m->len * 2 >= m->nslot) {
        cip_strmap bigger = { .mem = m->mem, .nslot = m->nslot == 0 ? 16 : m->nslot * 2 };
        if (m->nslot == 0)
            cip_hash_seed(m->key);
        CIP_TRY(CIP_NEW(m->mem, &bigger.slots, bigger.nslot, err));
        for (size_t i = 0; i < m->nslot; i++)
            if (m->slots[i].used)
                *find(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
        cip_mem_put(m->mem, m->slots);
        m->slots = bigger.slots;
        m->nslot = bigger.nslot;
    }
    uint64_t hash = cip_siphash(m->key, key);
    cip_strmap_slot *s = find(m, key, hash);
    if (was != NULL)
        *was = s->used ? s->value : SIZE_MAX;
    m->len += !s->used;
    *s = (cip_strmap_slot){ key, value, hash, true };
    return CIP_OK;
}

size_t cip_strmap_get(const cip_strmap *m, cip_bytes key)
{
    if (m->nslot == 0)
        return SIZE_MAX;
    const cip_strmap_slot *s = find(m, key, cip_siphash(m->key, key));
    return s->used ? s->value : SIZE_MAX;
}

cip_status cip_strmap_put_ptr(cip_strmap *m, cip_arena *a, const void *key, size_t value,
                              size_t *was, cip_err *err)
{
    const void **kept;
    CIP_TRY(CIP_ARENA_NEW(a, &kept, 1, err));
    *kept = key;
    return cip_strmap_put(m, (cip_bytes){ (const uint8_t *)kept, sizeof *kept }, value, was, err);
}

size_t cip_strmap_get_ptr(const cip_strmap *m, const void *key)
{
    return cip_strmap_get(m, (cip_bytes){ (const uint8_t *)&key, sizeof key });
}

void cip_strmap_clear(cip_strmap *m)
{
    cip_mem_put(m->mem, m->slots);
    *m = (cip_strmap){ .mem = m->mem };
}
