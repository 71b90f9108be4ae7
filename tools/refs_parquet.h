/* SPDX-License-Identifier: BSD-3-Clause
 * References as a folder of Parquet files, as fsspec's LazyReferenceMapper reads them: `.zmetadata`
 * and NODE/refs.N.parq of RECORD chunks each. */
#ifndef CIPPUS_TOOLS_REFS_PARQUET_H
#define CIPPUS_TOOLS_REFS_PARQUET_H

#include <stdbool.h>

#include "cippus/ext/refs.h"
#include "parquet.h"

typedef struct refs_parquet {
    char *folder;          /* a new one beside the output */
    char *node;            /* whose record is being filled, or NULL */
    uint64_t record, nrow; /* its number; rows up to the last that came */
    parquet_row *rows;     /* with urls and bytes of their own */
    FILE *meta;            /* the text of .zmetadata */
    char *meta_text;
    size_t meta_nbytes;
    bool any; /* something is in it */
} refs_parquet;

/* 0, or -1 with errno, as for all here. */
int refs_parquet_open(refs_parquet *p, const char *out);
/* cip_refs_options.on_entry does no more than that. */
int refs_parquet_add(refs_parquet *p, const cip_refs_entry *e);
/* The folder takes its name; `overwrite`: in place of an older one, which has to be of this kind.
 */
int refs_parquet_finish(refs_parquet *p, const char *out, bool overwrite);
/* Frees all, and removes a folder that did not take its name. Keeps errno. */
void refs_parquet_close(refs_parquet *p);

#endif
