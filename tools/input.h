/* SPDX-License-Identifier: BSD-3-Clause
 * Files that do not say what they hold: raw bytes and csv. Both are shown to the library as npy: a
 * header of ours in front of the raw file's bytes, or of a temporary file made of the csv's cells.
 */
#ifndef CIPPUS_TOOLS_INPUT_H
#define CIPPUS_TOOLS_INPUT_H

#include "cippus/cippus.h"
#include "opts.h"

typedef enum input_kind { INPUT_KNOWN, INPUT_RAW, INPUT_CSV } input_kind;

/* By --from, else raw where --shape is given, else by the name (.raw .bin .dat, .csv .tsv) of what
 * is in no known format. -1 after saying which option does not go with it. */
int input_kind_of(const opts *o, const char *path);

/* The same for data that go into an array: --dtype and --byteorder say what raw bytes are, and go
 * with nothing else. */
int input_of_update(const opts *o, const char *path);

/* Opens `path` ("-": standard input) as what it is: any known format, raw bytes of --dtype (or
 * uint8), --shape and --byteorder (little without it), or csv. Complains and returns NULL with the
 * exit status in *rc on failure. Close with cip_file_close. */
cip_file *input_open(const char *path, const opts *o, int *rc);
/* complain(), and where the bytes are of no known format how to say what they are. */
int input_complain(const char *path, const cip_err *err);

/* A growing text; `failed` once memory was short. */
typedef struct strbuf {
    char *ptr;
    size_t len, cap;
    bool failed;
} strbuf;

/* Whether INPUT is a value itself, as in csv (`42`, `1.5`, `true`, `nan`): there is no such file.
 */
bool input_is_literal(const opts *o, const char *text);
/* It as an array without axes, in memory that is *bytes' (zero-initialised) and to be
 * freed behind the file. NULL after a complaint that begins with `what`, with the exit status in
 * *rc. */
cip_file *literal_open(const char *what, const char *text, strbuf *bytes, int *rc);

/* A raw file's bytes as a whole, mapped or (of a pipe) read, at most max_memory of them. */
typedef struct loaded {
    void *ptr;
    size_t n;
    bool mapped;
} loaded;
/* EXIT_FINE, or the exit status after a complaint. */
int bytes_load(const char *path, const opts *o, loaded *b);
/* The same however many they are: those of a pipe lie in a temporary file. */
int bytes_map(const char *path, loaded *b);
void bytes_free(loaded *b);

/* The indices of single elements: for each as many as the array has axes. */
typedef struct points {
    int64_t *coord;
    size_t n, cap; /* numbers, not points */
} points;
/* The lines of a file ("-": standard input), at most max_memory of them. EXIT_FINE, or the exit
 * status after a complaint; p->coord is the caller's to free in any case. */
int points_read(const char *path, int ndim, const opts *o, points *p);
/* What --max-memory allows. */
uint64_t most_bytes(const opts *o);

/* --- parts (input_npy.c, input_raw.c, input_csv.c) -------------------------------------------- */

void text_add(strbuf *t, const void *bytes, size_t n);
void text_addf(strbuf *t, const char *fmt, ...) CIP_PRINTF(2, 3);

/* The npy header, of the lowest version that holds it, around a dictionary up to its shape. */
void npy_header(strbuf *out, const char *descr, int ndim, const int64_t *shape);

/* An npy file that is not there: a header in front of `nbytes` bytes of a file. */
typedef struct virtual_npy {
    int fd; /* -1: none yet */
    strbuf header;
    uint64_t nbytes;
} virtual_npy;
/* Opens it as a file of the library, which frees it in any case. NULL after a complaint about
 * `path`, with the exit status in *rc. */
cip_file *virtual_open(virtual_npy *v, const char *path, const opts *o, int *rc);
void virtual_free(virtual_npy *v);

/* A descriptor that can be read at any place, and how many bytes there are: the file, or a
 * temporary file that holds what a pipe ("-": standard input) gave, of which no more than `most`
 * bytes are read. *is_pipe (or NULL): it is one. -1 with errno. */
int bytes_open(const char *path, uint64_t most, uint64_t *nbytes, bool *is_pipe);
/* A temporary file without a name in $TMPDIR or /tmp; -1 with errno. */
int temporary_file(void);
/* All of them; false with errno. */
bool write_bytes(int fd, const void *bytes, size_t n);

/* numpy's descr of a dtype named as the library names them; false after a complaint. */
bool npy_descr(const char *dtype, const char *byteorder, strbuf *descr, uint64_t *itemsize);

cip_file *raw_open(const char *path, const opts *o, int *rc);
cip_file *csv_open(const char *path, const opts *o, int *rc);

#endif
