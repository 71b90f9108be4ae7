/* SPDX-License-Identifier: BSD-3-Clause
 * One function for each command: the exit status. */
#ifndef CIPPUS_TOOLS_COMMANDS_H
#define CIPPUS_TOOLS_COMMANDS_H

#include "cippus/cippus.h"
#include "print.h"

int cmd_append(const opts *o);
int cmd_cat(const opts *o);
int cmd_convert(const opts *o);
int cmd_defrag(const opts *o);
int cmd_diff(const opts *o);
int cmd_edit(const opts *o);
int cmd_explode(const opts *o);
int cmd_finish(const opts *o);
int cmd_implode(const opts *o);
int cmd_info(const opts *o);
int cmd_ls(const opts *o);
int cmd_mv(const opts *o);
int cmd_put(const opts *o);
int cmd_recover(const opts *o);
int cmd_zarr_refs(const opts *o);
int cmd_repair(const opts *o);
int cmd_resize(const opts *o);
int cmd_rm(const opts *o);
int cmd_serve(const opts *o);
/* The version of libmicrohttpd, or NULL in a build without. */
const char *serve_library(void);
int cmd_set(const opts *o);
int cmd_show(const opts *o);
int cmd_stat(const opts *o);
int cmd_tree(const opts *o);
int cmd_verify(const opts *o);

/* Up to this many bytes of an array without a place in the file are embedded in references. */
enum { REFS_INLINE_NBYTES = 64 << 10 };
/* What goes before the names of a file's members, as cip_refs_options has it, where readers find
 * the file at `url`: "URL/" of a folder, else that of its folder. The caller's to free. */
char *refs_members(bool folder, const char *url);

/* `cat --follow`: does not return before it is interrupted or something fails. */
int cat_follow(const opts *o);

/* The table of blocks: `info --blocks` and `tree --blocks`. */
void print_blocks(const cip_file *f, bool json);
/* The tables of chunks of all arrays, or of the one of --path: `info --chunks`. The exit status. */
int print_chunks(const cip_file *f, const char *name, const opts *o);
/* `cat --chunk`: writes its bytes; the exit status. */
int cat_chunk(const cip_array *a, const opts *o);
/* One chunk of them, or why it is not known (*failed), as an object of JSON. How many chunks it
 * tells of: a run of special ones is told at once. */
uint64_t print_chunk_json(FILE *f, const cip_array *a, uint64_t i, bool *failed);
/* The bytes of a checksum in hex. */
void print_checksum(FILE *f, const uint8_t *value, size_t n);
/* What `info --json` prints of a file; `name` is the file's. */
void print_facts_json(FILE *f, const cip_file *file, const char *name);
/* A node as `tree --find --json` prints it. */
void print_node_json(FILE *f, const char *path, const cip_node *n);
/* The keys of `stat --json` without those of the array. */
void print_stats_json(FILE *f, const cip_stats *s);

/* The array that FILE [PATH] [SLICE] name: what `cat` and `stat` share. */
typedef struct target {
    cip_file *file;
    const cip_array *array;
    size_t nwarning;       /* printed so far */
    cip_read_args args;    /* selection, field, reversed, ...; the rest is the command's */
    cip_dtype *dtype, *as; /* of args */
} target;

/* Opens and finds; EXIT_FINE, or the exit status after a complaint. Free with target_close.
 * `quiet`: without the file's warnings. */
int target_open(const opts *o, bool quiet, target *t);
/* The same in a file that is open, which is closed with it, on failure too. */
int target_in(const opts *o, bool quiet, cip_file *file, target *t);
void target_close(target *t);
/* `cat` on a terminal: the edges of the array. The exit status. */
int cat_edges(const target *t, const opts *o);
/* The array as a picture on standard output, with the options of `show`: `cat --preview`. The exit
 * status. */
int show_preview(const opts *o, const target *t);
/* The complaint about an array that `cat` cannot read, with the nearest path; the exit status. */
int cat_failed(const target *t, const opts *o, cip_err *err);

/* What the words behind the first FILE of `FILE [PATH] [SLICE]` are: PATH and SLICE, at most `max`
 * words in all, or more files. Files only where each of them is one and the first file has nothing
 * by the path that the second word is: what was a PATH without such files stays one. EXIT_FINE, or
 * the exit status after a complaint. */
int files_or_path(const opts *o, int max, bool *files);
/* Whether the path names something in the first file; one that cannot be opened has nothing. *rc:
 * EXIT_FINE, or the exit status where that was told already. */
bool is_path(const opts *o, const char *path, int *rc);
/* The type that `option` names, to be freed; NULL with *rc where it is none, after a complaint, and
 * where `text` is NULL. */
cip_dtype *dtype_option(const char *option, const char *text, int *rc);
/* Says to stderr when --check has no checksum to compare the array's data with. */
void note_unchecked(const char *name, const cip_file *f, const cip_array *a);

#endif
