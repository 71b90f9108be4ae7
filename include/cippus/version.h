/* SPDX-License-Identifier: BSD-3-Clause
 * The one place where the version lives: the build reads it from here. */
#ifndef CIPPUS_VERSION_H
#define CIPPUS_VERSION_H

#define CIP_VERSION_MAJOR 0
#define CIP_VERSION_MINOR 1
#define CIP_VERSION_PATCH 0
#define CIP_VERSION_STRING "0.1.0"

#endif
