/* SPDX-License-Identifier: BSD-3-Clause
 * What `ls` and `info` tell of one array. */
#ifndef CIPPUS_TOOLS_LISTED_H
#define CIPPUS_TOOLS_LISTED_H

#include <stdio.h>

#include "cippus/cippus.h"

typedef struct listed {
    const cip_array *array;
    cip_array_storage s;
    const char *name;                               /* of the column that it is, or NULL */
    uint64_t decoded;                               /* bytes of its elements */
    uint64_t missing;                               /* chunks whose files are not there */
    cip_err err;                                    /* why it cannot be read; .code OK: it can */
    char codec[sizeof((cip_chunk_info *)0)->codec]; /* of data in another file */
} listed;

/* Looks at the array, and whether the files are there that its data lie in, unless `file` is a URL:
 * each would be a request. */
void listed_look(const char *file, const cip_file *f, const cip_array *a, listed *l);
/* Files that the array needs are not there. */
bool listed_lacks_files(const listed *l);
/* How many times smaller than its elements what is stored is; 0: nothing is, or it is not known. */
double listed_ratio(const listed *l);
/* Bytes as they are stored; `unknown` for an array of which only its chunks know. */
void listed_print_stored(FILE *f, const listed *l, const char *unknown);
/* "." for none; behind that of a table's column its name. */
void listed_print_path(FILE *f, const listed *l);
/* The keys stored_nbytes, decoded_nbytes and ratio. */
void listed_print_sizes_json(FILE *f, const listed *l);
/* All of it as an object; `file` is its name. */
void listed_print_json(FILE *f, const char *file, const listed *l);

#endif
