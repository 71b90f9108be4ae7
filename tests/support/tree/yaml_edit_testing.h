/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of changes in a YAML text share. Included after cmocka.h. */
#ifndef CIP_TESTS_YAML_EDIT_TESTING_H
#define CIP_TESTS_YAML_EDIT_TESTING_H

#include "tree/edit.h"
#include "support/tree/tree_testing.h"

#define PREFIX "tag:stsci.edu:asdf/"

static inline cip_yaml_edit *start(bench *b, const char *text)
{
    static const cip_yaml_options opt = { .default_handle = PREFIX };
    cip_yaml_edit *e = NULL;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_yaml_edit_new(&b->env, exact(b, text, strlen(text)), &opt, &e, &err);
    if (st != CIP_OK)
        fail_msg("%s, in: %s", err.text, text);
    return e;
}

static inline void has_text(const cip_yaml_edit *e, const char *expected)
{
    cip_bytes t = cip_yaml_edit_text(e);
    char *copy = calloc(1, t.len + 1);
    memcpy(copy, t.ptr, t.len);
    assert_string_equal(copy, expected);
    free(copy);
}

#endif
