/* SPDX-License-Identifier: BSD-3-Clause
 * All of the public API. */
#ifndef CIPPUS_CIPPUS_H
#define CIPPUS_CIPPUS_H

#include "cippus/array.h"
#include "cippus/change.h"
#include "cippus/check.h"
#include "cippus/convert.h"
#include "cippus/dtype.h"
#include "cippus/error.h"
#include "cippus/ext/blosc.h"
#include "cippus/ext/chunk.h"
#include "cippus/ext/codec.h"
#include "cippus/ext/io.h"
#include "cippus/ext/refs.h"
#include "cippus/file.h"
#include "cippus/memory.h"
#include "cippus/options.h"
#include "cippus/picture.h"
#include "cippus/slice.h"
#include "cippus/tree.h"
#include "cippus/version.h"

#endif
