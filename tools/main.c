/* SPDX-License-Identifier: BSD-3-Clause
 * The command `cippus`: a table of commands, each in its own file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cippus/change.h"
#include "commands.h"
#include "help.h"
#include "joined.h"
#include "printed.h"
#include "print.h"
#include "suggest.h"

static const command commands[] = {
    { "Look at files", "ls", "FILE|FOLDER...", cmd_ls, 1, -1,
      "List the arrays of a file: path, dtype, shape, storage, codec",
      "For a folder, list those of all files of known formats in it.",
      "cippus ls night.asdf\n"
      "cippus ls -R archive",
      "recursive tsv json | paths offset" },
    { NULL, "info", "FILE...", cmd_info, 1, -1,
      "Show a file's format, version, writer, size, codecs and arrays", NULL,
      "cippus info night.asdf\n"
      "cippus info --chunks cube.b2nd",
      "blocks chunks path json | query offset" },
    { NULL, "tree", "FILE... [PATH]", cmd_tree, 1, -1, "Show the metadata tree, or search it",
      "Each array is shown on one line.",
      "cippus tree night.asdf exposure\n"
      "cippus tree night.asdf --find '^time'",
      "depth find type value blocks json | offset" },
    { NULL, "cat", "FILE [PATH] [SLICE]", cmd_cat, 1, 3,
      "Print array data, or write them as csv, JSON, npy or raw bytes",
      "On a terminal only the edges of an array are printed.",
      "cippus cat night.asdf image '[0:3, 10:14]'\n"
      "cippus cat night.asdf stars -o stars.csv",
      "to output overwrite all dtype accept-loss follow points mask check | preview as block chunk "
      "stored "
      "column-major "
      "sidecar offset from shape byteorder header no-header sep unescape" },
    { NULL, "stat", "FILE... [PATH] [SLICE]", cmd_stat, 1, -1,
      "Show minimum, maximum, mean, and counts of NaN, zero, masked",
      "Without PATH, every array of numbers is shown.",
      "cippus stat night.asdf\n"
      "cippus stat night.asdf image '[:16, :16]'",
      "json check | dtype column-major sidecar offset from shape byteorder header no-header "
      "sep unescape" },
    { NULL, "serve", "FILE|FOLDER...", cmd_serve, 1, -1,
      "Show files in a browser, and serve them over HTTP, also as Zarr",
      "Prints the URL of the page; ends at Ctrl-C. Nothing is ever changed.",
      "cippus serve night.asdf\n"
      "cippus serve archive --port 0",
      "port bind public cors" },
    { NULL, "show", "FILE [PATH] [SLICE]", cmd_show, 1, 3,
      "Show an array as a picture, in the terminal or as PNG",
      "Two axes are an image, one is a line. Large arrays are read in part.",
      "cippus show night.asdf image\n"
      "cippus show night.asdf image '[:16]' -o image.png --scale asinh",
      "output= overwrite scale limits percentile map width height format== json | bad reduce zoom "
      "no-axes max-nbytes column-major as offset from shape dtype= byteorder header no-header sep "
      "unescape" },
    { "Check and compare", "verify", "FILE|FOLDER...", cmd_verify, 1, -1,
      "Check structure, index and every stored checksum",
      "For a folder, check all files of known formats in it.\n"
      "Prints one line for each finding; exit status 1 if there is any.",
      "cippus verify night.asdf\n"
      "cippus verify --deep -R archive",
      "deep recursive quiet json | sidecar offset" },
    { NULL, "diff", "A B", cmd_diff, 2, 2, "Compare metadata and data of two files, of any formats",
      "Prints one line for each difference; exit status 1 if there is any.",
      "cippus diff old.asdf new.asdf\n"
      "cippus diff night.asdf copy.b2nd --path image --rtol 1e-6",
      "path rtol atol ignore ignore-tags bookkeeping limit json | check" },
    { "Write new files", "convert", "IN... OUT", cmd_convert, 1, -1,
      "Convert between formats; several inputs can go into one file",
      "Every loss is reported, and refused without --accept-loss.\nWith --fill: make a new array.",
      "cippus convert night.asdf image.b2nd --path image --codec zstd\n"
      "cippus convert a.npy b.npy both.asdf",
      "path format codec chunks= each concat overwrite accept-loss fill json | name filter option "
      "blocks= sparse encode inline resolve-refs standard byteorder= checksum md5 align "
      "tree-slack durability at-end check no-check offset from dtype= shape header no-header sep "
      "unescape" },
    { NULL, "repair", "IN OUT", cmd_repair, 2, 2,
      "Copy what is readable of a damaged file; report what is lost", "IN is never changed.",
      "cippus repair broken.asdf copy.asdf\n"
      "cippus repair broken.b2nd copy.b2nd --fill nan",
      "fill= in-order format overwrite accept-loss json | no-check durability offset" },
    { NULL, "explode", "FILE OUT", cmd_explode, 2, 2,
      "Move the data of arrays into files beside OUT", "The data stay as they are stored.",
      "cippus explode night.asdf split/night.asdf\n"
      "cippus explode night.asdf out.asdf --path image",
      "path bare overwrite accept-loss | tree-slack align durability" },
    { NULL, "implode", "FILE OUT", cmd_implode, 2, 2,
      "Bring data of other files back into one file", NULL,
      "cippus implode split/night.asdf night.asdf",
      "overwrite accept-loss | tree-slack align durability" },
    { NULL, "zarr-refs", "FILE [OUT]", cmd_zarr_refs, 1, 2,
      "Write references to the chunks of a file, for readers of Zarr",
      "The references are kerchunk's; the data stay in FILE.",
      "cippus zarr-refs night.asdf night.json\n"
      "cippus zarr-refs cube.b2nd cube.parq --format parquet",
      "path url format= inline= overwrite" },
    { "Change a file in place", "set", "FILE PATH VALUE", cmd_set, 3, 3,
      "Set a value of the metadata tree; VALUE is YAML", NULL,
      "cippus set night.asdf exposure/time 107.5\n"
      "cippus set night.asdf observer '{name: Ada}' --history 'named'",
      "string dry-run history json | durability wait tree-slack break-links" },
    { NULL, "rm", "FILE PATH [SLICE]", cmd_rm, 2, 3,
      "Remove a node or an array, or rows of an array", NULL,
      "cippus rm night.asdf exposure/note\n"
      "cippus rm rows.npy . '[100:200]'",
      "dry-run history json | encode option= accept-loss durability wait tree-slack md5 "
      "break-links" },
    { NULL, "mv", "FILE OLD NEW", cmd_mv, 3, 3, "Rename a node or an array", NULL,
      "cippus mv night.asdf image sky/image",
      "dry-run history json | durability wait tree-slack break-links" },
    { NULL, "put", "FILE [PATH] [SLICE] INPUT", cmd_put, 2, 4,
      "Replace elements, insert rows, or add an array",
      "INPUT is a file, raw bytes, a number, or '-' for standard input.",
      "cippus put night.asdf image '[0:3]' rows.npy\n"
      "cippus put --new night.asdf flat flat.npy --codec lz4",
      "new insert codec path accept-loss by-position dry-run history json | inline encode "
      "option from dtype= shape byteorder header no-header sep unescape durability wait tree-slack "
      "md5 "
      "break-links" },
    { NULL, "append", "FILE [PATH] INPUT", cmd_append, 2, 3, "Add rows to the end of an array",
      "INPUT is a file, raw bytes, or '-' for standard input.",
      "cippus append log.asdf rows.npy\n"
      "sensor | cippus append log.asdf - --from raw",
      "path from accept-loss by-position dry-run history json | encode option= dtype= shape "
      "byteorder header no-header sep unescape durability wait tree-slack md5 break-links" },
    { NULL, "resize", "FILE [PATH] SHAPE", cmd_resize, 2, 3, "Change an array's shape",
      "New elements are zero (BLZ: the default of the array).",
      "cippus resize rows.npy 100,3\n"
      "cippus resize night.asdf image 64,64 --dry-run",
      "dry-run accept-loss history json | encode option= durability wait tree-slack md5 "
      "break-links" },
    { NULL, "edit", "FILE", cmd_edit, 1, 1, "Edit the metadata tree in $VISUAL or $EDITOR",
      "The text is checked before it is written back.", "cippus edit night.asdf",
      "dry-run history json | durability wait tree-slack break-links" },
    { NULL, "defrag", "FILE", cmd_defrag, 1, 1, "Remove holes and unused data from a file",
      "Each is listed.", "cippus defrag night.asdf --dry-run",
      "dry-run accept-loss history json | durability wait tree-slack break-links" },
    { NULL, "finish", "FILE", cmd_finish, 1, 1,
      "Turn a streamed block into one of known size, with an index", NULL,
      "cippus finish stream.asdf",
      "dry-run history json | durability wait tree-slack md5 break-links" },
    { NULL, "recover", "FILE|FOLDER", cmd_recover, 1, 1,
      "Show what an interrupted update left behind; finish or undo it", NULL,
      "cippus recover night.asdf\n"
      "cippus recover night.asdf --apply",
      "apply discard json" },
    { .name = NULL },
};

/* Named by the contract, to be written. */
static const char *const later[] = { "where", "bench", NULL };

/* A codec or library in a list. */
static void print_part(size_t i, const char *name, bool there, const char *version)
{
    printf("%s %s", i == 0 ? "" : ",", name);
    if (!there)
        fputs(" (not in this build)", stdout);
    else if (version[0] != '\0')
        printf(" (%s)", version);
}

static void print_version(void)
{
    const char *title, *caps, *version, *name;
    bool there;
    size_t i;
    printf("cippus %s\nformats:", cip_version());
    for (i = 0; (name = cip_format_at(i, &title, &caps)) != NULL; i++)
        printf("%s %s (%s)", i == 0 ? "" : ",", name, caps[0] != '\0' ? caps : "not in this build");
    fputs("\ncodecs:", stdout);
    for (i = 0; (name = cip_codec_at(i, &there, &version)) != NULL; i++)
        print_part(i, name, there, version);
    fputs("\nlibraries:", stdout);
    for (i = 0; (name = cip_library_at(i, &there, &version)) != NULL; i++)
        print_part(i, name, there,
                   version[0] != '\0' || strcmp(name, "libcurl") != 0 ? version : "not installed");
    version = serve_library();
    print_part(i, "libmicrohttpd", version != NULL, version);
    putchar('\n');
}

static int run(const command *c, int argc, char **argv)
{
    opts o;
    progress bar = { 0 };
    int rc = opts_parse(c, argc, argv, &o);
    bar.off = o.no_progress || o.trace;
    if (o.trace)
        setenv("CIP_TRACE", o.json ? "json" : "1", 1);
    o.bar = &bar;
    if (rc == 0 && o.help) {
        help_command(c, &o);
    } else if (rc == 0) {
        rc = split_joined(c, &o);
        rc = rc == 0 ? opts_check_count(c, &o) : rc;
        rc = rc == 0 ? c->run(&o) : rc;
    }
    hide_progress(&bar);
    free(o.pos);
    return rc;
}

/* Words that people know from other programs. */
static const char *const synonyms[][2] = { { "view", "cat" },
                                           { "dump", "cat" },
                                           { "plot", "show" },
                                           { "image", "show" },
                                           { "picture", "show" },
                                           { "preview", "show" },
                                           { "head", "cat" },
                                           { "tail", "cat" },
                                           { "print", "cat" },
                                           { "read", "cat" },
                                           { "get", "cat" },
                                           { "extract", "cat" },
                                           { "slice", "cat" },
                                           { "less", "cat" },
                                           { "check", "verify" },
                                           { "validate", "verify" },
                                           { "test", "verify" },
                                           { "fsck", "verify" },
                                           { "export", "convert" },
                                           { "compress", "convert" },
                                           { "decompress", "convert" },
                                           { "copy", "convert" },
                                           { "cp", "convert" },
                                           { "transform", "convert" },
                                           { "translate", "convert" },
                                           { "save", "convert" },
                                           { "create", "convert" },
                                           { "new", "convert" },
                                           { "merge", "convert" },
                                           { "concat", "convert" },
                                           { "join", "convert" },
                                           { "split", "explode" },
                                           { "pack", "convert" },
                                           { "list", "ls" },
                                           { "dir", "ls" },
                                           { "arrays", "ls" },
                                           { "shape", "ls" },
                                           { "size", "ls" },
                                           { "du", "ls" },
                                           { "header", "tree" },
                                           { "meta", "tree" },
                                           { "metadata", "tree" },
                                           { "yaml", "tree" },
                                           { "keys", "tree" },
                                           { "find", "tree" },
                                           { "search", "tree" },
                                           { "grep", "tree" },
                                           { "file", "info" },
                                           { "describe", "info" },
                                           { "stats", "stat" },
                                           { "summary", "stat" },
                                           { "min", "stat" },
                                           { "max", "stat" },
                                           { "mean", "stat" },
                                           { "compare", "diff" },
                                           { "cmp", "diff" },
                                           { "fix", "repair" },
                                           { "salvage", "repair" },
                                           { "remove", "rm" },
                                           { "delete", "rm" },
                                           { "del", "rm" },
                                           { "rename", "mv" },
                                           { "move", "mv" },
                                           { "write", "put" },
                                           { "assign", "put" },
                                           { "add", "put" },
                                           { "extend", "append" },
                                           { "reshape", "resize" },
                                           { "compact", "defrag" },
                                           { "vacuum", "defrag" },
                                           { "version", "--version" },
                                           { "formats", "--version" },
                                           { "codecs", "--version" },
                                           { "kerchunk", "zarr-refs" },
                                           { "zarr", "zarr-refs" },
                                           { NULL, NULL } };

/* A writing command is no slip of what begins with another letter. */
static bool changes_files(const command *c)
{
    return opts_takes(c, "dry-run") || c->run == cmd_recover;
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
    for (size_t i = 0; synonyms[i][0] != NULL; i++)
        if (strcasecmp(synonyms[i][0], name) == 0) {
            fprintf(stderr, "; did you mean '%s'?\n", synonyms[i][1]);
            return EXIT_USAGE;
        }
    for (const command *c = commands; c->name != NULL; c++)
        if (c->name[0] == name[0] || !changes_files(c))
            suggest_offer(&s, c->name);
    if (!suggest_print(&s, ""))
        fputs("; see 'cippus --help'\n", stderr);
    return EXIT_USAGE;
}

/* Ends as the signal would have, with nothing left of what was being written. */
static void on_end(int signal_number)
{
    cip_remove_unfinished();
    output_remove_unfinished();
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

static const command *find_command(const char *name)
{
    for (const command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* Names of versions before 0.4, which still work. */
static const command *find_renamed(const char *name)
{
    static const char *const renamed[][2] = { { "freeze", "finish" }, { "refs", "zarr-refs" } };
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i][0], name) == 0) {
            note_renamed("", name, renamed[i][1]);
            return find_command(renamed[i][1]);
        }
    return NULL;
}

/* `help [COMMAND | errors]`, as `COMMAND --help` and `--help`. */
static int help(int argc, char **argv)
{
    static char option[] = "--help";
    if (argc < 3 || argv[2][0] == '-') {
        help_overview(commands);
        return finish_stdout(EXIT_FINE);
    }
    if (strcmp(argv[2], "errors") == 0) {
        help_errors();
        return finish_stdout(EXIT_FINE);
    }
    const command *c = find_command(argv[2]);
    if (c == NULL)
        c = find_renamed(argv[2]);
    if (c == NULL)
        return unknown(argv[2]);
    argv[2] = option;
    return finish_stdout(run(c, argc - 1, argv + 1));
}

/* `cippus FILE...`: what is no command, and is a file or looks like the name of one. */
static bool is_file(const char *name)
{
    return name[0] != '-' ? strpbrk(name, "./") != NULL || access(name, F_OK) == 0
                          : name[1] == '\0';
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16]; /* so that short output fails as one, and its reason is known */
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const char *name = argc > 1 ? argv[1] : "";
    catch_ends();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        print_version();
        return finish_stdout(EXIT_FINE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc, argv);
    const command *c = find_command(name);
    if (c == NULL)
        c = find_renamed(name);
    if (c != NULL)
        return run(c, argc - 1, argv + 1);
    if (argc > 1 && is_file(name))
        return run(find_command("ls"), argc, argv);
    if (argc > 1)
        return unknown(name);
    fputs("cippus: no command or file; see 'cippus --help'\n", stderr);
    return EXIT_USAGE;
}
