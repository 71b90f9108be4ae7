/* SPDX-License-Identifier: BSD-3-Clause
 * `--help`: lines wrapped to the terminal. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"
#include "print.h"

enum { NAME_WIDTH = 13, FORMAT_INDENT = 6, OPTION_WIDTH = 24, WIDEST = 100 };

static int help_width(void)
{
    const int width = terminal_width();
    return width > WIDEST ? WIDEST : width;
}

void help_wrapped(const char *text, int at, int indent)
{
    const int width = help_width();
    bool first = true;
    while (*text != '\0') {
        const int n = (int)strcspn(text, " \n");
        if (!first && at + 1 + n > width) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", n, text);
        at += n;
        text += n;
        first = *text == '\n';
        if (first)
            printf("\n%*s", indent, "");
        at = first ? indent : at;
        text += *text != '\0';
    }
    putchar('\n');
}

void help_overview(const command *commands)
{
    puts("usage: cippus COMMAND [OPTIONS] FILE...\n"
         "       cippus FILE          (short for: cippus ls FILE)");
    for (const command *c = commands; c->name != NULL; c++) {
        if (c->group != NULL)
            printf("\n%s:\n", c->group);
        const int n = printf("  %-*s", NAME_WIDTH - 2, c->name);
        help_wrapped(c->help, n, NAME_WIDTH);
    }
    putchar('\n');
    help_wrapped(
        "'cippus help COMMAND' shows a command's options and examples, 'cippus help errors' what "
        "messages mean, 'cippus --version' the formats and codecs. '-' as FILE is standard input "
        "or output.\n"
        "Exit status: 0 fine, 1 findings, 2 wrong usage, 3 the file or the system "
        "failed.",
        0, 0);
}

/* What --option takes: of the format that is named, else of each. */
static void print_formats(const opts *o)
{
    const char *format, *key, *help, *caps;
    for (size_t i = 0; (format = cip_format_at(i, NULL, &caps)) != NULL; i++)
        for (size_t k = 0; strcmp(caps, "write") != 0 && /* a kind of the last one */
                           (o->format == NULL || strcmp(o->format, format) == 0) &&
                           (key = cip_format_option_at(format, k, &help)) != NULL;
             k++) {
            const int n = printf("%*s%s: %s=..., ", FORMAT_INDENT, "", format, key);
            help_wrapped(help, n, FORMAT_INDENT + 4);
        }
}

static void print_option(const opt_row *r, const opts *o)
{
    int n = printf("  --%.*s%s%s", (int)strcspn(r->name, "="), r->name, r->arg != NULL ? " " : "",
                   r->arg != NULL ? r->arg : "");
    n += printf("%*s", n < OPTION_WIDTH ? OPTION_WIDTH - n : 1, "");
    help_wrapped(r->help, n, OPTION_WIDTH);
    if (strcmp(r->name, "option") == 0 && o->all)
        print_formats(o);
}

/* The options that a list names, up to its end or to the word "|". */
static void print_options(const char *list, const opts *o)
{
    for (const char *word = list; *word != '\0' && *word != '|';) {
        const size_t n = strcspn(word, " ");
        for (const opt_row *r = opt_rows; r->name != NULL; r++)
            if (strlen(r->name) == n && memcmp(r->name, word, n) == 0)
                print_option(r, o);
        word += n + strspn(word + n, " ");
    }
}

void help_command(const command *c, const opts *o)
{
    printf("usage: cippus %s [OPTIONS] %s\n\n%s.\n", c->name, c->args, c->help);
    if (c->more != NULL)
        help_wrapped(c->more, 0, 0);
    puts("\nexamples:");
    for (const char *line = c->examples; *line != '\0';) {
        const int n = (int)strcspn(line, "\n");
        printf("  %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
    const char *rest = strchr(c->takes, '|');
    if (rest != c->takes && c->takes[0] != '\0') {
        puts("\noptions:");
        print_options(c->takes, o);
    }
    if (!o->all) {
        printf("\nMore options: cippus %s --help --all\n", c->name);
        return;
    }
    if (rest != NULL) {
        puts("\nmore options:");
        print_options(rest + 2, o);
    }
    puts("\noptions of every command:");
    print_options(opts_common, o);
}
