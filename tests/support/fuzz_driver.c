/* SPDX-License-Identifier: BSD-3-Clause
 * Stands in for libFuzzer where a fuzz target is built as a plain test: runs each file named, or
 * each file of each folder named, through LLVMFuzzerTestOneInput once. The input is copied to
 * memory of exactly its size, so that AddressSanitizer sees a read past its end. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &st) != 0) {
        perror(path);
        return 1;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size);
    int failed = size > 0 && (!data || fread(data, 1, size, f) != size);
    fclose(f);
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
    } else {
        puts(path); /* first: after a crash it is the last line */
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return failed;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "README") != 0;
}

static int run_folder(const char *path)
{
    struct dirent **entries;
    int failed = 0;
    int n = scandir(path, &entries, visible, alphasort);
    if (n <= 0) {
        fprintf(stderr, "%s: no inputs there\n", path);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        failed |= run_file(name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        int folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        failed |= folder ? run_folder(argv[i]) : run_file(argv[i]);
    }
    return failed;
}
