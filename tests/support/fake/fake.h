/* SPDX-License-Identifier: BSD-3-Clause
 * A format that exists only in tests: it lays given bytes out in a file in every way that spaces
 * know, and keeps them as they are, so that what is read can be compared.
 *
 *     fake f;
 *     fake_open(&f, seed, NULL, NULL);
 *     uint8_t *bytes = fake_random(&f, n);
 *     cip_space *s = fake_space(&f, FAKE_CHUNKED, bytes, n, 2);
 *     ...                        reading s gives bytes[0..n); fake_close frees all
 *
 * Random choices come from the seed. Special chunks and holes change `bytes` to what they stand
 * for. */
#ifndef CIP_TESTS_FAKE_H
#define CIP_TESTS_FAKE_H

#include "format/format.h"
#include "space/read/read.h"
#include "space/read/tuning.h"

typedef enum fake_kind {
    FAKE_FILE,
    FAKE_MEM,
    FAKE_SUB,
    FAKE_CHUNKED,  /* equal chunks */
    FAKE_UNEQUAL,  /* chunks of any size */
    FAKE_SEQ,      /* zlib, or a codec that only streams */
    FAKE_LAZY,     /* of any other kind */
    FAKE_IN_ORDER, /* chunks whose table is wrong, and a way round it */
    FAKE_NKIND,
    FAKE_GRID = FAKE_NKIND /* by fake_grid */
} fake_kind;

typedef struct fake {
    cip_env env;
    cip_read_how how;
    cip_layout *layout;
    cip_io *io;
    cip_tuning tuning;
    uint8_t *file; /* of FAKE_FILE_MAX bytes, used from the front */
    size_t file_len;
    uint64_t rng;
    bool missing;  /* chunks may be missing: then these bytes are marked in gone[] */
    uint8_t *gone; /* of the bytes given to fake_space or fake_grid; NULL: no chunk is missing */
    void **kept;   /* freed by fake_close */
    size_t nkept;
} fake;

enum { FAKE_FILE_MAX = 8 << 20 };

/* Aborts on failure, like all below: it is the test that is wrong then. */
void fake_open(fake *f, uint64_t seed, cip_pool *pool, const cip_limits *limits);
/* With memory from `from` (NULL: the C library's). */
void fake_open_from(fake *f, uint64_t seed, cip_pool *pool, const cip_limits *limits,
                    const cip_allocator *from);
void fake_close(fake *f);

uint64_t fake_next(fake *f);
/* Uniform enough in [lo, hi]. */
uint64_t fake_pick(fake *f, uint64_t lo, uint64_t hi);
bool fake_chance(fake *f, unsigned in); /* 1 in `in` */
/* Zeroed memory that lives until fake_close. */
void *fake_keep(fake *f, size_t n);
uint8_t *fake_random(fake *f, size_t n);
/* All sizes that decide how a read goes become a few bytes, so that little data go every way. */
void fake_tiny_tuning(fake *f);
/* Appends to the file; where it begins. */
uint64_t fake_append(fake *f, const void *p, size_t n);

/* A space of n bytes. `depth`: how many spaces deep its stored bytes may lie. `fixed`: they must
 * stay as they are. */
cip_space *fake_space(fake *f, fake_kind kind, uint8_t *bytes, size_t n, unsigned depth,
                      bool fixed);
cip_space *fake_any_space(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed);
/* A gridded array of random chunks; bytes are its C order. */
cip_space *fake_grid(fake *f, const int64_t *shape, int32_t ndim, size_t itemsize, uint8_t *bytes,
                     unsigned depth);

/* Chunks of an array, and where its elements are in them. */
typedef struct fake_geometry {
    cip_grid g; /* points to what follows */
    int64_t shape[CIP_MAX_NDIM], chunk[CIP_MAX_NDIM], stored[CIP_MAX_NDIM], block[CIP_MAX_NDIM];
    int64_t nchunk[CIP_MAX_NDIM];
    size_t total; /* chunks */
} fake_geometry;
void fake_plan_grid(fake *f, const int64_t *shape, int32_t ndim, size_t itemsize, fake_geometry *p);
/* Elements of a stored chunk; element j of one, in the array's C order (SIZE_MAX: padding). */
size_t fake_chunk_elems(const fake_geometry *p, size_t chunk);
size_t fake_element_of(const fake_geometry *p, size_t chunk, size_t j);

/* An array as a store stored it. Zeroed but for what fake_pick_form sets. */
typedef struct fake_stored {
    fake *f; /* whose memory and file take what is stored; also of another fake's form */
    cip_array_form form;
    const fake_geometry *grid; /* or NULL */
    uint64_t nbytes;           /* of the array */
    size_t total;              /* chunks; of linear ones of any length: as many as came */
    cip_chunk *chunk;          /* all; with room for one for each byte */
    bool *have;
    uint64_t next, taken; /* of chunks in order: the next one's number; raw bytes */
    unsigned again;       /* how often the data are wanted once more */
    size_t nstored, nspecial;
} fake_stored;

/* The file becomes a far one. What is made from now on may not be seen in it. */
void fake_be_far(fake *f);

/* A random way of storing an array: grids with or without inner blocks, wider chunks, either order,
 * linear chunks; steps, specials, sums. */
void fake_pick_form(fake *f, const cip_dtype *dtype, int32_t ndim, const int64_t *shape,
                    fake_stored *out);
/* The same form, for another store. */
void fake_same_form(fake *f, const fake_stored *like, fake_stored *out);
/* Its state is a fake_stored, of new arrays (store, end) and of one that is changed in chunks,
 * which becomes what the update makes of it. What comes is looked at: its order, its lengths, its
 * sums, whether the form allows it (CORRUPT). */
extern const cip_array_store fake_store;
/* What was stored: all of the array in C order. */
cip_space *fake_stored_space(const fake_stored *s);

/* --- codecs ---------------------------------------------------------------------------------- */

/* Blocks of which all but the first are differences to it, so that each needs it: has plan and
 * decode_spans. 8 bytes of header: block size, raw length. */
extern const cip_codec fake_delta;
/* Only streams, a few bytes at a time; 0x5A exclusive-or, and an end mark. */
extern const cip_codec fake_trickle;
/* The last byte first: a step of pipelines. */
extern const cip_codec fake_turned;
/* Chunks cut in blocks as env->block says: elements come in the order of the blocks. */
extern const cip_codec fake_blocks;
/* Exclusive-or with the byte that its arguments point to: encodes too. */
extern const cip_codec fake_key;
/* How often it encoded or decoded. */
extern _Atomic size_t fake_key_used;
/* Always CORRUPT. */
extern const cip_codec fake_never;

/* Encodes to memory of fake_keep. args as the codec wants them (NULL). */
typedef struct fake_bytes {
    uint8_t *ptr;
    size_t len;
} fake_bytes;
fake_bytes fake_encode(fake *f, const cip_codec *c, const cip_codec_env *env, const uint8_t *raw,
                       size_t n);
/* --- for fake_.c ----------------------------------------------------------------------------- */

#define FAKE_MUST(x)                                                                               \
    do {                                                                                           \
        cip_err fake_err_ = CIP_ERR_INIT;                                                          \
        cip_err *const err = &fake_err_;                                                           \
        (void)err;                                                                                 \
        fake_must((x), err, __FILE__, __LINE__);                                                   \
    } while (0)
void fake_must(cip_status st, const cip_err *err, const char *file, int line);

/* Steps for a chunk of these bytes: chosen, and applied. */
typedef struct fake_pipe {
    cip_step step[CIP_MAX_STEPS];
    size_t n;
} fake_pipe;
fake_pipe fake_pick_pipe(fake *f, bool blocks);
fake_bytes fake_run_pipe(fake *f, const fake_pipe *p, const cip_codec_env *env, const uint8_t *raw,
                         size_t n);
/* Chunk c stores raw[0..n), or is special: then raw is changed to what it means. */
void fake_make_chunk(fake *f, cip_chunk *c, const fake_pipe *p, const cip_codec_env *env,
                     uint8_t *raw, size_t n, bool fixed, fake_bytes *stored);
/* The stored bytes of n chunks one behind the other, in a space of their own; sets at. */
void fake_place_chunks(fake *f, cip_chunk *c, const fake_bytes *stored, size_t n, unsigned depth);
/* A table over the chunks: of the layout's own, or a function that finds them. */
cip_table fake_table(fake *f, const cip_chunk *c, size_t n);
cip_space *fake_chunked(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed, bool equal);
cip_space *fake_in_order(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed);

#endif
