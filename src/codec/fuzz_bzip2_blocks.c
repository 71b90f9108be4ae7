/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a bzip2 stream: our decoder, from the beginning, from each checkpoint and block by
 * block, against libbz2 alone. The first byte picks the sizes of steps. */
#include "codec/with.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#if CIP_WITH_BZIP2

#include "support/codec/entropy/bzip2_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ROOM = 200000 };
    bzip2_checkpoints checkpoints;
    if (size < 1)
        return 0;
    const size_t step[] = { (size_t)1 << data[0] % 16, (size_t)1 << (3 + data[0] / 16) };
    bzip2_check((cip_bytes){ data + 1, size - 1 }, ROOM, step, &checkpoints);
    return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}

#endif
