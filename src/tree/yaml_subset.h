/* SPDX-License-Identifier: BSD-3-Clause
 * The usual part of YAML 1.1, read without libyaml: the same events, or none. */
#ifndef CIP_TREE_YAML_SUBSET_H
#define CIP_TREE_YAML_SUBSET_H

#include "tree/yaml_events.h"

typedef struct cip_yaml_subset cip_yaml_subset;

/* A scanner of `text`, which has the characters of YAML only, `ascii` or not, and is borrowed.
 * *out is NULL when the text is not of the subset at first sight. NOMEM. */
cip_status cip_yaml_subset_new(cip_mem *mem, cip_bytes text, bool ascii, cip_yaml_subset **out,
                               cip_err *err);
void cip_yaml_subset_free(cip_mem *mem, cip_yaml_subset *s);

/* The next event: what libyaml makes of the text at this place, in all fields. *given is false
 * where the text leaves the subset, is no YAML, or might be either: events given before then stay
 * true, and libyaml is to be asked for the rest. What *ev points to lives until the next call.
 * NOMEM. */
cip_status cip_yaml_subset_next(cip_yaml_subset *s, cip_yaml_event *ev, bool *given, cip_err *err);

#endif
