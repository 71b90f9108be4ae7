/* SPDX-License-Identifier: BSD-3-Clause
 * Findings: kept, counted, passed on. */
#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEPT = 1000 };

struct cip_report_item {
    cip_report_item *next;
    cip_finding f;
    cip_lacking what;
    const void *of;
};

void cip_report_init(cip_report *r, cip_mem *mem, bool keep, cip_finding_fn *fn, void *user)
{
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    r->arena.mem = r->said.mem = mem;
    r->keep = keep;
    r->fn = fn;
    r->user = user;
}

void cip_report_clear(cip_report *r)
{
    cip_strmap_clear(&r->said);
    cip_arena_clear(&r->arena);
    pthread_mutex_destroy(&r->lock);
}

/* Other findings, however many, do not keep out what is left out. */
static bool make_item(cip_report *r, const cip_finding *f, cip_lacking what, cip_report_item **out)
{
    char *part, *text;
    const size_t n = what != CIP_LACKS_NOTHING ? r->nlack : r->n - r->nlack;
    if (n >= MAX_KEPT || CIP_ARENA_NEW(&r->arena, out, 1, NULL) != CIP_OK ||
        cip_arena_copy(&r->arena, f->part, strlen(f->part), &part, NULL) != CIP_OK ||
        cip_arena_copy(&r->arena, f->text, strlen(f->text), &text, NULL) != CIP_OK)
        return false;
    (*out)->f = *f;
    (*out)->f.part = part;
    (*out)->f.text = text;
    return true;
}

static void keep_item(cip_report *r, const cip_finding *f, cip_lacking what, const void *of)
{
    cip_report_item *it;
    if (!make_item(r, f, what, &it)) {
        r->nlack_more += what != CIP_LACKS_NOTHING;
        return;
    }
    it->what = what;
    it->of = of;
    r->nlack += what != CIP_LACKS_NOTHING;
    if (r->last == NULL)
        r->first = it;
    else
        r->last->next = it;
    r->last = it;
    r->n++;
}

/* Whether the same was said of the same part and place. Where memory is out it is said again. */
static bool is_said(cip_report *r, const cip_finding *f)
{
    char text[640];
    char *key;
    size_t was = SIZE_MAX;
    int n = snprintf(text, sizeof text, "%d %" PRIu64 " %.300s: %s", f->code, f->offset, f->part,
                     f->text);
    size_t len = n > 0 && (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return cip_arena_copy(&r->arena, text, len, &key, NULL) == CIP_OK &&
           cip_strmap_put(&r->said, (cip_bytes){ (const uint8_t *)key, len }, 0, &was, NULL) ==
               CIP_OK &&
           was != SIZE_MAX;
}

static void add(cip_report *r, const cip_finding *f, cip_lacking what, const void *of)
{
    if (r == NULL)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->once && is_said(r, f)) {
        pthread_mutex_unlock(&r->lock);
        return;
    }
    r->count[f->severity]++;
    if (r->keep)
        keep_item(r, f, what, of);
    if (r->fn != NULL && !r->cancelled && r->fn(r->user, f) != 0)
        r->cancelled = true;
    pthread_mutex_unlock(&r->lock);
}

#define ADD_FORMATTED(is_fixable, what, of)                                                        \
    do {                                                                                           \
        char text[256];                                                                            \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        vsnprintf(text, sizeof text, fmt, ap);                                                     \
        va_end(ap);                                                                                \
        cip_finding f = {                                                                          \
            severity, code, offset, length, part != NULL ? part : "", text, is_fixable             \
        };                                                                                         \
        add(r, &f, what, of);                                                                      \
    } while (0)

void cip_report_add(cip_report *r, cip_severity severity, cip_status code, uint64_t offset,
                    uint64_t length, const char *part, const char *fmt, ...)
{
    ADD_FORMATTED(false, CIP_LACKS_NOTHING, NULL);
}

void cip_report_fixable(cip_report *r, cip_severity severity, cip_status code, uint64_t offset,
                        uint64_t length, const char *part, const char *fmt, ...)
{
    ADD_FORMATTED(true, CIP_LACKS_NOTHING, NULL);
}

void cip_report_lack(cip_report *r, cip_lacking what, const void *of, cip_status code,
                     uint64_t offset, const char *part, const char *fmt, ...)
{
    const cip_severity severity = CIP_WARN;
    const uint64_t length = 0;
    ADD_FORMATTED(false, what, of);
}

const cip_finding *cip_report_next_lack(cip_report *r, cip_report_item **item, cip_lacking *what,
                                        const void **of)
{
    pthread_mutex_lock(&r->lock);
    cip_report_item *it = *item == NULL ? r->first : (*item)->next;
    while (it != NULL && it->what == CIP_LACKS_NOTHING)
        it = it->next;
    pthread_mutex_unlock(&r->lock);
    if (it == NULL)
        return NULL;
    *item = it;
    *what = it->what;
    *of = it->of;
    return &it->f;
}

void cip_report_err(cip_report *r, cip_severity severity, const cip_err *err)
{
    cip_finding f = {
        severity, (cip_status)err->code, err->offset, 0, err->part, err->text, false
    };
    if (r == NULL || r->keep || err->code != CIP_ERR_NOMEM) {
        add(r, &f, CIP_LACKS_NOTHING, NULL);
        return;
    }
    pthread_mutex_lock(&r->lock);
    if (r->starved.code == CIP_OK)
        r->starved = *err;
    pthread_mutex_unlock(&r->lock);
}

cip_status cip_report_outcome(cip_report *r, cip_status st, const cip_err *why, cip_err *err)
{
    if (cip_is_about_content(st)) {
        cip_report_err(r, cip_severity_of(st), why);
        return CIP_OK;
    }
    return cip_err_give(err, why, st);
}

size_t cip_report_kept(cip_report *r)
{
    pthread_mutex_lock(&r->lock);
    size_t n = r->n;
    pthread_mutex_unlock(&r->lock);
    return n;
}

void cip_report_cut(cip_report *r, size_t n)
{
    pthread_mutex_lock(&r->lock);
    cip_report_item **link = &r->first;
    r->last = NULL;
    for (size_t i = 0; i < n && *link != NULL; i++) {
        r->last = *link;
        link = &(*link)->next;
    }
    for (const cip_report_item *it = *link; it != NULL; it = it->next) {
        r->count[it->f.severity]--;
        r->nlack -= it->what != CIP_LACKS_NOTHING;
        r->n--;
    }
    *link = NULL;
    pthread_mutex_unlock(&r->lock);
}

void cip_report_expect(cip_report *r, uint64_t nbytes)
{
    if (r == NULL)
        return;
    pthread_mutex_lock(&r->lock);
    r->total = r->done + nbytes;
    pthread_mutex_unlock(&r->lock);
}

bool cip_report_progress(cip_report *r, uint64_t nbytes)
{
    if (r == NULL)
        return false;
    pthread_mutex_lock(&r->lock);
    r->done += nbytes;
    if (r->done > r->total)
        r->total = 0;
    if (r->progress != NULL && !r->cancelled &&
        r->progress(r->progress_user, r->done, r->total) != 0)
        r->cancelled = true;
    bool cancelled = r->cancelled;
    pthread_mutex_unlock(&r->lock);
    return cancelled;
}

int cip_report_read(void *report, const uint8_t *p, size_t n)
{
    (void)p;
    return cip_report_progress(report, n);
}

const cip_finding *cip_report_get(cip_report *r, size_t i)
{
    pthread_mutex_lock(&r->lock);
    cip_report_item *it = r->first;
    while (it != NULL && i-- > 0)
        it = it->next;
    pthread_mutex_unlock(&r->lock);
    return it == NULL ? NULL : &it->f;
}

cip_status cip_report_status(cip_report *r, cip_err *err)
{
    pthread_mutex_lock(&r->lock);
    bool cancelled = r->cancelled;
    cip_err starved = r->starved;
    pthread_mutex_unlock(&r->lock);
    if (!cancelled && starved.code != CIP_OK) {
        cip_err_pass(err, &starved);
        return CIP_ERR_NOMEM;
    }
    return cancelled ? cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller")
                     : CIP_OK;
}
