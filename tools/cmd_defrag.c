/* SPDX-License-Identifier: BSD-3-Clause
 * cippus defrag: holes and data that nothing names are dropped, each listed first. */
#include <inttypes.h>

#include "commands.h"
#include "update.h"

typedef struct listing {
    bool json, any;
} listing;

static int list_dropped(void *user, const cip_finding *f)
{
    listing *l = user;
    if (!l->json) {
        print_escaped(stdout, f->text);
        putchar('\n');
        return 0;
    }
    fputs(l->any ? ",\n " : "", stdout);
    fputs("{\"text\": ", stdout);
    print_json_string(stdout, f->text);
    if (f->offset != CIP_NO_OFFSET)
        printf(", \"offset\": %" PRIu64, f->offset);
    printf(", \"length\": %" PRIu64 "}", f->length);
    l->any = true;
    return 0;
}

int cmd_defrag(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    listing l = { .json = o->json };
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    fputs(o->json ? "{\"dropped\": [" : "", stdout);
    cip_status st = cip_change_defrag(edit, list_dropped, &l, &err);
    fputs(o->json ? "]" : "", stdout);
    return update_finish_object(o, edit, st, &err);
}
