/* SPDX-License-Identifier: BSD-3-Clause
 * What a program does to the files of one folder, written down operation by operation: the linker
 * puts this between the library and the system (--wrap, see CMakeLists.txt), so that nothing is
 * missed and the library knows nothing of it. It can also make the n-th operation fail. One thread.
 */
#ifndef CIP_TESTS_FAULT_LOG_H
#define CIP_TESTS_FAULT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAULT_NAME = 96, FAULT_NAMES = 64, FAULT_FILES = 96, FAULT_NOTE = 128 };

/* The files of a folder and of those below: names relative to it, and contents by number. A number
 * stays a file's whatever its name; the wrapped stat calls show it as the inode. */
typedef struct fault_disk {
    struct {
        char name[FAULT_NAME];
        int file;
    } name[FAULT_NAMES];
    size_t nname;
    struct {
        uint8_t *ptr;
        size_t n;
        char note[FAULT_NOTE]; /* the value of an extended attribute; "": it has none */
        bool folder;
    } file[FAULT_FILES];
    size_t nfile;
} fault_disk;

typedef enum fault_kind {
    FAULT_WRITE,      /* n bytes at `off` of a file */
    FAULT_RESIZE,     /* to `off` bytes */
    FAULT_NOTED,      /* a file's attribute becomes the n bytes, or goes */
    FAULT_SYNC,       /* of a file; of its attributes too where `off` is 1 */
    FAULT_CREATE,     /* `name`, empty; `off` 1: a folder */
    FAULT_RENAME,     /* `name` to `to` */
    FAULT_UNLINK,     /* `name` */
    FAULT_SYNC_NAMES, /* of a folder */
} fault_kind;

typedef struct fault_op {
    fault_kind kind;
    int file;
    int folder; /* whose names change, or are synced: its number; -1: the folder that is watched */
    uint64_t off;
    uint8_t *ptr;
    size_t n;
    char name[FAULT_NAME], to[FAULT_NAME];
} fault_op;

typedef struct fault_log {
    fault_disk before;
    fault_op *op;
    size_t n, cap;
} fault_log;

/* Watches a folder on one file system; what is open keeps being known. */
void fault_watch(const char *dir);
/* Its path. */
const char *fault_folder(void);
/* From here on operations go to *log (zeroed), which starts with the folder as it is. */
void fault_start(fault_log *log);
void fault_stop(void);
void fault_log_clear(fault_log *log);

/* The n-th operation (from 1) on a file of the folder fails: `errnum` once, or, where `full`, every
 * one from there on that needs room, the first write half-way. 0: none does. */
void fault_fail(size_t n, int errnum, bool full);
/* Operations since fault_fail. */
size_t fault_count(void);

/* Puts the files into the folder, which has been emptied, under their numbers. */
void fault_disk_put(const fault_disk *d);
/* The folder as it is. */
void fault_disk_get(fault_disk *d);
/* Removes every file of the folder. */
void fault_empty(void);
void fault_disk_copy(const fault_disk *from, fault_disk *to);
void fault_disk_clear(fault_disk *d);
/* A number that tells disks apart by names and contents. */
uint64_t fault_disk_hash(const fault_disk *d);

void fault_disk_write(fault_disk *d, int file, uint64_t off, const uint8_t *p, size_t n);
void fault_disk_resize(fault_disk *d, int file, uint64_t n);
void fault_disk_apply(fault_disk *d, const fault_op *op);

#endif
