/* SPDX-License-Identifier: BSD-3-Clause
 * The table of changes that are crashed. */
#ifndef CIP_TESTS_FAULT_SCENARIOS_H
#define CIP_TESTS_FAULT_SCENARIOS_H

#include "core/commit/commit.h"
#include "fault/fault_run.h"

/* A row without a name ends it. */
extern const fault_scenario fault_scenarios[];

/* A revision made by hand is filled and committed. */
typedef cip_status fault_fill(cip_commit *c, cip_revision *r, cip_err *err);
cip_status fault_commit(const char *path, cip_level level, fault_fill *fill, cip_err *err);

typedef cip_status fault_change(const char *path, cip_level level, int step, cip_err *err);

/* Revisions made by hand, on a RawArray or an ASDF file: one for each way of a commit. */
fault_change fault_by_switch, fault_by_switch_and_tail, fault_by_append, fault_by_journal,
    fault_by_journal_back, fault_by_journal_and_tail, fault_by_journal_shorter, fault_by_replacing,
    fault_twice, fault_switch_after_journal, fault_rows;
void fault_make_rawarray(const char *dir);
void fault_make_rawarray_and_text(const char *dir); /* with metadata behind the data */
void fault_make_npy(const char *dir);               /* with another array behind */
void fault_make_tight_npy(const char *dir); /* whose header has no room for a longer shape */
void fault_make_npz(const char *dir);
void fault_make_deflated_npz(const char *dir);
void fault_make_fits(const char *dir); /* with checksums */
void fault_make_bloscpack(const char *dir);
void fault_make_full_bloscpack(const char *dir); /* without a free offset */
void fault_make_frame(const char *dir);          /* of Blosc2 */
void fault_make_frame_with_holes(const char *dir);
/* Sparse ones, in the folder `d.b2nd`. */
void fault_make_sparse(const char *dir);
void fault_make_numbered(const char *dir);     /* sparse, of 500 numbers in five chunks */
void fault_make_loose_sparse(const char *dir); /* with an unused file */
void fault_make_stream(const char *dir);
/* Revisions that name another file beside. */
fault_change fault_other_member, fault_other_member_and_tail;
void fault_make_member(const char *dir);
/* Revisions of a set of files, beside `x` or in the folder `d`. */
fault_change fault_members_replaced, fault_members_new, fault_members_patched,
    fault_members_renamed, fault_members_gone, fault_members_mixed, fault_members_in_turn,
    fault_members_there, fault_members_back, fault_create_folder;
void fault_make_set(const char *dir);
void fault_make_folder(const char *dir);
void fault_make_nothing(const char *dir);
extern const char *const fault_set[];

/* Updates through the public API, of an ASDF file with a packed and a plain array. */
fault_change fault_edit_set, fault_edit_set_long, fault_edit_remove_node, fault_edit_move_array,
    fault_edit_add_array, fault_edit_add_two, fault_edit_remove_array, fault_edit_put,
    fault_edit_put_packed, fault_edit_add_rows, fault_edit_add_packed_rows, fault_edit_larger,
    fault_edit_smaller, fault_edit_several, fault_edit_freeze, fault_edit_defrag, fault_edit_ra_put,
    fault_edit_ra_append, fault_edit_ra_larger, fault_edit_ra_smaller, fault_edit_delete_rows,
    fault_edit_delete_packed, fault_edit_insert_rows, fault_edit_insert_packed,
    fault_edit_ra_insert, fault_edit_ra_insert_chunks, fault_edit_ra_many, fault_edit_ra_delete,
    fault_edit_ra_delete_chunks, fault_convert_itself, fault_create_external, fault_append,
    fault_create, fault_create_columns, fault_save_columns, fault_explode, fault_implode;
fault_change fault_edit_frame_in_turn, fault_edit_frame_put, fault_edit_vlmetalayer,
    fault_edit_metalayer;
fault_change fault_create_sparse; /* of Blosc2, in three chunks */
fault_change fault_create_named;  /* two arrays by their names, and a header between them */
fault_change fault_create_at_end;
void fault_make_asdf(const char *dir);
void fault_make_blsc_asdf(const char *dir);
void fault_make_bls2_asdf(const char *dir);
void fault_make_early_asdf(const char *dir); /* of 0.1, the packed array by an encoding chain */
void fault_make_holes(const char *dir);
void fault_make_external(const char *dir);
void fault_make_exploded(const char *dir);
void fault_make_tight_asdf(const char *dir); /* without room behind the tree */

/* One update of it, in one thread. */
cip_status fault_edit(const char *path, cip_level level,
                      cip_status (*change)(cip_change *e, cip_err *err), cip_err *err);

/* Arrays and tables of bcolz, in the folder `d`. */
fault_change fault_folder_set_unit, fault_folder_append_records, fault_folder_move_column,
    fault_folder_remove_column, fault_folder_add_column, fault_folder_replace_column,
    fault_folder_replace_field;
/* Records as the document has them, in the folder `d`. */
fault_change fault_folder_delete_whole_wells, fault_folder_insert_whole_wells,
    fault_folder_put_wells, fault_folder_add_wells, fault_folder_more_wells,
    fault_folder_fewer_wells, fault_folder_delete_wells, fault_folder_delete_records,
    fault_folder_insert_wells, fault_folder_insert_records, fault_folder_remove_field,
    fault_folder_move_field, fault_folder_add_field;
fault_change fault_folder_zarr_set, fault_folder_zarr_add, fault_folder_zarr_remove,
    fault_folder_zarr_move, fault_folder_zarr_replace;
void fault_make_wells(const char *dir);
extern const char *const fault_wells[];
void fault_make_bcolz(const char *dir);
void fault_make_zarr(const char *dir);
void fault_make_zarr_zip(const char *dir);
void fault_make_zarr_shards(const char *dir);
/* Its files, in shards or not. */
extern const char *const fault_zarr[], *const fault_zarr_more[], *const fault_zarr_moved[];
void fault_make_bcolz_table(const char *dir);
extern const char *const fault_bcolz[], *const fault_bcolz_table[]; /* their files */

#endif
