/* SPDX-License-Identifier: BSD-3-Clause
 * Crashing changes and judging what is left. */
#include "fault/fault_run.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/commit/commit.h"
#include "fault/fault_crash.h"

enum { STEPS = 16 };

typedef struct judge {
    const fault_scenario *s;
    const fault_effort *e;
    fault_result *out;
    char path[600];                           /* under which the file is looked at */
    char first[600];                          /* its name when it was changed */
    uint64_t allowed[STEPS + 1];              /* the old digest, then each step's */
    uint64_t was[STEPS + 1], tree[STEPS + 1]; /* these digests, and all that is there then */
    size_t ntree;
    size_t nallowed;
    uint64_t final;        /* what a log that ended must show */
    uint64_t new;          /* what the last step makes */
    int depth;             /* 1: crashed while being recovered */
    uint64_t before_crash; /* depth 1: what the image showed */
} judge;

static int hash_bytes(void *user, const void *p, size_t n)
{
    uint64_t *h = user;
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ b[i]) * UINT64_C(1099511628211);
    return 0;
}

static cip_status hash_array(const cip_array *a, uint64_t *h, cip_err *err)
{
    const char *path = cip_array_path(a);
    int ndim = cip_array_ndim(a);
    hash_bytes(h, path, strlen(path));
    hash_bytes(h, cip_array_shape(a), (size_t)ndim * sizeof(int64_t));
    return cip_export(a, NULL, "raw", hash_bytes, h, err);
}

bool fault_digest(const char *path, uint64_t *digest, char *why)
{
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    *digest = 0;
    cip_status st = cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, &err);
    if (st == CIP_ERR_NOT_FOUND && access(path, F_OK) != 0)
        return true;
    *digest = UINT64_C(14695981039346656037);
    if (st == CIP_OK && cip_file_tree(f) != NULL)
        st = cip_tree_print(f, NULL, NULL, hash_bytes, digest, &err);
    for (size_t i = 0; st == CIP_OK && i < cip_file_narray(f); i++)
        st = hash_array(cip_file_array(f, i), digest, &err);
    cip_file_close(f);
    if (st != CIP_OK)
        snprintf(why, 256, "%s: %.200s", cip_status_name(st), err.text);
    return st == CIP_OK;
}

/* --- members, whatever format they are of ----------------------------------------------------- */

static cip_status hash_io(cip_io *io, uint64_t *h, cip_err *err)
{
    uint8_t piece[4096];
    size_t n;
    hash_bytes(h, &io->size, sizeof io->size);
    for (uint64_t at = 0; at < io->size; at += n) {
        CIP_TRY(cip_io_read_some(io, at, piece, sizeof piece, &n, err));
        hash_bytes(h, piece, n);
    }
    return CIP_OK;
}

static cip_status hash_members(cip_io *io, const char *const *names, uint64_t *h, cip_err *err)
{
    for (; *names != NULL; names++) {
        cip_io *member;
        cip_status st = cip_io_open_member(io, *names, 0, &member, err);
        hash_bytes(h, *names, strlen(*names));
        if (st == CIP_ERR_NOT_FOUND)
            continue;
        if (st == CIP_OK)
            st = hash_io(member, h, err);
        cip_io_close(member);
        if (st != CIP_OK)
            return st;
    }
    return CIP_OK;
}

/* Names that are listed count, in whatever order folders come. */
typedef struct listing {
    cip_io *io;
    const char *path;
    uint64_t sum;
} listing;

static int hash_name(void *user, const char *name, bool is_folder)
{
    listing *l = user;
    char full[300];
    snprintf(full, sizeof full, "%s%s%s", l->path, l->path[0] != '\0' ? "/" : "", name);
    if (is_folder) { /* one that is empty is as good as none */
        listing inner = { .io = l->io, .path = full };
        cip_status st = cip_io_list(l->io, full, 0, hash_name, &inner, NULL);
        l->sum += inner.sum;
        return st != CIP_OK;
    }
    uint64_t h = UINT64_C(14695981039346656037);
    hash_bytes(&h, full, strlen(full));
    l->sum += h;
    return 0;
}

static cip_status hash_names(cip_io *io, uint64_t *h, cip_err *err)
{
    listing l = { .io = io, .path = "" };
    if (!cip_io_is_folder(io))
        return CIP_OK;
    cip_status st = cip_io_list(io, "", 0, hash_name, &l, err);
    hash_bytes(h, &l.sum, sizeof l.sum);
    return st;
}

/* As a reader sees it who finds a journal. */
static cip_status hash_set(cip_env *env, const char *path, const char *const *names, uint64_t *h,
                           cip_err *err)
{
    cip_io *io = NULL, *over = NULL;
    cip_journal_state state;
    char why[256] = "";
    cip_patch p = { .arena = { .mem = &env->mem } };
    cip_status st;
    CIP_GO(cip_io_open_path(env, path, &io, err));
    CIP_GO(cip_io_lock(io, err));
    CIP_GO(cip_journal_find(env, path, io, &state, &p, why, err));
    if (state == CIP_JOURNAL_ALIEN || state == CIP_JOURNAL_IGNORED || state == CIP_JOURNAL_LOST)
        CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%.200s", why));
    if (state == CIP_JOURNAL_APPLIES || state == CIP_JOURNAL_UNSEALED)
        CIP_GO(cip_io_open_overlay(io, &p, &over, err));
    if (!cip_io_is_folder(io))
        CIP_GO(hash_io(over != NULL ? over : io, h, err));
    CIP_GO(hash_names(over != NULL ? over : io, h, err));
    st = hash_members(over != NULL ? over : io, names, h, err);
done:
    cip_io_close(over);
    cip_io_close(io);
    cip_patch_clear(&p);
    return st;
}

bool fault_digest_set(const char *path, const char *const *names, uint64_t *digest, char *why)
{
    cip_env env;
    cip_err err = CIP_ERR_INIT;
    *digest = 0;
    if (access(path, F_OK) != 0)
        return true;
    *digest = UINT64_C(14695981039346656037);
    cip_status st = cip_env_init(&env, NULL, NULL, NULL, &err);
    if (st == CIP_OK)
        st = hash_set(&env, path, names, digest, &err);
    cip_env_clear(&env);
    if (st != CIP_OK)
        snprintf(why, 256, "%s: %.200s", cip_status_name(st), err.text);
    return st == CIP_OK;
}

static bool digest_of(const judge *j, const char *path, uint64_t *out, char *why)
{
    return j->s->members != NULL ? fault_digest_set(path, j->s->members, out, why)
                                 : fault_digest(path, out, why);
}

/* All names and contents there are, in no order. */
static uint64_t tree_digest(void)
{
    fault_disk d;
    uint64_t sum = 0;
    fault_disk_get(&d);
    for (size_t i = 0; i < d.nname; i++) {
        uint64_t h = UINT64_C(14695981039346656037);
        int file = d.name[i].file;
        hash_bytes(&h, d.name[i].name, strlen(d.name[i].name) + 1);
        hash_bytes(&h, d.file[file].ptr, d.file[file].n);
        sum += h;
    }
    fault_disk_clear(&d);
    return sum;
}

/* Copies the folder as it is. */
static void keep(const judge *j, const char *to)
{
    char command[4000];
    snprintf(command, sizeof command,
             "mkdir -p \"$(dirname '%s')\" && cp -a \"$(dirname '%s')\" '%s'", to, j->path, to);
    if (system(command) != 0)
        fputs("the image could not be kept\n", stderr);
}

static bool fail(judge *j, const char *what, const char *why)
{
    snprintf(j->out->text, sizeof j->out->text, "point %zu, image %zu%s: %s %s", j->out->npoint,
             j->out->nimage, j->depth != 0 ? " (in recovery)" : "", what, why);
    if (getenv("CIP_FAULT_KEEP") != NULL)
        keep(j, getenv("CIP_FAULT_KEEP"));
    return false;
}

static bool is_allowed(const judge *j, uint64_t digest)
{
    for (size_t i = 0; i < j->nallowed; i++)
        if (j->allowed[i] == digest)
            return true;
    return false;
}

static bool name_beside(const char *of, const char *suffix, char path[1024])
{
    const char *base = strrchr(of, '/') + 1;
    struct stat st;
    if (stat(of, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(path, 1024, "%s/%s", of, suffix);
    else
        snprintf(path, 1024, "%.*s.%s%s", (int)(base - of), of, base, suffix);
    return access(path, F_OK) == 0;
}

/* `sealed`: a journal may be, and what waits for it. What the file did not yet point to may be left
 * under its first name, about nothing. */
static bool none_left(const judge *j, bool sealed, char *name)
{
    static const char *const ends[] = { ".cip-journal", ".cip-tmp", ".cip-new" };
    char path[1024];
    bool journal = name_beside(j->path, ends[0], path) || name_beside(j->first, ends[0], path);
    if (journal && !sealed) {
        snprintf(name, 256, "%.255s", path);
        return false;
    }
    for (size_t i = 1; i < 3; i++)
        if (name_beside(j->path, ends[i], path) && !(journal && i == 2)) {
            snprintf(name, 256, "%.255s", path);
            return false;
        }
    return true;
}

/* Whether of the members just that of what is shown is there. */
static bool is_member_right(const judge *j, uint64_t digest)
{
    char path[1024];
    for (int i = 0; i < 2 && j->s->member[i] != NULL; i++) {
        snprintf(path, sizeof path, "%.*s%s", (int)(strrchr(j->first, '/') + 1 - j->first),
                 j->first, j->s->member[i]);
        if ((access(path, F_OK) == 0) != ((digest == j->new) == (i == 1)))
            return false;
    }
    return true;
}

/* Whether what lies there is that of what is shown, and nothing else. */
static bool is_tree_right(const judge *j, uint64_t shown)
{
    uint64_t now = j->s->members != NULL ? tree_digest() : 0;
    for (size_t i = 0; i < j->ntree; i++)
        if (j->was[i] == shown && j->tree[i] == now)
            return true;
    return j->s->members == NULL;
}

static int see_left(void *user, const cip_finding *f)
{
    (void)user;
    (void)f;
    return 0;
}

/* What the next writer does first; and of sets, what is left of new folders goes. */
static cip_status recover(const judge *j, char *why)
{
    cip_env env;
    cip_commit *c;
    cip_err err = CIP_ERR_INIT;
    cip_change_options o = { .size = sizeof o, .level = j->s->level };
    cip_status st = cip_env_init(&env, NULL, NULL, NULL, &err);
    if (st != CIP_OK)
        return st;
    st = cip_commit_begin(&env, j->path, &o, &c, &err);
    cip_commit_end(c);
    cip_env_clear(&env);
    if (st == CIP_OK && j->s->members != NULL)
        st = cip_recover_folder(fault_folder(), CIP_RECOVER_DISCARD, see_left, NULL, &err);
    snprintf(why, 256, "%s", err.text);
    return st;
}

static bool crash_recovery(judge *j, const fault_log *log, uint64_t shows);

/* Whether another name of the file shows the same. */
static bool is_under_first(judge *j, uint64_t digest, char *why)
{
    uint64_t seen;
    return j->s->linked == NULL || access(j->first, F_OK) != 0 ||
           (digest_of(j, j->first, &seen, why) && seen == digest);
}

/* The folder as it is: read, recovered, read. */
static bool look(judge *j, bool done, bool again)
{
    uint64_t shown, settled;
    char why[256] = "";
    if (!digest_of(j, j->path, &shown, why))
        return fail(j, "cannot be read:", why);
    if (!is_allowed(j, shown))
        return fail(j, "shows neither old nor new", "");
    if (done && shown != j->final)
        return fail(j, "is not what the commit promised", "");
    if (shown == 0)
        return true;
    if (!is_under_first(j, shown, why))
        return fail(j, "shows something else under its first name", why);
    fault_log log;
    fault_start(&log);
    cip_status st = recover(j, why);
    fault_stop();
    bool ok = true;
    if (st != CIP_OK)
        ok = fail(j, "cannot be recovered:", why);
    else if (!digest_of(j, j->path, &settled, why))
        ok = fail(j, "cannot be read after recovery:", why);
    else if (settled != shown || !is_under_first(j, shown, why))
        ok = fail(j, "shows something else after recovery", why);
    else if (!none_left(j, false, why))
        ok = fail(j, "is recovered, but left", why);
    else if (!is_member_right(j, settled))
        ok = fail(j, "is recovered, but a file beside is left or missing", "");
    else if (!is_tree_right(j, settled))
        ok = fail(j, "is recovered, but the folder holds something else", "");
    else if (again && log.n != 0)
        ok = crash_recovery(j, &log, shown);
    fault_log_clear(&log);
    return ok;
}

static bool on_recovery_image(void *user, const fault_disk *d, bool done)
{
    judge *j = user;
    j->out->nrecovery++;
    fault_disk_put(d);
    return look(j, done, false);
}

static bool crash_recovery(judge *j, const fault_log *log, uint64_t shows)
{
    judge inner = *j;
    inner.depth = 1;
    inner.allowed[0] = inner.final = shows; /* it had been decided */
    inner.nallowed = 1;
    fault_crash c = {
        .power = j->s->level == CIP_LEVEL_POWER,
        .nsubset = j->e->rec_nsubset,
        .ntorn = j->e->rec_ntorn,
        .seed = j->out->nimage,
        .image = on_recovery_image,
        .user = &inner,
    };
    return fault_crash_run(&c, log);
}

/* The image with the file under its other name. */
static bool look_under(judge *j, const fault_disk *d, const char *name, bool done)
{
    fault_disk other;
    bool ok = true;
    judge inner = *j;
    const char *first = strrchr(j->first, '/') + 1;
    size_t at = 0, has = 0;
    fault_disk_copy(d, &other);
    while (at < other.nname && strcmp(other.name[at].name, first) != 0)
        at++;
    while (has < other.nname && strcmp(other.name[has].name, name) != 0)
        has++;
    if (at < other.nname) {
        if (has == other.nname)
            has = j->s->renamed != NULL ? at : other.nname++;
        snprintf(other.name[has].name, FAULT_NAME, "%s", name);
        other.name[has].file = other.name[at].file;
        snprintf(inner.path, sizeof inner.path, "%.*s%s", (int)(first - j->first), j->first, name);
        fault_disk_put(&other);
        ok = look(&inner, done, j->out->nimage % j->e->every == 0);
    }
    fault_disk_clear(&other);
    return ok;
}

static bool on_image(void *user, const fault_disk *d, bool done)
{
    judge *j = user;
    const char *other = j->s->renamed != NULL ? j->s->renamed : j->s->linked;
    const char *images = getenv("CIP_FAULT_IMAGES");
    char to[1024];
    j->out->nimage++;
    fault_disk_put(d);
    if (images != NULL) {
        snprintf(to, sizeof to, "%s/%s/%06zu%s", images, j->s->name, j->out->nimage,
                 done ? "-done" : "");
        keep(j, to);
    }
    return look(j, done, j->out->nimage % j->e->every == 0) &&
           (other == NULL || look_under(j, d, other, done));
}

/* --- the scenario ----------------------------------------------------------------------------- */

static bool open_folder(judge *j, char *dir)
{
    struct stat st;
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] == '\0')
        tmp = stat("/dev/shm", &st) == 0 && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(dir, 512, "%.400s/cippus-fault-XXXXXX", tmp);
    if (mkdtemp(dir) == NULL)
        return fail(j, "no folder in", tmp);
    snprintf(j->path, sizeof j->path, "%.400s/%.100s", dir, j->s->file);
    memcpy(j->first, j->path, sizeof j->first);
    fault_watch(dir);
    return true;
}

static bool close_folder(const char *dir, bool ok)
{
    fault_empty();
    rmdir(dir);
    return ok;
}

static int steps(const fault_scenario *s)
{
    return s->nstep != 0 ? s->nstep : 1;
}

/* The digests there may be: of the old file and after each step. */
static bool learn(judge *j, const char *dir)
{
    char why[256];
    for (int i = 0; i <= steps(j->s); i++) {
        cip_err err = CIP_ERR_INIT;
        fault_empty();
        j->s->make(dir);
        if (i != 0 && j->s->change(j->path, j->s->level, i, &err) != CIP_OK)
            return fail(j, "the change fails:", err.text);
        if (!digest_of(j, j->path, &j->allowed[i], why))
            return fail(j, "cannot be read:", why);
        j->was[i] = j->allowed[i];
        j->tree[i] = tree_digest();
        j->ntree++;
    }
    j->nallowed = (size_t)steps(j->s) + 1;
    j->new = j->final = j->allowed[j->nallowed - 1];
    if (!j->s->quiet && j->final == j->allowed[0])
        return fail(j, "the change changes nothing", "");
    return true;
}

static bool crash(judge *j, const char *dir)
{
    fault_log log;
    cip_err err = CIP_ERR_INIT;
    if (!learn(j, dir))
        return false;
    fault_empty();
    j->s->make(dir);
    fault_start(&log);
    cip_status st = j->s->change(j->path, j->s->level, steps(j->s), &err);
    fault_stop();
    fault_crash c = {
        .power = j->s->level == CIP_LEVEL_POWER,
        .ordered = j->s->ordered,
        .nsubset = j->e->nsubset,
        .ntorn = j->e->ntorn,
        .seed = 1,
        .image = on_image,
        .user = j,
    };
    bool ok = st == CIP_OK ? fault_crash_run(&c, &log) : fail(j, "the change fails:", err.text);
    j->out->npoint = c.npoint;
    fault_log_clear(&log);
    return ok;
}

bool fault_scenario_crash(const fault_scenario *s, const fault_effort *e, fault_result *out)
{
    judge j = { .s = s, .e = e, .out = out };
    char dir[512];
    memset(out, 0, sizeof *out);
    return open_folder(&j, dir) && close_folder(dir, crash(&j, dir));
}

/* One run in which operation n fails. *went: it was reached. */
static bool fail_once(judge *j, const char *dir, size_t n, bool full, bool *went)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t shown;
    char why[256] = "";
    fault_empty();
    j->s->make(dir);
    fault_disk start;
    fault_disk_get(&start); /* gives the files their numbers */
    fault_disk_clear(&start);
    fault_fail(n, full ? ENOSPC : EIO, full);
    cip_status st = j->s->change(j->path, j->s->level, steps(j->s), &err);
    *went = fault_count() >= n;
    fault_fail(0, 0, false);
    j->out->nimage++;
    if (!digest_of(j, j->path, &shown, why))
        return fail(j, "cannot be read after a failure:", why);
    if (!is_allowed(j, shown))
        return fail(j, "shows neither old nor new after", err.text);
    if (st == CIP_OK && shown != j->final)
        return fail(j, "is not what the commit promised", "");
    if (st != CIP_OK && err.text[0] == '\0')
        return fail(j, "fails without a word", "");
    if (st != CIP_OK && full && !none_left(j, true, why)) /* room is only needed to write */
        return fail(j, "left after a full disk:", why);
    return look(j, false, false);
}

bool fault_scenario_fail(const fault_scenario *s, fault_result *out)
{
    judge j = { .s = s, .out = out };
    char dir[512];
    memset(out, 0, sizeof *out);
    if (!open_folder(&j, dir))
        return false;
    bool ok = learn(&j, dir);
    for (int full = 0; full < 2; full++) {
        bool went = true;
        for (size_t n = 1; ok && went; n++) {
            out->npoint = n;
            ok = fail_once(&j, dir, n, full == 1, &went);
        }
    }
    return close_folder(dir, ok);
}
