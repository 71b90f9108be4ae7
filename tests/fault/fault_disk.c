/* SPDX-License-Identifier: BSD-3-Clause
 * Folders in memory: small disks that operations are done to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault_log.h"

static void *must(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

void fault_disk_copy(const fault_disk *from, fault_disk *to)
{
    *to = *from;
    for (size_t i = 0; i < from->nfile; i++) {
        to->file[i].ptr = must(malloc(from->file[i].n + 1));
        if (from->file[i].n != 0)
            memcpy(to->file[i].ptr, from->file[i].ptr, from->file[i].n);
    }
}

void fault_disk_clear(fault_disk *d)
{
    for (size_t i = 0; i < d->nfile; i++)
        free(d->file[i].ptr);
    memset(d, 0, sizeof *d);
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(1099511628211);
    return (h ^ n) * UINT64_C(1099511628211);
}

uint64_t fault_disk_hash(const fault_disk *d)
{
    uint64_t sum = 0; /* names lie in no order */
    for (size_t i = 0; i < d->nname; i++) {
        int f = d->name[i].file;
        uint64_t h = mix(UINT64_C(14695981039346656037), d->name[i].name, strlen(d->name[i].name));
        h = mix(h, &f, sizeof f);
        h = mix(h, d->file[f].note, strlen(d->file[f].note));
        sum += mix(h, d->file[f].ptr, d->file[f].n);
    }
    return sum;
}

void fault_disk_resize(fault_disk *d, int file, uint64_t n)
{
    if (n > (64 << 20) || file < 0 || (size_t)file >= d->nfile)
        abort();
    size_t was = d->file[file].n;
    d->file[file].ptr = must(realloc(d->file[file].ptr, (size_t)n + 1));
    if (n > was)
        memset(d->file[file].ptr + was, 0, (size_t)n - was);
    d->file[file].n = (size_t)n;
}

void fault_disk_write(fault_disk *d, int file, uint64_t off, const uint8_t *p, size_t n)
{
    if (n == 0)
        return;
    if (off + n > d->file[file].n)
        fault_disk_resize(d, file, off + n);
    memcpy(d->file[file].ptr + off, p, n);
}

static size_t find(const fault_disk *d, const char *name)
{
    size_t i = 0;
    while (i < d->nname && strcmp(d->name[i].name, name) != 0)
        i++;
    return i;
}

/* Whether a name is beneath a folder. */
static bool is_beneath(const char *name, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(name, folder, n) == 0 && name[n] == '/';
}

static void forget(fault_disk *d, const char *name)
{
    size_t i = find(d, name);
    if (i < d->nname)
        d->name[i] = d->name[--d->nname];
}

static void call(fault_disk *d, const char *name, int file)
{
    forget(d, name);
    if (d->nname == FAULT_NAMES)
        abort();
    strcpy(d->name[d->nname].name, name);
    d->name[d->nname++].file = file;
}

/* What lies beneath a folder goes with it. */
static void move_beneath(fault_disk *d, const char *from, const char *to)
{
    for (size_t i = 0; i < d->nname; i++) {
        char name[2 * FAULT_NAME];
        if (!is_beneath(d->name[i].name, from))
            continue;
        snprintf(name, sizeof name, "%s%s", to, d->name[i].name + strlen(from));
        if (strlen(name) >= FAULT_NAME)
            abort();
        strcpy(d->name[i].name, name);
    }
}

/* Each takes the other's name. */
static void exchange(fault_disk *d, const char *a, const char *b)
{
    size_t i = find(d, a), j = find(d, b);
    if (i == d->nname || j == d->nname)
        return;
    int file = d->name[i].file;
    d->name[i].file = d->name[j].file;
    d->name[j].file = file;
    move_beneath(d, a, "?");
    move_beneath(d, b, a);
    move_beneath(d, "?", b);
}

void fault_disk_apply(fault_disk *d, const fault_op *op)
{
    size_t i;
    while (op->file >= 0 && (size_t)op->file >= d->nfile) {
        d->file[d->nfile].ptr = must(malloc(1));
        d->file[d->nfile].note[0] = '\0';
        d->file[d->nfile].folder = false;
        d->file[d->nfile++].n = 0;
    }
    switch (op->kind) {
    case FAULT_WRITE:
        fault_disk_write(d, op->file, op->off, op->ptr, op->n);
        break;
    case FAULT_RESIZE:
        fault_disk_resize(d, op->file, op->off);
        break;
    case FAULT_NOTED:
        if (op->n >= FAULT_NOTE)
            abort();
        memset(d->file[op->file].note, 0, FAULT_NOTE);
        if (op->n != 0)
            memcpy(d->file[op->file].note, op->ptr, op->n);
        break;
    case FAULT_CREATE:
        call(d, op->name, op->file);
        d->file[op->file].folder = op->off == 1;
        break;
    case FAULT_RENAME:
        if (op->off == 1) {
            exchange(d, op->name, op->to);
            break;
        }
        i = find(d, op->name);
        if (i == d->nname)
            break;
        int file = d->name[i].file;
        forget(d, op->name);
        call(d, op->to, file);
        move_beneath(d, op->name, op->to);
        break;
    case FAULT_UNLINK:
        forget(d, op->name);
        break;
    case FAULT_SYNC:
    case FAULT_SYNC_NAMES:
        break;
    }
}
