/* SPDX-License-Identifier: BSD-3-Clause
 * The command `cippus`: a table of commands, each in its own file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cippus/change.h"
#include "commands.h"
#include "print.h"
#include "suggest.h"

static const command commands[] = {
    { "info", "FILE...", "What a file is: format, writer, size, codecs, checks.", cmd_info, 1, -1,
      "json blocks chunks path yaml offset" },
    { "ls", "FILE...", "A line for each array: path, dtype, shape, storage, codec, stored bytes.",
      cmd_ls, 1, -1, "json recursive offset" },
    { "tree", "FILE... [PATH]", "The metadata tree, an array in one line; or a search in it.",
      cmd_tree, 1, -1, "json depth find type value blocks offset" },
    { "cat", "FILE [PATH] [SLICE]", "Array data, whole or by slices such as '[10:20, ::2, -1]'.",
      cmd_cat, 1, 3,
      "offset to dtype accept-loss as points block chunk stored mask column-major follow all from "
      "shape "
      "header "
      "no-header unescape sep "
      "byteorder sidecar check" },
    { "stat", "FILE... [PATH] [SLICE]", "Minimum, maximum, mean, deviation, NaN, zero, masked.",
      cmd_stat, 1, -1,
      "json offset column-major from shape header no-header unescape sep dtype byteorder sidecar "
      "check" },
    { "verify", "FILE...", "Structure, index and every stored checksum; a line for each finding.",
      cmd_verify, 1, -1, "json deep sidecar offset" },
    { "convert", "IN... OUT",
      "From any format to any that is written, several into one; no loss goes unsaid. With --fill: "
      "a new "
      "array.",
      cmd_convert, 1, -1,
      "name fill offset at-end format codec filter chunks= blocks= sparse encode option path "
      "byteorder from "
      "dtype "
      "shape header no-header unescape sep "
      "standard "
      "inline "
      "resolve-refs md5 checksum align "
      "tree-slack level "
      "accept-loss overwrite check no-check json" },
    { "diff", "A B", "What differs in tree and data of two files, of any formats.", cmd_diff, 2, 2,
      "json rtol atol ignore ignore-tags bookkeeping most path check" },
    { "set", "FILE PATH VALUE", "One node of the tree changed in place; VALUE is YAML.", cmd_set, 3,
      3, "string history dry-run wait level tree-slack break-links json" },
    { "rm", "FILE PATH [SLICE]",
      "One node of the tree removed in place, or a range of an array, as '[100:200]'.", cmd_rm, 2,
      3, "encode option accept-loss history dry-run wait level tree-slack md5 break-links json" },
    { "mv", "FILE OLD NEW", "One node or array of the tree gets another path, in place.", cmd_mv, 3,
      3, "history dry-run wait level tree-slack break-links json" },
    { "put", "FILE [PATH] [SLICE] INPUT",
      "Elements replaced in place, from any array, raw bytes or a number; --new adds an array, "
      "--insert rows.",
      cmd_put, 2, 4,
      "new insert codec inline encode option accept-loss by-position from dtype shape header "
      "no-header "
      "unescape sep "
      "byteorder path "
      "history "
      "dry-run wait level "
      "tree-slack md5 "
      "break-links json" },
    { "append", "FILE [PATH] INPUT",
      "Rows added in place; '-' with --from raw takes rows from a pipe.", cmd_append, 2, 3,
      "encode option accept-loss by-position from dtype shape header no-header unescape sep "
      "byteorder "
      "path "
      "history "
      "dry-run wait level "
      "tree-slack md5 "
      "break-links json" },
    { "resize", "FILE [PATH] SHAPE",
      "An array's shape changed in place; new elements are zeros (BLZ: dflt).", cmd_resize, 2, 3,
      "encode option accept-loss history dry-run wait level tree-slack md5 break-links json" },
    { "edit", "FILE", "The tree's text in $VISUAL or $EDITOR, checked before it is written back.",
      cmd_edit, 1, 1, "history dry-run wait level tree-slack break-links json" },
    { "freeze", "FILE", "A streamed block becomes one of a known size, with an index.", cmd_freeze,
      1, 1, "history dry-run wait level tree-slack md5 break-links json" },
    { "defrag", "FILE", "Holes and blocks that no array names are dropped, each listed.",
      cmd_defrag, 1, 1, "accept-loss history dry-run wait level tree-slack break-links json" },
    { "explode", "FILE OUT", "Data in files beside OUT; their payloads stay as they are stored.",
      cmd_explode, 2, 2, "path bare accept-loss overwrite tree-slack align level" },
    { "implode", "FILE OUT", "Data of other files become data of OUT.", cmd_implode, 2, 2,
      "accept-loss overwrite tree-slack align level" },
    { "refs", "FILE [OUT]",
      "References to the chunks in a file, as kerchunk has them, for readers of Zarr.", cmd_refs, 1,
      2, "path url format= inline= overwrite" },
    { "recover", "FILE|FOLDER", "What an update that was cut off left; --apply or --discard it.",
      cmd_recover, 1, 1, "json apply discard" },
    { "repair", "IN OUT", "What can be read of a damaged file, with a report of what was lost.",
      cmd_repair, 2, 2, "fill in-order offset format accept-loss overwrite level no-check json" },
    { NULL, NULL, NULL, NULL, 0, 0, NULL },
};

/* Named by the contract, to be written. */
static const char *const later[] = { "where", "bench", NULL };

static void print_help(void)
{
    puts("usage: cippus COMMAND [OPTIONS] FILE...\n");
    for (const command *c = commands; c->name != NULL; c++)
        printf("  %-8s %-26s %s\n", c->name, c->args, c->help);
    puts("\n'cippus COMMAND --help' tells a command's options; '-' is standard input or output.\n"
         "Exit status: 0 fine, 1 findings, 2 wrong usage, 3 the file or the system failed.");
}

static void print_version(void)
{
    const char *title, *caps, *version, *name;
    bool there;
    printf("cippus %s\nformats:", cip_version());
    for (size_t i = 0; (name = cip_format_at(i, &title, &caps)) != NULL; i++)
        printf("%s %s (%s)", i == 0 ? "" : ",", name, caps);
    fputs("\ncodecs:", stdout);
    for (size_t i = 0; (name = cip_codec_at(i, &there, &version)) != NULL; i++) {
        printf("%s %s", i == 0 ? "" : ",", name);
        if (!there)
            fputs(" (not in this build)", stdout);
        else if (version[0] != '\0')
            printf(" (%s)", version);
    }
    putchar('\n');
}

static int run(const command *c, int argc, char **argv)
{
    opts o;
    progress bar = { 0 };
    int rc = opts_parse(c, argc, argv, &o);
    bar.off = o.no_progress;
    o.bar = &bar;
    if (rc == 0 && o.help)
        opts_help(c);
    else if (rc == 0)
        rc = c->run(&o);
    hide_progress(&bar);
    free(o.pos);
    return rc;
}

/* Whoever typed `get` did not mean `set`. */
static bool changes_files(const char *name)
{
    static const char *const list[] = { "append", "defrag",  "edit",   "freeze", "mv",
                                        "put",    "recover", "resize", "rm",     "set" };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static int unknown(const char *name)
{
    suggestion s = { .wanted = name };
    for (size_t i = 0; later[i] != NULL; i++)
        if (strcmp(later[i], name) == 0) {
            fprintf(stderr, "cippus: %s: not yet\n", name);
            return EXIT_USAGE;
        }
    fputs("cippus: unknown command '", stderr);
    print_escaped(stderr, name);
    putc('\'', stderr);
    for (const command *c = commands; c->name != NULL; c++)
        if (c->name[0] == name[0] || !changes_files(c->name))
            suggest_offer(&s, c->name);
    if (!suggest_print(&s, ""))
        fputs("; see 'cippus --help'\n", stderr);
    return EXIT_USAGE;
}

/* Ends as the signal would have, with nothing left of what was being written. */
static void on_end(int signal_number)
{
    cip_remove_unfinished();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_ends(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ, SIGXCPU };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (signal(ends[i], on_end) == SIG_IGN)
            signal(ends[i], SIG_IGN); /* as under nohup */
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16]; /* so that short output fails as one, and its reason is known */
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const char *name = argc > 1 ? argv[1] : "";
    catch_ends();
    if (strcmp(name, "--version") == 0) {
        print_version();
        return finish_stdout(EXIT_FINE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return finish_stdout(EXIT_FINE);
    }
    for (const command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return run(c, argc - 1, argv + 1);
    if (argc > 1)
        return unknown(name);
    fputs("cippus: expected a command; see 'cippus --help'\n", stderr);
    return EXIT_USAGE;
}
