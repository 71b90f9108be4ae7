/* SPDX-License-Identifier: BSD-3-Clause
 * A program outside the project: it links the library, and reaches all of it. */
#include <cippus/cippus.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    char npy[132] = "\x93NUMPY\1\0\x76"; /* a header of 128 bytes, then 7 8 9 */
    snprintf(npy + 10, sizeof npy - 10, "%-117s\n\7\10\11",
             "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
    cip_err err = CIP_ERR_INIT;
    cip_file *file;
    unsigned char values[3] = { 0 };
    if (cip_open_memory(npy, 131, NULL, &file, &err) != CIP_OK ||
        cip_read(cip_find(file, "", &err), "", cip_dtype_as_stored(), values, sizeof values,
                 &err) != CIP_OK) {
        fprintf(stderr, "outside: %s\n", err.text);
        return 1;
    }
    cip_file_close(file);
    printf("%d %d %d\n", values[0], values[1], values[2]);
    return memcmp(values, "\7\10\11", 3) != 0;
}
