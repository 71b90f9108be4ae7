/* SPDX-License-Identifier: BSD-3-Clause
 * CIP_API marks what the shared library exports; everything else stays hidden. */
#ifndef CIPPUS_EXPORT_H
#define CIPPUS_EXPORT_H

#if defined(CIP_STATIC) || !defined(__GNUC__)
#define CIP_API
#else
#define CIP_API __attribute__((visibility("default")))
#endif

/* Marks what a later version drops; the text says what to use in its place. */
#if defined(__GNUC__)
#define CIP_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define CIP_DEPRECATED(text)
#endif

/* Lets the compiler check the format strings given to printf-like functions. */
#if defined(__GNUC__)
#define CIP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CIP_PRINTF(fmt, args)
#endif

#endif
