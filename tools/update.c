/* SPDX-License-Identifier: BSD-3-Clause
 * The begin and end of commands that change a file in place. */
#include "update.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "suggest.h"

/* What a lossy chain's largest error is, losses, and what a value is stored as; on standard error,
 * so that --json stays what it is. */
static int update_note(void *user, const cip_finding *f)
{
    const opts *o = user;
    char text[256];
    cip_finding told = *f;
    hide_progress(o->bar);
    if (f->severity == CIP_NOTE && f->code == CIP_ERR_TYPE) {
        snprintf(text, sizeof text, "%s; --string keeps the text", f->text);
        told.text = text;
    }
    print_told(o->pos[0], f->severity == CIP_NOTE ? "" : "loss: ", &told);
    return 0;
}

static int update_progress(void *user, uint64_t done, uint64_t total)
{
    return show_progress(((const opts *)user)->bar, done, total);
}

void update_hint(const opts *o, const char *input, const cip_err *err)
{
    struct stat a, b;
    if (err->code == CIP_ERR_BUSY && stat(o->pos[0], &a) == 0 && stat(input, &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        fputs("cippus: hint: the input is the file itself; copy its array to another file first\n",
              stderr);
}

int update_start(const opts *o, cip_change **edit)
{
    cip_change_options e = { .size = sizeof e };
    cip_err err = CIP_ERR_INIT;
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    e.checksum = opts_checksum(o);
    e.open = &open;
    e.level = opts_level(o);
    e.codec = o->codec;
    e.byteorder = o->byteorder != NULL ? o->byteorder : "little"; /* as cat --to raw gives them */
    e.format_options = o->format_options;
    e.accept_loss = o->accept_loss;
    e.by_position = o->by_position;
    e.on_note = update_note;
    e.progress = update_progress;
    o->bar->unit = "chunks";
    e.user = (void *)(uintptr_t)o;
    e.tree_slack = opts_tree_slack(o);
    e.history = o->history;
    e.break_links = o->break_links;
    e.wait = o->wait;
    if (cip_change_open(o->pos[0], &e, edit, &err) != CIP_OK)
        return complain(o->pos[0], &err);
    return EXIT_FINE;
}

int update_give_up(cip_change *edit, int rc)
{
    cip_change_abort(&edit);
    return rc;
}

/* The plan as lines of a JSON list. */
typedef struct json_lines {
    char *line;
    size_t len, cap;
    bool any, failed;
} json_lines;

static void json_line(json_lines *j)
{
    if (j->line == NULL)
        return;
    j->line[j->len] = '\0';
    fputs(j->any ? ",\n " : "", stdout);
    print_json_string(stdout, j->line);
    j->any = true;
    j->len = 0;
}

static int add_json(void *user, const void *bytes, size_t n)
{
    json_lines *j = user;
    const char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        if (j->len + 1 >= j->cap) {
            size_t cap = j->cap == 0 ? 256 : 2 * j->cap;
            char *more = realloc(j->line, cap);
            if (more == NULL)
                return 1;
            j->line = more;
            j->cap = cap;
        }
        if (p[i] == '\n')
            json_line(j);
        else
            j->line[j->len++] = p[i];
    }
    return 0;
}

static cip_status print_plan(const opts *o, cip_change *edit, const char *line, bool within,
                             cip_err *err)
{
    json_lines j = { 0 };
    if (!o->json && line != NULL)
        puts(line);
    if (!o->json)
        return cip_change_plan(edit, write_stdout, NULL, err);
    fputs(within ? ", \"plan\": [" : "{\"plan\": [", stdout);
    if (line != NULL && (add_json(&j, line, strlen(line)) != 0 || add_json(&j, "\n", 1) != 0))
        j.len = 0;
    cip_status st = cip_change_plan(edit, add_json, &j, err);
    if (j.len != 0)
        json_line(&j);
    puts("]}");
    free(j.line);
    return st;
}

/* `line`: in front of the plan; `within`: of an object of JSON that is closed here. */
static int finish(const opts *o, cip_change *edit, cip_status st, cip_err *err, const char *line,
                  bool within)
{
    cip_err ours = CIP_ERR_INIT;
    if (within && o->json && (st != CIP_OK || !o->dry_run))
        puts("}");
    if (st != CIP_OK) {
        cip_change_abort(&edit);
        suggest_path_in(o->pos[0], o, o->npos > 1 ? o->pos[1] : NULL, false, err);
        return complain(o->pos[0], err);
    }
    if (o->dry_run) {
        st = print_plan(o, edit, line, within && o->json, &ours);
        cip_change_abort(&edit);
    } else {
        st = cip_change_commit(&edit, &ours);
        hide_progress(o->bar);
        if (st == CIP_ERR_BUSY)
            cip_change_abort(&edit);
    }
    if (st != CIP_OK)
        *err = ours;
    return finish_stdout(st == CIP_OK ? EXIT_FINE : complain(o->pos[0], err));
}

int update_finish(const opts *o, cip_change *edit, cip_status st, cip_err *err)
{
    return finish(o, edit, st, err, NULL, false);
}

int update_finish_saying(const opts *o, cip_change *edit, cip_status st, cip_err *err,
                         const char *line)
{
    return finish(o, edit, st, err, line, false);
}

int update_finish_object(const opts *o, cip_change *edit, cip_status st, cip_err *err)
{
    return finish(o, edit, st, err, NULL, true);
}
