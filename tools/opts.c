/* SPDX-License-Identifier: BSD-3-Clause
 * Parsing of the command line by table. */
#include "opts.h"

#include <float.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "suggest.h"

#define FLAG(name, field, help)                                                                    \
    {                                                                                              \
        name, NULL, help, OPT_FLAG, offsetof(opts, field), NULL                                    \
    }
#define TEXT(name, arg, field, help)                                                               \
    {                                                                                              \
        name, arg, help, OPT_TEXT, offsetof(opts, field), NULL                                     \
    }
#define WORD(name, arg, field, words, help)                                                        \
    {                                                                                              \
        name, arg, help, OPT_TEXT, offsetof(opts, field), words                                    \
    }

const opt_row opt_rows[] = {
    FLAG("json", json, "print facts as JSON with stable keys"),
    { "threads", "N", "how many threads work (0: one for each processor)", OPT_COUNT,
      offsetof(opts, threads), NULL },
    { "max-memory", "SIZE", "never hold more than this (default 2G)", OPT_SIZE,
      offsetof(opts, max_memory), NULL },
    { "max-elements", "N", "refuse to produce more elements than this", OPT_SIZE,
      offsetof(opts, max_elements), NULL },
    FLAG("no-progress", no_progress, "no progress on the terminal"),
    FLAG("allow-external", allow_external,
         "open external files outside the file's folder too (never a network)"),
    TEXT("shards", "DIR:DIR", shards, "other folders that superchunks of a BLZ array lie in"),
    FLAG("force", force,
         "go on where a version or flag is unknown; mv: replace what NEW names; set: replace "
         "arrays"),
    FLAG("recursive", recursive, "all files of known formats in folders, and in theirs (-r)"),
    FLAG("blocks", blocks, "the table of blocks"),
    FLAG("chunks", chunks, "the chunks of each array: where each lies and what it holds"),
    FLAG("yaml", yaml, "what the format's own tools print of a file (RawArray's query)"),
    { "depth", "N", "leave out what lies deeper", OPT_COUNT, offsetof(opts, depth), NULL },
    TEXT("find", "KEY", find, "nodes whose key matches this extended regular expression"),
    TEXT("type", "TYPE", type,
         "nodes of this type: null bool int float string timestamp binary seq map array, or part "
         "of a tag"),
    TEXT("value", "TEXT", value, "scalars whose text matches this extended regular expression"),
    TEXT("to", "KIND", to, "text (default), raw, npy, csv, json"),
    TEXT("dtype", "T", dtype, "convert values to this type"),
    TEXT("as", "T", as, "take the stored bytes as this type"),
    TEXT("points", "FILE", points, "single elements: a line of indices for each"),
    { "block", "N", "the bytes of block N, decoded", OPT_INDEX, offsetof(opts, block), NULL },
    { "chunk", "N", "the bytes of the array's chunk N, decoded", OPT_INDEX, offsetof(opts, chunk),
      NULL },
    FLAG("stored", stored, "with --block or --chunk: the bytes as they are stored"),
    FLAG("mask", mask, "the mask: 1 is missing"),
    FLAG("column-major", column_major, "dimensions in reverse, as column-major files store them"),
    FLAG("all", all, "on a terminal too: everything, not the edges alone"),
    FLAG("follow", follow, "go on with the rows that are appended, until stopped"),
    FLAG("sidecar", sidecar, "keep checkpoints for windows into compressed blocks beside the file"),
    FLAG("check", check, "compare each block with its stored checksum before its data are given"),
    FLAG("no-check", no_check, "read blocks that are not what their checksums say, too"),
    { "rtol", "X", "numbers are equal within X times that of B, and --atol (default 0)", OPT_NUMBER,
      offsetof(opts, rtol), NULL },
    { "atol", "X", "numbers are equal within X (default 0: exactly)", OPT_NUMBER,
      offsetof(opts, atol), NULL },
    TEXT("ignore", "PATH", ignore,
         "this node or array is not compared; `*` is any text in a step, `**` any text; several "
         "times"),
    FLAG("ignore-tags", ignore_tags, "tags are not compared"),
    FLAG("bookkeeping", bookkeeping,
         "compare also what tells how each file came about (asdf_library, history)"),
    { "most", "N", "print at most N differences, and count the others (default 1000)", OPT_SIZE,
      offsetof(opts, most), NULL },
    FLAG("deep", deep, "decode every chunk and read every array too"),
    TEXT("format", "NAME", format,
         "the output's format, as --version lists them (default: by its name)"),
    TEXT("codec", "NAME[:LEVEL]", codec, "how data are compressed"),
    { "encode", "CHAIN",
      "ASDF 0.1: data go through this encoding chain: '[[tile, {shape: [32, 32]}], zlib]'",
      OPT_FORMAT, 0, NULL },
    { "chunks=", "A,B,...", "the shape of chunks, where the format has such", OPT_FORMAT, 0, NULL },
    { "blocks=", "A,B,...", "the shape of the blocks in a chunk (Blosc2)", OPT_FORMAT, 0, NULL },
    { "filter", "F,G,...", "filters before the codec, where the format has such", OPT_FORMAT, 0,
      NULL },
    { "sparse", NULL, "Blosc2: a folder with a file for each chunk", OPT_FORMAT, 0, NULL },
    { "option", "KEY=VALUE", "what only the format that is written has:", OPT_FORMAT, 0, NULL },
    TEXT("path", "PATH", path, "this array only"),
    WORD("byteorder", "ORDER", byteorder, "little big", "little or big"),
    FLAG("accept-loss", accept_loss,
         "go on where the output cannot hold all of the input (fractions are cut off, what is out "
         "of "
         "range becomes the nearest value), or a chain is lossy"),
    FLAG("new", new_array, "INPUT becomes a new array, where PATH names nothing yet"),
    FLAG("insert", insert, "INPUT's rows come before the one that SLICE names"),
    FLAG("by-position", by_position, "fields of records go by their order, not by their names"),
    FLAG("overwrite", overwrite, "replace an existing output, in one step"),
    WORD("level", "LEVEL", level, "power process",
         "what a change survives: power (loss of power, default) or process (its death)"),
    { "tree-slack", "N", "bytes of room kept behind the tree (0: none)", OPT_INDEX,
      offsetof(opts, tree_slack), NULL },
    { "align", "N", "stored data start at a multiple of this", OPT_SIZE, offsetof(opts, align),
      NULL },
    WORD("md5", "WHICH", md5, "current legacy none",
         "checksums: current (of stored bytes), legacy (of decoded), none"),
    TEXT("checksum", "KIND", checksum,
         "of stored data: a kind that the format has (bloscpack: crc32, sha256, ...), or none"),
    TEXT("fill", "VALUE", fill,
         "this number for all elements: convert makes a new array of --dtype and --shape (or "
         "uninit: "
         "nobody has set them), repair those that are lost"),
    { "offset", "N", "the file begins at byte N of FILE, as one that was appended to another does",
      OPT_SIZE, offsetof(opts, offset), NULL },
    FLAG("at-end", at_end,
         "OUT goes behind the last byte of the file that is there; says at which"),
    FLAG(
        "in-order", in_order,
        "Blosc2 without an index: chunks are in the order of the file (true if all were appended)"),
    FLAG("apply", apply, "complete the update that was cut off"),
    FLAG("discard", discard, "throw the update away: the file as it was before"),
    FLAG("dry-run", dry_run, "print what would be done and change nothing"),
    { "wait", "SECONDS", "how long another writer, or readers in the way, are waited for (0)",
      OPT_COUNT, offsetof(opts, wait), NULL },
    FLAG("break-links", break_links, "replace a file that has other names (hard links) too"),
    FLAG("string", string, "VALUE is a string as it is, not YAML"),
    TEXT("standard", "X.Y.Z", standard,
         "the version of the ASDF standard (default 1.6.0), or 0.1.0"),
    FLAG("bare", bare, "the files beside hold nothing but their data"),
    TEXT("name", "NAME", name, "of several inputs: what an array is called; once for each"),
    FLAG("inline", inlined, "arrays as values in the tree"),
    { "inline=", "SIZE",
      "values that no bytes of the file are (in a tree's text, of other codecs) are written out up "
      "to this size (64K)",
      OPT_SIZE, offsetof(opts, inline_nbytes), NULL },
    WORD("format=", "KIND", refs_format, "json parquet",
         "json (default), or parquet: OUT is a folder of tables that are read as they are needed"),
    TEXT("url", "URL", url, "where FILE is found by those who read OUT (default: its full path)"),
    FLAG("resolve-refs", resolve_refs, "arrays that are references become arrays"),
    TEXT("history", "TEXT", history, "a history entry that says what was done"),
    WORD("from", "KIND", from, "raw csv",
         "INPUT is raw or csv (default: by its name, else by its bytes)"),
    TEXT("shape", "SHAPE", shape, "of raw input: '100,3', one length may be '*'"),
    FLAG("header", header, "csv: the first line names the columns, even where it has numbers"),
    FLAG("no-header", no_header, "csv: the first line is data, even without numbers"),
    TEXT("sep", "C", sep,
         "csv: what separates cells, such as ';', tab, or blanks (runs of them); default: as the "
         "lines show"),
    FLAG("unescape", unescape, "csv: \\xNN, \\uNNNN, \\UNNNNNNNN as `cat --to csv` writes them"),
    { NULL, NULL, NULL, OPT_FLAG, 0, NULL },
};

static const char common[] =
    "threads max-memory max-elements no-progress allow-external shards force";

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    while (*list != '\0') {
        size_t len = strcspn(list, " ");
        if (len == n && memcmp(list, word, n) == 0)
            return true;
        list += len + strspn(list + len, " ");
    }
    return false;
}

static bool takes(const command *c, const char *name)
{
    return has_word(c->takes, name) || has_word(common, name);
}

bool parse_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0) /* strtoull takes blanks and signs */
        return false;
    unsigned shift = 0;
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        end += strncmp(end + 1, "iB", 2) == 0 ? 3 : 1;
    }
    if (*end != '\0' || v > UINT64_MAX >> shift)
        return false;
    *out = (uint64_t)v << shift;
    return true;
}

bool parse_shape(const char *text, bool any, int *ndim, int64_t *shape)
{
    int n = 0;
    bool bracket = *text == '[', starred = false;
    for (text += bracket;; n++) {
        text += strspn(text, " ");
        if (n == 0 && bracket && *text == ']')
            break;
        if (n == CIP_MAX_NDIM)
            return false;
        char *end = (char *)text + 1;
        errno = 0;
        if (*text == '*' && any && !starred)
            shape[n] = -1;
        else if (*text < '0' || *text > '9')
            return false;
        else
            shape[n] = strtoll(text, &end, 10);
        starred |= shape[n] < 0;
        text = end + strspn(end, " ");
        if (errno != 0)
            return false;
        if (*text != ',' && *text != 'x') {
            n++;
            break;
        }
        const bool comma = *text++ == ',';
        text += strspn(text, " ");
        if (comma && (*text == ']' || *text == '\0')) { /* (3,) */
            n++;
            break;
        }
    }
    *ndim = n;
    return bracket ? strcmp(text, "]") == 0 : *text == '\0';
}

static void begin_wrong(const char *what, const char *found)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, what);
    print_escaped(stderr, found);
}

static int end_wrong(const command *c)
{
    fprintf(stderr, "; see 'cippus %s --help'\n", c->name);
    return EXIT_USAGE;
}

static int wrong(const command *c, const char *what, const char *found)
{
    begin_wrong(what, found);
    return end_wrong(c);
}

/* A name that is a flag of other commands has a `=` behind it where it takes a value. */
static int name_len(const opt_row *row)
{
    return (int)strcspn(row->name, "=");
}

/* The same about the value of an option. */
static int wrong_value(const command *c, const opt_row *row, const char *what, const char *found)
{
    fprintf(stderr, "cippus: --%.*s: expected %s, found '", name_len(row), row->name, what);
    print_escaped(stderr, found);
    putc('\'', stderr);
    return end_wrong(c);
}

/* "little or big", "power, process or none". */
static int wrong_word(const command *c, const opt_row *row, const char *found)
{
    char what[64] = "";
    const char *word = row->words;
    for (size_t n = strcspn(word, " "), len = 0; *word != '\0'; n = strcspn(word, " ")) {
        const char *next = word + n + (word[n] == ' ');
        len += (size_t)snprintf(what + len, sizeof what - len, "%s%.*s",
                                word == row->words ? ""
                                : *next == '\0'    ? " or "
                                                   : ", ",
                                (int)n, word);
        word = next;
    }
    return wrong_value(c, row, what, found);
}

/* "KEY=VALUE": as it was given, or of a row that is a key, behind the texts before it in o->text.
 */
static int add_option(const command *c, const opt_row *row, const char *text, opts *o)
{
    if (strcmp(row->name, "option") == 0) {
        if (strchr(text, '=') == NULL)
            return wrong(c, "expected KEY=VALUE after --option, found ", text);
        o->format_options[o->noption++] = text;
        return 0;
    }
    o->format_options[o->noption++] = o->text;
    o->text += sprintf(o->text, "%.*s=%s", name_len(row), row->name, text) + 1;
    return 0;
}

/* "DIR:DIR", behind the texts before it in o->text. */
static int add_shards(const char *text, opts *o)
{
    char *at = strcpy(o->text, text);
    o->text += strlen(text) + 1;
    for (char *end; at != NULL; at = end) {
        end = strchr(at, ':');
        if (end != NULL)
            *end++ = '\0';
        if (*at != '\0')
            o->shards[o->nshard++] = at;
    }
    return 0;
}

/* One that --version lists, or 2 after a complaint with the nearest. */
static int check_format(const command *c, const opt_row *row, const char *text)
{
    suggestion s = { .wanted = text };
    const char *name;
    for (size_t i = 0; (name = cip_format_at(i, NULL, NULL)) != NULL; i++) {
        if (strcmp(name, text) == 0)
            return 0;
        suggest_offer(&s, name);
    }
    fprintf(stderr, "cippus: --%s: expected a format, found ", row->name);
    print_escaped(stderr, text);
    return suggest_print(&s, "") ? EXIT_USAGE : end_wrong(c);
}

/* A number that is not negative, as `1e-6`. */
static bool parse_tolerance(const char *text, double *out)
{
    char *end;
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.')
        return false;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out <= DBL_MAX;
}

static int set_value(const command *c, const opt_row *row, const char *text, opts *o)
{
    char *at = (char *)o + row->at;
    uint64_t n = 0;
    if (row->kind == OPT_FORMAT)
        return add_option(c, row, text, o);
    if (row->at == offsetof(opts, shards))
        return add_shards(text, o);
    if (row->words != NULL && (strchr(text, ' ') != NULL || !has_word(row->words, text)))
        return wrong_word(c, row, text);
    if (row->at == offsetof(opts, format) && check_format(c, row, text) != 0)
        return EXIT_USAGE;
    if (row->kind == OPT_TEXT) {
        memcpy(at, &text, sizeof text);
        if (row->at == offsetof(opts, path))
            o->paths[o->npath++] = text;
        if (row->at == offsetof(opts, name))
            o->names[o->nname++] = text;
        if (row->at == offsetof(opts, ignore))
            o->ignores[o->nignore++] = text;
        return 0;
    }
    if (row->kind == OPT_NUMBER)
        return parse_tolerance(text, (double *)(void *)at) ? 0
                                                           : wrong_value(c, row, "a number", text);
    if (!parse_size(text, &n) || (row->kind == OPT_COUNT && n > UINT32_MAX) ||
        (row->kind == OPT_INDEX && n > INT64_MAX))
        return wrong_value(c, row, "a number", text);
    if (row->kind == OPT_COUNT) {
        uint32_t v = (uint32_t)n;
        memcpy(at, &v, sizeof v);
    } else {
        memcpy(at, &n, sizeof n);
    }
    return 0;
}

/* `arg`: as it was given, with its dashes; its name has `len` letters. */
static int unknown_option(const command *c, const char *arg, size_t len)
{
    char wanted[64], name[64];
    snprintf(wanted, sizeof wanted, "%.*s", (int)(len < sizeof wanted ? len : 0),
             arg + strspn(arg, "-"));
    suggestion s = { .wanted = wanted };
    for (const opt_row *r = opt_rows; r->name != NULL; r++)
        if (takes(c, r->name)) {
            snprintf(name, sizeof name, "%.*s", name_len(r), r->name);
            suggest_offer(&s, name);
        }
    begin_wrong("unknown option ", arg);
    return suggest_print(&s, "--") ? EXIT_USAGE : end_wrong(c);
}

static const opt_row *find_row(const command *c, const char *name, size_t len)
{
    for (const opt_row *r = opt_rows; r->name != NULL; r++)
        if ((size_t)name_len(r) == len && memcmp(r->name, name, len) == 0 && takes(c, r->name))
            return r;
    return NULL;
}

/* One option at argv[*i]; moves *i over its argument. */
static int take_option(const command *c, int argc, char **argv, int *i, opts *o)
{
    const char *name = argv[*i] + 2;
    size_t len = strcspn(name, "=");
    const char *text = name[len] == '=' ? name + len + 1 : NULL;
    if (strcmp(name, "help") == 0) {
        o->help = true;
        return 0;
    }
    const opt_row *row = find_row(c, name, len);
    if (row == NULL)
        return unknown_option(c, argv[*i], len);
    if (row->arg == NULL && text != NULL)
        return wrong(c, "no value is expected in ", argv[*i]);
    if (row->kind == OPT_FORMAT && row->arg == NULL)
        return add_option(c, row, "yes", o);
    if (row->kind == OPT_FLAG) {
        *(bool *)((char *)o + row->at) = true;
        return 0;
    }
    if (text == NULL && *i + 1 >= argc)
        return wrong(c, "a value is missing after ", argv[*i]);
    return set_value(c, row, text != NULL ? text : argv[++*i], o);
}

enum { LONGEST_KEY = 32 };

/* One block for all lists, each as long as argv, and for texts that are put together of its. */
static bool make_room(int argc, char **argv, opts *o)
{
    const size_t n = (size_t)argc + 1;
    size_t nbytes = 0, nshard = n;
    for (int i = 0; i < argc; i++) {
        nbytes += strlen(argv[i]) + LONGEST_KEY;
        for (const char *p = argv[i]; (p = strchr(p, ':')) != NULL; p++)
            nshard++;
    }
    nbytes += (5 * n + nshard) * sizeof *o->pos;
    o->pos = calloc(1, nbytes);
    if (o->pos == NULL)
        return false;
    o->paths = o->pos + n;
    o->names = o->paths + n;
    o->ignores = o->names + n;
    o->format_options = o->ignores + n;
    o->shards = o->format_options + n;
    o->text = (char *)(o->shards + nshard);
    return true;
}

int opts_parse(const command *c, int argc, char **argv, opts *o)
{
    memset(o, 0, sizeof *o);
    o->block = o->chunk = o->tree_slack = o->inline_nbytes = -1;
    if (!make_room(argc, argv, o))
        return EXIT_FAILED;
    bool only_pos = false;
    for (int i = 1; i < argc; i++) {
        if (!only_pos && strcmp(argv[i], "--") == 0) {
            only_pos = true;
        } else if (!only_pos && strcmp(argv[i], "-h") == 0) {
            o->help = true;
        } else if (!only_pos && strcmp(argv[i], "-r") == 0 && takes(c, "recursive")) {
            o->recursive = true;
        } else if (!only_pos && strncmp(argv[i], "--", 2) == 0) {
            int rc = take_option(c, argc, argv, &i, o);
            if (rc != 0)
                return rc;
        } else if (!only_pos && argv[i][0] == '-' && argv[i][1] != '\0' &&
                   (argv[i][1] < '0' || argv[i][1] > '9')) {
            return unknown_option(c, argv[i], strcspn(argv[i] + 1, "="));
        } else {
            o->pos[o->npos++] = argv[i];
        }
    }
    if (o->help)
        return 0;
    if (o->npos < c->min)
        return wrong(c, "expected ", c->args);
    if (c->max >= 0 && o->npos > c->max)
        return wrong(c, "one argument too many: ", o->pos[c->max]);
    return 0;
}

int64_t opts_tree_slack(const opts *o)
{
    return o->tree_slack < 0 ? 0 : o->tree_slack == 0 ? -1 : o->tree_slack;
}

const char *opts_checksum(const opts *o)
{
    if (o->md5 == NULL)
        return o->checksum;
    return strcmp(o->md5, "current") == 0 ? "md5" : o->md5;
}

int opts_level(const opts *o)
{
    return o->level != NULL && strcmp(o->level, "process") == 0 ? CIP_LEVEL_PROCESS
                                                                : CIP_LEVEL_POWER;
}

static void help_of_formats(void)
{
    const char *format, *key, *help, *caps;
    for (size_t i = 0; (format = cip_format_at(i, NULL, &caps)) != NULL; i++)
        for (size_t k = 0; strcmp(caps, "write") != 0 && /* a kind of the last one */
                           (key = cip_format_option_at(format, k, &help)) != NULL;
             k++)
            printf("%28s%s: %s=..., %s\n", "", format, key, help);
}

static void help_rows(const command *c, const char *list, bool shared)
{
    for (const opt_row *r = opt_rows; r->name != NULL; r++) {
        if (!has_word(list, r->name) || (shared && has_word(c->takes, r->name)))
            continue;
        int n = printf("  --%.*s%s%s", name_len(r), r->name, r->arg != NULL ? " " : "",
                       r->arg != NULL ? r->arg : "");
        printf("%*s%s\n", n < 26 ? 26 - n : 1, "", r->help);
        if (strcmp(r->name, "option") == 0)
            help_of_formats();
    }
}

void opts_help(const command *c)
{
    printf("usage: cippus %s [OPTIONS] %s\n\n%s\n", c->name, c->args, c->help);
    if (c->takes[0] != '\0') {
        puts("\noptions:");
        help_rows(c, c->takes, false);
    }
    puts("\nwith every command:");
    help_rows(c, common, true);
}
