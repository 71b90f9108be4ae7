/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures on standard output. */
#ifndef CIPPUS_TOOLS_SHOW_H
#define CIPPUS_TOOLS_SHOW_H

#include "cippus/cippus.h"

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
