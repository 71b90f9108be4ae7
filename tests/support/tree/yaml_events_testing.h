/* SPDX-License-Identifier: BSD-3-Clause
 * The scanner of the usual YAML beside libyaml: event by event, each field and each mark. */
#ifndef CIP_TESTS_YAML_EVENTS_TESTING_H
#define CIP_TESTS_YAML_EVENTS_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "tree/yaml_subset.h"

static bool same_words(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_event(const cip_yaml_event *a, const cip_yaml_event *b)
{
    const bool texts = a->kind == CIP_YAML_SCALAR
                           ? a->len == b->len && memcmp(a->text, b->text, a->len) == 0
                           : same_words(a->text, b->text);
    return a->kind == b->kind && a->style == b->style && a->start == b->start && a->end == b->end &&
           texts && same_words(a->tag, b->tag) && same_words(a->anchor, b->anchor);
}

typedef struct compared {
    size_t events; /* that the scanner gave */
    bool whole;    /* and it came to the document's end */
    bool differs;  /* at the last of them */
} compared;

typedef struct reading {
    cip_yaml_source s;
    cip_yaml_events *events; /* NULL: the text does not get as far as libyaml */
    cip_yaml_event ev;
    cip_err err;
} reading;

static void reading_start(reading *r, cip_env *with, cip_bytes text)
{
    const cip_yaml_options opt = { .quiet = true };
    *r = (reading){ .err = CIP_ERR_INIT };
    if (cip_yaml_source_init(&r->s, with, text, &opt, NULL) == CIP_OK &&
        cip_yaml_check_chars(&r->s, NULL) == CIP_OK &&
        cip_yaml_read_directives(&r->s, NULL) == CIP_OK &&
        cip_yaml_events_new(&r->s, &r->events, NULL) != CIP_OK)
        abort();
}

static void reading_end(reading *r)
{
    cip_yaml_events_free(r->events);
    cip_yaml_source_clear(&r->s);
}

static bool more(reading *r)
{
    return r->err.code == CIP_OK && r->ev.kind != CIP_YAML_END;
}

static void step(reading *r)
{
    if (cip_yaml_events_next(r->events, &r->ev, &r->err) != CIP_OK && r->err.code == CIP_OK)
        abort();
}

/* The scanner alone beside libyaml, which looks further ahead: it may refuse a text before it gives
 * what is no fault yet. */
static void compare_scanner(reading *slow, compared *c)
{
    const cip_yaml_source *s = &slow->s;
    cip_yaml_subset *fast;
    cip_yaml_event ev;
    if (s->comments.len != 0)
        return;
    if (cip_yaml_subset_new(&s->env->mem, s->text, s->ascii, &fast, NULL) != CIP_OK)
        abort();
    for (bool given = fast != NULL; given && !c->whole && !c->differs;) {
        if (cip_yaml_subset_next(fast, &ev, &given, NULL) != CIP_OK)
            abort();
        if (!given)
            break;
        c->events++;
        c->whole = ev.kind == CIP_YAML_END;
        if (slow->err.code == CIP_OK)
            step(slow);
        c->differs = slow->err.code != CIP_OK ? c->whole : !same_event(&ev, &slow->ev);
    }
    cip_yaml_subset_free(&s->env->mem, fast);
}

/* What the parser gets, the scanner's events and then libyaml's, beside libyaml's alone; to a depth
 * beyond the scanner's, as libyaml takes the square of it. */
static void compare_both(reading *fast, reading *slow, compared *c)
{
    for (int depth = 0; more(fast) && !c->differs;) {
        step(fast);
        depth += fast->ev.kind == CIP_YAML_SEQ || fast->ev.kind == CIP_YAML_MAP;
        depth -= fast->ev.kind == CIP_YAML_CLOSE;
        if (depth > 300)
            return;
        if (more(slow))
            step(slow);
        if (slow->err.code == CIP_OK)
            c->differs = fast->err.code != CIP_OK || !same_event(&fast->ev, &slow->ev);
    }
    c->differs = c->differs || fast->err.code != slow->err.code ||
                 fast->err.offset != slow->err.offset ||
                 strcmp(fast->err.text, slow->err.text) != 0;
}

/* Both, of texts that get as far as libyaml. */
static compared compare_events(cip_env *with, const void *text, size_t len)
{
    compared c = { 0 };
    reading fast, slow;
    for (int turn = 0; turn < 2; turn++) {
        reading_start(&fast, with, (cip_bytes){ text, len });
        reading_start(&slow, with, (cip_bytes){ text, len });
        if (slow.events != NULL)
            cip_yaml_events_slowly(slow.events);
        if (slow.events != NULL && turn == 0)
            compare_scanner(&slow, &c);
        else if (slow.events != NULL && !c.differs)
            compare_both(&fast, &slow, &c);
        reading_end(&fast);
        reading_end(&slow);
    }
    return c;
}

#endif
