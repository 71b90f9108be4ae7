/* SPDX-License-Identifier: BSD-3-Clause
 * Trees that change: the text of a YAML document spliced in place, so that everything but the edit
 * stays as it was written; and trees of values built by paths. */
#ifndef CIP_TREE_EDIT_H
#define CIP_TREE_EDIT_H

#include "base/report.h"
#include "tree/yaml.h"

/* --- text (design section 5) ------------------------------------------------------------------ */

typedef struct cip_yaml_edit cip_yaml_edit;

/* Starts with a copy of `text`: a whole document with its directives and end marker, or one that is
 * empty. `opt` (may be NULL) is used for every parse, its strings are borrowed for as long. Tags
 * are written with the handle `!` where a %TAG says what it stands for, else verbatim. Every change
 * below is checked by parsing the result and comparing all events outside the edit; one that would
 * change anything else is UNSUPPORTED and leaves the text as it was. */
cip_status cip_yaml_edit_new(cip_env *env, cip_bytes text, const cip_yaml_options *opt,
                             cip_yaml_edit **out, cip_err *err);
/* Replaces the node at `path` by `value`, tag included, or inserts it, making parents (mappings; a
 * sequence for a step "-" or "0"). A step "-" or the next number of a sequence appends. The value
 * is written on one line. A step through an alias, or through a key that a merge key brings, leads
 * to the node that is named: it changes for all who name it; at the end of the path the alias
 * itself is replaced, and a merged key is inserted anew. An anchor defined in what is replaced
 * moves to its first alias elsewhere, or the change is UNSUPPORTED; so is replacing the root, and
 * an anchor that another node has. Of duplicate keys the last is changed. TYPE when a parent is a
 * scalar, NOT_FOUND for an item beyond the next.
 */
cip_status cip_yaml_edit_set(cip_yaml_edit *e, const char *path, const cip_node *value,
                             cip_err *err);
/* The same, done later: together with other such changes, at the latest by the next call of any
 * other function here than those that return the text and its root, so that a change costs in
 * proportion to itself. What cannot be found out without the whole text - that it would change
 * anything else - is then said of it by its path, and all later calls say so again. Without memory
 * (NOMEM, LIMIT) nothing is lost: what could not be done waits for the next such call. `value` is
 * borrowed until it is done. */
cip_status cip_yaml_edit_queue(cip_yaml_edit *e, const char *path, const cip_node *value,
                               cip_err *err);
/* Does what is queued. The text and root are as of the last flush. */
cip_status cip_yaml_edit_flush(cip_yaml_edit *e, cip_err *err);
/* The node at `path` (NULL: there is none) as cip_yaml_edit_get, but perhaps without what is queued
 * within it: enough to know what it is. Flushes only when the node itself is queued to come, change
 * or go, and fails only with what that fails with. */
cip_status cip_yaml_edit_peek(cip_yaml_edit *e, const char *path, const cip_node **out,
                              cip_err *err);
/* With its key, and with the pairs that it hid, of the same key; `{}` or `[]` stays of a collection
 * that held nothing else. NOT_FOUND when it is not there. Anchors as above; the root, its last
 * entry, and keys that a merge key brings are UNSUPPORTED. */
cip_status cip_yaml_edit_remove(cip_yaml_edit *e, const char *path, cip_err *err);
/* Gives the node at `from` the path `to`, parents made as by cip_yaml_edit_set. Its text goes
 * along: in the same mapping under another key where it stands, else to the end of its new
 * collection, in block style with its comments and indented anew, into brackets on one line.
 * `replace`: a node at `to` goes first; otherwise that is ARG, as is a place within what moves.
 * Aliases must still follow their anchors; that, a key that its mapping has twice, and another
 * place in the same list are UNSUPPORTED. */
cip_status cip_yaml_edit_move(cip_yaml_edit *e, const char *from, const char *to, bool replace,
                              cip_err *err);
/* The node at `path` of the text as it is now, or NULL. Borrowed until the next change. */
const cip_node *cip_yaml_edit_get(cip_yaml_edit *e, const char *path, cip_err *err);
const cip_node *cip_yaml_edit_root(const cip_yaml_edit *e);
/* The text as it is now, borrowed until the next change. */
cip_bytes cip_yaml_edit_text(const cip_yaml_edit *e);
/* How often it changed, what waits included. */
uint64_t cip_yaml_edit_changes(const cip_yaml_edit *e);
/* Whether comments stand in the text. */
bool cip_yaml_edit_has_comments(const cip_yaml_edit *e);
/* Whether any of its nodes has one, so that several paths may lead to a node. */
bool cip_yaml_edit_has_anchors(const cip_yaml_edit *e);
/* An anchor that two of its nodes have, or NULL; others refuse such a text. */
const char *cip_yaml_edit_anchor_twice(const cip_yaml_edit *e);
void cip_yaml_edit_free(cip_yaml_edit *e);

/* --- values ----------------------------------------------------------------------------------- */

/* One value written as YAML ("{a: [1, 2]}", "!core/complex-1.0.0 1+2j"), in the arena. Tags with
 * the handle `!` get `prefix` (may be NULL). CORRUPT. */
cip_status cip_yaml_value(cip_env *env, cip_arena *a, const char *text, const char *prefix,
                          const cip_node **out, cip_err *err);
/* The same as people mean it: a plain `1e-3`, `-.5`, `nan` or `inf`, which YAML 1.1 takes for
 * strings, is that number, in the spelling of YAML 1.1. A note of code TYPE tells of each other
 * plain scalar that is stored as something that its text does not show (`017`, `12:30`, `yes`,
 * dates); of code OK, of a string that looks like a number. */
cip_status cip_yaml_typed(cip_env *env, cip_arena *a, const char *text, const char *prefix,
                          cip_report *notes, const cip_node **out, cip_err *err);
/* A value as YAML on one line, for a place in a flow or block collection. */
cip_status cip_yaml_emit_line(cip_env *env, const cip_node *value, const char *prefix, bool flow,
                              cip_buf *out, cip_err *err);

/* A tree under construction: nodes in `arena`, changed only through here. Zero-initialise with the
 * arena, at a fixed address; `root` becomes a mapping with the first change. */
typedef struct cip_build {
    cip_arena *arena;
    cip_node *root;
    /* Of the last cip_build_set, for cip_build_undo: the root before; the collection in which it
     * made or replaced the first node, NULL: none; where; and what was there, NULL: nothing. */
    cip_node *old_root, *in;
    size_t at;
    const cip_node *was;
    uint32_t age; /* marks so far: what is older is copied before it changes */
} cip_build;

/* As cip_yaml_edit_set; "" sets the whole tree. The value is borrowed and never written to: below
 * it a change makes copies. TYPE when a parent is neither mapping nor sequence. */
cip_status cip_build_set(cip_build *b, const char *path, const cip_node *value, cip_err *err);
/* Takes that back, with the parents it made: at once, before anything else changes. One that failed
 * has done so. */
void cip_build_undo(cip_build *b);
/* The tree as it is, which no change reaches from now on: to go back to it, any number of times. */
cip_node *cip_build_mark(cip_build *b);
void cip_build_return(cip_build *b, cip_node *marked);
cip_status cip_build_remove(cip_build *b, const char *path, cip_err *err);

#endif
