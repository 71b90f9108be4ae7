/* SPDX-License-Identifier: BSD-3-Clause
 * Files of Blosc2, ours against c-blosc2's library, which is loaded from where the Python package
 * has it: `bench_worker b2nd LIBRARY ROUNDS FILE ...`, a FILE or OURS=THEIRS; .b2nd: a square
 * float32 array, .b2frame: 4 bytes an item. All take their turns in each round; what was read is
 * compared by digest each time. A line for each row: "WORK BYTES", then (bench_pair_print) of
 * nanoseconds at one and (zeros: not run) at two threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SIDE = 100, NWINDOW = 200, NPOINT = 1000, NTHIN = 20, NOPEN = 200 };

/* What is used of the peer. Its arrays are opened as often as its threads change: their number is
 * taken from the environment then. */
static struct {
    void (*init)(void);
    const char *(*version)(void);
    int (*nd_open)(const char *path, void **array);
    int (*nd_free)(void *array);
    int (*nd_all)(const void *array, void *dst, int64_t nbytes);
    int (*nd_slice)(const void *array, const int64_t *start, const int64_t *stop, void *dst,
                    const int64_t *shape, int64_t nbytes);
    int (*nd_points)(const void *array, int64_t n, const int64_t *flat, void *dst, int64_t nbytes);
    void *(*frame_open)(const char *path);
    int (*frame_free)(void *frame);
    int (*frame_slice)(void *frame, int64_t start, int64_t stop, void *dst);
} peer;

static void load_peer(const char *path)
{
    const bench_symbol symbols[] = {
        { "blosc2_init", &peer.init },
        { "blosc2_get_version_string", &peer.version },
        { "b2nd_open", &peer.nd_open },
        { "b2nd_free", &peer.nd_free },
        { "b2nd_to_cbuffer", &peer.nd_all },
        { "b2nd_get_slice_cbuffer", &peer.nd_slice },
        { "b2nd_get_sparse_cbuffer", &peer.nd_points },
        { "blosc2_schunk_open", &peer.frame_open },
        { "blosc2_schunk_free", &peer.frame_free },
        { "blosc2_schunk_get_slice_buffer", &peer.frame_slice },
    };
    bench_symbols(path, symbols, sizeof symbols / sizeof symbols[0]);
    peer.init();
}

/* A file, open in both. */
typedef struct subject {
    const char *path, *theirs_path;
    bool is_nd;
    int64_t side; /* rows and columns; a frame: items */
    uint64_t nbytes;
    uint8_t *dst;
    cip_file *ours;
    const cip_array *array;
    void *theirs;
} subject;

static void *open_theirs(const subject *s)
{
    void *p = NULL;
    if (s->is_nd && peer.nd_open(s->theirs_path, &p) < 0)
        p = NULL;
    if (!s->is_nd)
        p = peer.frame_open(s->theirs_path);
    if (p == NULL)
        bench_die("the peer's opening", NULL);
    return p;
}

static void close_theirs(const subject *s, void *p)
{
    s->is_nd ? peer.nd_free(p) : peer.frame_free(p);
}

static void open_both(subject *s, unsigned threads)
{
    cip_err err = CIP_ERR_INIT;
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    setenv("BLOSC_NTHREADS", text, 1);
    s->ours = bench_open(s->path, threads);
    s->array = cip_file_array(s->ours, 0);
    s->theirs = open_theirs(s);
    s->side = cip_array_shape(s->array)[0];
    if (cip_read_shape(s->array, NULL, NULL, NULL, &s->nbytes, &err) != CIP_OK)
        bench_die(s->path, &err);
}

static void close_both(subject *s)
{
    cip_file_close(s->ours);
    close_theirs(s, s->theirs);
}

static void need(bool holds, const cip_err *err)
{
    if (!holds)
        bench_die("reading", err);
}

/* The same for all, scattered. */
static int64_t scattered(uint64_t *state, int64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

/* --- the rows: what is read lies in s->dst, and is *nbytes long ------------------------------- */

typedef void work_fn(subject *s, bool ours, uint64_t *nbytes);

static void open_often(subject *s, bool ours, uint64_t *nbytes)
{
    for (int i = 0; i < NOPEN; i++) {
        if (ours)
            cip_file_close(bench_open(s->path, 1));
        else
            close_theirs(s, open_theirs(s));
    }
    *nbytes = 0;
}

static void read_all(subject *s, bool ours, uint64_t *nbytes)
{
    cip_err err = CIP_ERR_INIT;
    if (ours)
        need(cip_read(s->array, NULL, cip_dtype_as_stored(), s->dst, s->nbytes, &err) == CIP_OK,
             &err);
    else if (s->is_nd)
        need(peer.nd_all(s->theirs, s->dst, (int64_t)s->nbytes) >= 0, NULL);
    else
        need(peer.frame_slice(s->theirs, 0, s->side, s->dst) >= 0, NULL);
    *nbytes = s->nbytes;
}

static void read_windows(subject *s, bool ours, uint64_t *nbytes)
{
    const int64_t shape[2] = { SIDE, SIDE }, n = SIDE * SIDE * 4;
    cip_err err = CIP_ERR_INIT;
    uint64_t state = 1;
    for (int i = 0; i < NWINDOW; i++) {
        uint8_t *dst = s->dst + i * n;
        int64_t last = s->is_nd ? s->side - SIDE : s->side - SIDE * SIDE;
        int64_t at[2] = { scattered(&state, last), scattered(&state, last) };
        int64_t to[2] = { at[0] + SIDE, at[1] + SIDE };
        char text[96];
        if (ours && s->is_nd)
            snprintf(text, sizeof text, "[%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]", at[0],
                     to[0], at[1], to[1]);
        else
            snprintf(text, sizeof text, "[%" PRId64 ":%" PRId64 "]", at[0], at[0] + SIDE * SIDE);
        if (ours)
            need(cip_read(s->array, text, cip_dtype_as_stored(), dst, (size_t)n, &err) == CIP_OK,
                 &err);
        else if (s->is_nd)
            need(peer.nd_slice(s->theirs, at, to, dst, shape, n) >= 0, NULL);
        else
            need(peer.frame_slice(s->theirs, at[0], at[0] + SIDE * SIDE, dst) >= 0, NULL);
    }
    *nbytes = (uint64_t)n * NWINDOW;
}

/* Whole rows (axis 1) or columns, one element wide. */
static void read_thin(subject *s, bool ours, int axis, uint64_t *nbytes)
{
    uint64_t state = 4;
    cip_err err = CIP_ERR_INIT;
    for (int i = 0; i < NTHIN; i++) {
        const int64_t at = scattered(&state, s->side), n = s->side * 4;
        uint8_t *dst = s->dst + i * n;
        int64_t from[2] = { at, at }, to[2] = { at + 1, at + 1 }, shape[2] = { 1, 1 };
        char text[96];
        from[axis] = 0;
        to[axis] = shape[axis] = s->side;
        snprintf(text, sizeof text, axis == 1 ? "[%" PRId64 "]" : "[:, %" PRId64 "]", at);
        if (ours)
            need(cip_read(s->array, text, cip_dtype_as_stored(), dst, (size_t)n, &err) == CIP_OK,
                 &err);
        else
            need(peer.nd_slice(s->theirs, from, to, dst, shape, n) >= 0, NULL);
    }
    *nbytes = (uint64_t)(s->side * 4 * NTHIN);
}

static void read_rows(subject *s, bool ours, uint64_t *nbytes)
{
    read_thin(s, ours, 1, nbytes);
}

static void read_columns(subject *s, bool ours, uint64_t *nbytes)
{
    read_thin(s, ours, 0, nbytes);
}

static void read_points(subject *s, bool ours, uint64_t *nbytes)
{
    static int64_t coords[NPOINT][2], flat[NPOINT];
    cip_err err = CIP_ERR_INIT;
    uint64_t state = 2;
    for (int i = 0; i < NPOINT; i++) {
        coords[i][0] = scattered(&state, s->side);
        coords[i][1] = scattered(&state, s->side);
        flat[i] = coords[i][0] * s->side + coords[i][1];
    }
    if (ours)
        need(cip_read_points(s->array, NPOINT, coords[0], cip_dtype_as_stored(), s->dst, &err) ==
                 CIP_OK,
             &err);
    else
        need(peer.nd_points(s->theirs, NPOINT, flat, s->dst, NPOINT * 4) >= 0, NULL);
    *nbytes = NPOINT * 4;
}

/* Element by element, as one had to before it could read many. */
static void read_elements(subject *s, bool ours, uint64_t *nbytes)
{
    const int64_t shape[2] = { 1, 1 };
    uint64_t state = 3;
    cip_err err = CIP_ERR_INIT;
    for (int i = 0; i < NPOINT; i++) {
        int64_t at[2] = { scattered(&state, s->side), scattered(&state, s->side) };
        int64_t to[2] = { at[0] + 1, at[1] + 1 };
        if (ours)
            need(cip_read_points(s->array, 1, at, cip_dtype_as_stored(), s->dst + 4 * i, &err) ==
                     CIP_OK,
                 &err);
        else
            need(peer.nd_slice(s->theirs, at, to, s->dst + 4 * i, shape, 4) >= 0, NULL);
    }
    *nbytes = NPOINT * 4;
}

/* --- turns ------------------------------------------------------------------------------------ */

typedef struct work {
    const char *name;
    work_fn *run;
    bool of_frames, with_two;
    uint64_t times;
} work;

static uint64_t turn(subject *s, const work *w, bool ours, uint64_t *digest)
{
    uint64_t n, start = bench_now();
    w->run(s, ours, &n);
    uint64_t ns = (bench_now() - start) / w->times;
    *digest = bench_digest(s->dst, n);
    if (n != 0)
        memset(s->dst, 1, n);
    return ns;
}

/* Each round opens anew: what a cache keeps from an earlier one is no merit. */
static bench_pair take_turns(subject *s, const work *w, int rounds, unsigned threads)
{
    bench_pair pair = { 0 };
    for (int i = 0; i < rounds; i++) {
        uint64_t digest[2], ns[2];
        open_both(s, threads);
        for (int k = 0; k < 2; k++) { /* there and back: who comes first may pay */
            const int who = (i + k) % 2;
            ns[who] = turn(s, w, who == 0, &digest[who]);
        }
        bench_pair_add(&pair, ns[0], ns[1]);
        close_both(s);
        if (digest[0] != digest[1])
            bench_die("what was read differs", NULL);
    }
    return pair;
}

static const work works[] = {
    { "open", open_often, true, false, NOPEN },     { "read", read_all, true, true, 1 },
    { "windows", read_windows, true, false, 1 },    { "points", read_points, false, false, 1 },
    { "elements", read_elements, false, false, 1 }, { "rows", read_rows, false, false, 1 },
    { "columns", read_columns, false, false, 1 },
};

static void run_file(char *path, int rounds)
{
    char *other = strchr(path, '='); /* OURS=THEIRS: the same array in two files */
    subject s = { .path = path, .theirs_path = path, .is_nd = strstr(path, ".b2nd") != NULL };
    if (other != NULL) {
        *other = '\0';
        s.theirs_path = other + 1;
    }
    open_both(&s, 1);
    close_both(&s);
    uint64_t room = NWINDOW * SIDE * SIDE * 4;
    s.dst = bench_room(s.nbytes > room ? s.nbytes : room);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        if (!s.is_nd && !works[i].of_frames)
            continue;
        const bench_pair one = take_turns(&s, &works[i], rounds, 1);
        const bench_pair two = take_turns(&s, &works[i], works[i].with_two ? rounds : 0, 2);
        printf("%s %" PRIu64, works[i].name, s.nbytes);
        bench_pair_print(&one);
        bench_pair_print(&two);
        printf("\n");
        fflush(stdout);
    }
}

int bench_b2nd(int argc, char **argv)
{
    if (argc < 5)
        bench_die("b2nd LIBRARY ROUNDS FILE ...", NULL);
    load_peer(argv[2]);
    printf("c-blosc2 %s\n", peer.version());
    for (int i = 4; i < argc; i++) {
        printf("file %s\n", argv[i]);
        run_file(argv[i], (int)strtol(argv[3], NULL, 10));
    }
    return 0;
}
