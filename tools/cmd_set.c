/* SPDX-License-Identifier: BSD-3-Clause
 * cippus set: one node of the tree changed in place. */
#include <string.h>

#include "commands.h"
#include "update.h"

/* Whether a text is a number to most people but a string in YAML 1.1, whose floats with an exponent
 * have a dot and a sign: 1.5e+3. */
static bool looks_like_number(const char *text)
{
    static const char digits[] = "0123456789";
    const char *p = text + (*text == '-' || *text == '+');
    size_t whole = strspn(p, digits), dot = p[whole] == '.';
    size_t part = dot ? strspn(p + whole + 1, digits) : 0;
    p += whole + dot + part;
    if (whole + part == 0 || (*p != 'e' && *p != 'E'))
        return false;
    bool sign = p[1] == '-' || p[1] == '+';
    p += 1 + sign;
    return *p != '\0' && p[strspn(p, digits)] == '\0' && !(sign && dot);
}

int cmd_set(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    cip_edit *edit;
    int rc = update_start(o, &edit);
    if (rc != EXIT_FINE)
        return rc;
    cip_status st = o->string ? cip_edit_set(edit, o->pos[1], o->pos[2], &err)
                              : cip_edit_set_yaml(edit, o->pos[1], o->pos[2], &err);
    if (st == CIP_OK && !o->string && looks_like_number(o->pos[2])) {
        fputs("cippus: note: ", stderr);
        print_escaped(stderr, o->pos[2]);
        fputs(" is a string in YAML 1.1; a number is written 1.5e+3\n", stderr);
    }
    return update_finish(o, edit, st, &err);
}
