/* SPDX-License-Identifier: BSD-3-Clause
 * The one place where the version lives: the build reads it from here. */
#ifndef CIPPUS_VERSION_H
#define CIPPUS_VERSION_H

#define CIP_VERSION_MAJOR 0
#define CIP_VERSION_MINOR 2
#define CIP_VERSION_PATCH 0
/* One number that grows with them: for #if, and to compare with cip_version_number(). */
#define CIP_VERSION_NUM (CIP_VERSION_MAJOR * 10000 + CIP_VERSION_MINOR * 100 + CIP_VERSION_PATCH)
#define CIP_VERSION_STRING "0.2.0"

#endif
