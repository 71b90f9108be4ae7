/* SPDX-License-Identifier: BSD-3-Clause
 * Opening: bytes, an unfinished update found beside them, the format by its probes, its layout,
 * and the ways to find an array again. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/commit/commit.h"
#include "core/commit/memory_file.h"
#include "core/foreign.h"
#include "core/foreign_lock.h"
#include "core/handle.h"
#include "core/checkpoints_file.h"
#include "base/sized.h"
#include "io/file_io.h"
#include "io/remote/url.h"
#include "space/read/window.h"

enum { PROBE_BYTES = 4096, OPEN_TRIES = 4, LOCK_TRIES = 2000 /* of a millisecond each */ };

static cip_status take_roots(cip_file *f, const char *const *root, size_t n, cip_err *err)
{
    if (n != 0 && root == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %zu roots, found NULL", n);
    for (bool ended = n == 0 && root != NULL; ended && root[n] != NULL;)
        n++; /* a list that NULL ends */
    CIP_TRY(CIP_NEW(&f->env.mem, &f->root, n, err));
    for (; f->nroot < n; f->nroot++) {
        char *copy;
        CIP_TRY(cip_mem_copy(&f->env.mem, root[f->nroot], strlen(root[f->nroot]), &copy, err));
        f->root[f->nroot] = copy;
    }
    return CIP_OK;
}

static cip_status handle_new(const cip_open_options *o, cip_file **out, cip_err *err)
{
    cip_file *f;
    CIP_TRY(cip_sized_value("cip_open_options.check", o->check, CIP_CHECK_OFF, err));
    CIP_TRY(cip_sized_value("cip_open_options.salvage", o->salvage, CIP_SALVAGE_IN_ORDER, err));
    CIP_TRY(cip_sized_value("cip_open_options.reserved", o->reserved, 0, err));
    for (size_t i = 0; i < sizeof o->unused; i++)
        CIP_TRY(cip_sized_value("cip_open_options.unused", o->unused[i] | o->unused_2[i], 0, err));
    CIP_TRY(cip_mem_handle(o->allocator, sizeof *f, (void **)&f, err));
    cip_status st = cip_env_init(&f->env, o->limits, o->allocator, NULL, err);
    if (st != CIP_OK) {
        cip_mem_handle_free(o->allocator, f);
        return st;
    }
    f->became = -1;
    f->by_path.mem = &f->env.mem;
    f->offset = o->offset;
    f->cache.nbytes = o->cache_nbytes;
    f->flags = (o->allow_external ? CIP_OPEN_EXTERNAL : 0u) | (o->force ? CIP_OPEN_FORCE : 0u) |
               (o->check == CIP_CHECK_ON ? CIP_OPEN_CHECK : 0u) |
               (o->salvage != CIP_SALVAGE_NONE ? CIP_OPEN_SALVAGE : 0u) |
               (o->salvage == CIP_SALVAGE_IN_ORDER ? CIP_OPEN_IN_ORDER : 0u) |
               (o->map ? CIP_OPEN_MAPPED : 0u) | (o->no_link ? CIP_OPEN_NO_LINK : 0u);
    *out = f;
    st = cip_pool_take(o->threads, &f->own_pool, &f->env.pool, err);
    if (st == CIP_OK)
        st = cip_app_codecs_take(&f->env, o->codecs, o->ncodec, &f->codec, err);
    if (st == CIP_OK && o->cache != NULL)
        st = cip_mem_copy(&f->env.mem, o->cache, strlen(o->cache), &f->cache_folder, err);
    f->cache.folder = f->cache_folder;
    if (st == CIP_OK)
        st = take_roots(f, o->roots, o->nroot, err);
    if (st != CIP_OK) {
        cip_file_close(f);
        *out = NULL;
    }
    return st;
}

void cip_file_shut(cip_file *f)
{
    cip_mem *mem = &f->env.mem;
    cip_snapshot *older = f->older;
    cip_mem_put(mem, f->by_node);
    cip_strmap_clear(&f->by_path);
    cip_layout_free(f->layout);
    cip_io_close(f->part);
    cip_io_close(f->overlay);
    if (f->patch != NULL)
        cip_patch_clear(f->patch);
    cip_mem_put(mem, f->patch);
    cip_io_close(f->io);
    f->now = (cip_snapshot){ .by_path = { .mem = mem }, .older = older };
}

void cip_file_close(cip_file *f)
{
    if (f == NULL)
        return;
    cip_appenders_end(f);
    cip_checkpoints_file_save(f);
    cip_mem_put(&f->env.mem, f->checkpoints_path);
    cip_file_drop_old(f);
    cip_file_shut(f);
    cip_app_codecs_drop(&f->env, &f->codec);
    for (size_t i = 0; i < f->nroot; i++)
        cip_mem_put(&f->env.mem, (void *)(uintptr_t)f->root[i]);
    cip_mem_put(&f->env.mem, f->root);
    cip_mem_put(&f->env.mem, f->cache_folder);
    cip_env_clear(&f->env);
    cip_pool_free(f->own_pool);
    cip_mem_handle_free(&f->env.mem.from, f);
}

/* Other formats and texts are named; of the rest the first bytes are shown. */
static cip_status no_format(const char *path, cip_bytes head, cip_err *err)
{
    char found[64] = "";
    const char *hint, *name = cip_foreign_name(head, &hint);
    size_t n = 0, letters = 0;
    if (name == NULL || memcmp(head.ptr, "PK", 2) == 0) /* several formats are zip archives */
        CIP_TRY(cip_format_check_name(NULL, path, err));
    if (name != NULL)
        return cip_fail(err, CIP_ERR_FORMAT, 0, "this is %s, which is not read%s", name, hint);
    while (letters < head.len && head.ptr[letters] >= ' ' && head.ptr[letters] < 0x7f)
        letters++;
    if (letters >= 4)
        return cip_fail(err, CIP_ERR_FORMAT, 0,
                        "expected the start of a known format, found the text '%.*s'",
                        (int)(letters < 24 ? letters : 24), (const char *)head.ptr);
    for (size_t i = 0; i < head.len && i < 8; i++)
        n += (size_t)snprintf(found + n, sizeof found - n, " %02x", head.ptr[i]);
    return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the start of a known format, found %s%s",
                    head.len == 0 ? "an empty file" : "the bytes", found);
}

static cip_io *shown(const cip_file *f)
{
    return f->part != NULL ? f->part : f->overlay != NULL ? f->overlay : f->io;
}

/* The layout is made first: of a far file it keeps the bytes that are looked at. */
static cip_status choose_format(cip_file *f, const char *wanted, cip_err *err)
{
    cip_io *io = shown(f);
    CIP_TRY(cip_layout_new(&f->env, io, &f->layout, err));
    if (wanted != NULL) {
        f->format = cip_format_find(wanted);
        if (f->format == NULL) {
            CIP_TRY(cip_format_check_name(wanted, NULL, err));
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no format is named '%s'", wanted);
        }
        f->forced = true;
        return CIP_OK;
    }
    uint8_t *bytes;
    size_t n;
    CIP_TRY(cip_arena_get(&f->layout->arena, PROBE_BYTES, (void **)&bytes, err));
    CIP_TRY(cip_space_read_some(f->layout, f->layout->file, 0, bytes, PROBE_BYTES, &n, err));
    const cip_bytes head = { bytes, n };
    f->layout->head = head;
    /* The highest probe wins; the extension decides between equals. */
    const cip_format *best = NULL, *by_name = cip_format_of_name(io->name);
    int high = 0;
    if (by_name != NULL && io->far && io->folder) { /* each probe is a request or two */
        high = by_name->probe(io, head);
        best = high > 0 ? by_name : NULL;
    }
    for (size_t i = 0; cip_formats[i] != NULL; i++) {
        if (high == 100 && (cip_formats[i] != by_name || best == by_name))
            continue; /* it cannot win, and some probes read more than the head */
        int p = cip_formats[i]->probe(io, head);
        if (p > high || (p == high && p > 0 && cip_formats[i] == by_name)) {
            high = p;
            best = cip_formats[i];
        }
    }
    if (high < 100) /* what begins as one of them is not taken for what it may be besides */
        CIP_TRY(cip_format_check_file(io, head, err));
    f->format = best;
    if (f->format == NULL && cip_io_is_folder(io))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' is a directory, not a file, and of no known format", io->name);
    return f->format != NULL ? CIP_OK : no_format(io->name, head, err);
}

static int by_address(const void *a, const void *b)
{
    const cip_node_entry *x = a, *y = b;
    if (x->node != y->node)
        return (uintptr_t)x->node < (uintptr_t)y->node ? -1 : 1;
    return x->array < y->array ? -1 : x->array > y->array;
}

cip_status cip_file_index_arrays(cip_file *f, cip_err *err)
{
    size_t n = f->layout->narray;
    CIP_TRY(CIP_NEW(&f->env.mem, &f->by_node, n, err));
    for (size_t i = 0; i < n; i++) {
        const cip_array *a = f->layout->array[i];
        cip_bytes path = { (const uint8_t *)a->path, strlen(a->path) };
        if (cip_strmap_get(&f->by_path, path) == SIZE_MAX)
            CIP_TRY(cip_strmap_put(&f->by_path, path, i, NULL, err));
        if (a->node != NULL)
            f->by_node[f->nnode++] = (cip_node_entry){ a->node, i };
    }
    qsort(f->by_node, f->nnode, sizeof *f->by_node, by_address);
    return CIP_OK;
}

const cip_array *cip_file_array_of_node(const cip_file *f, const cip_node *node)
{
    size_t low = 0, high = f->nnode;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if ((uintptr_t)f->by_node[mid].node < (uintptr_t)node)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < f->nnode && f->by_node[low].node == node)
        return f->layout->array[f->by_node[low].array];
    return NULL;
}

static cip_status open_layout(cip_file *f, cip_err *err)
{
    f->layout->flags = f->flags;
    f->layout->root = f->root;
    f->layout->nroot = f->nroot;
    f->layout->format = f->format->name;
    f->warned = f->env.warnings.last;
    CIP_TRY(f->format->open(f->layout, err));
    f->layout->head = (cip_bytes){ 0 }; /* it may change from now on */
    if (f->nroot != 0 && !f->layout->uses_roots)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a BLZ array in superchunks, which alone can have other folders "
                        "(shards), found %s",
                        f->format->title);
    return cip_file_index_arrays(f, err);
}

/* The patch, whose bytes are f's from then on, over the file. */
static cip_status show_patched(cip_file *f, cip_patch *patch, cip_err *err)
{
    CIP_TRY(CIP_NEW(&f->env.mem, &f->patch, 1, err));
    *f->patch = *patch;
    *patch = (cip_patch){ .arena = { .mem = &f->env.mem } };
    return cip_io_open_overlay(f->io, f->patch, &f->overlay, err);
}

/* A sealed journal of an update that was cut off: its changes are shown, nothing is written. */
static cip_status show_journal(cip_file *f, cip_journal_state state, cip_patch *patch,
                               const char *why, cip_err *err)
{
    switch (state) {
    case CIP_JOURNAL_APPLIES:
        cip_warn(&f->env, CIP_OK, CIP_NO_OFFSET, "journal",
                 "an update was interrupted; the file is shown as cip_recover will complete it");
        return show_patched(f, patch, err);
    case CIP_JOURNAL_UNSEALED:
        cip_warn(
            &f->env, CIP_OK, CIP_NO_OFFSET, "journal",
            "an update was interrupted, or is being written; the file is shown as it was before");
        return show_patched(f, patch, err);
    case CIP_JOURNAL_ALIEN:
        cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                 "the journal beside it does not belong to this file (%.80s); see cip_recover",
                 why);
        return cip_fail_in(err, CIP_ERR_CORRUPT, "journal");
    case CIP_JOURNAL_IGNORED:
        cip_warn(&f->env, CIP_OK, CIP_NO_OFFSET, "journal", "%s; it is ignored", why);
        return CIP_OK;
    case CIP_JOURNAL_LOST:
        CIP_TRY(cip_io_unwritten(f->io, err)); /* whose writer may be at it */
        cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                 "an update of the file was interrupted: %.120s; see cip_recover", why);
        return cip_fail_in(err, CIP_ERR_CORRUPT, "journal");
    case CIP_JOURNAL_SETTLED:
    case CIP_JOURNAL_NONE:
        break;
    }
    return CIP_OK;
}

/* Shares the lock file of other programs; what is none is passed over, as it cannot be locked. */
static cip_status share_foreign(cip_file *f, const char *path, cip_lock_file *out, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    char real[PATH_MAX];
    const char *at = cip_io_followed(f->io, path, real);
    if (cip_foreign_lock_open(AT_FDCWD, at, cip_io_is_folder(f->io), false, out, &own) != CIP_OK)
        cip_warn(&f->env, CIP_OK, CIP_NO_OFFSET, "lock", "%s; it is ignored", own.text);
    if (out->fd == -1 || cip_lock_file_take(out, true) != CIP_LOCK_TAKEN) {
        cip_lock_file_note(out);
        return CIP_OK;
    }
    cip_lock_file_close(out);
    return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                    "another program is changing the file and holds its lock");
}

/* Formats whose other programs know no locks of ours: no read may give a mixture. What is read of a
 * file while it is opened is believed at the end, all at once. */
static cip_status open_watched(cip_file *f, const cip_lock_file *lock, cip_err *err)
{
    const bool folder = cip_io_is_folder(f->io); /* whose members are watched as it is */
    if (folder)
        CIP_TRY(cip_io_watch(f->io, lock, err));
    cip_status st = open_layout(f, err), watching = CIP_OK;
    if (!folder)
        watching = cip_io_watch(f->io, lock, st == CIP_OK ? err : NULL);
    cip_err own = CIP_ERR_INIT;
    cip_status now = watching == CIP_OK ? cip_io_unchanged(f->io, &own) : CIP_OK;
    if (now == CIP_OK)
        return st == CIP_OK ? watching : st;
    return cip_err_give(err, &own, now);
}

/* A file that was appended to another one. */
static cip_status take_part(cip_file *f, cip_err *err)
{
    cip_io *io = f->overlay != NULL ? f->overlay : f->io;
    if (f->offset == 0)
        return CIP_OK;
    if (cip_io_is_folder(io) || f->offset >= io->size)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a file that begins at byte %" PRIu64 " of '%.100s', found %s",
                        f->offset, io->name, cip_io_is_folder(io) ? "a folder" : "its end");
    return cip_io_open_part(io, f->offset, io->size - f->offset, &f->part, err);
}

/* The readers' byte keeps out who writes over bytes in place; a writer who does that just now is
 * waited for. Its journal alone would not do: it says nothing of the update after it. */
static cip_status open_once(cip_file *f, const char *path, const char *format, cip_err *err)
{
    cip_lock_file lock;
    cip_journal_state state;
    cip_patch patch = { .arena = { .mem = &f->env.mem } };
    char why[256] = "";
    CIP_TRY((f->flags & CIP_OPEN_NO_LINK) != 0 ? cip_io_open_no_link(&f->env, path, &f->io, err)
                                               : cip_io_open_path(&f->env, path, &f->io, err));
    CIP_TRY(cip_io_lock(f->io, err));
    if ((f->flags & CIP_OPEN_MAPPED) != 0)
        cip_io_read_mapped(f->io);
    CIP_TRY(share_foreign(f, path, &lock, err));
    cip_io_note_members(f->io, true);
    cip_status st = cip_journal_find(&f->env, path, f->io, &state, &patch, why, err);
    if (st == CIP_OK)
        st = show_journal(f, state, &patch, why, err);
    cip_patch_clear(&patch);
    if (st == CIP_OK)
        st = take_part(f, err);
    if (st == CIP_OK)
        st = choose_format(f, format, err);
    const bool watched = st == CIP_OK && f->format->lock_file != NULL && f->overlay == NULL;
    if (!watched)
        cip_lock_file_close(&lock);
    if (st == CIP_OK)
        st = watched ? open_watched(f, &lock, err) : open_layout(f, err);
    cip_io_watch_let(f->io);
    cip_io_note_members(f->io, false);
    return st;
}

/* Whether what was opened may be a mixture: an update ended meanwhile. An overlay shows the same
 * whatever is written, if it could be opened at all; of what is watched it is known. */
static bool is_mixed(cip_file *f, cip_status st)
{
    return (st != CIP_OK || (f->overlay == NULL && !f->io->watched)) &&
           (f->io != NULL && cip_io_unchanged(f->io, NULL) != CIP_OK);
}

/* No other program of this machine writes there: no locks, no journals. */
static cip_status open_remote(cip_file *f, const char *url, const char *format, cip_err *err)
{
    cip_io *io;
    CIP_TRY(cip_io_open_url(&f->env, url, &f->cache, &io, err));
    return cip_file_open_over(f, io, format, err);
}

cip_status cip_file_open_path(cip_file *f, const char *path, const char *format, cip_err *err)
{
    if (cip_url_is_remote(path))
        return open_remote(f, path, format, err);
    const struct timespec pause = { .tv_nsec = 1000000 };
    const size_t nwarning = cip_report_kept(&f->env.warnings);
    for (int mixed = 0, busy = 0;;) {
        cip_err own = CIP_ERR_INIT; /* a try that failed leaves no trace */
        cip_status st = open_once(f, path, format, &own);
        bool again =
            st == CIP_ERR_BUSY ? busy++ < LOCK_TRIES : is_mixed(f, st) && ++mixed < OPEN_TRIES;
        if (!again && st != CIP_OK)
            cip_err_pass(err, &own);
        if (!again) /* one that goes on growing is shown as it was */
            return st;
        cip_file_shut(f);
        cip_report_cut(&f->env.warnings, nwarning);
        if (st == CIP_ERR_BUSY)
            nanosleep(&pause, NULL);
    }
}

cip_status cip_file_prepare(const cip_open_options *opts, cip_file **out, cip_err *err)
{
    cip_open_options o;
    *out = NULL;
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, opts, &o, err));
    return handle_new(&o, out, err);
}

cip_status cip_file_prepare_like(cip_file *like, cip_file **out, cip_err *err)
{
    const cip_codec_methods **list;
    *out = NULL;
    CIP_TRY(CIP_NEW(&like->env.mem, &list, like->env.ncodec, err));
    for (size_t i = 0; i < like->env.ncodec; i++)
        list[i] = &like->env.codec[i];
    const cip_open_options o = {
        .size = sizeof o,
        .limits = &like->env.limits,
        .allocator = &like->env.mem.from,
        .threads =
            like->own_pool == NULL && like->env.pool != NULL ? 0 : cip_pool_threads(like->own_pool),
        .allow_external = (like->flags & CIP_OPEN_EXTERNAL) != 0,
        .force = (like->flags & CIP_OPEN_FORCE) != 0,
        .check = (like->flags & CIP_OPEN_CHECK) != 0 ? CIP_CHECK_ON : CIP_CHECK_OFF,
        .codecs = list,
        .ncodec = like->env.ncodec,
        .roots = like->nroot != 0 ? like->root : NULL,
        .nroot = like->nroot,
        .cache = like->cache_folder,
        .cache_nbytes = like->cache.nbytes,
    };
    cip_status st = handle_new(&o, out, err);
    cip_mem_put(&like->env.mem, list);
    return st;
}

cip_status cip_file_open_over(cip_file *f, cip_io *io, const char *format, cip_err *err)
{
    f->io = io;
    CIP_TRY(take_part(f, err));
    CIP_TRY(choose_format(f, format, err));
    return open_layout(f, err);
}

static cip_status finish_open(cip_file *f, cip_status st, cip_file **out)
{
    if (st == CIP_OK)
        *out = f;
    else
        cip_file_close(f);
    return st;
}

cip_status cip_open(const char *path, const cip_open_options *opts, cip_file **file, cip_err *err)
{
    err = cip_err_enter(err);
    cip_open_options o;
    cip_file *f = NULL;
    CIP_TRY(cip_arg_given(file, "a pointer for the file", err));
    *file = NULL;
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, opts, &o, err));
    CIP_TRY(handle_new(&o, &f, err));
    const bool from_stdin = strcmp(path, "-") == 0;
    char *of_url = NULL;
    cip_io *io;
    cip_status st;
    if (cip_url_scheme_of(path) == CIP_URL_FILE) {
        CIP_GO(cip_reference_path(&f->env.mem, path, CIP_IO_EXTERNAL, &of_url, err));
        path = of_url;
    }
    CIP_GO(from_stdin ? cip_io_open_fd(&f->env, STDIN_FILENO, "-", &io, err)
                      : cip_file_open_path(f, path, o.format, err));
    if (from_stdin)
        CIP_GO(cip_file_open_over(f, io, o.format, err));
    if (o.sidecar && o.offset == 0 && !from_stdin)
        cip_checkpoints_file_load(f, path);
done:
    cip_mem_put(&f->env.mem, of_url);
    return finish_open(f, st, file);
}

cip_status cip_open_io(const cip_io_methods *methods, void *user, const cip_open_options *opts,
                       cip_file **file, cip_err *err)
{
    err = cip_err_enter(err);
    cip_open_options o;
    cip_file *f;
    if (file != NULL)
        *file = NULL;
    CIP_TRY(cip_arg_given(methods, "methods", err));
    cip_status st = cip_arg_given(file, "a pointer for the file", err);
    if (st == CIP_OK)
        st = CIP_SIZED_TAKE(cip_open_options, opts, &o, err);
    if (st == CIP_OK)
        st = handle_new(&o, &f, err);
    if (st != CIP_OK) {
        cip_io_user_give_back(methods, user);
        return st;
    }
    st = cip_io_open_user(&f->env, methods, user, &f->io, err);
    if (st == CIP_OK) {
        f->io->far = true; /* it is only read, so what was read may be kept */
        st = cip_file_open_over(f, f->io, o.format, err);
    }
    return finish_open(f, st, file);
}

cip_status cip_open_memory(const void *ptr, size_t nbytes, const cip_open_options *opts,
                           cip_file **file, cip_err *err)
{
    err = cip_err_enter(err);
    cip_open_options o;
    cip_file *f;
    CIP_TRY(cip_arg_given(file, "a pointer for the file", err));
    *file = NULL;
    if ((ptr == NULL && nbytes != 0) || nbytes > PTRDIFF_MAX)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected memory, found %s",
                        ptr == NULL ? "NULL" : "more bytes than there can be");
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, opts, &o, err));
    CIP_TRY(handle_new(&o, &f, err));
    cip_status st = cip_io_open_memory(&f->env, ptr, nbytes, "memory", &f->io, err);
    if (st == CIP_OK)
        st = cip_file_open_over(f, f->io, o.format, err);
    return finish_open(f, st, file);
}

cip_status cip_memory_open(cip_memory *memory, const cip_open_options *opts, cip_file **file,
                           cip_err *err)
{
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(file, "a pointer for the file", err));
    *file = NULL;
    if (cip_memory_bytes(memory, NULL) == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file that is complete");
    const cip_io_methods reads = cip_memory_reads(memory);
    CIP_TRY(cip_open_io(&reads, memory, opts, file, err));
    (*file)->layout->may_change = true; /* to ask for its version costs nothing */
    return CIP_OK;
}
