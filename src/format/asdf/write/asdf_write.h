/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of this folder that write share. Section numbers are those of
 * docs/formats/asdf.md.
 */
#ifndef CIP_FORMAT_ASDF_WRITE_H
#define CIP_FORMAT_ASDF_WRITE_H

#include "codec/blosc/blosc.h"
#include "format/asdf/write/asdf_chain_write.h"
#include "space/make/encode.h"

/* Options that no other format has, and their numbers. */
extern const cip_format_option cip_asdf_options[];
enum { ASDF_OPTION_ENCODE = 0, ASDF_OPTION_FILTER };

/* --- asdf_standard.c: versions of the standard ------------------------------------------------ */

typedef struct asdf_standard {
    const char *version, *asdf, *ndarray, *integer; /* of the tags */
    bool metadata;                                  /* `history` is a mapping with extensions */
    bool half;                                      /* float16 */
    bool early; /* 0.1.0: layout B, tags without versions under a prefix with one */
} asdf_standard;

/* NULL: the one that is written by default. ARG for one that does not exist. */
cip_status cip_asdf_standard(const char *version, const asdf_standard **out, cip_err *err);
/* The one that a spec asks for: by its version, or 0.1.0 for an encoding chain. */
cip_status cip_asdf_standard_of(const cip_spec *spec, const asdf_standard **out, cip_err *err);
/* What the handle `!` of its trees stands for. */
const char *cip_asdf_tag_prefix(const asdf_standard *s);
/* The tag of a core type. */
cip_status cip_asdf_core_tag(const asdf_standard *s, const char *name, const char *version,
                             cip_arena *a, const char **out, cip_err *err);
/* A tag as the standard has it: those of core types whose version changed, and all of ASDF from
 * 0.1.0 and to it (NULL where that has none); others as they are. */
cip_status cip_asdf_standard_tag(const asdf_standard *s, const char *tag, cip_arena *a,
                                 const char **out, cip_err *err);
/* Whether a tag's meaning is lost in the standard. */
bool cip_asdf_tag_is_lost(const asdf_standard *s, const char *tag);

/* --- asdf_datatype_write.c -------------------------------------------------------------------- */

/* The type as it is stored: packed, numbers in their own order, or all in one (big 0 or 1). */
cip_status cip_asdf_stored_type(cip_arena *a, const cip_dtype *d, int big, const cip_dtype **out,
                                cip_err *err);
/* What cannot be said of a type, or NULL. */
const char *cip_asdf_type_fault(const asdf_standard *s, const cip_dtype *d);
/* Its `datatype`. */
cip_status cip_asdf_type_node(cip_arena *a, const cip_dtype *d, const cip_node **out, cip_err *err);
/* A mapping or sequence under construction, grown pair by pair in the arena. */
typedef struct asdf_list {
    cip_arena *a;
    const cip_node *key[16], *value[16];
    size_t n;
} asdf_list;
cip_status cip_asdf_list_add(asdf_list *l, const char *key, const cip_node *value, cip_err *err);
cip_status cip_asdf_list_text(asdf_list *l, const char *key, const char *text, cip_err *err);
cip_status cip_asdf_list_map(asdf_list *l, const char *tag, cip_style style, cip_node **out,
                             cip_err *err);
/* [n, n, ...], or ['*', n, ...]. */
cip_status cip_asdf_shape_node(cip_arena *a, int32_t ndim, const int64_t *shape, bool star,
                               const cip_node **out, cip_err *err);

/* --- asdf_element_write.c --------------------------------------------------------------------- */

/* One element as a value. RANGE for a text that no tree can hold. */
cip_status cip_asdf_element_node(cip_arena *a, const cip_dtype *d, const uint8_t *p,
                                 const cip_node **out, cip_err *err);
/* Elements packed in C order. */
typedef struct asdf_elements {
    const cip_dtype *dtype;
    int32_t ndim;
    const int64_t *shape;
    const uint8_t *data, *mask; /* mask (may be NULL): nonzero is null */
} asdf_elements;
/* The same as nested lists. */
cip_status cip_asdf_inline_node(cip_arena *a, const asdf_elements *e, const cip_node **out,
                                cip_err *err);

/* --- asdf_integer_write.c */
/* An integer beyond 63 bits as core/integer where the standard has that; others as they are. */
cip_status cip_asdf_integer_node(cip_arena *a, const asdf_standard *s, const cip_node *from,
                                 const cip_node **out, cip_err *err);

/* --- asdf_framing.c --------------------------------------------------------------------------- */

typedef struct asdf_packing {
    const asdf_codec *codec;    /* NULL: none */
    const cip_framing *framing; /* NULL: as it is, or: */
    cip_blosc_spec blosc;       /* of blsc and bls2, without typesize */
    uint64_t typesize;          /* bytes of an element, for these; 0: not known */
    bool named;                 /* codec, level or filters in them were asked for */
    const cip_array *source;    /* whose chunks they take as they are stored, which then come one
                                   by one; or NULL */
    int level;
} asdf_packing;

/* The codec by name (NULL: none); behind a colon may stand the one in blsc and bls2. UNSUPPORTED
 * for one that ASDF has no code for. */
cip_status cip_asdf_packing(const char *codec, int level, asdf_packing *out, cip_err *err);
/* ... and the filters of blsc and bls2 (NULL: as by default). ARG, UNSUPPORTED. */
cip_status cip_asdf_packing_filter(const char *filter, asdf_packing *p, cip_err *err);
/* Codec and filter as a spec gives them for all arrays. */
cip_status cip_asdf_packing_of(const cip_spec *spec, asdf_packing *out, cip_err *err);
/* Whether payloads are stored in another way than they are. */
static inline bool cip_asdf_packs(const asdf_packing *p)
{
    return p->codec != NULL;
}

/* As messages call it. */
static inline const char *cip_asdf_packing_name(const asdf_packing *p)
{
    return p->codec == NULL ? "none" : p->codec->alias != NULL ? p->codec->alias : p->codec->name;
}

typedef enum asdf_sum { ASDF_SUM_STORED = 0, ASDF_SUM_DECODED, ASDF_SUM_NONE } asdf_sum;
/* "md5" (and NULL), "legacy", "none". */
cip_status cip_asdf_sum(const char *text, asdf_sum *out, cip_err *err);
/* The same in a file of the standard: 0.1.0 has no checksums (UNSUPPORTED if one is asked for). */
cip_status cip_asdf_sum_of(const asdf_standard *s, const char *text, asdf_sum *out, cip_err *err);

/* --- asdf_blosc_write.c: payloads of blsc and bls2 -------------------------------------------- */

static inline bool cip_asdf_is_blosc(const asdf_packing *p)
{
    return p->codec != NULL && p->codec->blosc != 0;
}
/* Bytes of an element of an array that lies in the block; 0: there is none. */
uint64_t cip_asdf_block_item(const cip_layout *l, size_t block);
/* Codec and filters as a block has them that is stored so, as far as its payload says; others
 * leave *p as it is. */
void cip_asdf_blosc_like(cip_layout *l, const asdf_block *b, asdf_packing *p);
/* Sets p->blosc; `codec`: the one in it, or "". UNSUPPORTED, ARG. */
cip_status cip_asdf_blosc_packing(const char *codec, asdf_packing *p, cip_err *err);
/* An array of nbytes that comes from a file. */
typedef struct asdf_blosc_taking {
    cip_env *env;
    cip_arena *arena; /* of texts and forms */
    const cip_array *source;
    uint64_t nbytes;
} asdf_blosc_taking;
/* Where its source is stored in chunks that the payload takes: sets p->source, and says in *form
 * how they are. Others stay. */
cip_status cip_asdf_blosc_take(const asdf_blosc_taking *t, asdf_packing *p, cip_array_form *form,
                               cip_err *err);
typedef struct asdf_bloscw asdf_bloscw;
/* For nbytes raw bytes, 1 or more. UNSUPPORTED for more than blsc holds. */
cip_status cip_asdf_bloscw_new(cip_env *env, const asdf_packing *how, uint64_t nbytes,
                               asdf_bloscw **out, cip_err *err);
cip_status cip_asdf_bloscw_write(asdf_bloscw *w, const void *p, size_t n, cip_err *err);
/* A finished chunk, of p->source. */
cip_status cip_asdf_bloscw_chunk(asdf_bloscw *w, uint64_t i, const cip_chunk_in *chunk,
                                 cip_err *err);
/* All of the payload to `to`. ARG when bytes are missing. */
cip_status cip_asdf_bloscw_finish(asdf_bloscw *w, cip_out *to, cip_err *err);
/* NULL is fine. */
void cip_asdf_bloscw_free(asdf_bloscw *w);

/* --- asdf_block_write.c ----------------------------------------------------------------------- */

/* A block while it is written: the one way from raw bytes to stored ones, for new files, for blocks
 * that an update changed and for those that a new file takes over with another codec.
 * Zero-initialise. */
typedef struct asdf_blockw {
    cip_env *env;
    cip_out *out;                /* borrowed */
    bool bare;                   /* the payload alone, without a header in front */
    const asdf_block_form *form; /* NULL: that of 1.0 */
    uint64_t align;
    asdf_block head; /* as it is in the output */
    asdf_packing how;
    const asdf_chain *chain; /* in a codec's place, of form B; or NULL */
    const asdf_encoded *of;  /* the array that goes through it */
    asdf_sum sum;
    uint64_t nbytes;  /* that will be written; 0: not known, or none */
    cip_report *told; /* of them, as progress; it may stop the writing. NULL: nobody */
    cip_out in;       /* leads to cip_asdf_blockw_write, once begun */
    cip_encoder *enc; /* one of these three */
    asdf_bloscw *blosc;
    asdf_chainw *chained;
    double worst; /* the largest error of the chain, once ended */
    cip_summed *summed;
    cip_out *to;      /* of the payload: the output, or what sums it */
    cip_sum *decoded; /* ASDF_SUM_DECODED */
} asdf_blockw;

/* Starts one at the end of the output, its payload aligned. The others' `how` and `sum` (of a
 * chain: none); flags: ASDF_STREAMED or 0. */
cip_status cip_asdf_blockw_begin(asdf_blockw *b, uint32_t flags, cip_err *err);
/* Whole values where a chain quantizes. */
cip_status cip_asdf_blockw_write(void *blockw, const void *p, size_t n, cip_err *err);
/* ... or finished chunks, in order, where how.source is. */
cip_status cip_asdf_blockw_chunk(asdf_blockw *b, uint64_t i, const cip_chunk_in *chunk,
                                 cip_err *err);
/* Completes the payload and the header; then *larger says that it did not become smaller (of a
 * codec; a chain stays), and cip_asdf_blockw_undo takes it back. */
cip_status cip_asdf_blockw_end(asdf_blockw *b, bool *larger, cip_err *err);
cip_status cip_asdf_blockw_undo(asdf_blockw *b, cip_err *err);
/* All bytes of a space of the layout as a payload, behind what the temporary file holds; *larger:
 * it did not become smaller, and was taken back (NULL: it stays all the same). */
cip_status cip_asdf_blockw_space(asdf_blockw *b, cip_io *temporary, cip_layout *l, cip_space *data,
                                 bool *larger, cip_err *err);
/* The largest error of a chain that is lossy, as a note to what is told of an array (NULL: nobody).
 */
cip_status cip_asdf_tell_worst(const asdf_blockw *b, const char *path, cip_report *notes,
                               cip_err *err);
void cip_asdf_blockw_clear(asdf_blockw *b);

/* --- asdf_tree_write.c ------------------------------------------------------------------------ */

/* A node of the source's tree and what takes its place; from NULL: a new one at `path`. */
typedef struct asdf_swap {
    const cip_node *from, *to;
    const char *path;
} asdf_swap;

typedef struct asdf_swaps {
    const asdf_swap *at;
    size_t n;
} asdf_swaps;

/* This library, as the software that made something; `early`: in 0.1, which has no tag for it. */
cip_status cip_asdf_software(cip_arena *a, bool early, cip_style style, cip_node **out,
                             cip_err *err);
/* What says that a codec beyond the standard is needed, for history/extensions; *out is NULL when
 * the codec (may be NULL) is none of those, or `root` says it already or has no place for it. */
cip_status cip_asdf_codec_extension(cip_arena *a, const asdf_standard *s, const cip_node *root,
                                    const asdf_codec *codec, const cip_node **out, cip_err *err);
/* The tree as it is written, as text from `%YAML` to the end marker: tags of the standard, swaps,
 * software and extensions where there are none. `root` may be NULL. */
cip_status cip_asdf_tree_text(cip_env *env, const asdf_standard *s, const cip_node *root,
                              asdf_swaps swaps, cip_buf *out, cip_err *err);
/* "#ASDF 1.0.0" and the standard's line. */
cip_status cip_asdf_head_text(const asdf_standard *s, cip_buf *out, cip_err *err);

/* --- asdf_rewrite.c: cip_format.rewrite ------------------------------------------------------- */

/* 0.1 is written only where it is asked for by name: a file of it becomes one of 1.x. */
bool cip_asdf_may_rewrite(const cip_layout *l, const cip_spec *spec);
cip_status cip_asdf_rewrite(cip_layout *l, const cip_spec *spec, cip_out *out, cip_err *err);

/* A block of this file or another. */
typedef struct asdf_place {
    const asdf_file *f;
    size_t i;
} asdf_place;

/* Blocks of open files as they are stored in another: with the codec and checksum that a spec asks
 * for, in the layout `form`. What is encoded anew lies in a temporary file until it is cleared. */
typedef struct asdf_recoding {
    cip_layout *layout;
    cip_env *env;
    cip_arena *arena; /* borrowed */
    bool recode, resum;
    asdf_packing how;
    asdf_sum sum;
    const asdf_block_form *form; /* of all blocks of the output */
    cip_io *temporary;
    cip_report *notes; /* or NULL */
} asdf_recoding;
cip_status cip_asdf_recoding_begin(cip_layout *l, cip_arena *a, const cip_spec *spec,
                                   asdf_recoding *w, cip_err *err);
cip_status cip_asdf_recode(asdf_recoding *w, const asdf_place *at, asdf_piece *p, cip_err *err);
void cip_asdf_recoding_clear(asdf_recoding *w);

/* Writes it all to `out`; f: the file that pieces come from. `told` (or NULL) hears of the
 * progress, and may stop it. */
cip_status cip_asdf_pieces_write(const asdf_file *f, const asdf_pieces *p, cip_report *told,
                                 cip_out *out, cip_err *err);
/* Whether its first line ends so. */
bool cip_asdf_is_crlf(cip_bytes head);

/* --- asdf_foreign.c: what may name blocks besides ndarrays ------------------------------------ */

/* A node under a tag that we do not know. */
typedef struct asdf_foreign {
    bool found;
    char path[128], tag[128]; /* cut off where they are longer */
} asdf_foreign;
#define ASDF_FOREIGN_LOSS                                                                          \
    "nodes with the tag '%.100s' may refer to blocks by number, and these numbers change"
/* The first such node of a tree (which may be NULL). */
cip_status cip_asdf_find_foreign(cip_env *env, const cip_node *root, asdf_foreign *out,
                                 cip_err *err);
/* Names as losses each `$ref` to another file (`sources`: and source of an ndarray) that leads
 * elsewhere from the output, or to nothing, as spec->elsewhere and ->renamed say; the first few of
 * many. UNSUPPORTED unless losses are accepted. */
cip_status cip_asdf_check_links(const cip_spec *spec, const asdf_file *f, bool sources,
                                cip_err *err);
/* The same of the tree in the spec, but for nodes that arrays take the place of; told only. */
cip_status cip_asdf_sink_links(const cip_spec *spec, cip_report *loss, cip_err *err);
/* For each of nblock blocks how many ndarrays of the tree name it, masks included; sources below 0
 * count from `from_end`. */
cip_status cip_asdf_count_names(cip_env *env, const cip_node *root, size_t from_end, size_t *n,
                                size_t nblock, cip_err *err);
/* The numbers of some blocks for a message: "0, 3 to 6"; cut off where there are many runs. */
typedef struct asdf_block_list {
    size_t count;
    char text[96];
    bool full;
} asdf_block_list;
void cip_asdf_list_blocks(const bool *in, size_t n, asdf_block_list *out);
/* Tells spec->notes of a loss; UNSUPPORTED unless losses are accepted. */
cip_status cip_asdf_lose(const cip_spec *spec, const char *part, cip_err *err, const char *fmt, ...)
    CIP_PRINTF(4, 5);

/* --- asdf_explode.c, asdf_member.c: data in files beside -------------------------------------- */

cip_status cip_asdf_explode(cip_layout *l, const cip_explosion *how, const cip_spec *spec,
                            cip_out *out, cip_err *err);
/* The blocks that a file needs: its own, then the first ones of the other files that its ndarrays
 * name; and its tree's text with their numbers. Zero-initialise with f and a. */
typedef struct asdf_gather {
    asdf_file *f;
    cip_arena *a;
    asdf_place *at;
    size_t n, cap, own;
    cip_buf tree;
} asdf_gather;
cip_status cip_asdf_gather(asdf_gather *x, cip_bytes tree, cip_err *err);
void cip_asdf_gather_clear(asdf_gather *x);
/* A streamed block gets the size that it has. */
void cip_asdf_freeze_piece(asdf_piece *p);
/* "NAME0001.asdf" beside the output NAME.asdf; with escapes as a URI. */
cip_status cip_asdf_member_name(cip_arena *a, const cip_out *out, size_t i, bool as_uri,
                                char **name, cip_err *err);

/* --- asdf_part_write.c: one file of the output ------------------------------------------------ */

/* A file being written: the main one, or one beside it. Zero-initialise with env and out. */
typedef struct asdf_part {
    cip_env *env;
    cip_out *out;
    const asdf_block_form *form; /* of its blocks: others than that of 1.0 go without an index and
                                    comments */
    uint64_t align;
    int64_t slack;
    bool
        bare; /* payloads alone, each at the end of a temporary file that others write to as well */
    asdf_blocks blocks; /* as they are in the output, once whole */
    uint64_t reserved;  /* room in front for a tree that comes later, or 0 */
    bool streamed;      /* the last block is */
} asdf_part;

/* Head and tree first. blocks: some will follow. */
cip_status cip_asdf_part_text(asdf_part *p, cip_buf *head_and_tree, bool blocks, cip_err *err);
/* Before a block is written at the output's end: makes room for the tree before the first when
 * there is none yet. */
cip_status cip_asdf_part_block(asdf_part *p, cip_err *err);
/* The tree last, into the room in front. */
cip_status cip_asdf_part_late_text(asdf_part *p, cip_buf *head_and_tree, cip_err *err);
/* The index, where the form has one. */
cip_status cip_asdf_part_end(asdf_part *p, cip_err *err);
void cip_asdf_part_clear(asdf_part *p);

#endif
