/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures on standard output. */
#ifndef CIPPUS_TOOLS_SHOW_H
#define CIPPUS_TOOLS_SHOW_H

#include <stdio.h>

#include "cippus/cippus.h"

/* Options of pictures that are words, of the command line or of a URL. */
typedef enum show_word {
    SHOW_SCALE,
    SHOW_REDUCE,
    SHOW_LIMITS,
    SHOW_PERCENTILE,
    SHOW_BAD,
    SHOW_WORDS
} show_word;
extern const char *const show_word_names[SHOW_WORDS]; /* "scale" */
/* Puts what a word means (NULL: nothing) into p; NULL, or what was expected. */
const char *show_take_word(show_word which, const char *text, cip_picture_options *p);
/* The place of a word among those up to NULL; -1: it is not there. */
int show_number_of(const char *word, const char *const *words);
/* The word of a value of SHOW_SCALE or SHOW_REDUCE. */
const char *show_word_of(show_word which, unsigned value);
/* "kind": ...: the pairs of an object that tell what a picture shows. */
void show_facts_json(FILE *f, const cip_picture_facts *facts);

/* Two rows of pixels in each line of text, with indices in margins: half blocks in colours, or
 * (`ascii`) shades of letters, of a picture in grey whose missing values have another colour. */
typedef struct shown {
    const cip_picture *picture;
    const cip_picture_facts *facts;
    bool ascii;
    bool full_colour; /* 24 bits; else the 216 colours of xterm */
    int margin;       /* columns left of the picture; 0: no axes */
} shown;
void show_text(const shown *s);

/* By the graphics protocol of the terminal kitty: a PNG. */
cip_status show_kitty(const cip_picture *p, bool axes, cip_err *err);

#endif
