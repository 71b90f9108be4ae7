/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNKNOWN, NONE, TEXT, JSON };

static _Atomic int how = UNKNOWN;

static int wanted(void)
{
    int h = atomic_load_explicit(&how, memory_order_relaxed);
    if (h != UNKNOWN)
        return h;
    const char *word = getenv("CIP_TRACE");
    h = word == NULL || word[0] == '\0' || strcmp(word, "0") == 0 ? NONE
        : strcmp(word, "json") == 0                               ? JSON
                                                                  : TEXT;
    atomic_store_explicit(&how, h, memory_order_relaxed);
    return h;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t cip_trace_begin(void)
{
    return wanted() == NONE ? 0 : now();
}

/* In quotes; what is no printable ASCII, by its bytes. */
static void quoted(const char *text, char *out, size_t cap)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *text != '\0' && n + 8 < cap; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            out[n++] = '\\';
        if (c < ' ' || c == 0x7f)
            n += (size_t)snprintf(out + n, cap - n, "\\u%04x", c);
        else
            out[n++] = (char)c;
    }
    out[n++] = '"';
    out[n] = '\0';
}

void cip_trace_bytes(const cip_trace_of *t, bool ok)
{
    char name[1024], more[64];
    const double ms = (double)(now() - t->begun) / 1e6;
    const bool json = wanted() == JSON, request = t->tries != 0;
    quoted(t->file, name, sizeof name);
    if (request)
        snprintf(more, sizeof more, json ? "\"status\": %d, \"try\": %u" : ", status %d, try %u",
                 t->status, t->tries);
    else
        snprintf(more, sizeof more, json ? "\"ranges\": %zu" : " in %zu range%s", t->ranges,
                 t->ranges == 1 ? "" : "s");
    if (json)
        fprintf(stderr,
                "{\"event\": \"%s\", \"%s\": %s, \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64
                ", %s, \"ms\": %.3f, \"ok\": %s}\n",
                request ? "request" : "read", request ? "url" : "file", name, t->offset, t->nbytes,
                more, ms, ok ? "true" : "false");
    else
        fprintf(stderr, "trace: %9.3f ms  %s %" PRIu64 " bytes%s at %" PRIu64 " of %s%s\n", ms,
                request ? "request" : "read", t->nbytes, more, t->offset, name,
                ok ? "" : ": failed");
}

void cip_trace_decode(uint64_t begun, const char *codec, const char *what, uint64_t stored,
                      uint64_t raw, bool ok)
{
    const double ms = (double)(now() - begun) / 1e6;
    if (wanted() == JSON)
        fprintf(stderr,
                "{\"event\": \"decode\", \"codec\": \"%s\", \"what\": \"%s\", \"stored\": %" PRIu64
                ", \"raw\": %" PRIu64 ", \"ms\": %.3f, \"ok\": %s}\n",
                codec, what, stored, raw, ms, ok ? "true" : "false");
    else
        fprintf(stderr, "trace: %9.3f ms  decode %s by %s: %" PRIu64 " bytes to %" PRIu64 "%s\n",
                ms, what, codec, stored, raw, ok ? "" : ": failed");
}
