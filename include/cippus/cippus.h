/* SPDX-License-Identifier: BSD-3-Clause
 * All of the public API. */
#ifndef CIPPUS_CIPPUS_H
#define CIPPUS_CIPPUS_H

#include "cippus/array.h"
#include "cippus/blosc.h"
#include "cippus/cast.h"
#include "cippus/chunk.h"
#include "cippus/convert.h"
#include "cippus/diff.h"
#include "cippus/dtype.h"
#include "cippus/edit.h"
#include "cippus/error.h"
#include "cippus/ext/codec.h"
#include "cippus/ext/io.h"
#include "cippus/file.h"
#include "cippus/finding.h"
#include "cippus/limits.h"
#include "cippus/options.h"
#include "cippus/refs.h"
#include "cippus/repair.h"
#include "cippus/slice.h"
#include "cippus/tree.h"
#include "cippus/verify.h"
#include "cippus/version.h"
#include "cippus/write.h"

#endif
