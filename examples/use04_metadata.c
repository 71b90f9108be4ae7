/* SPDX-License-Identifier: BSD-3-Clause
 * Metadata by path, and by walking. */
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    double exposure = 0;
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    const cip_node *tree = cip_file_tree(f);
    cip_tree_get_double(tree, "roman/meta/exposure/exposure_time", &exposure, &err);
    printf("exposure %g\n", exposure);
    const cip_node *meta = cip_tree_get(tree, "roman/meta/instrument", &err);
    for (size_t i = 0; i < cip_node_len(meta); i++)
        printf("%s: %s\n", cip_node_text(cip_node_key(meta, i), NULL),
               cip_node_text(cip_node_at(meta, i), NULL));
    cip_file_close(f);
    return err.code;
}
