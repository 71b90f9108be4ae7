/* SPDX-License-Identifier: BSD-3-Clause
 * cippus edit: the tree's text in the user's editor. It lies in a folder that only the user can
 * enter, is checked before it is written back, and is kept when it cannot be. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "input.h"
#include "update.h"

typedef struct draft {
    char folder[512], path[540];
} draft;

static int failed(const char *what)
{
    fprintf(stderr, "cippus: %s: %s\n", what, strerror(errno));
    return EXIT_FAILED;
}

static int draft_new(draft *d, const char *text, size_t n)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || *parent == '\0' || strlen(parent) > 400)
        parent = "/tmp";
    snprintf(d->folder, sizeof d->folder, "%s/cippus-edit-XXXXXX", parent);
    if (mkdtemp(d->folder) == NULL)
        return failed(parent);
    snprintf(d->path, sizeof d->path, "%s/tree.yaml", d->folder);
    int fd = open(d->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL || fwrite(text, 1, n, f) != n || fclose(f) != 0)
        return failed(d->path);
    return EXIT_FINE;
}

static void draft_remove(const draft *d)
{
    (void)unlink(d->path);
    (void)rmdir(d->folder); /* an editor's own files in it keep it */
}

/* The editor's name may hold options, so a shell takes it apart. */
static int run_editor(const draft *d)
{
    const char *editor = getenv("VISUAL");
    if (editor == NULL || *editor == '\0')
        editor = getenv("EDITOR");
    if (editor == NULL || *editor == '\0')
        editor = "vi";
    char line[1024];
    if (snprintf(line, sizeof line, "%s \"$@\"", editor) >= (int)sizeof line)
        return -1;
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, interrupt);
        execl("/bin/sh", "sh", "-c", line, editor, d->path, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    signal(SIGINT, interrupt);
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Blank lines at the end go, a missing last line break comes. */
static void tidy(strbuf *t)
{
    const bool crlf = t->len > 1 && memcmp(t->ptr + t->len - 2, "\r\n", 2) == 0;
    while (t->len > 0 && strchr(" \t\r\n", t->ptr[t->len - 1]) != NULL)
        t->len--;
    text_add(t, crlf ? "\r\n" : "\n", crlf ? 2 : 1);
}

static int read_draft(const draft *d, const opts *o, strbuf *out)
{
    loaded b;
    int rc = bytes_load(d->path, o, &b);
    if (rc == EXIT_FINE && b.n != 0)
        text_add(out, b.ptr, b.n);
    bytes_free(&b);
    return out->failed ? EXIT_FAILED : rc;
}

/* Lets the user change the text; *same when nothing came of it. */
static int change(const opts *o, cip_change *edit, draft *d, bool *same, cip_err *err)
{
    const char *text;
    size_t n;
    strbuf now = { 0 };
    if (cip_change_text(edit, &text, &n, err) != CIP_OK)
        return complain(o->pos[0], err);
    int rc = draft_new(d, text, n);
    if (rc != EXIT_FINE)
        return rc;
    int status = run_editor(d);
    if (status != 0) {
        fprintf(stderr, "cippus: the editor failed (status %d); nothing is changed\n", status);
        return EXIT_FAILED;
    }
    rc = read_draft(d, o, &now);
    *same = rc == EXIT_FINE && now.len == n && (n == 0 || memcmp(now.ptr, text, n) == 0);
    if (rc == EXIT_FINE && !*same) {
        tidy(&now);
        if (now.failed || cip_change_set_text(edit, now.ptr, now.len, err) != CIP_OK)
            rc = complain(o->pos[0], err);
    }
    free(now.ptr);
    return rc;
}

int cmd_edit(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    draft d = { .path = "" };
    bool same = false;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    rc = change(o, edit, &d, &same, &err);
    if (rc != EXIT_FINE || same)
        cip_change_abort(&edit);
    else
        rc = update_finish(o, edit, CIP_OK, &err);
    if (same)
        fputs("cippus: nothing is changed\n", stderr);
    if (rc == EXIT_FINE)
        draft_remove(&d);
    else if (d.path[0] != '\0')
        fprintf(stderr, "cippus: the text is kept in %s\n", d.path);
    return rc;
}
