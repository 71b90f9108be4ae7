/* SPDX-License-Identifier: BSD-3-Clause
 * YAML edits on every tree there is: scalars replaced, keys inserted, nodes removed, renamed and
 * moved, and all events
 * of libyaml outside the edit as they were. The comparison is written anew here and knows nothing
 * of the library's own. CIP_FULL=1 tries every node of every tree; the argument `-v` shows
 * refusals. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "support/corpus.h"
#include "support/effort.h"
#include "tree/edit.h"

typedef struct event {
    yaml_event_t ev;
    size_t parent, next; /* the collection around it; the event after its whole node */
} event;

typedef struct events {
    event *at;
    size_t n, cap;
} events;

enum { MAX_TEXT = 64 << 20 };

static struct {
    bool loud;
    size_t texts, done[5], refused[5], wrong[5];
    uint64_t seed;
    const char *file;
} run = { .seed = 0 };

static const char *const kinds[] = { "replaced", "inserted", "removed", "renamed", "moved" };

static size_t random_below(size_t n)
{
    run.seed = run.seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((run.seed >> 33) % n);
}

/* --- events --------------------------------------------------------------------------------- */

static void events_clear(events *e)
{
    for (size_t i = 0; i < e->n; i++)
        yaml_event_delete(&e->at[i].ev);
    free(e->at);
    *e = (events){ 0 };
}

static bool is_start(const yaml_event_t *ev)
{
    return ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT;
}

static bool is_end(const yaml_event_t *ev)
{
    return ev->type == YAML_SEQUENCE_END_EVENT || ev->type == YAML_MAPPING_END_EVENT;
}

static void events_add(events *e, const yaml_event_t *ev, size_t *open)
{
    if (e->n == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 64;
        e->at = realloc(e->at, e->cap * sizeof *e->at);
    }
    event *new = &e->at[e->n];
    *new = (event){ *ev, *open, e->n + 1 };
    if (is_start(ev))
        *open = e->n;
    if (is_end(ev)) {
        e->at[*open].next = e->n + 1;
        *open = new->parent = e->at[*open].parent;
    }
    e->n++;
}

/* The events of nodes only. */
static bool read_events(cip_bytes text, events *e)
{
    yaml_parser_t p;
    size_t open = SIZE_MAX;
    bool good = true;
    *e = (events){ 0 };
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0) /* libyaml indents by it */
        text = (cip_bytes){ text.ptr + 3, text.len - 3 };
    yaml_parser_initialize(&p);
    yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p, text.ptr, text.len);
    for (bool end = false; good && !end;) {
        yaml_event_t ev;
        good = yaml_parser_parse(&p, &ev);
        if (!good)
            break;
        end = ev.type == YAML_STREAM_END_EVENT || ev.type == YAML_DOCUMENT_END_EVENT;
        if (ev.type == YAML_ALIAS_EVENT || ev.type == YAML_SCALAR_EVENT || is_start(&ev) ||
            is_end(&ev))
            events_add(e, &ev, &open);
        else
            yaml_event_delete(&ev);
    }
    yaml_parser_delete(&p);
    return good;
}

static const char *text_of(const yaml_event_t *ev)
{
    return ev->type == YAML_ALIAS_EVENT    ? (const char *)ev->data.alias.anchor
           : ev->type == YAML_SCALAR_EVENT ? (const char *)ev->data.scalar.value
                                           : NULL;
}

static const char *anchor_of(const yaml_event_t *ev)
{
    return ev->type == YAML_SCALAR_EVENT           ? (const char *)ev->data.scalar.anchor
           : ev->type == YAML_SEQUENCE_START_EVENT ? (const char *)ev->data.sequence_start.anchor
           : ev->type == YAML_MAPPING_START_EVENT  ? (const char *)ev->data.mapping_start.anchor
                                                   : NULL;
}

static const char *tag_of(const yaml_event_t *ev)
{
    return ev->type == YAML_SCALAR_EVENT           ? (const char *)ev->data.scalar.tag
           : ev->type == YAML_SEQUENCE_START_EVENT ? (const char *)ev->data.sequence_start.tag
           : ev->type == YAML_MAPPING_START_EVENT  ? (const char *)ev->data.mapping_start.tag
                                                   : NULL;
}

static int style_of(const yaml_event_t *ev)
{
    return ev->type == YAML_SCALAR_EVENT           ? (int)ev->data.scalar.style
           : ev->type == YAML_SEQUENCE_START_EVENT ? (int)ev->data.sequence_start.style
           : ev->type == YAML_MAPPING_START_EVENT  ? (int)ev->data.mapping_start.style
                                                   : 0;
}

static bool same_string(const char *x, const char *y)
{
    return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

static bool same_event(const yaml_event_t *x, const yaml_event_t *y, bool loose)
{
    return x->type == y->type && same_string(text_of(x), text_of(y)) &&
           same_string(anchor_of(x), anchor_of(y)) && same_string(tag_of(x), tag_of(y)) &&
           (loose || style_of(x) == style_of(y));
}

/* --- the expected outcome ------------------------------------------------------------------- */

/* Events [from, to) of `old` give way to all of `value`; `emptied` may change its style. */
typedef struct edit {
    const events *old, *value, *now;
    size_t from, to, emptied;
    size_t node; /* what moves to the end of the root under the key `value`, or 0 */
} edit;

/* The event in [from, to) that the alias i names, when no later one has the name: or SIZE_MAX. */
static size_t lost_target(const edit *d, size_t i)
{
    const char *name = text_of(&d->old->at[i].ev);
    for (size_t k = i; k-- > 0;)
        if (same_string(anchor_of(&d->old->at[k].ev), name))
            return k >= d->from && k < d->to ? k : SIZE_MAX;
    return SIZE_MAX;
}

static bool same_run(const events *x, size_t from, size_t to, const events *y, size_t *at,
                     bool loose)
{
    for (size_t i = from; i < to; i++, (*at)++)
        if (*at >= y->n || !same_event(&x->at[i].ev, &y->at[*at].ev, loose))
            return false;
    return true;
}

/* One event behind the edit: a lost anchor comes with its node where it is first named. */
static bool same_behind(const edit *d, size_t i, size_t *at)
{
    const yaml_event_t *ev = &d->old->at[i].ev;
    if (*at < d->now->n && ev->type == YAML_ALIAS_EVENT &&
        d->now->at[*at].ev.type != YAML_ALIAS_EVENT) {
        size_t k = lost_target(d, i);
        return k != SIZE_MAX && same_run(d->old, k, d->old->at[k].next, d->now, at, true);
    }
    return same_run(d->old, i, i + 1, d->now, at, i == d->emptied);
}

/* The node is gone from [from, to) and has become the root's last value. */
static bool is_moved(const edit *d)
{
    size_t at = 0;
    const size_t end = d->old->n - 1;
    for (size_t i = 0; i < end; i++)
        if ((i < d->from || i >= d->to) &&
            !same_run(d->old, i, i + 1, d->now, &at, i == d->emptied))
            return false;
    const bool flow = d->old->at[0].ev.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    return same_run(d->value, 0, d->value->n, d->now, &at, true) &&
           same_run(d->old, d->node, d->old->at[d->node].next, d->now, &at, flow) &&
           same_run(d->old, end, end + 1, d->now, &at, false) && at == d->now->n;
}

static bool is_as_expected(const edit *d)
{
    size_t at = 0;
    if (d->node != 0)
        return is_moved(d);
    for (size_t i = 0; i < d->from; i++)
        if (!same_run(d->old, i, i + 1, d->now, &at, i == d->emptied))
            return false;
    if (d->value != NULL && !same_run(d->value, 0, d->value->n, d->now, &at, true))
        return false;
    for (size_t i = d->to; i < d->old->n; i++)
        if (!same_behind(d, i, &at))
            return false;
    return at == d->now->n;
}

/* --- paths ---------------------------------------------------------------------------------- */

typedef struct path {
    char text[4096];
    size_t len;
    bool good;
} path;

static void path_add(path *p, const char *step)
{
    if (p->len != 0 || *step == '\0')
        p->text[p->len++] = '/';
    for (; *step != '\0'; step++) {
        if (p->len + 4 > sizeof p->text) {
            p->good = false;
            return;
        }
        if (*step == '/' || *step == '~')
            p->text[p->len++] = '~';
        p->text[p->len++] = *step == '/' ? '1' : *step == '~' ? '0' : *step;
    }
    p->text[p->len] = '\0';
}

static bool is_map(const events *e, size_t i)
{
    return e->at[i].ev.type == YAML_MAPPING_START_EVENT;
}

/* The key of the value i, or SIZE_MAX when i is a key itself. */
static size_t key_of(const events *e, size_t i)
{
    size_t key = e->at[i].parent + 1;
    while (key < i) {
        size_t value = e->at[key].next;
        if (value == i)
            return key;
        key = e->at[value].next;
    }
    return SIZE_MAX;
}

/* 1 and 0 for what YAML 1.1 calls true and false, -1 for all else. */
static int truth_of(const yaml_event_t *ev)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
    if (ev->type == YAML_SCALAR_EVENT && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        for (int i = 0; i < 6; i++)
            if (strcasecmp(text_of(ev), words[i]) == 0)
                return i % 2;
    return -1;
}

static bool is_whole(const yaml_event_t *ev, long long *n)
{
    char *end;
    if (ev->type != YAML_SCALAR_EVENT || ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    *n = strtoll(text_of(ev), &end, 0);
    return end != text_of(ev) && *end == '\0';
}

/* Of equal keys the last one counts: False and FALSE are one key, and so are 1 and 0x1. */
static bool same_key(const yaml_event_t *x, const yaml_event_t *y)
{
    long long n, m;
    return same_string(text_of(x), text_of(y)) ||
           (truth_of(x) >= 0 && truth_of(x) == truth_of(y)) ||
           (is_whole(x, &n) && is_whole(y, &m) && n == m);
}

/* A key that only this pair has, and that can be written in a path. */
static bool is_plain_key(const events *e, size_t key)
{
    const yaml_event_t *ev = &e->at[key].ev;
    if (ev->type != YAML_SCALAR_EVENT || same_string(text_of(ev), "<<") ||
        strlen(text_of(ev)) != ev->data.scalar.length)
        return false;
    for (size_t k = e->at[key].parent + 1; !is_end(&e->at[k].ev);
         k = e->at[e->at[k].next].next) /* aliases as keys are not looked into */
        if (k != key && (e->at[k].ev.type == YAML_ALIAS_EVENT || same_key(&e->at[k].ev, ev)))
            return false;
    return true;
}

static void add_step(const events *e, size_t i, path *p)
{
    char number[24];
    const size_t parent = e->at[i].parent;
    if (is_map(e, parent)) {
        size_t key = key_of(e, i);
        p->good = p->good && key != SIZE_MAX && is_plain_key(e, key);
        if (p->good)
            path_add(p, text_of(&e->at[key].ev));
        return;
    }
    size_t k = 0;
    for (size_t item = parent + 1; item != i; item = e->at[item].next)
        k++;
    snprintf(number, sizeof number, "%zu", k);
    path_add(p, number);
}

/* The path of event i, which is good when it can be named. */
static void path_of(const events *e, size_t i, path *p)
{
    size_t chain[512], n = 0;
    *p = (path){ .good = true };
    for (; e->at[i].parent != SIZE_MAX && n < 512; i = e->at[i].parent)
        chain[n++] = i;
    p->good = n < 512;
    while (p->good && n > 0)
        add_step(e, chain[--n], p);
}

/* --- the edits ------------------------------------------------------------------------------ */

static const char *const values[] = { "42",
                                      "some words",
                                      "'it''s: a, [#] test '",
                                      "\"two\\nlines\"",
                                      "[1, two, {three: 4.5, '5': [~]}]",
                                      "{}",
                                      "''" };

typedef struct subject {
    cip_env *env;
    cip_bytes text;
    events old;
} subject;

static void judge(subject *s, int kind, edit *d, cip_yaml_edit *e, cip_status st, const char *where,
                  const cip_err *err)
{
    events now;
    if (st == CIP_ERR_UNSUPPORTED) {
        run.refused[kind]++;
        if (run.loud)
            printf("%s: %s: not %s: %s\n", run.file, where, kinds[kind], err->text);
        return;
    }
    d->old = &s->old;
    d->now = &now;
    if (st == CIP_OK && read_events(cip_yaml_edit_text(e), &now)) {
        if (is_as_expected(d)) {
            run.done[kind]++;
            events_clear(&now);
            return;
        }
        events_clear(&now);
    }
    run.wrong[kind]++;
    printf("%s: %s: wrongly %s: %s\n", run.file, where, kinds[kind],
           st == CIP_OK ? "something else changed" : err->text);
}

static cip_yaml_edit *start(subject *s)
{
    const cip_yaml_options opt = { .default_handle = "!", .quiet = true };
    cip_yaml_edit *e = NULL;
    return cip_yaml_edit_new(s->env, s->text, &opt, &e, NULL) == CIP_OK ? e : NULL;
}

/* Sets `where` to a value; `d` says which events go. With `key`, a pair comes. */
static void try_set(subject *s, int kind, edit *d, const char *where, const char *key)
{
    const char *value = values[random_below(sizeof values / sizeof *values)];
    char both[256];
    cip_arena a = { .mem = &s->env->mem };
    cip_err err = CIP_ERR_INIT;
    const cip_node *node = NULL;
    events expected;
    snprintf(both, sizeof both, key != NULL ? "{%s: %s}" : "%s%s", key != NULL ? key : "", value);
    cip_status st = cip_yaml_value(s->env, &a, value, "!", &node, &err);
    if (!read_events((cip_bytes){ (uint8_t *)both, strlen(both) }, &expected) || st != CIP_OK)
        abort();
    events inner = expected;
    if (key != NULL)
        inner = (events){ expected.at + 1, expected.n - 2, 0 };
    d->value = &inner;
    cip_yaml_edit *e = start(s);
    st = cip_yaml_edit_set(e, where, node, &err);
    judge(s, kind, d, e, st, where, &err);
    cip_yaml_edit_free(e);
    events_clear(&expected);
    cip_arena_clear(&a);
}

static void try_replace(subject *s, size_t i)
{
    path p;
    path_of(&s->old, i, &p);
    edit d = { .from = i, .to = s->old.at[i].next, .emptied = SIZE_MAX };
    if (p.good && p.len != 0)
        try_set(s, 0, &d, p.text, NULL);
}

static void try_insert(subject *s, size_t i)
{
    path p;
    path_of(&s->old, i, &p);
    if (!p.good)
        return;
    const bool map = is_map(&s->old, i);
    path_add(&p, map ? "inserted by a test" : "-");
    const size_t end = s->old.at[i].next - 1;
    edit d = { .from = end, .to = end, .emptied = SIZE_MAX };
    if (p.good)
        try_set(s, 1, &d, p.text, map ? "inserted by a test" : NULL);
}

static void try_remove(subject *s, size_t i)
{
    path p;
    const event *at = s->old.at;
    path_of(&s->old, i, &p);
    if (!p.good || p.len == 0)
        return;
    const size_t parent = at[i].parent;
    const size_t first = is_map(&s->old, parent) ? key_of(&s->old, i) : i;
    const bool only = first == parent + 1 && is_end(&at[at[i].next].ev);
    edit d = { .from = first, .to = at[i].next, .emptied = only ? parent : SIZE_MAX };
    if (only && at[parent].parent == SIZE_MAX)
        return; /* the tree keeps an entry */
    cip_err err = CIP_ERR_INIT;
    cip_yaml_edit *e = start(s);
    cip_status st = cip_yaml_edit_remove(e, p.text, &err);
    judge(s, 2, &d, e, st, p.text, &err);
    cip_yaml_edit_free(e);
}

/* Under another key, where it stands and at the end of the root. */
static void try_move(subject *s, size_t i, bool rename)
{
    static const char name[] = "moved by a test";
    path p, to = { .good = true };
    const event *at = s->old.at;
    const size_t parent = at[i].parent;
    path_of(&s->old, i, &p);
    const bool map = is_map(&s->old, parent);
    if (!p.good || p.len == 0 || (rename ? !map : parent == 0 || !is_map(&s->old, 0)))
        return;
    const size_t first = map ? key_of(&s->old, i) : i;
    const bool only = first == parent + 1 && is_end(&at[at[i].next].ev);
    if (map && anchor_of(&at[first].ev) != NULL)
        return; /* which goes with the old key, or to its alias */
    edit d = { .from = first, .to = rename ? i : at[i].next, .emptied = SIZE_MAX };
    if (rename)
        path_of(&s->old, parent, &to);
    else
        d.node = i;
    if (only && !rename)
        d.emptied = parent;
    path_add(&to, name);
    events value;
    if (!read_events((cip_bytes){ (const uint8_t *)name, sizeof name - 1 }, &value))
        abort();
    d.value = &value;
    cip_err err = CIP_ERR_INIT;
    cip_yaml_edit *e = start(s);
    cip_status st = cip_yaml_edit_move(e, p.text, to.text, false, &err);
    if (to.good)
        judge(s, rename ? 3 : 4, &d, e, st, p.text, &err);
    cip_yaml_edit_free(e);
    events_clear(&value);
}

static void try_event(subject *s, size_t i)
{
    const yaml_event_t *ev = &s->old.at[i].ev;
    if (is_end(ev) || s->old.at[i].parent == SIZE_MAX)
        return;
    if (is_start(ev))
        try_insert(s, i);
    try_replace(s, i);
    try_remove(s, i);
    try_move(s, i, true);
    try_move(s, i, false);
}

static void try_text(cip_bytes text)
{
    cip_env env;
    subject s = { .env = &env, .text = text };
    if (cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        abort();
    cip_yaml_edit *e = start(&s);
    cip_yaml_edit_free(e);
    if (e != NULL && read_events(text, &s.old) && s.old.n > 1) {
        const size_t each = text.len > (1 << 20) ? test_full() : text.len > 20000 ? 2 : 5;
        run.texts++;
        if (is_start(&s.old.at[0].ev))
            try_insert(&s, 0);
        for (size_t i = 0; test_full() && text.len < 100000 && i < s.old.n; i++)
            try_event(&s, i);
        for (size_t i = 0; i < (test_full() ? 4 * each : each); i++)
            try_event(&s, random_below(s.old.n));
    }
    events_clear(&s.old);
    cip_env_clear(&env);
}

/* --- files ---------------------------------------------------------------------------------- */

static const char *find_line(const char *p, const char *end, const char *start)
{
    const size_t n = strlen(start);
    while (p != NULL && (size_t)(end - p) >= n) {
        if (memcmp(p, start, n) == 0)
            return p;
        p = memchr(p, '\n', (size_t)(end - p));
        p = p != NULL ? p + 1 : NULL;
    }
    return NULL;
}

/* The tree in an ASDF file, or the whole of another. */
static cip_bytes tree_in(const char *p, size_t len)
{
    const char *end = p + len;
    if (len < 5 || memcmp(p, "#ASDF", 5) != 0)
        return (cip_bytes){ (const uint8_t *)p, len };
    const char *from = find_line(p, end, "%YAML");
    if (from == NULL)
        from = find_line(p, end, "---");
    if (from == NULL)
        return (cip_bytes){ 0 };
    const char *to = find_line(from, end, "...");
    if (to != NULL)
        to = memchr(to, '\n', (size_t)(end - to));
    const char *stop = to != NULL ? to + 1 : end;
    return (cip_bytes){ (const uint8_t *)from, (size_t)(stop - from) };
}

static int visit(const char *name, const struct stat *st, int type, struct FTW *where)
{
    (void)where;
    const char *dot = strrchr(name, '.');
    if (type != FTW_F || st->st_size == 0 || st->st_size > MAX_TEXT)
        return 0;
    if (dot == NULL || (strcmp(dot, ".asdf") != 0 && strcmp(dot, ".yaml") != 0))
        return 0;
    FILE *f = fopen(name, "rb");
    if (f == NULL)
        return 0;
    char *p = malloc((size_t)st->st_size);
    size_t n = fread(p, 1, (size_t)st->st_size, f);
    fclose(f);
    run.file = name;
    cip_bytes tree = tree_in(p, n);
    uint8_t *exact = malloc(tree.len);
    memcpy(exact, tree.ptr != NULL ? tree.ptr : (const uint8_t *)p, tree.len);
    free(p);
    try_text((cip_bytes){ exact, tree.len });
    free(exact);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        run.loud |= strcmp(argv[i], "-v") == 0;
    }
    run.seed = test_seed();
    const char *corpus = test_corpus();
    nftw(CIP_SOURCE_DIR "/src", visit, 32, FTW_PHYS);
    if (corpus != NULL)
        nftw(corpus, visit, 32, FTW_PHYS);
    size_t tried = 0, refused = 0, wrong = 0;
    printf("%zu trees\n", run.texts);
    for (int i = 0; i < 5; i++) {
        printf("%s: %zu done, %zu refused, %zu wrong\n", kinds[i], run.done[i], run.refused[i],
               run.wrong[i]);
        tried += run.done[i] + run.refused[i] + run.wrong[i];
        refused += run.refused[i];
        wrong += run.wrong[i];
    }
    return wrong != 0 || tried == 0 || refused * 1000 > tried;
}
