/* SPDX-License-Identifier: BSD-3-Clause
 * The files of src/format/hdf5/corpus, for the tests beside the format. */
#ifndef CIP_TESTS_H5_TESTING_H
#define CIP_TESTS_H5_TESTING_H

#include <stdio.h>

#include "format/hdf5/hdf5.h"
#include "support/one_format.h"

/* The bytes of a file of the corpus; free() them. */
static inline uint8_t *h5_load(const char *kind, const char *name, size_t *len)
{
    enum { MOST = 1 << 16 };
    char path[1024];
    snprintf(path, sizeof path, CIP_SOURCE_DIR "/src/format/hdf5/corpus/fuzz_hdf5/%s-%s.h5", kind,
             name);
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST);
    assert_non_null(file);
    assert_non_null(bytes);
    *len = fread(bytes, 1, MOST, file);
    assert_in_range(*len, 1, MOST - 1);
    fclose(file);
    return bytes;
}

static inline cip_status h5_open(one_file *f, const char *kind, const char *name)
{
    size_t len;
    uint8_t *bytes = h5_load(kind, name, &len);
    const cip_status st = one_open(f, &cip_format_hdf5, bytes, len, 0, NULL);
    free(bytes);
    return st;
}

/* The number of the array of this path. */
static inline size_t h5_array(const one_file *f, const char *path)
{
    for (size_t i = 0; i < f->layout->narray; i++)
        if (strcmp(f->layout->array[i]->path, path) == 0)
            return i;
    fail_msg("no array %s", path);
    return 0;
}

static inline const char *h5_text(const one_file *f, const char *path)
{
    const cip_node *n = cip_tree_get(f->layout->tree, path, NULL);
    assert_non_null(n);
    assert_int_equal(n->type, CIP_NODE_STRING);
    return n->text;
}

#endif
