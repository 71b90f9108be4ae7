/* SPDX-License-Identifier: BSD-3-Clause
 * cippus recover: what an interrupted update left beside a file; completed or thrown away. */
#include <inttypes.h>

#include "cippus/edit.h"
#include "commands.h"

static const char *const states[] = {
    "none", "applies", "alien", "distrusted", "unsealed", "lost"
};

static void print_json(const char *path, const cip_recover_info *i, int what)
{
    fputs("{\"file\": ", stdout);
    print_json_string(stdout, path);
    printf(", \"state\": \"%s\", \"operations\": %" PRIu64 ", \"nbytes\": %" PRIu64
           ", \"old_nbytes\": %" PRIu64 ", \"new_nbytes\": %" PRIu64
           ", \"done\": \"%s\", \"text\": ",
           states[i->state], i->nop, i->nbytes, i->old_nbytes, i->new_nbytes,
           what == CIP_RECOVER_APPLY     ? "applied"
           : what == CIP_RECOVER_DISCARD ? "discarded"
                                         : "nothing");
    print_json_string(stdout, i->text);
    puts("}");
}

/* What became of it. */
static const char *outcome(int state, int what)
{
    if (state == 0 || what == CIP_RECOVER_LOOK)
        return "";
    if (what == CIP_RECOVER_APPLY && state == 1)
        return "; completed";
    if (state == 5)
        return what == CIP_RECOVER_DISCARD ? "; the file is taken as it is" : "";
    return state == 1 || state == 4 ? "; undone, the file is as it was before" : "; thrown away";
}

static void print_text(const char *path, const cip_recover_info *i, int what)
{
    print_escaped(stdout, path);
    fputs(": ", stdout);
    print_escaped(stdout, i->text);
    if (i->state == 1 && i->old_nbytes != i->new_nbytes)
        printf("; the file goes from %" PRIu64 " bytes to %" PRIu64, i->old_nbytes, i->new_nbytes);
    fputs(outcome(i->state, what), stdout);
    putchar('\n');
}

int cmd_recover(const opts *o)
{
    const char *path = o->pos[0];
    cip_err err = CIP_ERR_INIT;
    cip_recover_info info = { .size = sizeof info };
    if (o->apply && o->discard) {
        fputs("cippus: --apply and --discard exclude each other\n", stderr);
        return EXIT_USAGE;
    }
    int what = o->apply ? CIP_RECOVER_APPLY : o->discard ? CIP_RECOVER_DISCARD : CIP_RECOVER_LOOK;
    if (cip_recover(path, what, &info, &err) != CIP_OK)
        return complain(path, &err);
    (o->json ? print_json : print_text)(path, &info, what);
    return finish_stdout(what == CIP_RECOVER_LOOK && info.state != 0 ? EXIT_FINDINGS : EXIT_FINE);
}
