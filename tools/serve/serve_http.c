/* SPDX-License-Identifier: BSD-3-Clause
 * Connections and requests, over libmicrohttpd. Its threads only move bytes: each request that
 * reads files is suspended and answered by one of our own workers, so that a long one delays no
 * other.
 *
 * We accept connections ourselves. When all places are taken, the connection that has waited for a
 * request the longest time gives up its place, so that very many idle ones, or ones whose headers
 * never end, keep nobody out. */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../print.h"
#include "serve.h"

enum {
    MOST_CONNECTIONS = 512,
    FEWEST_CONNECTIONS = 64,
    OTHER_FILES = 128,        /* descriptors of what is not being sent */
    SPARE = 32,               /* places kept free by sending those away that wait the longest */
    HEADER_NBYTES = 32 << 10, /* of one request; also the buffer of what is sent */
    PART_NBYTES = 32 << 10,   /* of a file, read at once */
    IDLE_SECONDS = 20,        /* without a request, or within its headers */
    STILL_SECONDS = 30,       /* without a byte moving */
    STALLED_SECONDS = 5,      /* in which not even a part of a file was sent: it may have to go */
    ANSWER_SECONDS = 120,     /* of work, and of sending what is in memory */
    FEWEST_WORKERS = 4,
    MOST_WORKERS = 64
};

typedef struct connection {
    int fd;     /* -1: a free place */
    bool known; /* to the library */
    enum { WAITING, WORKING, SENDING, STREAMING } state;
    double since;
} connection;

typedef struct request {
    serve_call call;
    char *target;    /* which call.url points into */
    const char *why; /* it is refused, or NULL */
    struct MHD_Connection *c;
    void (*run)(serve_call *call);
    struct request *next; /* in the queue */
    enum { HEADERS, END, ASKED, DONE } step;
} request;

typedef struct http {
    serve *s;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of all below */
    connection place[MOST_CONNECTIONS];
    size_t nplace;
    pthread_cond_t queued;
    request *first, **last;
    size_t nworker;
    pthread_t worker[MOST_WORKERS];
} http;

/* --- connections ------------------------------------------------------------------------------ */

static size_t count_connections(http *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->nplace; i++)
        n += h->place[i].fd >= 0;
    return n;
}

/* MHD_OPTION_NOTIFY_CONNECTION: the context is the place. */
static void on_connection(void *user, struct MHD_Connection *c, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    http *h = user;
    connection *place = *socket_context;
    pthread_mutex_lock(&h->lock);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && place != NULL) {
        place->fd = -1;
        *socket_context = NULL;
    } else if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        for (connection *p = h->place; info != NULL && p < h->place + h->nplace; p++)
            if (p->fd == info->connect_fd) {
                p->known = true;
                *socket_context = p;
            }
    }
    pthread_mutex_unlock(&h->lock);
}

/* Each may take two descriptors: its own, and that of a file that is sent. */
static size_t count_places(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return FEWEST_CONNECTIONS;
    const rlim_t now = files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    const rlim_t most = setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : now;
    return most >= OTHER_FILES + 2 * MOST_CONNECTIONS    ? MOST_CONNECTIONS
           : most < OTHER_FILES + 2 * FEWEST_CONNECTIONS ? FEWEST_CONNECTIONS
                                                         : (most - OTHER_FILES) / 2;
}

static void set_state(http *h, struct MHD_Connection *c, int state)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    connection *place = info != NULL ? info->socket_context : NULL;
    pthread_mutex_lock(&h->lock);
    if (place != NULL) {
        place->state = state;
        place->since = serve_now();
    }
    pthread_mutex_unlock(&h->lock);
}

/* Ends those that take too long. The library sees the end of the connection and closes it; one that
 * it never took up is closed already. */
static void sweep(http *h)
{
    const double now = serve_now();
    pthread_mutex_lock(&h->lock);
    for (connection *p = h->place; p < h->place + h->nplace; p++) {
        const double age = now - p->since;
        const bool late = (p->state == WAITING && age > IDLE_SECONDS) ||
                          (p->state == SENDING && age > ANSWER_SECONDS);
        if (p->fd >= 0 && late && p->known)
            shutdown(p->fd, SHUT_RDWR);
        else if (late)
            p->fd = -1;
    }
    pthread_mutex_unlock(&h->lock);
}

/* The one that has been in the state for the longest time, if that is over `least` seconds. */
static connection *find_oldest(http *h, int state, double least)
{
    connection *oldest = NULL;
    const double before = serve_now() - least;
    for (connection *p = h->place; p < h->place + h->nplace; p++)
        if (p->fd >= 0 && p->known && (int)p->state == state && p->since <= before &&
            (oldest == NULL || p->since < oldest->since))
            oldest = p;
    return oldest;
}

/* A place for one more: whether there is one now. A file that is being sent goes only when no other
 * connection can, and if its client takes next to nothing of it. */
static bool make_place(http *h)
{
    pthread_mutex_lock(&h->lock);
    const size_t n = count_connections(h);
    connection *gone = n > h->nplace - SPARE ? find_oldest(h, WAITING, 0) : NULL;
    if (gone == NULL && n == h->nplace)
        gone = find_oldest(h, STREAMING, STALLED_SECONDS);
    if (gone != NULL) {
        shutdown(gone->fd, SHUT_RDWR);
        gone->since = serve_now();
    }
    pthread_mutex_unlock(&h->lock);
    return n < h->nplace;
}

/* --- who may ask ------------------------------------------------------------------------------ */

static const char *header_of(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

typedef struct headers {
    unsigned nhost, nlength;
    bool odd;
} headers;

/* MHD_KeyValueIteratorN */
static enum MHD_Result look_at_header(void *user, enum MHD_ValueKind kind, const char *name,
                                      size_t nname, const char *value, size_t nvalue)
{
    headers *h = user;
    (void)kind;
    (void)nvalue;
    h->nhost += strcasecmp(name, "Host") == 0;
    if (strcasecmp(name, "Content-Length") == 0)
        h->odd = h->odd || strcmp(value, "0") != 0 || h->nlength++ != 0;
    h->odd = h->odd || h->nhost > 1 || strcasecmp(name, "Transfer-Encoding") == 0 ||
             strcspn(name, " \t") != nname;
    return MHD_YES;
}

/* NULL, or why a request is refused that a proxy before us may understand in another way, of which
 * a part might then pass for a request of someone else. */
static const char *check_headers(struct MHD_Connection *c)
{
    headers h = { 0 };
    MHD_get_connection_values_n(c, MHD_HEADER_KIND, look_at_header, &h);
    return h.odd ? "expected a request without a body, with one Host, and no odd headers" : NULL;
}

/* In a time that does not tell how much of it is right. */
static bool is_token(const serve *s, const char *text)
{
    unsigned char differ = 0;
    if (text == NULL || strlen(text) != strlen(s->token))
        return false;
    for (size_t i = 0; s->token[i] != '\0'; i++)
        differ |= (unsigned char)(s->token[i] ^ text[i]);
    return differ == 0;
}

/* Drops the token from the query, which the parts of the server do not know. */
static const char *take_token(serve_url *url)
{
    for (size_t i = 0; i < url->nquery; i++)
        if (strcmp(url->query[i].key, "token") == 0) {
            const char *value = url->query[i].value;
            url->query[i] = url->query[--url->nquery];
            return value;
        }
    return NULL;
}

static bool may_ask(request *r, bool secret)
{
    serve_call *call = &r->call;
    const serve *s = call->s;
    const char *host = header_of(r->c, "Host"), *origin = header_of(r->c, "Origin"),
               *bearer = header_of(r->c, "Authorization"), *token = take_token(&call->url);
    if (host == NULL || (!s->is_public && !serve_host_is_local(host)))
        serve_refuse(call, 403, "forbidden",
                     "this server answers to the names localhost and 127.0.0.1 alone");
    else if (origin != NULL && !s->cors && !serve_origin_fits(origin, host))
        serve_refuse(call, 403, "forbidden",
                     "pages of other servers may not ask; --cors allows them");
    else if (secret && s->token[0] != '\0' &&
             !is_token(s, bearer != NULL && strncasecmp(bearer, "Bearer ", 7) == 0 ? bearer + 7
                                                                                   : token)) {
        serve_refuse(call, 401, "token", "expected the token that the server printed");
        serve_header(call, "WWW-Authenticate", "Bearer");
    } else
        return true;
    return false;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Part of a file, while it is sent. */
typedef struct part {
    http *h;
    struct MHD_Connection *c;
    int fd;
    uint64_t offset;
    struct stat st;
} part;

/* MHD_ContentReaderCallback: what was read is sent only if the file has not changed until then, so
 * that a whole answer is of one state. Otherwise the connection is closed before its end. */
static ssize_t read_part(void *user, uint64_t at, char *bytes, size_t n)
{
    const part *p = user;
    set_state(p->h, p->c, STREAMING); /* once more: the client took the part before */
    const ssize_t got = pread(p->fd, bytes, n, (off_t)(p->offset + at));
    return got > 0 && serve_is_unchanged(p->fd, &p->st) ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_part(void *user)
{
    close(((part *)user)->fd);
    free(user);
}

static struct MHD_Response *response_of_part(http *h, request *r)
{
    serve_call *c = &r->call;
    part *p = malloc(sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (part){ h, r->c, c->fd, c->offset, c->st };
    c->fd = -1;
    struct MHD_Response *response =
        MHD_create_response_from_callback(c->nbytes, PART_NBYTES, read_part, p, free_part);
    if (response == NULL)
        free_part(p);
    return response;
}

static struct MHD_Response *response_of(http *h, request *r)
{
    serve_call *c = &r->call;
    struct MHD_Response *response;
    if (c->fd >= 0) {
        response = response_of_part(h, r);
    } else {
        struct serve_body *b = c->body;
        c->body = NULL;
        response = MHD_create_response_from_buffer_with_free_callback_cls(b->len, b->bytes,
                                                                          serve_body_free, b);
        if (response == NULL)
            serve_body_free(b);
    }
    return response;
}

static void add_headers(const serve_call *c, struct MHD_Response *response)
{
    static const char *const always[][2] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cache-Control", "no-cache" },
        { "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
          "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                            c->s->cors ? "cross-origin" : "same-origin");
    if (c->s->cors) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", "*");
        MHD_add_response_header(response, "Access-Control-Expose-Headers",
                                "Content-Range, ETag, X-Cippus-Picture, X-Cippus-Shape");
    }
    if (c->type != NULL)
        MHD_add_response_header(response, "Content-Type", c->type);
    for (size_t i = 0; i < c->nheader; i++)
        MHD_add_response_header(response, c->header[i].name, c->header[i].value);
}

static enum MHD_Result answer(http *h, request *r)
{
    serve_call *c = &r->call;
    serve_call_end(c);
    const bool streams = c->fd >= 0;
    const unsigned status = c->status != 0 ? c->status : 200;
    struct MHD_Response *response = response_of(h, r);
    if (response == NULL)
        return MHD_NO;
    add_headers(c, response);
    set_state(h, r->c, streams ? STREAMING : SENDING);
    const enum MHD_Result result = MHD_queue_response(r->c, status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- workers ---------------------------------------------------------------------------------- */

static int must_end(void *user)
{
    const serve_call *c = user;
    return atomic_load(&c->s->stopping) || serve_now() > c->deadline;
}

static void *work(void *user)
{
    http *h = user;
    pthread_mutex_lock(&h->lock);
    while (!atomic_load(&h->s->stopping) || h->first != NULL) {
        request *r = h->first;
        if (r == NULL) {
            pthread_cond_wait(&h->queued, &h->lock);
            continue;
        }
        h->first = r->next;
        if (h->first == NULL)
            h->last = &h->first;
        pthread_mutex_unlock(&h->lock);
        r->call.deadline = serve_now() + ANSWER_SECONDS;
        cip_stop_set((cip_stop){ must_end, &r->call });
        if (atomic_load(&h->s->stopping))
            serve_refuse(&r->call, 503, "busy", "the server is being stopped");
        else
            r->run(&r->call);
        cip_stop_set((cip_stop){ NULL, NULL });
        r->step = DONE;
        MHD_resume_connection(r->c);
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void enqueue(http *h, request *r)
{
    MHD_suspend_connection(r->c);
    pthread_mutex_lock(&h->lock);
    const bool stopping = atomic_load(&h->s->stopping); /* no worker would look for it any more */
    if (!stopping) {
        *h->last = r;
        h->last = &r->next;
        pthread_cond_signal(&h->queued);
    }
    pthread_mutex_unlock(&h->lock);
    if (stopping) {
        serve_refuse(&r->call, 503, "busy", "the server is being stopped");
        r->step = DONE;
        MHD_resume_connection(r->c);
    }
}

/* --- requests --------------------------------------------------------------------------------- */

static const struct route {
    const char *prefix; /* a step of the path or two, and what is below; "": all the rest */
    void (*run)(serve_call *c);
    bool secret; /* asks for the token */
} routes[] = {
    { "api/v1", serve_api, true }, { "files", serve_bytes, true }, { "zarr", serve_zarr, true },
    { "refs", serve_refs, true },  { "", serve_page, false },
};

static const struct route *find_route(serve_call *c)
{
    for (size_t i = 0;; i++) {
        const size_t n = strlen(routes[i].prefix);
        const char *path = c->url.path;
        if (n == 0 || (strncmp(path, routes[i].prefix, n) == 0 && strchr("/", path[n]) != NULL)) {
            c->rest = path + n + (n != 0 && path[n] == '/');
            return &routes[i];
        }
    }
}

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* True: a worker answers it. */
static bool begin(http *h, request *r, const char *method)
{
    serve_call *c = &r->call;
    set_state(h, r->c, WORKING);
    c->head = strcmp(method, "HEAD") == 0;
    if (r->why != NULL) {
        serve_refuse(c, 400, "bad request", r->why);
        return false;
    }
    if ((r->why = serve_url_parse(r->target, &c->url)) != NULL) {
        serve_refuse(c, 400, "bad URL", r->why);
        return false;
    }
    if (strcmp(method, "OPTIONS") == 0 && h->s->cors) {
        c->status = 204;
        serve_header(c, "Access-Control-Allow-Methods", "GET, HEAD");
        serve_header(c, "Access-Control-Allow-Headers",
                     "Authorization, Range, If-Range, If-None-Match");
        serve_header(c, "Access-Control-Max-Age", "600");
        return false;
    }
    if (!c->head && strcmp(method, "GET") != 0) {
        serve_refuse(c, 405, "read-only", "expected GET or HEAD: this server changes nothing");
        serve_header(c, "Allow", "GET, HEAD");
        return false;
    }
    const struct route *route = find_route(c);
    if (!may_ask(r, route->secret))
        return false;
    c->range = copy(header_of(r->c, "Range"));
    c->if_range = copy(header_of(r->c, "If-Range"));
    c->if_none_match = copy(header_of(r->c, "If-None-Match"));
    c->host = copy(header_of(r->c, "Host"));
    r->run = route->run;
    return true;
}

/* MHD_AccessHandlerCallback: called for the headers, then for the end of the request, and again
 * once a worker is done. An answer to the headers alone would end the connection. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *ndata, void **context)
{
    http *h = user;
    request *r = *context;
    (void)url;
    (void)version;
    (void)data;
    if (r == NULL)
        return MHD_NO; /* no memory for it */
    const bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (r->step == HEADERS && (reads || (strcmp(method, "OPTIONS") == 0 && h->s->cors))) {
        r->why = r->why != NULL ? r->why : check_headers(c);
        if (r->why == NULL) {
            r->step = END;
            return MHD_YES;
        }
    }
    if (*ndata != 0) {
        *ndata = 0; /* of a body, which nobody wants */
        return MHD_YES;
    }
    if (r->step == HEADERS || r->step == END) {
        r->step = ASKED;
        r->c = c;
        if (!begin(h, r, method))
            return answer(h, r);
        enqueue(h, r);
        return MHD_YES;
    }
    return r->step == DONE ? answer(h, r) : MHD_YES;
}

/* MHD_OPTION_URI_LOG_CALLBACK: the target as it was sent. */
static void *on_target(void *user, const char *uri, struct MHD_Connection *c)
{
    http *h = user;
    request *r = calloc(1, sizeof *r);
    (void)c;
    if (r == NULL)
        return NULL;
    r->call.s = h->s;
    r->call.fd = -1;
    if (strlen(uri) > SERVE_MOST_URL)
        r->why = "the URL is too long";
    r->target = strdup(r->why == NULL ? uri : "/");
    if (r->target == NULL || !serve_call_begin(&r->call)) {
        serve_body_free(r->call.body);
        free(r->target);
        free(r);
        return NULL;
    }
    return r;
}

/* MHD_OPTION_NOTIFY_COMPLETED */
static void on_completed(void *user, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode code)
{
    request *r = *context;
    (void)code;
    set_state(user, c, WAITING);
    if (r == NULL)
        return;
    *context = NULL;
    if (r->call.fd >= 0)
        close(r->call.fd);
    fclose(r->call.out);
    serve_body_free(r->call.body);
    free(r->call.range);
    free(r->call.if_range);
    free(r->call.if_none_match);
    free(r->call.host);
    free(r->target);
    free(r);
}

/* --- the server ------------------------------------------------------------------------------- */

/* The socket that listens; -1 after a complaint. s->where becomes its URL. */
static int listen_at(serve *s, const char *bind_to, unsigned port)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
    struct addrinfo *at = NULL;
    struct sockaddr_storage own;
    socklen_t len = sizeof own;
    char service[8], host[64], number[8];
    const int one = 1;
    snprintf(service, sizeof service, "%u", port);
    const int e = getaddrinfo(bind_to, service, &hints, &at);
    if (e != 0) {
        serve_complain(bind_to, "expected an IP address");
        return -1;
    }
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool fine = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 1024) == 0 &&
                getsockname(fd, (struct sockaddr *)&own, &len) == 0;
    const bool six = at->ai_family == AF_INET6;
    freeaddrinfo(at);
    if (!fine) {
        char text[160];
        snprintf(text, sizeof text, "port %u: %s%s", port, strerror(errno),
                 errno == EADDRINUSE ? "; --port 0 takes a free one" : "");
        serve_complain(bind_to, text);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    getnameinfo((struct sockaddr *)&own, len, host, sizeof host, number, sizeof number,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(s->where, sizeof s->where, six ? "http://[%s]:%s" : "http://%s:%s", host, number);
    return fd;
}

static void accept_one(http *h, int listener)
{
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    connection *place = NULL;
    const int fd = accept4(listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    pthread_mutex_lock(&h->lock);
    for (connection *p = h->place; fd >= 0 && p < h->place + h->nplace; p++)
        if (p->fd < 0 && place == NULL)
            place = p;
    if (place != NULL)
        *place = (connection){ .fd = fd, .state = WAITING, .since = serve_now() };
    pthread_mutex_unlock(&h->lock);
    /* The library closes it when it fails. */
    if (place == NULL ||
        MHD_add_connection(h->daemon, fd, (struct sockaddr *)&from, len) == MHD_YES)
        return;
    pthread_mutex_lock(&h->lock);
    place->fd = -1;
    pthread_mutex_unlock(&h->lock);
}

/* Until a signal comes. */
static void serve_until(http *h, int listener, int signals)
{
    double swept = serve_now();
    for (;;) {
        /* Without a place, those that wait stay in the system's queue for a moment. */
        const bool place = make_place(h);
        struct pollfd wait[] = { { .fd = signals, .events = POLLIN },
                                 { .fd = place ? listener : -1, .events = POLLIN } };
        if (poll(wait, 2, place ? 1000 : 1) > 0) {
            if (wait[0].revents != 0)
                return;
            if (wait[1].revents != 0)
                accept_one(h, listener);
        }
        if (serve_now() - swept > 1) {
            sweep(h);
            swept = serve_now();
        }
    }
}

static void on_error(void *user, const char *format, va_list args)
{
    (void)user; /* about clients that do as they like */
    (void)format;
    (void)args;
}

static bool start_workers(http *h)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = h->s->o->threads != 0 ? h->s->o->threads : cores > 0 ? (size_t)cores : 1;
    n = n < FEWEST_WORKERS ? FEWEST_WORKERS : n > MOST_WORKERS ? MOST_WORKERS : n;
    while (h->nworker < n && pthread_create(&h->worker[h->nworker], NULL, work, h) == 0)
        h->nworker++;
    return h->nworker != 0;
}

static void stop_workers(http *h)
{
    pthread_mutex_lock(&h->lock);
    atomic_store(&h->s->stopping, true);
    pthread_cond_broadcast(&h->queued);
    pthread_mutex_unlock(&h->lock);
    for (size_t i = 0; i < h->nworker; i++)
        pthread_join(h->worker[i], NULL);
}

static int run(http *h, int listener, int signals)
{
    const serve *s = h->s;
    /* Not by epoll: with it libmicrohttpd 0.9.75 now and then leaves requests unread that arrive
     * around a suspension, until the connection's time is over. */
    h->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
            MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
        0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_error, NULL,
        MHD_OPTION_CONNECTION_LIMIT, 2 * MOST_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_NBYTES, MHD_OPTION_CONNECTION_TIMEOUT, STILL_SECONDS,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        h, MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_END);
    if (h->daemon == NULL || !start_workers(h)) {
        if (h->daemon != NULL)
            MHD_stop_daemon(h->daemon);
        return serve_complain(s->where, "the server cannot be started");
    }
    printf("%s/%s%s\n", s->where, s->token[0] != '\0' ? "?token=" : "", s->token);
    const int rc = finish_stdout(EXIT_FINE);
    if (rc == EXIT_FINE)
        serve_until(h, listener, signals);
    stop_workers(h);
    MHD_stop_daemon(h->daemon);
    return rc;
}

int serve_http(serve *s, const char *bind_to, unsigned port)
{
    http h = { .s = s, .nplace = count_places() };
    sigset_t mask;
    int rc = EXIT_FAILED;
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
        h.place[i].fd = -1;
    h.last = &h.first;
    pthread_mutex_init(&h.lock, NULL);
    pthread_cond_init(&h.queued, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, NULL); /* in all threads to come, too */
    const int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    const int listener = listen_at(s, bind_to, port);
    if (listener >= 0 && signals >= 0)
        rc = run(&h, listener, signals);
    if (listener >= 0)
        close(listener);
    if (signals >= 0)
        close(signals);
    pthread_cond_destroy(&h.queued);
    pthread_mutex_destroy(&h.lock);
    return rc;
}

const char *serve_library(void)
{
    return MHD_get_version();
}
