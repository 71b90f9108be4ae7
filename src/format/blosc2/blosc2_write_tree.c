/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of a new frame. A tree in the form that frames are read in (`meta`, `vlmeta`) becomes
 * what it was: values that come from a frame go as they are stored, others as msgpack. Of any other
 * tree each key of the root becomes a vlmetalayer, which may change its length later. */
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_write.h"
#include "format/one_array.h"
#include "tree/msgpack.h"

enum { NAMES_MAX = UINT16_MAX - 7 /* bytes of all names with their places */ };

typedef struct keeper {
    const cip_spec *spec;
    const cip_b2_frame *from; /* the source's frame, or NULL */
    bool plain;
    cip_arena *arena;
    cip_report *loss; /* NULL: nothing is told */
} keeper;

static void tell(const keeper *k, const char *name, const char *text)
{
    if (k->loss != NULL)
        cip_report_add(k->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, name, "%s", text);
}

/* --- values ----------------------------------------------------------------------------------- */

static bool is_array(void *spec, const cip_node *n)
{
    return cip_is_array_node(spec, n);
}

/* The value as msgpack, in the arena; *value empty: msgpack cannot hold it. */
static cip_status pack(const keeper *k, const char *name, const cip_node *n, cip_bytes *value,
                       cip_err *err)
{
    cip_msgpack_how how = { .leave_out = is_array, .user = (void *)k->spec };
    cip_buf out = { .mem = &k->spec->env->mem };
    cip_err why = CIP_ERR_INIT;
    char *copy = NULL;
    *value = (cip_bytes){ NULL, 0 };
    cip_status st = cip_msgpack_write(n, &how, &out, &why);
    if (st == CIP_ERR_LIMIT)
        tell(k, name, "metadata are lost: too many values, or nested too deep, for msgpack");
    if (st == CIP_OK && (how.lost & CIP_MSGPACK_TAGS) != 0)
        tell(k, name, "tags of metadata are lost: msgpack has none");
    if (st == CIP_OK && (how.lost & CIP_MSGPACK_TYPES) != 0)
        tell(k, name, "times, and integers beyond 64 bits, become texts: msgpack has none");
    const bool keys = st == CIP_OK && (how.lost & CIP_MSGPACK_KEYS) != 0;
    if (keys)
        tell(k, name,
             "metadata are lost: keys are not text, and python-blosc2 could not read any "
             "vlmetalayer");
    if (st == CIP_OK && !keys)
        st = cip_arena_copy(k->arena, (const char *)out.ptr, out.len, &copy, &why);
    if (st == CIP_OK && !keys)
        *value = (cip_bytes){ (const uint8_t *)copy, out.len };
    cip_buf_clear(&out);
    return st == CIP_OK || st == CIP_ERR_LIMIT ? CIP_OK
                                               : cip_fail(err, st, why.offset, "%s", why.text);
}

cip_status cip_b2_value_encode(cip_arena *a, cip_bytes raw, cip_bytes *value, cip_err *err)
{
    const cip_blosc_spec spec = { .typesize = 1, .level = 5 };
    const size_t cap = cip_blosc_stored_bound(raw.len);
    uint8_t *at;
    size_t n;
    CIP_TRY(cip_arena_get(a, cap, (void **)&at, err));
    CIP_TRY(cip_blosc_encode(a->mem, &spec, raw, at, cap, &n, err));
    *value = (cip_bytes){ at, n };
    return CIP_OK;
}

static cip_status take_value(const keeper *k, const char *map, const cip_node *key,
                             const cip_node *value, cip_bytes *out, cip_err *err)
{
    /* What the source's frame has under the name, if the node came of it. Nothing came of a value
     * that could not be read. */
    const cip_node *there = k->from != NULL ? cip_map_get(k->from->layout->tree, map) : NULL;
    const bool same =
        there != NULL && value->type != CIP_NODE_NULL && cip_map_get(there, key->text) == value;
    const bool header = strcmp(map, "meta") == 0;
    const cip_b2_meta *m =
        same ? cip_b2_meta_find(header ? &k->from->meta : &k->from->vlmeta, key->text) : NULL;
    cip_bytes raw;
    if (m != NULL) {
        *out = m->value;
        return CIP_OK;
    }
    CIP_TRY(pack(k, key->text, value, &raw, err));
    *out = raw;
    const bool chunk = strcmp(map, "vlmeta") == 0 && k->loss == NULL; /* else it is only tried */
    return raw.len != 0 && chunk ? cip_b2_value_encode(k->arena, raw, out, err) : CIP_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

bool cip_b2_is_object(const char *name, size_t n)
{
    static const char list[] =
        "b2o LazyArray proxy-source vlarray batcharray listarray b2embed b2dict b2tree";
    return cip_is_word_of(list, name, n);
}

static bool may_name(const keeper *k, const cip_node *key)
{
    const char *text = key->type == CIP_NODE_STRING ? key->text : "";
    if (key->type != CIP_NODE_STRING || key->len == 0 || key->len > CIP_B2_NAME_MAX ||
        strlen(text) != key->len)
        tell(k, text, "metadata are lost: the name is not text of 1 to 31 bytes");
    else if (cip_b2_is_object(text, key->len))
        tell(k, text, "this metalayer is lost: it declares that the frame is not a plain array");
    else
        return true;
    return false;
}

/* Up to `most` of the mapping's pairs become metalayers. */
static cip_status take_map(const keeper *k, const char *name, const cip_node *map, size_t most,
                           cip_b2_metas *out, cip_err *err)
{
    size_t names = 0;
    CIP_TRY(CIP_ARENA_NEW(k->arena, &out->at, cip_min_u64(map->len, most), err));
    for (uint32_t i = 0; i < map->len; i++) {
        const cip_node *key = map->pair[i].key, *value = map->pair[i].value;
        /* What says how a frame holds its array, which this one holds in its own way. */
        const char *text = key->type == CIP_NODE_STRING ? key->text : "";
        const bool form = strcmp(text, "b2nd") == 0 || strcmp(text, "caterva") == 0 ||
                          (!k->plain && strcmp(text, "__pack_tensor__") == 0);
        cip_bytes bytes;
        if (cip_is_array_node(k->spec, value) || form || !may_name(k, key))
            continue;
        if (out->n == most || names + key->len + 6 > NAMES_MAX) {
            tell(k, key->text, "metadata are lost: there are more than a frame can hold");
            continue;
        }
        CIP_TRY(take_value(k, name, key, value, &bytes, err));
        if (bytes.len == 0)
            continue;
        names += key->len + 6;
        out->at[out->n++] =
            (cip_b2_meta){ .name = { (const uint8_t *)key->text, key->len }, .value = bytes };
    }
    return CIP_OK;
}

/* Tried with libblosc2 3.3, on files of its own and of ours: the frame can no longer be opened. */
void cip_b2_tell_many(cip_report *notes, size_t vlmetalayers)
{
    enum { PEER_MAX = 16 };
    if (notes != NULL && vlmetalayers > PEER_MAX)
        cip_report_add(notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "vlmeta",
                       "python-blosc2 4.14 reads frames of more than %d vlmetalayers, but damages "
                       "those that it changes; this one has %zu",
                       PEER_MAX, vlmetalayers);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Keys that tell of the file or of how its array lies, not of what is in it. */
static bool is_apart(const cip_spec *spec, const cip_pair *p)
{
    const bool text = p->key->type == CIP_NODE_STRING;
    return cip_is_array_node(spec, p->value) ||
           (text && (cip_is_word_of(spec->origin_keys, p->key->text, p->key->len) ||
                     cip_is_word_of(spec->form_keys, p->key->text, p->key->len)));
}

static bool is_own(const cip_spec *spec, const cip_node *root)
{
    for (uint32_t i = 0; i < root->len; i++) {
        const cip_pair *p = &root->pair[i];
        const bool named =
            cip_node_is_string(p->key, "meta") || cip_node_is_string(p->key, "vlmeta");
        if (!is_apart(spec, p) && (!named || p->value->type != CIP_NODE_MAP))
            return false;
    }
    return true;
}

cip_status cip_b2_keep_tree(const cip_spec *spec, cip_arena *a, cip_b2_metas *meta,
                            cip_b2_metas *vlmeta, cip_report *loss, cip_err *err)
{
    const keeper k = { .spec = spec,
                       .from = cip_b2_frame_of(spec),
                       .plain = spec->kind != NULL,
                       .arena = a,
                       .loss = loss };
    const size_t most = CIP_B2_MAX_META - (k.plain ? 0 : 1);
    cip_node *root;
    *meta = *vlmeta = (cip_b2_metas){ NULL, 0 };
    if (cip_node_kind(spec->tree) != CIP_NODE_MAP)
        return CIP_OK;
    if (!is_own(spec, spec->tree)) {
        /* The root without what is apart. */
        size_t n = 0, at = 0;
        for (uint32_t i = 0; i < spec->tree->len; i++)
            n += !is_apart(k.spec, &spec->tree->pair[i]);
        CIP_TRY(cip_node_new_map(k.arena, n, &root, err));
        for (uint32_t i = 0; i < spec->tree->len; i++)
            if (!is_apart(k.spec, &spec->tree->pair[i]))
                cip_node_set_pair(root, at++, spec->tree->pair[i].key, spec->tree->pair[i].value);
        return take_map(&k, "vlmeta", root, CIP_B2_MAX_VLMETA, vlmeta, err);
    }
    const cip_node *m = cip_map_get(spec->tree, "meta"), *v = cip_map_get(spec->tree, "vlmeta");
    if (m != NULL && m->type == CIP_NODE_MAP)
        CIP_TRY(take_map(&k, "meta", m, most, meta, err));
    return v != NULL && v->type == CIP_NODE_MAP
               ? take_map(&k, "vlmeta", v, CIP_B2_MAX_VLMETA, vlmeta, err)
               : CIP_OK;
}
