/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays of the fake format in members of a set, as formats have them whose file is a folder: in
 * the folder NAME a member for each chunk with data, called by its number, or "all" of them in one;
 * and "index", which says what each chunk is and changes last.
 *
 *     fake_members was = { .name = "" }, now = { .name = "a" };     nothing is there yet
 *     fake_members_revise(&r, &was, &now, &stored);                 what makes it so
 *     ... the revision is committed ...
 *     fake_members_open(&f, set, &now, &stored);                    its chunks lie in the members
 */
#ifndef CIP_TESTS_FAKE_MEMBERS_H
#define CIP_TESTS_FAKE_MEMBERS_H

#include "io/patch.h"
#include "support/fake/fake.h"

typedef struct fake_members {
    char name[8];  /* of the folder */
    bool together; /* the data, in "all" */
    /* Of one that is open: */
    cip_io *set;      /* borrowed */
    cip_io *io;       /* the data: numbered members, or "all" */
    cip_space *space; /* over it */
    uint8_t *index;   /* n entries */
    size_t n;
} fake_members;

/* All that has to become of the members of `was` (name "": there are none), which is open, for the
 * stored array to be in those of `now`. Chunks that lie in `was` stay, or are renamed, where they
 * can; others are made, take an old one's place, or (together) are added or written over one that
 * is not wanted any more. */
void fake_members_revise(cip_revision *r, const fake_members *was, const fake_members *now,
                         const fake_stored *s);
/* All members go. */
void fake_members_remove(cip_revision *r, const fake_members *was);
/* The chunks of an array of this form, as the members have them. */
void fake_members_open(fake *f, cip_io *set, fake_members *m, fake_stored *s);
void fake_members_close(fake_members *m);
/* How many members there are. */
size_t fake_members_count(const fake_members *m);

#endif
