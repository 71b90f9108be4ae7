/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of this folder share: an ASDF file as it is taken apart. Section numbers are those
 * of docs/formats/asdf.md. */
#ifndef CIP_FORMAT_ASDF_H
#define CIP_FORMAT_ASDF_H

#include "codec/frames.h"
#include "codec/framing.h"
#include "format/format.h"
#include "space/read/window.h"
#include "tree/yaml.h"

extern const cip_array_store cip_asdf_store;
extern const cip_format cip_format_asdf;

enum {
    ASDF_HEAD = 64 << 10,        /* read at once when opening; holds most trees */
    ASDF_PREAMBLE_MAX = 1 << 20, /* header line, comments and padding before the tree */
    ASDF_MAGIC_LEN = 4,
    ASDF_HEADER_LEN = 54,    /* magic, header_size and the fields of 1.0; no form has more */
    ASDF_STREAMED = 1,       /* the only flag of 1.0 */
    ASDF_ENCODED = 2,        /* of layout B of 0.1: an encoding chain stands before the data */
    ASDF_CHECKSUM_LEN = 16,  /* MD5 */
    ASDF_ENCODING_LEN = 16,  /* a name in a block header of layout A of 0.1 */
    ASDF_EXTERNAL_DEPTH = 8, /* files that name files that name files */
    ASDF_RECORD_DEPTH = 32   /* records in records */
};

#define ASDF_MAGIC "\323BLK"
#define ASDF_TAGS "tag:stsci.edu:asdf/"

/* --- asdf_header.c: the first lines (section 2.1) ------------------------------------------- */

typedef struct asdf_version {
    uint32_t major, minor, patch;
} asdf_version;

/* "1.0.0", "1.0.0-rc.1+build": semantic versioning. False for anything else. */
bool cip_asdf_version_parse(const char *text, size_t len, asdf_version *out);
/* One of 1.0.0 ... 1.6.0. */
bool cip_asdf_standard_known(asdf_version v);
/* Whether a version, of the file or the standard, is one of before 1.0: 0.1 and what follows it. */
static inline bool cip_asdf_is_early(asdf_version v)
{
    return v.major == 0 && v.minor == 1;
}

typedef enum asdf_found {
    ASDF_NOTHING = 0, /* the file ends after the comments */
    ASDF_TREE,        /* a tree starts at `at` */
    ASDF_BLOCKS,      /* there is no tree; `at` is where the comments end */
    ASDF_MORE         /* the bytes given end too early to tell */
} asdf_found;

typedef struct asdf_header {
    const char *version; /* as written, in the arena */
    asdf_version file;
    bool has_standard; /* a #ASDF_STANDARD line that says a version */
    asdf_version standard;
    const char *standard_text;
    const char **comment; /* lines but the first and the standard's, without line ends */
    size_t ncomment;
    asdf_found found;
    uint64_t at;
} asdf_header;
/* The standard that the file says, if it is one of 1.x; NULL: it says none that we write. */
static inline const char *cip_asdf_own_standard(const asdf_header *h)
{
    return h->has_standard && cip_asdf_standard_known(h->standard) ? h->standard_text : NULL;
}

/* Whether it starts with the header line of any version; *major may be NULL. For probing. */
bool cip_asdf_is_header(cip_bytes head, uint32_t *major);
/* Reads the lines up to the tree or the blocks from the first bytes of the file, at least ASDF_HEAD
 * of them or the `whole` file. Zero-initialise *h; while `found` is MORE, call again with more
 * bytes. What is tolerated is warned about. */
cip_status cip_asdf_header_read(cip_layout *l, cip_bytes text, bool whole, asdf_header *h,
                                cip_err *err);

/* --- asdf_block.c: blocks (section 2.3) ------------------------------------------------------ */

/* Where the fields of a block header lie, counted from the magic; 0: there is no such field. */
typedef struct asdf_block_form {
    const char *name;     /* "A" to "D": layouts of 0.1; D is also that of 1.0 */
    uint16_t header_size; /* the least: what follows the magic and header_size itself */
    uint8_t flags, code, allocated, used, data_size, checksum;
    uint8_t checksum_len; /* 16, or 8: half an MD5, of which nobody says how it was made */
    uint8_t encoding;     /* layout A: ASDF_ENCODING_LEN bytes of a name */
    uint32_t known_flags;
} asdf_block_form;
extern const asdf_block_form cip_asdf_form_1_0; /* and D, E */
extern const asdf_block_form cip_asdf_form_a, cip_asdf_form_b, cip_asdf_form_c;

/* Bytes of a header up to its last field. */
static inline size_t cip_asdf_header_len(const asdf_block_form *form)
{
    return ASDF_MAGIC_LEN + 2 + (size_t)form->header_size;
}

typedef struct asdf_block {
    const asdf_block_form *form;
    uint64_t offset; /* of the magic */
    uint16_t header_size;
    uint32_t flags;
    uint8_t code[4];
    uint8_t encoding[ASDF_ENCODING_LEN]; /* layout A */
    uint64_t allocated, used, data_size; /* as stored; data_size = used where there is no field */
    uint8_t checksum[ASDF_CHECKSUM_LEN]; /* form->checksum_len bytes of it */
    uint64_t data_off;                   /* of the payload */
    uint64_t stored;  /* payload bytes that are there: `used`, or all up to the end of the file */
    uint64_t end;     /* where the next block may start */
    cip_status state; /* CIP_OK, or what is wrong with the header */
    bool end_sure;    /* `end` is where the header says, and lies in the file */
    const char *lie;  /* what shows the header to be damaged though its fields agree, or NULL: set
                         by who looked at what is around the block, before it is judged */
    bool shifted;     /* it does not end where the next thing starts, and another header_size would
                         explain that: the payload may start elsewhere */
} asdf_block;

/* A growing list. */
typedef struct asdf_blocks {
    const asdf_block_form *form; /* of all of them; NULL: 1.0 */
    asdf_block *at;              /* of the env's memory */
    size_t n, cap;
} asdf_blocks;
static inline const asdf_block_form *cip_asdf_blocks_form(const asdf_blocks *list)
{
    return list->form != NULL ? list->form : &cip_asdf_form_1_0;
}

/* The fields from the bytes at `offset`; fewer than the form has is TRUNCATED. Judges nothing. */
cip_status cip_asdf_block_parse(const asdf_block_form *form, cip_bytes in, uint64_t offset,
                                asdf_block *out, cip_err *err);
/* The lie of a block whose used size is larger than its data_size, at the end of which something
 * starts. */
extern const char cip_asdf_used_lies[];

/* Works out data_off, stored, end and state for a file of `size` bytes; the state is returned, the
 * reason goes to err. */
cip_status cip_asdf_block_judge(asdf_block *b, uint64_t size, cip_err *err);
/* Whether the header can be believed where it was not expected. */
bool cip_asdf_block_plausible(const asdf_block *b, uint64_t size);
static inline bool cip_asdf_is_streamed(const asdf_block *b)
{
    return (b->flags & ASDF_STREAMED) != 0;
}
/* Whether an encoding chain stands before the data. */
static inline bool cip_asdf_is_encoded(const asdf_block *b)
{
    return (b->flags & b->form->known_flags & ASDF_ENCODED) != 0;
}
/* Whether the payload is the data as they are. */
static inline bool cip_asdf_is_raw(const asdf_block *b)
{
    return b->code[0] == 0 && b->code[1] == 0 && b->code[2] == 0 && b->code[3] == 0 &&
           b->encoding[0] == 0 && !cip_asdf_is_encoded(b);
}

/* Asked whether a block header can be believed: the bytes at `at`, ASDF_HEADER_LEN of them unless
 * the file ends before. */
typedef bool asdf_believe_fn(const void *user, cip_io *io, cip_bytes in, uint64_t at);
/* Believes plausible headers of the form `user`. */
asdf_believe_fn cip_asdf_believe_form;

/* As that; but where data of 1.x are not compressed, one of the two sizes that they have may lie.
 * For headers behind a magic alone. */
asdf_believe_fn cip_asdf_believe_marked;
/* The first magic in [p, end), or NULL. */
const uint8_t *cip_asdf_find_magic(const uint8_t *p, const uint8_t *end);
/* A search for the next block, or several in a row. */
typedef struct asdf_search {
    cip_layout *layout;
    asdf_believe_fn *believe;
    const void *user;
    uint64_t left;    /* bytes that it may still read: junk may be of any size */
    uint64_t stopped; /* where it had read as many; 0: it had not */
} asdf_search;
#define ASDF_SEARCH_MAX (UINT64_C(256) << 20)

/* The first magic at or behind `from` with a header that `believe` takes; UINT64_MAX when there is
 * none, or none before it stopped. Holes of sparse files are passed over. */
cip_status cip_asdf_block_search(asdf_search *s, uint64_t from, uint64_t *at, cip_err *err);

/* --- asdf_form.c: which form a file of 0.1 has (section 12) ----------------------------------- */

/* The form of the file's blocks from the header of its first, at `at`: an exact header_size
 * decides, unless only another form makes sense; of a larger one, the form that makes sense over
 * the next few blocks. B, the document's, where none does. *sure: other bytes behind the blocks
 * would not make it another one. */
cip_status cip_asdf_form_find(cip_window *w, uint64_t at, const asdf_block_form **out, bool *sure,
                              cip_err *err);
/* Believes a header that is plausible in one of the forms; `user` is not used. */
asdf_believe_fn cip_asdf_believe_early;

/* --- asdf_walk.c: from block to block -------------------------------------------------------- */

/* What a walk met besides blocks. */
typedef struct asdf_walk {
    asdf_blocks blocks; /* its form is set before */
    uint64_t end;       /* behind the last block; where the blocks would start if there are none */
    bool index_at_end;  /* the header line of an index stands there */
    uint64_t index_at;  /* given: where a text that may be an index starts; 0: there is none */
    bool doubtful;      /* blocks from number `sure` on may have other numbers than they have here:
                           something lies before them in which a block may be lost */
    size_t sure;
    bool skipped;     /* a block may be lost, and nobody can tell which one is the last */
    uint64_t stopped; /* where the search for blocks ended for want of patience; 0: it did not */
    /* Called for what lies between two blocks, and for what lies behind the last (`next`
     * UINT64_MAX) when it is more than NULs and does not start with an index; may be NULL. */
    void (*gap)(void *user, uint64_t from, uint64_t to, uint64_t next);
    void *user;
} asdf_walk;

/* All blocks from `from` on, the place behind the tree. LIMIT over limits.max_blocks. */
cip_status cip_asdf_walk(cip_env *env, cip_window *w, uint64_t from, asdf_walk *out, cip_err *err);
/* LIMIT where there are `most`. */
cip_status cip_asdf_blocks_add(cip_env *env, asdf_blocks *list, uint64_t most, const asdf_block *b,
                               cip_err *err);
void cip_asdf_blocks_clear(cip_env *env, asdf_blocks *list);

/* --- asdf_index.c: the block index (section 2.7) --------------------------------------------- */

typedef enum asdf_index_state {
    ASDF_INDEX_NONE = 0,
    ASDF_INDEX_GOOD,
    ASDF_INDEX_BAD /* ignored; `why` says why */
} asdf_index_state;

/* The line in front of the block index; its end is not part of it. */
#define ASDF_INDEX_LINE "#ASDF BLOCK INDEX"

typedef struct asdf_index {
    asdf_index_state state;
    uint64_t at, len; /* of its text in the file, from the header line on */
    uint64_t *entry;  /* of the env's memory; NULL when it is no list of offsets */
    size_t n;
    char why[160];
} asdf_index;
/* How many of the first bytes can be of the list of offsets that an index is. */
size_t cip_asdf_index_span(cip_bytes text);

/* Looks for an index at the end of the file, not before `low`, and parses it. Only IO, NOMEM and
 * the like fail. */
cip_status cip_asdf_index_find(cip_env *env, cip_window *w, uint64_t low, asdf_index *out,
                               cip_err *err);
/* Checks it against the file as the document asks and reads the headers of all blocks it lists into
 * `list`; the state becomes GOOD or BAD (then the list is empty). A listed block whose header is
 * damaged keeps its number, as long as the others are where the index says. `low`: behind the tree;
 * `first`: where the first block is, UINT64_MAX when none was found. */
cip_status cip_asdf_index_check(cip_window *w, uint64_t low, uint64_t first, asdf_index *x,
                                asdf_blocks *list, cip_err *err);
void cip_asdf_index_clear(cip_env *env, asdf_index *x);

/* --- the open file ---------------------------------------------------------------------------- */

/* What an external file was opened for. */
typedef struct asdf_child {
    const char *uri; /* as referred to, without fragment */
    bool with_tree;
    cip_layout *layout; /* NULL: it failed */
    cip_status st;
    const cip_err *why;
    struct asdf_child *next;
} asdf_child;

/* cip_layout.own. Immutable once open, but for the list of other files. */
typedef struct asdf_file {
    cip_layout *layout;
    cip_env *env;
    asdf_header header;
    bool has_tree;
    uint64_t tree_off, tree_len; /* the text, end marker included */
    uint64_t blocks_from;        /* behind the tree */
    asdf_blocks blocks;          /* as many as layout->block; with the form of all */
    asdf_index index;
    uint64_t blocks_end;      /* behind the last block */
    bool has_gaps;            /* between blocks */
    size_t sure;              /* blocks before this one have the numbers that they have here */
    bool form_unsure;         /* of blocks of 0.1: they may be of another layout */
    bool no_last;             /* nobody can tell which block is the last */
    bool odd_padding;         /* between tree and blocks there is room for a block, not blank ... */
    bool binary_padding;      /* ... and not text */
    uint64_t needed;          /* blocks that the tree's arrays ask for; counted when first wanted */
    bool counted, from_end;   /* ...; some of them count from the end */
    bool lacks_block;         /* an array's source is a number that no block has */
    bool masks;               /* an array has another one as its mask */
    uint32_t warned;          /* ASDF_WARNED_*: said once for each file; while opening */
    struct asdf_plain *plain; /* of each block, in a file that is checked; otherwise NULL */
    struct asdf_user **user;  /* of each block that is encoded; NULL: not looked for yet */
    /* Touched while opening and by makers of lazy spaces, of which one runs at a time. */
    asdf_child *children;
    uint32_t nexternal; /* of the root file: files opened so far */
} asdf_file;

enum {
    ASDF_WARNED_ORDER = 1,
    ASDF_WARNED_VERSION = 2,
    ASDF_WARNED_TAG = 4,
    ASDF_WARNED_TYPE = 8,
    ASDF_WARNED_BLOCK = 16
};

static inline asdf_file *cip_asdf_of(const cip_layout *l)
{
    return l->own;
}

/* Makes the layout one of this format, of which nothing is known yet. */
cip_status cip_asdf_new_state(cip_layout *l, asdf_file **out, cip_err *err);
/* How much of a file is opened: the blocks always. */
enum { ASDF_OPEN_TREE = 1, ASDF_OPEN_ARRAYS = 2 };
cip_status cip_asdf_open(cip_layout *l, uint32_t parts, cip_err *err);

/* --- asdf_tree.c ------------------------------------------------------------------------------ */

/* How a tree's text is parsed of which all was said when it was read first. */
extern const cip_yaml_options cip_asdf_tree_options;

/* How a tree ends. */
typedef enum asdf_end {
    ASDF_END_MARKED = 0, /* with "..." on a line of its own */
    ASDF_END_BLANKS,     /* the same with blanks or a comment behind it */
    ASDF_END_UNMARKED,   /* at the first block's magic, or with the file */
    ASDF_END_UNSEEN      /* the bytes given end before that */
} asdf_end;

/* Where the tree in `text` ends, looked for from `from` on: *end is behind its end marker's line.
 * `whole`: the text goes to the end of the file. */
asdf_end cip_asdf_tree_end(cip_bytes text, size_t from, bool whole, size_t *end);
/* Reads header, comments and tree. */
cip_status cip_asdf_text_read(asdf_file *f, cip_window *w, uint32_t parts, cip_err *err);

/* --- asdf_arrays.c ---------------------------------------------------------------------------- */

/* Lists all arrays of the tree, each once for every path that reaches it. */
cip_status cip_asdf_list_arrays(asdf_file *f, cip_err *err);
/* Whether it lists one by the path of this node, or may (a `$ref`). */
bool cip_asdf_is_array(const cip_node *node, bool *within);

/* --- asdf_codec.c: a block's bytes as spaces -------------------------------------------------- */

/* Fills layout->block from f->blocks. */
cip_status cip_asdf_make_blocks(asdf_file *f, cip_err *err);
/* "zlib", "none", "\xffx": what a compression code is called; in the arena when it is unknown. */
cip_status cip_asdf_code_name(cip_arena *a, const uint8_t code[4], const char **out, cip_err *err);
/* CORRUPT when a block header is damaged, blocks may have other numbers or be of another layout:
 * what is written over such a file could make that permanent. */
cip_status cip_asdf_check_numbers(const asdf_file *f, cip_err *err);
/* The decoded length when it is known without decoding. */
bool cip_asdf_decoded_len(const asdf_block *b, uint64_t *len);

/* --- asdf_code_table.c: what codecs there are ------------------------------------------------- */

typedef struct asdf_codec asdf_codec;

/* The payload of a block as it is stored. */
typedef struct asdf_stored {
    cip_layout *layout;
    const asdf_block *block;
    const asdf_codec *codec; /* NULL: none */
    cip_space *bytes;
} asdf_stored;

/* The decoded space of a payload; raw_len UINT64_MAX: not told. */
typedef cip_status asdf_space_fn(const asdf_stored *s, uint64_t raw_len, cip_space **out,
                                 cip_err *err);

struct asdf_codec {
    const char *name, *alias; /* by which it is known, and asked for; alias: or NULL */
    uint8_t code[4];
    const char *codec;          /* the one of codec/ that decodes it */
    asdf_space_fn *space;       /* NULL: one stream, which is decoded in order */
    cip_frames_scan_fn *scan;   /* of cip_asdf_frames_space: where its pieces are */
    const cip_framing *framing; /* by which it is written; NULL: the codec's own */
    int blosc;                  /* written as 1: a chunk of Blosc, 2: a frame of Blosc2; or 0 */
    bool grows;                 /* rows may be added behind what is stored */
    const char *extension_class, *extension_uri; /* what announces one beyond the standard, or NULL:
                                                    it is not announced */
};

/* The last one's name is NULL. */
extern const asdf_codec cip_asdf_codecs[];
/* NULL: not known, or none. */
const asdf_codec *cip_asdf_codec_of(const uint8_t code[4]);
extern const cip_framing cip_asdf_framing_lz4, cip_asdf_framing_lz4f; /* of asdf_framing.c */

/* --- asdf_lz4.c: chunks where the framing of the payload has some ----------------------------- */

asdf_space_fn cip_asdf_lz4_space, cip_asdf_frames_space, cip_asdf_blsc_space, cip_asdf_bls2_space;
/* How many bytes a payload decodes to, by decoding it; CORRUPT for more than `max`. */
cip_status cip_asdf_count_decoded(cip_layout *l, const cip_codec *codec, cip_space *stored,
                                  uint64_t max, uint64_t *len, cip_err *err);

/* --- asdf_datatype.c, asdf_ndarray.c, asdf_inline.c, asdf_mask.c ------------------------------ */

/* The dtype of a `datatype` node (section 4.2). */
cip_status cip_asdf_datatype(asdf_file *f, const cip_node *node, bool big, const cip_dtype **out,
                             cip_err *err);
/* The `datatype` of a mapping, `dtype` in files of 0.1; or NULL. */
const cip_node *cip_asdf_datatype_of(const asdf_file *f, const cip_node *map);
/* "big" or "little". */
cip_status cip_asdf_byteorder(const cip_node *node, bool *big, cip_err *err);
/* Bytes of a record with the padding that a C compiler would put into it; for records of fewer than
 * 2^32 bytes. */
uint64_t cip_asdf_aligned_size(const cip_dtype *d);
/* Whether a tag is core/ndarray's; *version (may be NULL) is the text behind it, "" for none. */
bool cip_asdf_is_ndarray(const char *tag, const char **version);
/* Whether a tag is that of the core type `name`, of any version. */
bool cip_asdf_is_core(const char *tag, const char *name);

/* Fills an array of the layout, whose path is set, from an ndarray node, with its mask or without.
 * What is wrong with it is the array's: it is refused, not the file. Only NOMEM comes back. */
cip_status cip_asdf_ndarray(asdf_file *f, const cip_node *node, bool masked, cip_array *a,
                            cip_err *err);

/* Inline data: type and shape of nested lists, whether some elements are null. `declared` may be
 * NULL; then the type is inferred. */
typedef struct asdf_inline {
    const cip_node *data;
    const char *path; /* of the array, for messages */
    const cip_dtype *dtype;
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM];
    bool nulls;
    bool may_be_one;               /* data may be a number, of an array without axes: a mask's */
    const cip_masked_field *field; /* of records: those with nulls in them */
    size_t nfield;
    const uint8_t *missing; /* an element's bytes: those equal to it count as null; or NULL */
} asdf_inline;
cip_status cip_asdf_inline_look(asdf_file *f, const cip_node *data, const cip_dtype *declared,
                                bool big, asdf_inline *out, cip_err *err);
cip_status cip_asdf_inline_space(asdf_file *f, const asdf_inline *in, cip_space **out,
                                 cip_err *err);
/* One byte an element, 1 where the data are null, or where the flags of `also` are set (NULL: there
 * are none): *flags is its view, with the shape of the data. */
cip_status cip_asdf_inline_nulls(asdf_file *f, const asdf_inline *in, const cip_array *also,
                                 const cip_nd *flags, cip_space **out, cip_err *err);
/* As long as the elements, laid out as they are: 1 where an item of a record's field is null. */
cip_status cip_asdf_inline_in_fields(asdf_file *f, const asdf_inline *in, cip_space **out,
                                     cip_err *err);
/* Whether a list is one record of `d`: as many items as fields, each of a fitting depth. */
bool cip_asdf_is_record(const cip_dtype *d, const cip_node *list, int depth);

/* --- asdf_element.c: one inline value --------------------------------------------------------- */

/* One value as an element of `d`; a null is zeros, in a float field of a record NaN. RANGE or TYPE
 * when it is none. */
cip_status cip_asdf_element(const cip_dtype *d, const cip_node *value, uint8_t *dst, cip_err *err);
/* Whether the type has a NaN, as which a null in a field reads. */
static inline bool cip_asdf_has_nan(const cip_dtype *d)
{
    return d->kind >= CIP_F16 && d->kind <= CIP_C128;
}
/* The first byte of each item of a record's fields: 1 where it is null; the others are left as they
 * are. */
void cip_asdf_nulls_in_fields(const cip_dtype *d, const cip_node *list, uint8_t *dst);
/* Code points of the text that a scalar is as an item of a list of texts. */
uint64_t cip_asdf_text_chars(const cip_node *n);

/* --- asdf_mask.c ------------------------------------------------------------------------------ */

/* The mask of an array whose own description is done; `mask` is its node or NULL, `in` its inline
 * data or NULL. A mask that cannot be had is a failure; one of a wrong shape is refused alone. */
cip_status cip_asdf_mask(asdf_file *f, const cip_node *mask, const asdf_inline *in, cip_array *a,
                         cip_err *err);

/* --- asdf_source.c, asdf_reference.c ---------------------------------------------------------- */

/* The `source` of a node that is an ndarray, or NULL. */
const cip_node *cip_asdf_source_of(const cip_node *n);
/* The number of the block that a source means, where numbers below 0 count from the end of n
 * blocks; others may be as large as they like. UINT64_MAX: none. */
uint64_t cip_asdf_block_of(const cip_node *source, size_t n);
/* CORRUPT when block i may have another number. */
cip_status cip_asdf_check_number(const asdf_file *f, size_t i, cip_err *err);
/* Fills space and storage of an array from its `source`. */
cip_status cip_asdf_source(asdf_file *f, const cip_node *source, cip_array *a, cip_err *err);
/* Whether a URI (its fragment does not count) names the file itself: nothing, or its own name. */
bool cip_asdf_is_own_name(const asdf_file *f, const char *uri);
/* Another file by a URI without fragment, opened once. NULL: it is this one. */
cip_status cip_asdf_external(asdf_file *f, const char *uri, bool with_tree, cip_layout **out,
                             cip_err *err);
/* The text of a mapping's `$ref`, or NULL. */
const char *cip_asdf_ref_of(const cip_node *node);
/* The node of a tree of this file that a reference names (one step; the node may be a reference
 * again), or NULL. *here false: it names another file. */
cip_status cip_asdf_ref_here(const asdf_file *f, const cip_node *root, const char *ref, bool *here,
                             const cip_node **out, cip_err *err);
/* Follows `$ref`s to a node that is none: in this file or another; *owner is the file it is in. */
cip_status cip_asdf_resolve(asdf_file *f, const char *ref, asdf_file **owner, const cip_node **out,
                            cip_err *err);

/* --- asdf_types.c ----------------------------------------------------------------------------- */

/* core/complex: "1+2j", "(nan-0j)", "3.5", "2I". False when it is none. */
bool cip_asdf_complex_parse(const char *text, size_t len, double *re, double *im);
/* core/integer: whether `string`, where there is one, is the number that `words` and `sign` say.
 * `words`: nword 32-bit words, least significant first. */
cip_status cip_asdf_integer_text(cip_mem *mem, const uint32_t *words, size_t nword, bool negative,
                                 cip_buf *out, cip_err *err);
/* --- asdf_integer.c: core/integer ------------------------------------------------------------- */

/* The number that the mapping's words and sign say, in decimal. */
cip_status cip_asdf_integer_read(const asdf_file *f, const cip_node *n, const cip_array *words,
                                 cip_buf *out, cip_err *err);
/* Whether the mapping's `string`, a scalar, is that number. */
bool cip_asdf_integer_is(const cip_node *string, const cip_buf *text);
/* cip_format.plain: integers of up to 16,384 bits that say nothing else and do not contradict
 * themselves. */
cip_status cip_asdf_plain(const cip_layout *l, cip_arena *a, const cip_node **tree, bool *within,
                          cip_err *err);
/* "A" to "E": which layout of 0.1 a file has; D where there is no tree to tell it from E. */
const char *cip_asdf_layout_name(const asdf_file *f);
/* The facts for `info`. */
cip_status cip_asdf_facts(asdf_file *f, cip_err *err);

/* --- asdf_pieces.c: a file put together anew -------------------------------------------------- */

/* A block as it is to be stored. */
enum { ASDF_ALIGN = 64 /* of payloads, where no other is asked for */ };

typedef struct asdf_piece {
    asdf_block head;  /* what its header says, but for header_size; form NULL: 1.0. ASDF_STREAMED:
                         the  last one; its sizes and sum are not stored. `allocated`: at least
                         `used`; the  rest is zeros. data_off: of the payload, in `io` */
    cip_bytes extra;  /* header bytes behind the known fields */
    cip_io *io;       /* the payload: head.used bytes of it; borrowed */
    cip_segment more; /* the last of these bytes lie here instead, in another io; zeroed: none */
} asdf_piece;

typedef struct asdf_pieces {
    cip_bytes head; /* the lines in front of the tree */
    cip_bytes tree; /* with its directives and end marker; empty: no tree */
    int64_t slack;  /* room behind the tree when there are blocks: 0 the default, -1 none */
    uint64_t align; /* of payloads: 0 the default (64), 1 none */
    bool early;     /* of 0.1: the length of a block's header tells its layout */
    bool crlf;      /* line ends of the index */
    size_t n;
    const asdf_piece *block;
} asdf_pieces;

/* ARG for an alignment that a header cannot give. */
cip_status cip_asdf_align_check(uint64_t align, cip_err *err);
/* Room that is kept behind a tree of n bytes: `slack` as above. */
uint64_t cip_asdf_slack(int64_t slack, uint64_t n);
/* The same of files beside, whose trees never change: what was asked for is room in the file
 * itself. */
static inline int64_t cip_asdf_slack_beside(int64_t slack)
{
    return slack < 0 ? slack : 0;
}
/* Bytes that a block of f->blocks really has room for: `allocated`, where neither the next block
 * begins before that nor the file ends. */
uint64_t cip_asdf_room(const asdf_file *f, const asdf_block *b);
/* The block of an open file as it is stored, header bytes and free space included. */
cip_status cip_asdf_piece_of(const asdf_file *f, size_t i, cip_arena *a, asdf_piece *out,
                             cip_err *err);
/* The lines in front of the tree, and the tree's text as it stands, read into the arena. */
cip_status cip_asdf_text_of(const asdf_file *f, cip_arena *a, cip_bytes *head, cip_bytes *tree,
                            cip_err *err);
/* Adds the whole file: head, tree and room, blocks, index. The first payload is aligned by room
 * behind the tree (without room or tree: by its header_size), the others by their header_size. */
cip_status cip_asdf_put_pieces(cip_env *env, const asdf_pieces *p, cip_out *out, cip_err *err);
/* Header, payload and free space at the end of an output; *as: as they are there. align 1: nothing
 * is added to align the payload. LIMIT for an alignment that a header cannot give. */
cip_status cip_asdf_put_block(const asdf_piece *b, uint64_t align, cip_out *out, asdf_block *as,
                              cip_err *err);
/* The header alone, of such a size that the payload behind it is aligned; sets offset and
 * header_size. */
cip_status cip_asdf_put_header(asdf_block *b, cip_bytes extra, uint64_t align, cip_out *out,
                               cip_err *err);
/* The index of these blocks; none of none. */
cip_status cip_asdf_put_index(const asdf_blocks *list, bool crlf, cip_mem *mem, cip_out *out,
                              cip_err *err);
/* What is missing at pos until the next multiple of `align`. */
static inline uint64_t cip_asdf_pad(uint64_t pos, uint64_t align)
{
    const uint64_t over = pos % align;
    return over == 0 ? 0 : align - over;
}
/* The bytes of a header in the block's form, `header_size` as given; how many they are. */
size_t cip_asdf_header_bytes(const asdf_block *b, uint16_t header_size,
                             uint8_t out[ASDF_HEADER_LEN]);
static inline const asdf_block_form *cip_asdf_form_of(const asdf_block *b)
{
    return b->form != NULL ? b->form : &cip_asdf_form_1_0;
}

/* --- asdf_sources.c: sources within the text of a tree ---------------------------------------- */

/* Asked for the `source` of each ndarray; what it adds to *text takes its place, nothing: it stays.
 */
typedef cip_status asdf_source_fn(void *user, const cip_node *source, cip_buf *text, cip_err *err);
/* The text (a whole document) with other sources, everything else as it stands, added to *out. */
cip_status cip_asdf_splice_sources(cip_env *env, cip_bytes text, asdf_source_fn *fn, void *user,
                                   cip_buf *out, cip_err *err);
/* The same with block i of n called to[i] (-1: it is not there any more, its sources stay; `to`
 * NULL: i); from the end too. */
cip_status cip_asdf_renumber(cip_env *env, cip_bytes text, const int64_t *to, size_t n,
                             cip_buf *out, cip_err *err);

/* --- asdf_sums.c: checksums of blocks --------------------------------------------------------- */

/* What was found for one block. */
typedef struct asdf_summed {
    bool sum_right;                 /* of the stored bytes; or there is none */
    bool sum_legacy;                /* of the decoded ones: what writers did before 2026 */
    uint8_t md5[ASDF_CHECKSUM_LEN]; /* of the stored bytes, where there is one to compare with */
    int half; /* of 64 bits: 1 the first half of the stored bytes' MD5, 2 the second */
    cip_status stored, decoded;
    cip_err err; /* of either */
} asdf_summed;

/* A block of a file that is checked, as it is. Touched by makers of lazy spaces. */
typedef struct asdf_plain {
    const asdf_file *f;
    size_t i;
    cip_space *stored, *data;
    bool compared;
    cip_status st; /* of comparing */
    cip_err why;
} asdf_plain;

/* How a block is summed. */
typedef struct asdf_summing {
    bool deep;        /* it is decoded too */
    cip_report *told; /* of the bytes read, as progress; it may stop the reading. NULL: nobody */
} asdf_summing;

/* Computes the checksum of block i by whatever convention it may follow. *out starts zeroed, with
 * CIP_ERR_INIT. What is wrong with the block is in *out, not returned. */
void cip_asdf_sum_block(const asdf_file *f, size_t i, const asdf_summing *how, asdf_summed *out);
/* The MD5 of all that a space gives (`out` NULL: it is just read); `told` as above. */
cip_status cip_asdf_md5(const cip_read_how *how, cip_space *s, cip_report *told, uint8_t *out,
                        cip_err *err);
/* Whether the block is not what its checksum was made of, as far as that can be told. */
bool cip_asdf_sum_is_wrong(const asdf_file *f, const asdf_summed *s);
/* "MD5 mismatch in block 0 (roman/data): stored ..., computed ...", for a block of which that is
 * so. */
typedef struct asdf_mismatch {
    char text[224];
} asdf_mismatch;
asdf_mismatch cip_asdf_mismatch(const asdf_file *f, size_t i, const asdf_summed *s);
/* Whether block i has 64 bits of a checksum. */
bool cip_asdf_has_half_sum(const asdf_file *f, size_t i);
/* Makes the spaces of all blocks compare a block once, whole, when they are first read: CHECKSUM
 * for all that reads it where it is wrong. */
cip_status cip_asdf_guard_blocks(asdf_file *f, cip_err *err);

/* --- asdf_verify.c ---------------------------------------------------------------------------- */

cip_status cip_asdf_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

#endif
