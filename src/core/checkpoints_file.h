/* SPDX-License-Identifier: BSD-3-Clause
 * The file of checkpoints beside an open one (space/sequential/sidecar.h): found when it is opened,
 * written when it is closed. Nothing of it can make opening or closing fail. */
#ifndef CIP_CORE_CHECKPOINTS_FILE_H
#define CIP_CORE_CHECKPOINTS_FILE_H

#include "core/handle.h"

/* Behind opening `path` with checkpoints wanted: what is unfit is a warning. */
void cip_checkpoints_file_load(cip_file *f, const char *path);
/* The same behind a refresh, if they were wanted. */
void cip_checkpoints_file_renew(cip_file *f);
/* Before closing: writes it again when there are more, the file is what it was, and the folder can
 * be written. */
void cip_checkpoints_file_save(cip_file *f);

#endif
