/* SPDX-License-Identifier: BSD-3-Clause
 * Events come from the scanner of the subset as long as it is sure of them. Where it is not,
 * libyaml reads the text from its start, and what was given already is skipped: errors are always
 * libyaml's. */
#include <string.h>
#include <yaml.h>

#include "tree/yaml_subset.h"

struct cip_yaml_events {
    cip_yaml_source *src;
    cip_yaml_subset *subset; /* NULL: libyaml's turn */
    uint64_t given;
    bool begun, held; /* `yaml` and `ev` are to be freed */
    yaml_parser_t yaml;
    yaml_event_t ev;
};

cip_status cip_yaml_events_new(cip_yaml_source *s, cip_yaml_events **out, cip_err *err)
{
    CIP_TRY(CIP_NEW(&s->env->mem, out, 1, err));
    (*out)->src = s;
    if (s->comments.len != 0)
        return CIP_OK;
    cip_status st = cip_yaml_subset_new(&s->env->mem, s->text, s->ascii, &(*out)->subset, err);
    if (st != CIP_OK) {
        cip_yaml_events_free(*out);
        *out = NULL;
    }
    return st;
}

void cip_yaml_events_slowly(cip_yaml_events *e)
{
    cip_yaml_subset_free(&e->src->env->mem, e->subset);
    e->subset = NULL;
}

void cip_yaml_events_free(cip_yaml_events *e)
{
    if (e == NULL)
        return;
    cip_yaml_events_slowly(e);
    if (e->held)
        yaml_event_delete(&e->ev);
    if (e->begun)
        yaml_parser_delete(&e->yaml);
    cip_mem_put(&e->src->env->mem, e);
}

static cip_status no_memory(const cip_yaml_source *s, cip_err *err)
{
    return CIP_YAML_FAIL(s, err, CIP_ERR_NOMEM, 0,
                         "expected memory for the YAML parser, found none");
}

/* libyaml's next event into e->ev. */
static cip_status pull(cip_yaml_events *e, cip_err *err)
{
    if (!e->begun) {
        if (!yaml_parser_initialize(&e->yaml))
            return no_memory(e->src, err);
        e->begun = true;
        yaml_parser_set_encoding(&e->yaml, YAML_UTF8_ENCODING);
        yaml_parser_set_input(&e->yaml, cip_yaml_feed, e->src);
    }
    do {
        if (e->held)
            yaml_event_delete(&e->ev);
        e->held = yaml_parser_parse(&e->yaml, &e->ev) != 0;
        const yaml_parser_t *y = &e->yaml;
        if (!e->held && y->error == YAML_MEMORY_ERROR)
            return no_memory(e->src, err);
        if (!e->held)
            return CIP_YAML_FAIL(e->src, err, CIP_ERR_CORRUPT,
                                 cip_yaml_byte_of(e->src, y->problem_mark.index),
                                 "expected YAML, found an error %s: %s",
                                 y->context != NULL ? y->context : "in the text",
                                 y->problem != NULL ? y->problem : "it cannot be read");
    } while (e->ev.type == YAML_STREAM_START_EVENT);
    return CIP_OK;
}

static void translate(cip_yaml_event *ev, const yaml_event_t *y)
{
    static const uint8_t styles[] = { [YAML_PLAIN_SCALAR_STYLE] = CIP_STYLE_PLAIN,
                                      [YAML_SINGLE_QUOTED_SCALAR_STYLE] = CIP_STYLE_SINGLE,
                                      [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = CIP_STYLE_DOUBLE,
                                      [YAML_LITERAL_SCALAR_STYLE] = CIP_STYLE_LITERAL,
                                      [YAML_FOLDED_SCALAR_STYLE] = CIP_STYLE_FOLDED };
    const yaml_tag_directive_t *d;
    bool flow;
    switch (y->type) {
    case YAML_DOCUMENT_START_EVENT:
        ev->kind = CIP_YAML_DOCUMENT;
        d = y->data.document_start.tag_directives.start;
        for (; d != y->data.document_start.tag_directives.end && ev->text == NULL; d++)
            if (strcmp((const char *)d->handle, "!") == 0)
                ev->text = (const char *)d->prefix;
        break;
    case YAML_ALIAS_EVENT:
        ev->kind = CIP_YAML_ALIAS;
        ev->anchor = (const char *)y->data.alias.anchor;
        break;
    case YAML_SCALAR_EVENT:
        ev->kind = CIP_YAML_SCALAR;
        ev->style = styles[y->data.scalar.style];
        ev->text = (const char *)y->data.scalar.value;
        ev->len = y->data.scalar.length;
        ev->tag = (const char *)y->data.scalar.tag;
        ev->anchor = (const char *)y->data.scalar.anchor;
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: /* two structs that begin alike (C17, 6.5.2.3) */
        ev->kind = y->type == YAML_MAPPING_START_EVENT ? CIP_YAML_MAP : CIP_YAML_SEQ;
        flow = y->type == YAML_MAPPING_START_EVENT
                   ? y->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                   : y->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        ev->style = flow ? CIP_STYLE_FLOW : CIP_STYLE_BLOCK;
        ev->tag = (const char *)y->data.mapping_start.tag;
        ev->anchor = (const char *)y->data.mapping_start.anchor;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        ev->kind = CIP_YAML_CLOSE;
        break;
    default:
        ev->kind = CIP_YAML_END;
        break;
    }
}

cip_status cip_yaml_events_next(cip_yaml_events *e, cip_yaml_event *ev, cip_err *err)
{
    bool given = false;
    if (e->subset != NULL)
        CIP_TRY(cip_yaml_subset_next(e->subset, ev, &given, err));
    if (given) {
        e->given++;
        return CIP_OK;
    }
    cip_yaml_events_slowly(e);
    for (; e->given != 0; e->given--)
        CIP_TRY(pull(e, err));
    CIP_TRY(pull(e, err));
    *ev = (cip_yaml_event){ .start = cip_yaml_byte_of(e->src, e->ev.start_mark.index),
                            .end = cip_yaml_byte_of(e->src, e->ev.end_mark.index) };
    translate(ev, &e->ev);
    return CIP_OK;
}
