/* SPDX-License-Identifier: BSD-3-Clause
 * CIP_API marks what the shared library exports; everything else stays hidden. */
#ifndef CIPPUS_EXPORT_H
#define CIPPUS_EXPORT_H

#if defined(CIP_STATIC) || !defined(__GNUC__)
#define CIP_API
#else
#define CIP_API __attribute__((visibility("default")))
#endif

/* Lets the compiler check the format strings given to printf-like functions. */
#if defined(__GNUC__)
#define CIP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CIP_PRINTF(fmt, args)
#endif

#endif
