/* SPDX-License-Identifier: BSD-3-Clause
 * cippus explode and implode: blocks in files of their own, and back. */
#include <stdint.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "suggest.h"

typedef cip_status verb(const char *in, const char *out, const cip_explode_options *opts,
                        cip_err *err);

static int on_loss(void *user, const cip_finding *f)
{
    print_told(user, f->severity == CIP_NOTE ? "" : "loss: ", f);
    return 0;
}

static int run(const opts *o, verb *fn)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_explode_options x = { .size = sizeof x };
    cip_err err = CIP_ERR_INIT;
    x.path = o->paths;
    x.npath = o->npath;
    x.bare = o->bare;
    x.overwrite = o->overwrite;
    x.level = opts_level(o);
    x.tree_slack = opts_tree_slack(o);
    x.align = o->align;
    x.input = &open;
    x.accept_loss = o->accept_loss;
    x.on_loss = on_loss;
    x.user = (void *)(uintptr_t)o->pos[0];
    cip_status st = fn(o->pos[0], o->pos[1], &x, &err);
    if (st == CIP_OK)
        return EXIT_FINE;
    if (o->npath == 1)
        suggest_path_in(o->pos[0], o, o->paths[0], true, &err);
    return complain(strcmp(err.part, "output") == 0 ? o->pos[1] : o->pos[0], &err);
}

int cmd_explode(const opts *o)
{
    return run(o, cip_explode);
}

int cmd_implode(const opts *o)
{
    return run(o, cip_implode);
}
