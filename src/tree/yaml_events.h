/* SPDX-License-Identifier: BSD-3-Clause
 * A YAML text as a row of events, with places in bytes. */
#ifndef CIP_TREE_YAML_EVENTS_H
#define CIP_TREE_YAML_EVENTS_H

#include "tree/yaml_source.h"

typedef enum cip_yaml_kind {
    CIP_YAML_DOCUMENT, /* begins; text: what %TAG says of the handle `!`, or NULL */
    CIP_YAML_ALIAS,    /* of `anchor` */
    CIP_YAML_SCALAR,
    CIP_YAML_SEQ,
    CIP_YAML_MAP,
    CIP_YAML_CLOSE, /* of the last collection that is open */
    CIP_YAML_END    /* of the document, or of a text without one */
} cip_yaml_kind;

typedef struct cip_yaml_event {
    cip_yaml_kind kind;
    cip_style style;
    size_t start, end;        /* bytes of the text, as libyaml's marks lie */
    const char *text;         /* of a scalar, without its quotes and escapes; not NUL-terminated */
    size_t len;               /* of it */
    const char *tag, *anchor; /* NULL: none */
} cip_yaml_event;

typedef struct cip_yaml_events cip_yaml_events;

/* Reads `s`, whose characters and directives have been checked. NOMEM. */
cip_status cip_yaml_events_new(cip_yaml_source *s, cip_yaml_events **out, cip_err *err);
void cip_yaml_events_free(cip_yaml_events *e);
/* *ev is borrowed until the next call; none may follow CIP_YAML_END. CORRUPT for what is no YAML,
 * NOMEM. */
cip_status cip_yaml_events_next(cip_yaml_events *e, cip_yaml_event *ev, cip_err *err);
/* From here on libyaml alone is asked: the tests compare. */
void cip_yaml_events_slowly(cip_yaml_events *e);

#endif
