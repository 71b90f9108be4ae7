/* SPDX-License-Identifier: BSD-3-Clause
 * The table: what changes which file, at which level. */
#include "fault/fault_scenarios.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A row for each level; further fields follow. */
#define BOTH(what, of, maker, fn, ...)                                                             \
    { .name = what, .file = of, .make = maker, .change = fn, __VA_ARGS__ },                        \
    {                                                                                              \
        .name = what ", level process", .level = CIP_LEVEL_PROCESS, .file = of, .make = maker,     \
        .change = fn, __VA_ARGS__                                                                  \
    }

/* A change of a set of files, beside a file and in a folder. */
#define OF_SET(what, fn, ...)                                                                      \
    BOTH("members: " what, "x", fault_make_set, fn, .members = fault_set, __VA_ARGS__),            \
        BOTH("folder: " what, "d", fault_make_folder, fn, .members = fault_set, __VA_ARGS__)

static void make_two(const char *dir)
{
    fault_make_rawarray(dir);
    fault_make_stream(dir);
}

static void make_two_names(const char *dir)
{
    char a[1024], b[1024];
    snprintf(a, sizeof a, "%s/a.ra", dir);
    snprintf(b, sizeof b, "%s/b.ra", dir);
    fault_make_rawarray(dir);
    if (link(a, b) != 0)
        abort();
}

/* The file watched is the output, the other one of the folder the input. */
static cip_status convert_over(const char *path, cip_level level, int step, cip_err *err)
{
    char in[1024];
    (void)level;
    (void)step;
    snprintf(in, sizeof in, "%.*ss.asdf", (int)(strrchr(path, '/') + 1 - path), path);
    return cip_convert(in, path, CIP_CONVERT_OPTIONS(.overwrite = true, .accept_loss = true), err);
}

static cip_status convert_to_new(const char *path, cip_level level, int step, cip_err *err)
{
    char in[1024];
    (void)level;
    (void)step;
    snprintf(in, sizeof in, "%.*sa.ra", (int)(strrchr(path, '/') + 1 - path), path);
    return cip_convert(in, path, CIP_CONVERT_OPTIONS(.accept_loss = true), err);
}

static const char *const fault_table[] = {
    "__attrs__",      "__rootdirs__",   "a/__attrs__",  "a/meta/sizes",   "a/meta/storage",
    "a/data/__0.blp", "a/data/__2.blp", "b/meta/sizes", "b/data/__2.blp", NULL
};
static const char *const fault_supers[] = { "meta/sizes", "meta/storage", "data/a/__1__.bin",
                                            "data/b/__1__.bin", NULL };

static const char *const fault_alone[] = { NULL };
static const char *const fault_sparse[] = { "chunks.b2frame", "00000000.chunk", "00000001.chunk",
                                            "00000002.chunk", "00000007.chunk", NULL };
static const char *const fault_numbered[] = { "chunks.b2frame",
                                              "00000000.chunk",
                                              "00000001.chunk",
                                              "00000002.chunk",
                                              "00000003.chunk",
                                              "00000004.chunk",
                                              "00000005.chunk",
                                              "00000006.chunk",
                                              "00000007.chunk",
                                              "00000008.chunk",
                                              "00000009.chunk",
                                              "0000000A.chunk",
                                              NULL };

const fault_scenario fault_scenarios[] = {
    BOTH("commit: switch", "a.ra", fault_make_rawarray, fault_by_switch, .nstep = 1),
    BOTH("commit: switch with a tail", "a.ra", fault_make_rawarray, fault_by_switch_and_tail,
         .nstep = 1),
    BOTH("commit: append", "a.ra", fault_make_rawarray, fault_by_append, .nstep = 1),
    BOTH("commit: journal", "a.ra", fault_make_rawarray, fault_by_journal, .nstep = 1),
    BOTH("commit: journal with a tail", "a.ra", fault_make_rawarray, fault_by_journal_and_tail,
         .nstep = 1),
    BOTH("commit: journal, shorter", "a.ra", fault_make_rawarray, fault_by_journal_shorter,
         .nstep = 1),
    BOTH("commit: replace", "a.ra", fault_make_rawarray, fault_by_replacing, .nstep = 1),
    BOTH("commit: four in a row", "a.ra", fault_make_rawarray, fault_twice, .nstep = 4),
    BOTH("commit: switch after a journal", "a.ra", fault_make_rawarray, fault_switch_after_journal,
         .nstep = 2),
    BOTH("commit: switch with a tail, then renamed", "a.ra", fault_make_rawarray,
         fault_by_switch_and_tail, .nstep = 1, .renamed = "b.ra"),
    BOTH("commit: append, then renamed", "a.ra", fault_make_rawarray, fault_by_append, .nstep = 1,
         .renamed = "b.ra"),
    BOTH("commit: append, then linked", "a.ra", fault_make_rawarray, fault_by_append, .nstep = 1,
         .linked = "b.ra"),
    BOTH("commit: journal, then renamed", "a.ra", fault_make_rawarray, fault_by_journal, .nstep = 1,
         .renamed = "b.ra"),
    BOTH("commit: journal, then linked", "a.ra", fault_make_rawarray, fault_by_journal, .nstep = 1,
         .linked = "b.ra"),
    BOTH("commit: journal with a tail, then renamed", "a.ra", fault_make_rawarray,
         fault_by_journal_and_tail, .nstep = 1, .renamed = "b.ra"),
    BOTH("commit: journal, shorter, then renamed", "a.ra", fault_make_rawarray,
         fault_by_journal_shorter, .nstep = 1, .renamed = "b.ra"),
    BOTH("commit: four in a row, of two names", "a.ra", make_two_names, fault_twice, .nstep = 4,
         .linked = "b.ra"),
    BOTH("commit: another member", "m.asdf", fault_make_member, fault_other_member, .nstep = 1,
         .member = { "m0000.asdf", "m0001.asdf" }),
    BOTH("commit: another member, with a tail", "m.asdf", fault_make_member,
         fault_other_member_and_tail, .nstep = 1, .member = { "m0000.asdf", "m0001.asdf" }),
    BOTH("commit: another member, then renamed", "m.asdf", fault_make_member, fault_other_member,
         .nstep = 1, .renamed = "b.asdf", .member = { "m0000.asdf", "m0001.asdf" }),
    OF_SET("replaced, and the switch", fault_members_replaced, .nstep = 1),
    OF_SET("new, in new folders", fault_members_new, .nstep = 1),
    OF_SET("changed in place", fault_members_patched, .nstep = 1),
    OF_SET("renamed", fault_members_renamed, .nstep = 1),
    OF_SET("removed, with a folder", fault_members_gone, .nstep = 1),
    OF_SET("all of these", fault_members_mixed, .nstep = 1),
    OF_SET("one after the other", fault_members_in_turn, .nstep = 4),
    BOTH("folder: a new one", "d", fault_make_nothing, fault_create_folder, .members = fault_set,
         .nstep = 1),
    BOTH("folder: a new one over another", "d", fault_make_folder, fault_create_folder,
         .members = fault_set, .nstep = 1),
    BOTH("BLZ: a new table", "d.bcolz", fault_make_nothing, fault_create_columns,
         .members = fault_table, .nstep = 1),
    BOTH("BLZ: new superchunks", "d.blz", fault_make_nothing, fault_create_columns,
         .members = fault_supers, .nstep = 1),
    BOTH("memory: saved as a new folder", "d.bcolz", fault_make_nothing, fault_save_columns,
         .members = fault_table, .nstep = 1),
    BOTH("memory: saved over a folder", "d", fault_make_bcolz_table, fault_save_columns,
         .members = fault_table, .nstep = 1),
    BOTH("Blosc2: a new frame", "a.b2nd", fault_make_nothing, fault_create, .nstep = 1),
    BOTH("Blosc2: a new sparse frame", "d.b2nd", fault_make_nothing, fault_create_sparse,
         .members = fault_sparse, .nstep = 1),
    BOTH("Blosc2: put", "a.b2nd", fault_make_frame, fault_edit_ra_put, .nstep = 1),
    BOTH("Blosc2: put, in turn", "a.b2nd", fault_make_frame, fault_edit_frame_in_turn, .nstep = 4),
    BOTH("Blosc2: append", "a.b2nd", fault_make_frame, fault_edit_ra_append, .nstep = 1),
    BOTH("Blosc2: larger", "a.b2nd", fault_make_frame, fault_edit_ra_larger, .nstep = 1),
    BOTH("Blosc2: smaller", "a.b2nd", fault_make_frame, fault_edit_ra_smaller, .nstep = 1),
    BOTH("Blosc2: rm, rows", "a.b2nd", fault_make_frame, fault_edit_ra_delete, .nstep = 1),
    BOTH("Blosc2: rm, whole chunks", "a.b2nd", fault_make_frame, fault_edit_ra_delete_chunks,
         .nstep = 1),
    BOTH("Blosc2: put, rows inserted", "a.b2nd", fault_make_frame, fault_edit_ra_insert,
         .nstep = 1),
    BOTH("Blosc2: put, whole chunks inserted", "a.b2nd", fault_make_frame,
         fault_edit_ra_insert_chunks, .nstep = 1),
    BOTH("Blosc2: put, with holes", "a.b2nd", fault_make_frame_with_holes, fault_edit_ra_put,
         .nstep = 1),
    BOTH("Blosc2: append, with holes", "a.b2nd", fault_make_frame_with_holes, fault_edit_ra_append,
         .nstep = 1),
    BOTH("Blosc2: rm, rows, with holes", "a.b2nd", fault_make_frame_with_holes,
         fault_edit_ra_delete, .nstep = 1),
    BOTH("at an end: a Blosc2 frame", "a.ra", fault_make_rawarray, fault_create_at_end,
         .members = fault_alone, .nstep = 1),
    BOTH("append: rows of a stream", "s.asdf", fault_make_stream, fault_rows, .nstep = 3,
         .ordered = true),
    { .name = "convert: over a file", .file = "a.ra", .make = make_two, .change = convert_over },
    { .name = "convert: to a new name",
      .file = "n.npy",
      .make = make_two,
      .change = convert_to_new },
    BOTH("create: over a file", "a.asdf", fault_make_asdf, fault_create, .nstep = 1),
    BOTH("create: external data over others", "e.asdf", fault_make_external, fault_create_external,
         .nstep = 1),
    { .name = "convert: over itself",
      .file = "a.asdf",
      .make = fault_make_asdf,
      .change = fault_convert_itself,
      .quiet = true },
    BOTH("defrag", "a.asdf", fault_make_holes, fault_edit_defrag, .quiet = true),
    BOTH("set: fits", "a.asdf", fault_make_asdf, fault_edit_set, .nstep = 1),
    BOTH("set: fits only behind all", "a.asdf", fault_make_tight_asdf, fault_edit_set, .nstep = 1),
    BOTH("set: does not fit", "a.asdf", fault_make_asdf, fault_edit_set_long, .nstep = 1),
    BOTH("rm: a node", "a.asdf", fault_make_asdf, fault_edit_remove_node, .nstep = 1),
    BOTH("mv: an array", "a.asdf", fault_make_asdf, fault_edit_move_array, .nstep = 1),
    BOTH("rm: an array", "a.asdf", fault_make_asdf, fault_edit_remove_array, .nstep = 1),
    BOTH("put: a slice", "a.asdf", fault_make_asdf, fault_edit_put, .nstep = 1),
    BOTH("put: a packed array", "a.asdf", fault_make_asdf, fault_edit_put_packed, .nstep = 1),
    BOTH("put: an array in a Blosc chunk", "a.asdf", fault_make_blsc_asdf, fault_edit_put_packed,
         .nstep = 1),
    BOTH("append: to a Blosc2 frame in a block", "a.asdf", fault_make_bls2_asdf,
         fault_edit_add_packed_rows, .nstep = 1),
    BOTH("put: a new array", "a.asdf", fault_make_asdf, fault_edit_add_array, .nstep = 1),
    BOTH("put: a new array, the tree does not fit", "a.asdf", fault_make_tight_asdf,
         fault_edit_add_array, .nstep = 1),
    BOTH("put: two new arrays and a slice", "a.asdf", fault_make_asdf, fault_edit_add_two,
         .nstep = 1),
    BOTH("append: to a block", "a.asdf", fault_make_asdf, fault_edit_add_rows, .nstep = 1),
    BOTH("append: to a packed block", "a.asdf", fault_make_asdf, fault_edit_add_packed_rows,
         .nstep = 1),
    BOTH("append: calls to a stream", "s.asdf", fault_make_stream, fault_append, .nstep = 3,
         .ordered = true),
    BOTH("resize: larger", "a.asdf", fault_make_asdf, fault_edit_larger, .nstep = 1),
    BOTH("resize: smaller", "a.asdf", fault_make_asdf, fault_edit_smaller, .nstep = 1),
    BOTH("rm: rows of an array", "a.asdf", fault_make_asdf, fault_edit_delete_rows, .nstep = 1),
    BOTH("rm: columns of a packed array", "a.asdf", fault_make_asdf, fault_edit_delete_packed,
         .nstep = 1),
    BOTH("put: rows inserted", "a.asdf", fault_make_asdf, fault_edit_insert_rows, .nstep = 1),
    BOTH("put: columns inserted into a packed array", "a.asdf", fault_make_asdf,
         fault_edit_insert_packed, .nstep = 1),
    BOTH("several changes", "a.asdf", fault_make_asdf, fault_edit_several, .nstep = 1),
    BOTH("0.1: set", "a.asdf", fault_make_early_asdf, fault_edit_set, .nstep = 1),
    BOTH("0.1: set, does not fit", "a.asdf", fault_make_early_asdf, fault_edit_set_long,
         .nstep = 1),
    BOTH("0.1: put", "a.asdf", fault_make_early_asdf, fault_edit_put, .nstep = 1),
    BOTH("0.1: put, through the chain", "a.asdf", fault_make_early_asdf, fault_edit_put_packed,
         .nstep = 1),
    BOTH("0.1: append, through the chain", "a.asdf", fault_make_early_asdf,
         fault_edit_add_packed_rows, .nstep = 1),
    BOTH("0.1: larger", "a.asdf", fault_make_early_asdf, fault_edit_larger, .nstep = 1),
    BOTH("0.1: several changes", "a.asdf", fault_make_early_asdf, fault_edit_several, .nstep = 1),
    BOTH("freeze", "s.asdf", fault_make_stream, fault_edit_freeze, .quiet = true),
    BOTH("RawArray: put", "a.ra", fault_make_rawarray, fault_edit_ra_put, .nstep = 1),
    BOTH("RawArray: append", "a.ra", fault_make_rawarray, fault_edit_ra_append, .nstep = 1),
    BOTH("RawArray: append before metadata", "a.ra", fault_make_rawarray_and_text,
         fault_edit_ra_append, .nstep = 1),
    BOTH("RawArray: larger", "a.ra", fault_make_rawarray_and_text, fault_edit_ra_larger,
         .nstep = 1),
    BOTH("RawArray: smaller", "a.ra", fault_make_rawarray_and_text, fault_edit_ra_smaller,
         .nstep = 1),
    BOTH("RawArray: rm, rows", "a.ra", fault_make_rawarray_and_text, fault_edit_ra_delete,
         .nstep = 1),
    BOTH("RawArray: put, rows inserted", "a.ra", fault_make_rawarray_and_text, fault_edit_ra_insert,
         .nstep = 1),
    BOTH("npy: put", "a.npy", fault_make_npy, fault_edit_ra_put, .nstep = 1),
    BOTH("npy: append", "a.npy", fault_make_npy, fault_edit_ra_append, .nstep = 1),
    BOTH("npy: larger", "a.npy", fault_make_npy, fault_edit_ra_larger, .nstep = 1),
    BOTH("npy: smaller", "a.npy", fault_make_npy, fault_edit_ra_smaller, .nstep = 1),
    BOTH("npy: rm, rows", "a.npy", fault_make_npy, fault_edit_ra_delete, .nstep = 1),
    BOTH("npy: put, rows inserted", "a.npy", fault_make_npy, fault_edit_ra_insert, .nstep = 1),
    BOTH("npy: larger, the header does not fit", "a.npy", fault_make_tight_npy, fault_edit_ra_many,
         .nstep = 1),
    BOTH("npz: put", "a.npz", fault_make_npz, fault_edit_ra_put, .nstep = 1),
    BOTH("bloscpack: put", "a.blp", fault_make_bloscpack, fault_edit_ra_put, .nstep = 1),
    BOTH("bloscpack: append", "a.blp", fault_make_bloscpack, fault_edit_ra_append, .nstep = 1),
    BOTH("bloscpack: append, no offset is free", "a.blp", fault_make_full_bloscpack,
         fault_edit_ra_append, .nstep = 1),
    BOTH("bloscpack: larger", "a.blp", fault_make_bloscpack, fault_edit_ra_larger, .nstep = 1),
    BOTH("bloscpack: smaller", "a.blp", fault_make_bloscpack, fault_edit_ra_smaller, .nstep = 1),
    BOTH("bloscpack: rm, rows", "a.blp", fault_make_bloscpack, fault_edit_ra_delete, .nstep = 1),
    BOTH("bloscpack: rm, whole chunks", "a.blp", fault_make_bloscpack, fault_edit_ra_delete_chunks,
         .nstep = 1),
    BOTH("bloscpack: put, rows inserted", "a.blp", fault_make_bloscpack, fault_edit_ra_insert,
         .nstep = 1),
    BOTH("bloscpack: put, whole chunks inserted", "a.blp", fault_make_bloscpack,
         fault_edit_ra_insert_chunks, .nstep = 1),
    BOTH("Blosc2: set, a vlmetalayer", "a.b2nd", fault_make_frame, fault_edit_vlmetalayer,
         .nstep = 1),
    BOTH("Blosc2: set, a metalayer", "a.b2nd", fault_make_frame, fault_edit_metalayer, .nstep = 1),
    BOTH("Blosc2: defrag", "a.b2nd", fault_make_frame_with_holes, fault_edit_defrag, .nstep = 1,
         .quiet = true),
    BOTH("Blosc2: set, sparse", "d.b2nd", fault_make_sparse, fault_edit_vlmetalayer, .nstep = 1,
         .members = fault_sparse),
    BOTH("Blosc2: defrag, sparse", "d.b2nd", fault_make_loose_sparse, fault_edit_defrag, .nstep = 1,
         .members = fault_sparse),
    BOTH("sparse: put", "d.b2nd", fault_make_numbered, fault_edit_ra_put, .members = fault_numbered,
         .nstep = 1),
    BOTH("sparse: append", "d.b2nd", fault_make_numbered, fault_edit_ra_append,
         .members = fault_numbered, .nstep = 1),
    BOTH("sparse: rm, whole chunks", "d.b2nd", fault_make_numbered, fault_edit_ra_delete_chunks,
         .members = fault_numbered, .nstep = 1),
    BOTH("sparse: put, rows inserted", "d.b2nd", fault_make_numbered, fault_edit_ra_insert,
         .members = fault_numbered, .nstep = 1),
    BOTH("bcolz: put", "d", fault_make_bcolz, fault_edit_ra_put, .nstep = 1),
    BOTH("bcolz: append", "d", fault_make_bcolz, fault_edit_ra_append, .nstep = 1),
    BOTH("bcolz: larger", "d", fault_make_bcolz, fault_edit_ra_larger, .members = fault_bcolz,
         .nstep = 1),
    BOTH("bcolz: smaller", "d", fault_make_bcolz, fault_edit_ra_smaller, .members = fault_bcolz,
         .nstep = 1),
    BOTH("bcolz: rm, rows", "d", fault_make_bcolz, fault_edit_ra_delete, .members = fault_bcolz,
         .nstep = 1),
    BOTH("bcolz: rm, whole chunks", "d", fault_make_bcolz, fault_edit_ra_delete_chunks,
         .members = fault_bcolz, .nstep = 1),
    BOTH("bcolz: put, rows inserted", "d", fault_make_bcolz, fault_edit_ra_insert,
         .members = fault_bcolz, .nstep = 1),
    BOTH("bcolz: put, whole chunks inserted", "d", fault_make_bcolz, fault_edit_ra_insert_chunks,
         .members = fault_bcolz, .nstep = 1),
    BOTH("bcolz: set", "d", fault_make_bcolz, fault_folder_set_unit, .nstep = 1),
    BOTH("bcolz: append, records", "d", fault_make_bcolz_table, fault_folder_append_records,
         .nstep = 1),
    BOTH("bcolz: rm, records", "d", fault_make_bcolz_table, fault_folder_delete_records,
         .members = fault_bcolz_table, .nstep = 1),
    BOTH("bcolz: put, records inserted", "d", fault_make_bcolz_table, fault_folder_insert_records,
         .members = fault_bcolz_table, .nstep = 1),
    BOTH("bcolz: mv, a column", "d", fault_make_bcolz_table, fault_folder_move_column,
         .members = fault_bcolz_table, .nstep = 1),
    BOTH("bcolz: rm, a column", "d", fault_make_bcolz_table, fault_folder_remove_column,
         .members = fault_bcolz_table, .nstep = 1),
    BOTH("bcolz: put, a column", "d", fault_make_bcolz_table, fault_folder_add_column,
         .members = fault_bcolz_table, .nstep = 1),
    BOTH("bcolz: put, a column in the place of another", "d", fault_make_bcolz_table,
         fault_folder_replace_column, .members = fault_bcolz_table, .nstep = 1),
    BOTH("BLZ: put, a field in the place of another", "d", fault_make_wells,
         fault_folder_replace_field, .members = fault_wells, .nstep = 1),
    BOTH("BLZ: put, a field", "d", fault_make_wells, fault_folder_add_field, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: put", "d", fault_make_wells, fault_folder_put_wells, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: append", "d", fault_make_wells, fault_folder_add_wells, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: rm, whole chunks", "d", fault_make_wells, fault_folder_delete_whole_wells,
         .members = fault_wells, .nstep = 1),
    BOTH("BLZ: put, whole chunks inserted", "d", fault_make_wells, fault_folder_insert_whole_wells,
         .members = fault_wells, .nstep = 1),
    BOTH("BLZ: larger", "d", fault_make_wells, fault_folder_more_wells, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: smaller", "d", fault_make_wells, fault_folder_fewer_wells, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: rm, rows", "d", fault_make_wells, fault_folder_delete_wells, .members = fault_wells,
         .nstep = 1),
    BOTH("BLZ: put, rows inserted", "d", fault_make_wells, fault_folder_insert_wells,
         .members = fault_wells, .nstep = 1),
    BOTH("BLZ: rm, a field", "d", fault_make_wells, fault_folder_remove_field,
         .members = fault_wells, .nstep = 1),
    BOTH("BLZ: mv, a field", "d", fault_make_wells, fault_folder_move_field, .members = fault_wells,
         .nstep = 1),
    BOTH("explode", "x.asdf", fault_make_asdf, fault_explode, .nstep = 1),
    BOTH("explode: over an exploded form", "x.asdf", fault_make_exploded, fault_explode,
         .nstep = 1),
    BOTH("implode: over a file", "a.asdf", fault_make_exploded, fault_implode, .nstep = 1),
    { .name = NULL },
};
