/* SPDX-License-Identifier: BSD-3-Clause
 * What a build says that lacks formats: its own, then of files that it is to read (FILE), to write
 * (+FILE), and to write in a format (=NAME). */
#include <cippus/cippus.h>

#include <stdio.h>

static void say(const char *arg)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *file = NULL;
    cip_change *change = NULL;
    cip_status st;
    if (arg[0] == '+')
        st = cip_create(arg + 1, NULL, &change, &err);
    else if (arg[0] == '=')
        st = cip_create("new", CIP_CHANGE_OPTIONS(.format = arg + 1), &change, &err);
    else
        st = cip_open(arg, NULL, &file, &err);
    printf("%s: %s\n", arg, st == CIP_OK ? "yes" : err.text);
    cip_change_abort(&change);
    cip_file_close(file);
}

int main(int argc, char **argv)
{
    const char *name, *title, *caps;
    for (size_t i = 0; (name = cip_format_at(i, &title, &caps)) != NULL; i++)
        printf("%s (%s): %s\n", name, title, caps);
    for (int i = 1; i < argc; i++)
        say(argv[i]);
    return 0;
}
