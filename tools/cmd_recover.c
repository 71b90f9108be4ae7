/* SPDX-License-Identifier: BSD-3-Clause
 * cippus recover: what an interrupted update left beside a file; completed or thrown away. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cippus/change.h"
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
        return what == CIP_RECOVER_DISCARD ? "; the file is read as it is" : "";
    return state == 1 || state == 4 ? "; undoing it restores the file" : "; discarded";
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

/* --- a folder --------------------------------------------------------------------------------- */

typedef struct listing {
    const opts *o;
    size_t n, nleft; /* told; of them still there */
} listing;

static int print_left(void *user, const cip_finding *f)
{
    listing *l = user;
    size_t k = strlen(f->text);
    if (l->o->json) {
        fputs(l->n == 0 ? "" : ", ", stdout);
        fputs("{\"name\": ", stdout);
        print_json_string(stdout, f->part);
        printf(", \"nbytes\": %" PRIu64 ", \"text\": ", f->length);
        print_json_string(stdout, f->text);
        putchar('}');
    } else {
        print_escaped(stdout, l->o->pos[0]);
        putchar('/');
        print_escaped(stdout, f->part);
        fputs(": ", stdout);
        print_escaped(stdout, f->text);
        if (f->length != 0)
            printf(" (%" PRIu64 " bytes)", f->length);
        putchar('\n');
    }
    l->n++;
    l->nleft += k < 7 || strcmp(f->text + k - 7, "removed") != 0;
    return 0;
}

/* Nothing of what is in the folder can be completed but by the names of its files. */
static int refuse_apply(const opts *o)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, o->pos[0]);
    fputs(": --apply completes the update of one file: name that file; --discard removes new files "
          "that never took their names\n",
          stderr);
    return EXIT_USAGE;
}

static int count_left(void *user, const cip_finding *f)
{
    (void)f;
    ++*(size_t *)user;
    return 0;
}

static int recover_folder(const opts *o)
{
    listing l = { .o = o };
    cip_err err = CIP_ERR_INIT;
    size_t n = 0;
    if (o->apply &&
        cip_recover_folder(o->pos[0], CIP_RECOVER_LOOK, count_left, &n, &err) == CIP_OK && n != 0)
        return refuse_apply(o);
    cip_err_clear(&err); /* it is told below */
    if (o->json) {
        fputs("{\"folder\": ", stdout);
        print_json_string(stdout, o->pos[0]);
        fputs(", \"left\": [", stdout);
    }
    cip_status st = cip_recover_folder(
        o->pos[0], o->discard ? CIP_RECOVER_DISCARD : CIP_RECOVER_LOOK, print_left, &l, &err);
    if (o->json)
        puts("]}");
    else if (st == CIP_OK && l.n == 0) {
        print_escaped(stdout, o->pos[0]);
        puts(": nothing is left of writers that were killed");
    }
    if (st != CIP_OK)
        return complain(o->pos[0], &err);
    return finish_stdout(l.nleft != 0 ? EXIT_FINDINGS : EXIT_FINE);
}

/* A folder that has no update of its own to be recovered. */
static bool has_no_update(const char *path)
{
    struct stat st;
    cip_recover_info info = { .size = sizeof info };
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           (cip_recover(path, CIP_RECOVER_LOOK, &info, NULL) != CIP_OK || info.state == 0);
}

int cmd_recover(const opts *o)
{
    const char *path = o->pos[0];
    cip_err err = CIP_ERR_INIT;
    cip_recover_info info = { .size = sizeof info };
    if (o->apply && o->discard) {
        fputs("cippus: --apply and --discard cannot be combined\n", stderr);
        return EXIT_USAGE;
    }
    if (has_no_update(path))
        return recover_folder(o);
    int what = o->apply ? CIP_RECOVER_APPLY : o->discard ? CIP_RECOVER_DISCARD : CIP_RECOVER_LOOK;
    if (cip_recover(path, what, &info, &err) != CIP_OK)
        return complain(path, &err);
    (o->json ? print_json : print_text)(path, &info, what);
    return finish_stdout(what == CIP_RECOVER_LOOK && info.state != 0 ? EXIT_FINDINGS : EXIT_FINE);
}
