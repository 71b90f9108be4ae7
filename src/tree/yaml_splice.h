/* SPDX-License-Identifier: BSD-3-Clause
 * A change of a YAML text: the splices that make it, and what it may do to the events. */
#ifndef CIP_TREE_YAML_SPLICE_H
#define CIP_TREE_YAML_SPLICE_H

#include "tree/yaml_marks.h"

/* In place of the events [from, to) of the old text come the events [e_from, e_to) of `expected`.
 * `loose`: whatever their style. */
typedef struct cip_region {
    uint32_t from, to;
    const cip_yaml_text *expected; /* NULL: none come; the old text: its own, moved */
    uint32_t e_from, e_to;
    bool loose;
    size_t order; /* private: of those at one place */
} cip_region;

/* Start with cip_text_change_init. */
typedef struct cip_text_change {
    cip_env *env;
    const cip_yaml_text *old;
    cip_buf words;           /* the inserted texts */
    cip_buf splices;         /* private */
    cip_buf regions;         /* of cip_region, that do not overlap */
    cip_yaml_text value;     /* what is inserted, parsed by itself */
    uint32_t restyled;       /* a collection that may go from block to flow style, or CIP_NO_MARK */
    size_t cut_from, cut_to; /* what goes when an entry does; 0: nothing */
    bool alone; /* a new entry, written so only once and behind what is now the last one */
} cip_text_change;

void cip_text_change_init(cip_text_change *c, cip_env *env, const cip_yaml_text *old);
void cip_text_change_clear(cip_text_change *c);

/* Parses `text` as the value that is inserted. */
cip_status cip_text_change_expect(cip_text_change *c, const cip_buf *text, cip_err *err);
/* n bytes of `text` come in place of the bytes [at, at + del); splices do not overlap. */
cip_status cip_text_change_splice(cip_text_change *c, size_t at, size_t del, const void *text,
                                  size_t n, cip_err *err);
cip_status cip_text_change_region(cip_text_change *c, cip_region r, cip_err *err);

/* Makes the new text in *out (initialised) and parses it. UNSUPPORTED when it is no YAML, or
 * anything but the regions would be changed. */
cip_status cip_text_change_apply(cip_text_change *c, const cip_yaml_options *opt,
                                 cip_yaml_text *out, cip_err *err);

/* The same for several changes of one text, which do not touch each other: `n` of them, at least
 * one. Texts inserted at one place stand in the order of the nodes that they belong to, then as
 * given. */
cip_status cip_changes_apply(const cip_text_change *const *list, size_t n,
                             const cip_yaml_options *opt, cip_yaml_text *out, cip_err *err);

#endif
