/* SPDX-License-Identifier: BSD-3-Clause
 * The version of the interface, in the one place where it lives: the build reads it from here. And
 * CIP_API, which marks what the shared library exports; everything else stays hidden. */
#ifndef CIPPUS_VERSION_H
#define CIPPUS_VERSION_H

#define CIP_VERSION_MAJOR 0
#define CIP_VERSION_MINOR 3
#define CIP_VERSION_PATCH 0
/* One number that grows with them: for #if, and to compare with cip_version_number(). */
#define CIP_VERSION_NUM (CIP_VERSION_MAJOR * 10000 + CIP_VERSION_MINOR * 100 + CIP_VERSION_PATCH)
#define CIP_VERSION_STRING "0.3.0"

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

#ifdef __cplusplus
extern "C" {
#endif

/** CIP_VERSION_STRING and CIP_VERSION_NUM of the library, which may be another one than that of the
 * headers. */
CIP_API const char *cip_version(void);
CIP_API int cip_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
