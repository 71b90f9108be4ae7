/* SPDX-License-Identifier: BSD-3-Clause
 * cippus serve: files and folders for a browser and for readers of Zarr, over HTTP. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commands.h"
#include "print.h"

#if CIP_WITH_SERVE

#include "serve/serve.h"

enum { PORT = 8080 };
static const uint64_t usual_memory = (uint64_t)2 << 30, least_memory = 32 << 20;

static int wrong(const char *text)
{
    fprintf(stderr, "cippus: %s; see 'cippus serve --help'\n", text);
    return EXIT_USAGE;
}

static bool is_local(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool make_token(serve *s)
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    return true;
}

/* Of the memory allowed, what answers take that are not sent yet, and what each open file takes of
 * which as many as workers are in use at once. */
static void share_memory(serve *s, uint64_t *each_file)
{
    const uint64_t all = s->o->max_memory != 0 ? s->o->max_memory : usual_memory;
    s->most_answers = all / 4;
    s->most_answer = all / 16;
    *each_file = all / 8;
}

int cmd_serve(const opts *o)
{
    serve s = { .o = o, .is_public = o->is_public, .cors = o->cors, .verifying = ATOMIC_FLAG_INIT };
    const char *address = o->bind != NULL ? o->bind : o->is_public ? "0.0.0.0" : "localhost";
    uint64_t each_file;
    if (strcmp(address, "localhost") == 0)
        address = "127.0.0.1";
    if (o->port > 65535)
        return wrong("--port: expected a number up to 65535");
    if (!o->is_public && !is_local(address))
        return wrong("--bind to an address that other machines reach requires --public");
    if (o->max_memory != 0 && o->max_memory < least_memory)
        return wrong("--max-memory: expected at least 32M");
    share_memory(&s, &each_file);
    if (s.is_public && !make_token(&s)) {
        fputs("cippus: the system gives no random bytes for a token\n", stderr);
        return EXIT_FAILED;
    }
    int rc = serve_roots_open(&s);
    s.files = serve_files_new(o, each_file);
    if (rc == EXIT_FINE && s.files == NULL) {
        fputs("cippus: there is not enough memory\n", stderr);
        rc = EXIT_FAILED;
    }
    if (rc == EXIT_FINE)
        rc = serve_http(&s, address, o->port >= 0 ? (unsigned)o->port : PORT);
    serve_files_free(s.files);
    serve_roots_close(&s);
    return rc;
}

#else

int cmd_serve(const opts *o)
{
    (void)o;
    fputs("cippus: this build has no server: it was made without libmicrohttpd "
          "(CIP_WITH_SERVE)\n",
          stderr);
    return EXIT_FAILED;
}

const char *serve_library(void)
{
    return NULL;
}

#endif
