/* SPDX-License-Identifier: BSD-3-Clause
 * What callers of cip_change_set_* give, as nodes. */
#ifndef CIP_CORE_GIVEN_H
#define CIP_CORE_GIVEN_H

#include "base/arena.h"
#include "base/env.h"
#include "base/report.h"
#include "cippus/file.h"

typedef struct cip_given {
    enum {
        CIP_GIVEN_NULL,
        CIP_GIVEN_BOOL,
        CIP_GIVEN_INT,
        CIP_GIVEN_UINT,
        CIP_GIVEN_DOUBLE,
        CIP_GIVEN_STRING,
        CIP_GIVEN_YAML,
        CIP_GIVEN_TYPED, /* YAML as people mean it */
        CIP_GIVEN_NODE
    } what;
    union {
        bool truth;
        int64_t i;
        uint64_t u;
        double d;
        const char *text;
    };
    const cip_file *file; /* that the node is of */
    const cip_node *node;
} cip_given;

/* Where nodes are made. */
typedef struct cip_maker {
    cip_env *env;
    cip_arena *arena;
    const char *prefix; /* of tags with the handle `!` */
    cip_report *notes;  /* told how a text was understood, and what a node lacks */
    bool accept_loss;   /* nodes may lack what was left out when their file was read */
} cip_maker;

/* ARG for a text that is none, or no UTF-8; CORRUPT for one that is no YAML; UNSUPPORTED for a node
 * with arrays whose data lie elsewhere. */
cip_status cip_given_make(const cip_given *g, const cip_maker *m, const cip_node **out,
                          cip_err *err);

/* What the caller gave a pointer to: where it is NULL, what is in err is likely why. */
static inline const void *cip_given_pointer(const cip_given *g)
{
    return g->what == CIP_GIVEN_NODE     ? (const void *)g->node
           : g->what >= CIP_GIVEN_STRING ? (const void *)g->text
                                         : g;
}

#define CIP_GIVEN(kind, ...) (&(const cip_given){ .what = CIP_GIVEN_##kind, __VA_ARGS__ })

#endif
