/* SPDX-License-Identifier: BSD-3-Clause
 * The scans of frames on any bytes. The first byte picks the scan, three more are the decoded
 * length. Pieces must be in order, inside the run, without gaps; and where the run decodes, pieces
 * that decode must give the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "codec/frames.h"

enum { HEAD = 4, MAX_PIECES = 1000, MAX_LEN = 1 << 20 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static cip_status read_run(void *user, uint64_t off, size_t n, void *dst, cip_err *err)
{
    const cip_bytes *run = user;
    (void)err;
    require(off <= run->len && n <= run->len - off);
    memcpy(dst, run->ptr + off, n);
    return CIP_OK;
}

static void check_piece(const cip_codec_env *env, cip_bytes run, const cip_frame_piece *p,
                        const uint8_t *whole)
{
    require(p->off <= run.len && p->len <= run.len - p->off && p->raw_len > 0);
    require(p->codec != NULL || p->len == p->raw_len);
    uint8_t *out = malloc(p->raw_len <= MAX_LEN ? p->raw_len : 0);
    cip_bytes src = { run.ptr + p->off, p->len };
    if (p->codec != NULL && p->raw_len <= MAX_LEN && out != NULL &&
        p->codec->decode(NULL, env, src, out, (size_t)p->raw_len, NULL) == CIP_OK && whole != NULL)
        require(memcmp(out, whole + p->raw_off, p->raw_len) == 0);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    bool lz4 = data[0] % 2 == 0;
    size_t len = (data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % MAX_LEN;
    cip_bytes run = { data + HEAD, size - HEAD };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 64 << 20);
    const cip_codec_env env = { .mem = &mem };
    cip_frame_pieces found;
    const cip_frame_run of = { read_run, &run, run.len, len, MAX_PIECES };
    if ((lz4 ? cip_lz4f_scan : cip_zstd_scan)(&mem, &of, &found, NULL) == CIP_OK) {
        uint8_t *whole = malloc(len);
        const cip_codec *c = cip_codec_find(lz4 ? "lz4f" : "zstd");
        uint64_t at = 0;
        bool good = whole != NULL && c->decode(NULL, &env, run, whole, len, NULL) == CIP_OK;
        require(found.n <= MAX_PIECES && (found.n == 0 || !found.sequential));
        for (size_t i = 0; i < found.n; i++) {
            require(found.piece[i].raw_off == at);
            check_piece(&env, run, &found.piece[i], good ? whole : NULL);
            at += found.piece[i].raw_len;
        }
        require(found.sequential || at == len);
        cip_mem_put(&mem, found.piece);
        free(whole);
    }
    require(mem.used == 0);
    return 0;
}
