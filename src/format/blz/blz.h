/* SPDX-License-Identifier: BSD-3-Clause
 * BLZ and bcolz: an array is a folder, its chunks lie in files of data/, its dtype and shape in
 * JSON in meta/. Sections are those of README.md. */
#ifndef CIP_FORMAT_BLZ_H
#define CIP_FORMAT_BLZ_H

#include "codec/blosc/blosc.h"
#include "format/bloscpack/bloscpack.h"
#include "format/format.h"

enum {
    CIP_BLZ_HEADER_1 = 16, /* of a file with one chunk, version 1 */
    CIP_BLZ_JSON_MAX = 64 << 20,
    CIP_BLZ_MAX_DEPTH = 32,        /* of records in records */
    CIP_BLZ_MAX_COLUMNS = 1 << 14, /* of an array or a table */
    CIP_BLZ_MAX_SHARDS = 1 << 12,
    CIP_BLZ_MAX_PARTS = 1 << 16 /* runs of bytes that a record is put together of */
};

/* --- blz_header.c: bytes to fields ------------------------------------------------------------ */

/* The header of data/__N.blp (version 1): TRUNCATED, CORRUPT; UNSUPPORTED for another version. */
cip_status cip_blz_header_1(cip_bytes in, cip_err *err);
/* That of one chunk. */
extern const uint8_t cip_blz_header_of_one[CIP_BLZ_HEADER_1];

/* --- blz_meta.c: the JSON files --------------------------------------------------------------- */

/* What meta/ says of an array. */
typedef struct cip_blz_meta {
    const cip_node *storage, *sizes; /* mappings */
    const cip_dtype *dtype;
    bool objects; /* Python objects: each is a pickle in a chunk of its own; dtype is bytes then */
    int32_t ndim; /* at least 1 */
    int64_t shape[CIP_MAX_NDIM];
    uint64_t row;     /* bytes of a row: of all but the first axis */
    int64_t chunklen; /* rows of a chunk */
} cip_blz_meta;

/* The JSON value that the file at `path` beneath the layout's folder holds, in the arena. NOT_FOUND
 * as opening it does. Repeated keys are warned about. */
cip_status cip_blz_json(cip_layout *l, const char *path, const cip_node **out, cip_err *err);
/* meta/storage and meta/sizes of the array in the folder `dir` ("" or with a slash at the end). */
cip_status cip_blz_meta_read(cip_layout *l, const char *dir, cip_blz_meta *out, cip_err *err);
/* The dtype that a node says: numpy's text, or its list of fields as JSON. */
cip_status cip_blz_dtype(cip_layout *l, const cip_node *node, cip_blz_meta *out, cip_err *err);

/* --- blz_json.c: the same as text, appended --------------------------------------------------- */

/* Whose folder it is to be; the default is the document's. */
typedef enum cip_blz_kind { CIP_BLZ_DOCUMENT = 0, CIP_BLZ_DIR, CIP_BLZ_BCOLZ } cip_blz_kind;

/* What meta/storage says. */
typedef struct cip_blz_storage {
    cip_env *env;
    cip_blz_kind kind;
    const cip_dtype *dtype; /* of an element */
    const cip_node *dflt;   /* of rows that are added without values; NULL: zeros */
    const cip_blosc_spec *blosc;
    int64_t chunklen, expectedlen;
    uint64_t superchunk; /* chunks of a superchunk; 0: none */
} cip_blz_storage;

cip_status cip_blz_storage_json(cip_buf *b, const cip_blz_storage *s, cip_err *err);
/* meta/sizes: at least one axis. */
cip_status cip_blz_sizes_json(cip_buf *b, int32_t ndim, const int64_t *shape, uint64_t nbytes,
                              uint64_t cbytes, cip_err *err);
/* __rootdirs__: columns in folders of their names. */
cip_status cip_blz_columns_json(cip_buf *b, cip_blz_kind kind, const char *const *name, size_t n,
                                cip_err *err);
/* A dtype that is no record; numpy's descr of one that is; the zero of either; a list of texts. */
cip_status cip_blz_dtype_json(cip_buf *b, const cip_dtype *d, cip_err *err);
cip_status cip_blz_descr_json(cip_buf *b, const cip_dtype *d, cip_err *err);
cip_status cip_blz_zero_json(cip_buf *b, const cip_dtype *d, cip_blz_kind kind, cip_err *err);
cip_status cip_blz_list_json(cip_buf *b, const char *const *text, size_t n, cip_err *err);
/* Attributes: what cip_json_holds, NaN too. */
cip_status cip_blz_node_json(cip_env *env, const cip_node *n, cip_buf *b, cip_err *err);

/* --- blz_chunks.c: chunks as a table ---------------------------------------------------------- */

typedef struct cip_blz cip_blz;

/* A superchunk's file. */
typedef struct cip_blz_super {
    uint64_t number;   /* in its name */
    uint64_t member;   /* among all data files */
    cip_bp_file *file; /* NULL until something of it is read; guarded by the column's lock */
    /* Of those that are known (keyless columns), guarded by the same lock: */
    uint64_t chunk, nchunk; /* its first chunk among all of the column, and how many it has */
    uint64_t raw, nbytes;   /* its first decoded byte, and how many */
} cip_blz_super;

/* A field among those that a column lies in, the innermost first. */
typedef struct cip_blz_step {
    const char *name;
    const struct cip_blz_step *up;
} cip_blz_step;

/* The chunks of one array or column. Thread-safe once opened. */
typedef struct cip_blz_column {
    cip_blz *blz;
    const char *dir; /* "" or "column/"; of the document's: below data/ */
    cip_array *array;
    cip_blz_meta meta;
    uint64_t nchunk;  /* that the shape needs, if all are full */
    uint64_t each;    /* bytes of a full one, decoded */
    cip_space *data;  /* all chunks, the last one with room for a full one */
    cip_space *space; /* just the rows that the shape says */
    uint64_t member;  /* one chunk a file: number of the first file among all */
    /* The document's: */
    bool document;
    uint64_t per;            /* chunks of every superchunk but the last; 0: any number */
    cip_blz_super *super;    /* those that are there, by number */
    size_t nsuper, known;    /* known: how many of the first ones say where they begin */
    const char *const *dirs; /* of each shard the folder of its superchunks, or NULL */
    const cip_blz_step *step;
    cip_array *rows; /* all of it: the array itself, or of records what updates of them change */
    cip_record_column in_records;
    /* One chunk a file, guarded by the lock: the numbers of the files, once a chunk is missing. */
    bool listed;
    cip_buf numbers;
    pthread_mutex_t lock; /* a leaf but for the layout's */
} cip_blz_column;

/* What rows lack that are in no chunk. */
extern const char cip_blz_ended[];
/* Of tables whose chunks lie in many files: nothing is read ahead, they are on a disk. */
void cip_blz_place(void *self, uint64_t i, cip_extent *at);
/* A space of the chunks that an update sees: t's, of `each` decoded bytes, the last one with what
 * is left of all `nbytes`. */
cip_status cip_blz_new_space(cip_layout *l, const cip_table *t, uint64_t each, uint64_t nbytes,
                             cip_space **out, cip_err *err);
/* Makes the column's spaces. */
cip_status cip_blz_column_open(cip_blz_column *c, cip_err *err);
/* Warns where the last chunk does not end with the last row, or there is another one. */
cip_status cip_blz_compare_rows(const cip_blz_column *c, cip_err *err);
/* The head of chunk i, its file checked as far as it says what is in it; where its stored bytes
 * lie. NOT_FOUND; TRUNCATED, CORRUPT. */
cip_status cip_blz_chunk_head(const cip_blz_column *c, uint64_t i, cip_blosc_head *head,
                              cip_extent *at, cip_err *err);

/* --- blz_numbers.c: which chunk files there are ----------------------------------------------- */

/* The numbers (uint64_t) of the column's chunk files, rising; none where it has no folder. `others`
 * (may be NULL) is told of other names. *out is to be cleared, on failure too. */
cip_status cip_blz_numbers_list(const cip_blz_column *c, cip_report *others, cip_buf *out,
                                cip_err *err);
size_t cip_blz_numbers_count(const cip_buf *numbers);
uint64_t cip_blz_numbers_at(const cip_buf *numbers, size_t i);
/* The first that is this number or a higher one. */
size_t cip_blz_numbers_from(const cip_buf *numbers, uint64_t number);
bool cip_blz_numbers_have(const cip_buf *numbers, uint64_t number);
/* How many chunks from i on, which has no file, have none. */
uint64_t cip_blz_missing_run(cip_blz_column *c, uint64_t i);

/* Chunk i of those in files of their own, of the rows that it has; MISSING, in runs, without files.
 */
cip_status cip_blz_file_chunk(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err);

/* --- blz_super.c: superchunks ----------------------------------------------------------------- */

/* The j-th superchunk that is there, opened. */
cip_status cip_blz_super_open(cip_blz_column *c, size_t j, cip_bp_file **out, cip_err *err);
/* The j-th of those that are there by its number, or SIZE_MAX. */
size_t cip_blz_super_find(const cip_blz_column *c, uint64_t number);
/* Chunk i of a column whose superchunks hold `per` chunks; missing ones by runs. */
cip_status cip_blz_super_chunk(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err);
/* Its decoded bytes, for which its head is not read. */
cip_status cip_blz_super_chunk_len(cip_blz_column *c, uint64_t i, uint64_t *len, cip_err *err);
/* The table of a column whose superchunks hold any number of chunks, of any number of rows. */
cip_table cip_blz_super_table(cip_blz_column *c);

/* --- blz_shards.c: folders and their names ---------------------------------------------------- */

/* A name in data/, or below, of one shard. */
typedef struct cip_blz_entry {
    const char *name;
    uint64_t number; /* of a superchunk's file; 0: another */
    uint32_t shard;
    bool is_folder;
    size_t next; /* of folders that stand for one field, or SIZE_MAX: in blz_document.c */
} cip_blz_entry;

/* The number in "__12" and the suffix; false for other names. */
bool cip_blz_number_of(const char *name, const char *suffix, uint64_t *out);
/* Whether the folder is one of the document's. */
cip_status cip_blz_is_document(cip_io *io, bool *yes, cip_err *err);
/* Finds the shards: b->shard. */
cip_status cip_blz_open_shards(cip_blz *b, cip_err *err);
/* Appends the names in a shard's folder (cip_blz_entry); none where it has no such folder. */
cip_status cip_blz_list_folder(cip_blz *b, uint32_t shard, const char *dir, cip_buf *out,
                               cip_err *err);

/* --- blz_columns.c: columns of records -------------------------------------------------------- */

/* What a field is of each record: `len` bytes at each place. */
typedef struct cip_blz_piece {
    uint64_t off;
    uint64_t step[CIP_MAX_NDIM]; /* of the axes of the records that it lies in */
    int64_t count[CIP_MAX_NDIM];
    int32_t ndim;
    uint64_t len;
    const cip_blz_step *field;
} cip_blz_piece;

/* Whether a folder's name stands for the field: percent-encoded bytes are decoded once. */
bool cip_blz_stands_for(const char *name, const char *field);
/* The field that it stands for: the name itself, or in the arena. */
cip_status cip_blz_field_of(cip_arena *a, const char *name, cip_bytes *out, cip_err *err);
/* Appends the folder's name for a field. UNSUPPORTED for one that is empty, too long or no UTF-8.
 */
cip_status cip_blz_folder_name(const char *field, cip_buf *b, cip_err *err);
/* Fields that are no records, at any depth; 1 of what is none. */
size_t cip_blz_count_columns(const cip_dtype *d);
/* The piece that was a record becomes that of its field. UNSUPPORTED over CIP_MAX_NDIM axes. */
cip_status cip_blz_enter_field(const cip_field *f, cip_blz_piece *p, cip_err *err);
/* The parts of a record that make the row of its column, and the row's length. *nparts counts those
 * of all columns: LIMIT over CIP_BLZ_MAX_PARTS. */
cip_status cip_blz_make_parts(cip_arena *a, const cip_blz_piece *p, uint64_t *nparts,
                              cip_record_column *out, cip_err *err);

/* --- blz_document.c: the folder as BLZ's document has it -------------------------------------- */

cip_status cip_blz_open_document(cip_blz *b, cip_err *err);
/* Whether the document says what the file of this name in meta/ is. */
bool cip_blz_is_meta(const char *name);
/* blz_verify_document.c: each superchunk in turn, and what is in the folders besides. */
cip_status cip_blz_verify_document(cip_layout *l, bool deep, cip_report *report, cip_err *err);

/* --- blz.c: the folder ------------------------------------------------------------------------ */

/* Whether a file of this name can be opened; NOMEM alone is not an answer. */
cip_status cip_blz_has(cip_io *io, const char *path, bool *yes, cip_err *err);

/* Files with consecutive numbers in one folder. */
typedef struct cip_blz_files {
    uint64_t member; /* number of the first among all */
    uint64_t number; /* in its name */
    cip_io *of;      /* NULL: the layout's folder */
    const char *dir; /* beneath it: "data/" */
    bool super;      /* "__N__.bin", not "__N.blp" */
} cip_blz_files;

/* A folder whose data/ may hold superchunks. */
typedef struct cip_blz_shard {
    cip_io *of;       /* NULL: the layout's folder */
    const char *dir;  /* beneath it: "" or "name/" */
    const char *name; /* in messages */
    bool listed;      /* in meta/shards */
} cip_blz_shard;

struct cip_blz {
    cip_layout *layout;
    bool table, document;
    char *key[2];         /* in the tree: attributes, those of columns */
    cip_blz_shard *shard; /* of the document's; the first is the folder itself */
    size_t nshard, shard_cap;
    cip_io *numbered; /* all data files as one */
    cip_space *files; /* the same as a space */
    cip_blz_files *range;
    size_t nrange, range_cap;
    uint64_t nmember;
    cip_blz_column **column;
    size_t ncolumn;
};

static inline uint32_t cip_blz_flags(const cip_layout *l)
{
    return (l->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0;
}

/* The files among which the member is. */
const cip_blz_files *cip_blz_files_of(const cip_blz *b, uint64_t member);
/* n files (their `member` is not used); *member is the number of the first among all. LIMIT over
 * 2^31. */
cip_status cip_blz_add_files(cip_blz *b, const cip_blz_files *files, uint64_t n, uint64_t *member,
                             cip_err *err);

/* One more array in the folder `dir`, listed at `path`, both borrowed; and what its folder says of
 * it: a failure is about this array alone. */
cip_status cip_blz_new_column(cip_blz *b, const char *dir, const char *path, cip_blz_column **out,
                              cip_err *err);
cip_status cip_blz_fill_column(cip_blz_column *c, cip_err *err);
/* How chunks are stored, as meta/storage says: BLZ calls it bparams, and does not tell the codec.
 */
const cip_node *cip_blz_params(const cip_blz_meta *m);
/* How an array is stored, in words. */
cip_status cip_blz_describe(cip_blz_column *c, const char *kind, cip_err *err);
/* Warns of a size that the shape contradicts: the shape counts. */
void cip_blz_compare_nbytes(const cip_blz_column *c);
/* Facts of meta/storage. */
cip_status cip_blz_facts(cip_layout *l, const cip_blz_meta *m, cip_err *err);
/* Attributes at `path`, of an array or (NULL) of the folder: NULL where there are none, or none
 * that are JSON (a warning). */
cip_status cip_blz_attributes(cip_layout *l, const char *path, const cip_array *of,
                              const cip_node **out, cip_err *err);

/* blz_table.c: the columns that __rootdirs__ lists, and all of them as records. */
cip_status cip_blz_open_table(cip_blz *b, cip_err *err);
typedef struct cip_blz_part {
    const char *name;
    const cip_array *array;
} cip_blz_part;
/* The records that these columns make, in `records`, as a part of the layout. */
cip_status cip_blz_make_records(cip_layout *l, const cip_blz_part *column, size_t n,
                                cip_array *records, cip_err *err);

cip_status cip_blz_list_blocks(cip_layout *l, cip_err *err);

/* --- blz_how.c: how an array is to be stored -------------------------------------------------- */

extern const cip_format_option cip_blz_options[];
extern const cip_format_kind cip_blz_kinds[];

/* What is asked for, of the array `a` or (NULL) of all. ARG, UNSUPPORTED. */
cip_status cip_blz_choose_kind(const cip_spec *spec, cip_blz_kind *kind, cip_err *err);
/* As the chunks of the column are. */
void cip_blz_blosc_of(const cip_blz_column *c, cip_blosc_spec *out);
/* The same, where nothing else is asked for. *takes as below. */
cip_status cip_blz_choose_like(const cip_spec *spec, const cip_blz_column *c, cip_blosc_spec *out,
                               bool *takes, cip_err *err);
/* UNSUPPORTED where other rows of a chunk are asked for, of the array `a` (or NULL) or of all. */
cip_status cip_blz_keep_chunklen(const cip_spec *spec, const cip_spec_array *a, int64_t chunklen,
                                 cip_err *err);
/* The same of what a folder that is there has decided: tables, superchunks. */
cip_status cip_blz_keep_form(const cip_spec *spec, const cip_spec_array *a, cip_err *err);
/* What the kind has. */
void cip_blz_usual_blosc(cip_blz_kind kind, cip_blosc_spec *out);
/* `d`: of the elements in the chunks; *out: as it is without a wish. *takes: chunks may stay as the
 * source has them. */
cip_status cip_blz_choose_blosc(const cip_spec *spec, const cip_spec_array *a, cip_blz_kind kind,
                                const cip_dtype *d, cip_blosc_spec *out, bool *takes, cip_err *err);
/* Rows of a chunk; without a wish, as many as *chunklen says (0: what suits so many rows of `row`
 * bytes). All of them are less than a Blosc chunk can hold, those of all columns of records too. */
cip_status cip_blz_choose_chunklen(const cip_spec *spec, const cip_spec_array *a, int64_t rows,
                                   uint64_t row, int64_t *chunklen, cip_err *err);

/* How superchunks are. */
typedef struct cip_blz_super_how {
    cip_sum_id sum; /* NONE for the old programs' */
    bool offsets, metadata;
    uint64_t per;   /* chunks of each but the last; 0: no superchunks */
    uint64_t spare; /* bytes behind each chunk */
    const char **shard;
    size_t nshard;
} cip_blz_super_how;

/* `nchunk` chunks, of up to `nbytes` decoded bytes. Of the old programs' kinds: nothing, and no
 * option for it. */
cip_status cip_blz_choose_super(const cip_spec *spec, cip_arena *a, cip_blz_kind kind,
                                uint64_t nchunk, uint64_t nbytes, cip_blz_super_how *out,
                                cip_err *err);
/* Whether records are to be a table. */
cip_status cip_blz_choose_table(const cip_spec *spec, cip_blz_kind kind, bool *table, cip_err *err);

/* --- blz_write.c: new folders ----------------------------------------------------------------- */

extern const cip_array_store cip_blz_store;
/* A copy in the layout's arena, under its lock. */
cip_status cip_blz_keep_text(cip_layout *l, const char *text, const char **out, cip_err *err);
cip_status cip_blz_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

extern const cip_format cip_format_blz;

#endif
