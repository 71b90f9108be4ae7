/* SPDX-License-Identifier: BSD-3-Clause
 * A few records at a time: of each column the parts are put together as a run of rows, which its
 * chunker takes. Runs are short, so that a chunk is collected by the chunker, several of them are
 * made at once by all threads, and the rows are still in the processor's cache. */
#include "space/make/splitter.h"

#include <string.h>

#include "base/num.h"
#include "space/read/tuning.h"

enum { RUN = 1 << 16 }; /* bytes of rows put together at once, or one row */

typedef struct column {
    cip_splitter *of;
    const cip_form_column *c;
    cip_chunker *chunker;
} column;

struct cip_splitter {
    cip_env *env;
    uint64_t itemsize;
    cip_splitter_to to;
    cip_tuning tuning; /* of each chunker: the columns share what one would have */
    column *column;
    size_t n;
    uint8_t *rows;
};

static cip_status store(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk, cip_err *err)
{
    const column *c = user;
    return c->of->to.store(c->of->to.user, c->c->array, i, n, chunk, err);
}

static cip_status open(cip_splitter *s, const cip_array_form *form, uint64_t nelem, cip_err *err)
{
    uint64_t widest = RUN;
    s->tuning = s->to.tuning != NULL ? *s->to.tuning : cip_tuning_default;
    s->tuning.share *= form->ncolumn;
    s->tuning.batch = cip_max_u64(1, s->tuning.batch / form->ncolumn);
    CIP_TRY(CIP_NEW(&s->env->mem, &s->column, form->ncolumn, err));
    for (; s->n < form->ncolumn; s->n++) {
        column *c = &s->column[s->n];
        const cip_chunker_to to = { store, c, &s->tuning };
        *c = (column){ s, &form->column[s->n], NULL };
        widest = cip_max_u64(widest, c->c->form->dtype->itemsize);
        CIP_TRY(cip_chunker_new(s->env, c->c->form, nelem, &to, &c->chunker, err));
    }
    return cip_mem_get(&s->env->mem, (size_t)widest, (void **)&s->rows, err);
}

cip_status cip_splitter_new(cip_env *env, const cip_array_form *form, uint64_t nelem,
                            const cip_splitter_to *to, cip_splitter **out, cip_err *err)
{
    cip_splitter *s;
    *out = NULL;
    CIP_TRY(CIP_NEW(&env->mem, &s, 1, err));
    *s = (cip_splitter){ .env = env, .itemsize = form->dtype->itemsize, .to = *to };
    cip_status st = open(s, form, nelem, err);
    if (st != CIP_OK)
        cip_splitter_free(s);
    else
        *out = s;
    return st;
}

cip_status cip_splitter_write(cip_splitter *s, cip_bytes records, cip_err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        const column *c = &s->column[i];
        uint64_t n = records.len / s->itemsize;
        const uint64_t row = c->c->form->dtype->itemsize;
        const uint64_t most = cip_max_u64(1, RUN / cip_max_u64(1, row));
        for (uint64_t at = 0, m; at < n; at += m) {
            m = cip_min_u64(most, n - at);
            for (size_t k = 0; k < c->c->npart; k++) {
                const cip_record_part *p = &c->c->part[k];
                for (uint64_t r = 0; r < m; r++)
                    memcpy(s->rows + r * row + p->from,
                           records.ptr + (at + r) * s->itemsize + p->off, (size_t)p->len);
            }
            CIP_TRY(cip_chunker_write(c->chunker, (cip_bytes){ s->rows, (size_t)(m * row) }, err));
        }
    }
    return CIP_OK;
}

cip_status cip_splitter_finish(cip_splitter *s, cip_err *err)
{
    for (size_t i = 0; i < s->n; i++)
        CIP_TRY(cip_chunker_finish(s->column[i].chunker, err));
    return CIP_OK;
}

void cip_splitter_free(cip_splitter *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++)
        cip_chunker_free(s->column[i].chunker);
    cip_mem_put(&s->env->mem, s->column);
    cip_mem_put(&s->env->mem, s->rows);
    cip_mem_put(&s->env->mem, s);
}
