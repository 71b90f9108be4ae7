/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes from anywhere and to anywhere: my own read-at and write-at, here over memory. */
#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"

static char bytes[1 << 16];
static size_t nbytes;

static cip_status my_reads(void *me, const cip_range *range, size_t n, cip_err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(range[i].dst, (const char *)me + range[i].offset, range[i].nbytes);
    return CIP_OK;
}

static cip_status my_size(void *me, uint64_t *n, cip_err *err)
{
    (void)me;
    (void)err;
    *n = nbytes;
    return CIP_OK;
}

static char written[1 << 16];

static cip_status my_write(void *me, uint64_t offset, const void *data, size_t n, cip_err *err)
{
    (void)err;
    if (offset + n > sizeof written)
        return CIP_ERR_LIMIT; /* what the commit ends with */
    memcpy((char *)me + offset, data, n);
    return CIP_OK;
}

static cip_status my_resize(void *me, uint64_t n, cip_err *err)
{
    (void)me;
    (void)err;
    nbytes = n; /* what lies behind is not part of the file any more */
    return CIP_OK;
}

static cip_status my_complete(void *me, cip_err *err)
{
    (void)me;
    (void)err;
    printf("complete: %d\n", nbytes > 0);
    return CIP_OK;
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    FILE *in = fopen(argc > 1 ? argv[1] : "", "rb");
    if (in == NULL)
        return 1;
    nbytes = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    const cip_io_methods mine = { CIP_IO_METHODS_INIT, .read_ranges = my_reads, .size = my_size };
    cip_open_io(&mine, bytes, NULL, &f, &err);
    printf("%s, %zu arrays\n", cip_file_format(f), cip_file_narray(f));
    const cip_io_write_methods to = { CIP_IO_WRITE_METHODS_INIT, .name = "mine.asdf",
                                      .write_at = my_write, .resize = my_resize,
                                      .complete = my_complete };
    cip_change *c;
    cip_create_io(&to, written, NULL, &c, &err);
    cip_change_set_string(c, "from", cip_file_format(f), &err);
    cip_change_put_array(c, "data", cip_file_array(f, 0), NULL, NULL, &err);
    cip_change_commit(&c, &err); /* the first call of my methods */
    cip_file_close(f);

    cip_memory *memory; /* the same without methods */
    size_t n;
    cip_create_memory("asdf", NULL, &memory, &c, &err);
    cip_change_set_int(c, "answer", 42, &err);
    cip_change_commit(&c, &err);
    int64_t answer = 0;
    cip_memory_open(memory, NULL, &f, &err);
    cip_change_begin(f, NULL, &c, &err); /* and changed as a file is */
    cip_change_set_int(c, "answer", 43, &err);
    cip_change_commit(&c, &err);
    cip_file_close(f);
    cip_memory_open(memory, NULL, &f, &err);
    cip_tree_get_int(cip_file_tree(f), "answer", &answer, &err);
    cip_file_close(f);
    cip_memory_bytes(memory, &n);
    printf("in memory: %d, %d\n", n > 0, (int)answer);
    cip_memory_free(memory);

    cip_open_memory(written, nbytes, NULL, &f, &err);
    printf("%s, %zu arrays\n", cip_file_format(f), cip_file_narray(f));
    cip_file_close(f);
    return err.code;
}
