/* SPDX-License-Identifier: BSD-3-Clause
 * How options structs are filled in place: CIP_OPEN_OPTIONS(.threads = 1), in C and in C++. */
#ifndef CIPPUS_OPTIONS_H
#define CIPPUS_OPTIONS_H

/* Callbacks: `user` is their first argument. It is the field `user` of the options struct that the
 * callback is a field of (one for all callbacks of a struct), or the argument behind the callback.
 * They run within the call that they were given to, in one thread at a time, but perhaps in another
 * than the caller's; what they are shown is borrowed until they return. A nonzero result ends that
 * call with CANCELLED, as soon as it can, unless the callback's type says otherwise. They may use
 * the library, but of the file, writer or edit that the call works on only getters, and may not
 * leave by longjmp or an exception. */

/* The struct lives until the end of the enclosing block in C, of the full expression in C++. Its
 * `size` says which version of the struct the caller was compiled with; 0 is refused with ARG. */
#ifdef __cplusplus
#pragma GCC system_header /* the fields that a caller leaves out are no fault of theirs */
template <class T> inline const T *cip_address_of(const T &t)
{
    return &t;
}
#define CIP_OPTIONS(type, ...) (cip_address_of(type{ .size = sizeof(type), __VA_ARGS__ }))
#else
#define CIP_OPTIONS(type, ...) (&(const type){ .size = sizeof(type), __VA_ARGS__ })
#endif

/* Texts with NULL behind them: .format_options = CIP_TEXTS("encode=[zlib]"). In C++, which has no
 * arrays without a name, an array of the caller's. */
#ifndef __cplusplus
#define CIP_TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#endif

#endif
