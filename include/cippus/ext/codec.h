/* SPDX-License-Identifier: BSD-3-Clause
 * Encodings that an application brings along: by the name that an encoding chain of ASDF 0.1 gives
 * them, or by the 4-byte compression code of an ASDF block. */
#ifndef CIPPUS_EXT_CODEC_H
#define CIPPUS_EXT_CODEC_H

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One encoding. Its functions may be called from any thread, from several at the same time, while
 *  a file that it was given to is open (cip_open_options.codecs). They return a status and say why
 *  in `err`, which is never NULL here; a failure becomes the error of the call that reads the
 * block. They must not call back into the file. `args`: the arguments next to the encoding's name
 * in a chain, as YAML on one line ("{key: 13}"); "" for none. */
typedef struct cip_codec_methods {
    size_t struct_size; /* sizeof(cip_codec_methods) */
    /** Its name in a chain, in `ls` and in messages. Never NULL. It replaces a name or code of the
     * library itself. */
    const char *name;
    /** Its code in a block's compression field; all NULs: none. */
    char code[4];
    void *user;
    /** Decodes all of the n bytes at src to at most `cap` bytes at dst, and says how many they are.
     *  `cap` is the length that the file claims; fewer bytes are CORRUPT, as are more: return
     *  CIP_ERR_CORRUPT instead of writing beyond cap. */
    cip_status (*decode)(void *user, const char *args, const void *src, size_t n, void *dst,
                         size_t cap, size_t *out, cip_err *err);
    /** How many bytes those at src decode to. May be NULL; then it can only be used where the file
     *  says the length: as the first binary encoding of a chain, or by its code. */
    cip_status (*decoded_nbytes)(void *user, const char *args, const void *src, size_t n,
                                 uint64_t *nbytes, cip_err *err);
    /** Encodes n bytes; dst has room for bound(n) of them. Both NULL: it is not written. */
    cip_status (*encode)(void *user, const char *args, const void *src, size_t n, void *dst,
                         size_t cap, size_t *out, cip_err *err);
    size_t (*bound)(void *user, const char *args, size_t n);
} cip_codec_methods;

/** The first field in a list of them: { CIP_CODEC_METHODS_INIT, .name = ..., .decode = ... }. */
#define CIP_CODEC_METHODS_INIT .struct_size = sizeof(cip_codec_methods)

#ifdef __cplusplus
}
#endif
#endif
