/* SPDX-License-Identifier: BSD-3-Clause
 * Parsing of the command line by table. */
#include "opts.h"

#include <float.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
    { "threads", "N", "number of threads (0: one per core)", OPT_COUNT, offsetof(opts, threads),
      NULL },
    { "max-memory", "SIZE", "use at most this much memory (default 2G)", OPT_SIZE,
      offsetof(opts, max_memory), NULL },
    { "max-elements", "N", "refuse to read more elements than this", OPT_SIZE,
      offsetof(opts, max_elements), NULL },
    FLAG("no-progress", no_progress, "show no progress on the terminal"),
    FLAG("trace", trace, "print each read and decoded chunk with its time"),
    FLAG("allow-external", allow_external,
         "also open external files outside the file's folder (never over a network)"),
    TEXT("cache", "DIR", cache, "keep what is read from URLs in this folder, for later commands"),
    { "cache-size", "SIZE", "keep at most this much there (default 1G)", OPT_SIZE,
      offsetof(opts, cache_nbytes), NULL },
    TEXT("shards", "DIR:DIR", shards, "search these folders too for superchunks of a BLZ array"),
    FLAG("force", force, "accept unknown versions and flags; mv, set: replace what is there"),
    FLAG("recursive", recursive, "include the files in subfolders (short: -R)"),
    FLAG("tsv", tsv, "print a table with tabs, with a header line"),
    FLAG("paths", only_paths, "print only the paths of arrays and of fields of records"),
    FLAG("quiet", quiet, "print findings only (short: -q)"),
    FLAG("blocks", blocks, "show the table of blocks"),
    FLAG("chunks", chunks, "show every chunk: where it is stored and what it holds"),
    FLAG("query", query, "print what the format's own tools print (RawArray's query)"),
    { "depth", "N", "show only N levels", OPT_COUNT, offsetof(opts, depth), NULL },
    TEXT("find", "KEY", find, "find nodes whose key matches this extended regular expression"),
    TEXT(
        "type", "TYPE", type,
        "find nodes of a type: null, bool, int, float, string, timestamp, binary, seq, map, array, "
        "or a part of a tag"),
    TEXT("value", "TEXT", value,
         "find scalars whose text matches this extended regular expression"),
    TEXT("to", "KIND", to, "output as text (default), csv, tsv, json, jsonl, npy or raw"),
    TEXT("output", "FILE", out, "write to FILE, as its name tells (.csv, .npy, ...) (short: -o)"),
    TEXT("output=", "FILE", out, "write a PNG file (short: -o)"),
    TEXT("dtype", "T", dtype,
         "convert values to this type; of raw input: the type of its elements"),
    TEXT("dtype=", "T", dtype, "type of the elements of raw input"),
    TEXT("as", "T", as, "reinterpret the stored bytes as this type"),
    TEXT("points", "FILE", points, "read single elements; each line of FILE is one index"),
    { "block", "N", "write the decoded bytes of block N", OPT_INDEX, offsetof(opts, block), NULL },
    { "chunk", "N", "write the decoded bytes of the array's chunk N", OPT_INDEX,
      offsetof(opts, chunk), NULL },
    FLAG("stored", stored, "with --block or --chunk: write the bytes as stored"),
    FLAG("mask", mask, "print the mask; 1 means missing"),
    FLAG("column-major", column_major, "reverse the dimensions, as column-major files store them"),
    FLAG("all", all, "print everything on a terminal too, not only the edges"),
    FLAG("preview", preview, "print a picture first, as 'cippus show' does"),
    FLAG("follow", follow, "keep printing rows as they are appended, until interrupted"),
    FLAG("sidecar", sidecar,
         "keep decoder checkpoints beside the file, for faster windows into compressed blocks"),
    FLAG("check", check, "compare each block with its stored checksum before its data are used"),
    FLAG("no-check", no_check, "also read blocks that do not match their checksum"),
    { "rtol", "X", "relative tolerance: |a - b| <= ATOL + X * |b| (default 0)", OPT_NUMBER,
      offsetof(opts, rtol), NULL },
    { "atol", "X", "absolute tolerance (default 0: exact)", OPT_NUMBER, offsetof(opts, atol),
      NULL },
    TEXT("ignore", "PATH", ignore,
         "do not compare this node or array; repeatable; '*' matches within a step, '**' anything"),
    FLAG("ignore-tags", ignore_tags, "do not compare tags"),
    FLAG("bookkeeping", bookkeeping, "also compare how each file was made (asdf_library, history)"),
    { "limit", "N", "print at most N differences and count the rest (default 1000)", OPT_SIZE,
      offsetof(opts, limit), NULL },
    FLAG("deep", deep, "also decode every chunk and read every array"),
    TEXT("format", "NAME", format,
         "output format, see 'cippus --version' (default: from the name of OUT)"),
    TEXT("codec", "NAME[:LEVEL]", codec, "compress the data with this codec"),
    { "encode", "CHAIN", "ASDF 0.1: encoding chain, as '[[tile, {shape: [32, 32]}], zlib]'",
      OPT_FORMAT, 0, NULL },
    { "chunks=", "A,B,...", "shape of the chunks", OPT_FORMAT, 0, NULL },
    { "blocks=", "A,B,...", "shape of the blocks in a chunk (Blosc2)", OPT_FORMAT, 0, NULL },
    { "filter", "F,G,...", "apply these filters before the codec", OPT_FORMAT, 0, NULL },
    { "sparse", NULL, "Blosc2: write a folder with one file per chunk", OPT_FORMAT, 0, NULL },
    { "option", "KEY=VALUE", "set what only one format has:", OPT_FORMAT, 0, NULL },
    { "option=", "KEY=VALUE",
      "set what only the format of FILE has; see 'cippus help convert --all'", OPT_FORMAT, 0,
      NULL },
    TEXT("path", "PATH", path, "use only this array"),
    WORD("byteorder", "ORDER", byteorder, "little big", "byte order of raw input: little or big"),
    WORD("byteorder=", "ORDER", byteorder, "little big", "byte order of OUT: little or big"),
    FLAG("accept-loss", accept_loss, "accept what cannot be kept exactly; each loss is reported"),
    FLAG("new", new_array, "add INPUT as a new array at PATH"),
    FLAG("insert", insert, "insert INPUT's rows before the row that SLICE names"),
    FLAG("by-position", by_position, "match the fields of records by position, not by name"),
    FLAG("overwrite", overwrite, "replace an existing output, in one step"),
    WORD("durability", "LEVEL", level, "power process",
         "survive a power failure (power, default) or only a killed process (process)"),
    { "tree-slack", "N", "reserve N bytes after the metadata tree (0: none)", OPT_INDEX,
      offsetof(opts, tree_slack), NULL },
    { "align", "N", "start stored data at multiples of N bytes", OPT_SIZE, offsetof(opts, align),
      NULL },
    WORD("md5", "WHICH", md5, "current legacy none",
         "block checksums: current (of stored bytes), legacy (of decoded bytes) or none"),
    TEXT("checksum", "KIND", checksum,
         "checksum of data (bloscpack, BLZ: crc32, sha256, ...; FITS: datasum), or none"),
    TEXT("fill", "VALUE", fill,
         "make a new array of --dtype and --shape with this value (or uninit)"),
    TEXT("fill=", "VALUE", fill, "give lost elements this value"),
    { "offset", "N", "start at byte N of FILE (a file embedded in another)", OPT_SIZE,
      offsetof(opts, offset), NULL },
    TEXT("concat", "AXIS", concat, "join the inputs along this axis to one array"),
    FLAG("each", each, "write each input to a file in the folder OUT (with --format)"),
    FLAG("at-end", at_end, "append OUT to the file of that name; report at which byte"),
    FLAG("in-order", in_order, "Blosc2 without an index: take the chunks in file order"),
    FLAG("apply", apply, "complete the interrupted update"),
    FLAG("discard", discard, "undo the interrupted update"),
    FLAG("dry-run", dry_run, "show what would change; change nothing"),
    { "wait", "SECONDS", "wait this long for other writers and readers (default 0)", OPT_COUNT,
      offsetof(opts, wait), NULL },
    FLAG("break-links", break_links, "replace the file even if it has other names (hard links)"),
    FLAG("string", string, "take VALUE as a string, not as YAML"),
    TEXT("standard", "X.Y.Z", standard, "version of the ASDF standard (default 1.6.0), or 0.1.0"),
    FLAG("bare", bare, "write only the data into the files beside OUT, without headers"),
    TEXT("name", "NAME", name, "name of the array in OUT; once per input"),
    FLAG("inline", inlined, "store arrays as values in the metadata tree"),
    { "inline=", "SIZE", "embed values that are not plain bytes in FILE, up to SIZE (default 64K)",
      OPT_SIZE, offsetof(opts, inline_nbytes), NULL },
    WORD("format=", "KIND", refs_format, "json parquet",
         "json (default), or parquet: OUT is a folder of tables"),
    TEXT("url", "URL", url, "where readers of OUT find FILE (default: its full path)"),
    FLAG("resolve-refs", resolve_refs, "store arrays that are references as arrays"),
    TEXT("history", "TEXT", history, "add this entry to the file's history"),
    WORD("from", "KIND", from, "raw csv", "kind of input: raw or csv (default: detected)"),
    TEXT("shape", "SHAPE", shape, "shape of raw input, as 100,3; one length may be '*'"),
    FLAG("header", header, "csv: the first line names the columns"),
    FLAG("no-header", no_header, "csv: the first line is data"),
    TEXT("sep", "C", sep, "csv: separator, as ';', tab or blanks (default: detected)"),
    WORD("scale", "KIND", scale, "linear log asinh sqrt", "linear (default), log, asinh or sqrt"),
    TEXT("limits", "A,B", limits, "values of the first and last colour (default: --percentile)"),
    TEXT("percentile", "A,B", percentile,
         "limits by percentiles (default 0.5,99.5; of a line 0,100)"),
    TEXT("map", "NAME", map, "colours: viridis (default), magma, gray, ...; gray_r in reverse"),
    TEXT("bad", "COLOUR", bad, "colour of missing values and NaN, as '#ff00ff', or none"),
    WORD("reduce", "KIND", reduce, "extremes sample min max mean",
         "element shown of those of a pixel: extremes (the most unusual, default), sample (the "
         "first), min, max, mean"),
    { "width", "N", "largest width, in pixels or columns", OPT_SIDE, offsetof(opts, width), NULL },
    { "height", "N", "largest height, in pixels or lines", OPT_SIDE, offsetof(opts, height), NULL },
    { "zoom", "N", "pixels of an element's side (default: up to 16)", OPT_SIDE,
      offsetof(opts, zoom), NULL },
    { "max-nbytes", "SIZE", "read and decode about this much at most (default 512M)", OPT_SIZE,
      offsetof(opts, max_nbytes), NULL },
    WORD("format==", "KIND", shown_as, "auto blocks kitty ascii",
         "in a terminal: auto (default), blocks, kitty or ascii"),
    FLAG("no-axes", no_axes, "leave out the margins with indices"),
    { "port", "N", "listen at this port (default 8080; 0: any free one)", OPT_INDEX,
      offsetof(opts, port), NULL },
    TEXT("bind", "ADDRESS", bind, "listen at this IP address (default 127.0.0.1)"),
    FLAG("public", is_public, "let other machines in, who need the token that is printed"),
    FLAG("cors", cors, "let pages of other servers in, in the browsers of this machine too"),
    FLAG("unescape", unescape, "csv: undo the escapes that 'cat --to csv' writes (\\xNN, \\uNNNN)"),
    { NULL, NULL, NULL, OPT_FLAG, 0, NULL },
};

const char opts_common[] = "threads max-memory max-elements no-progress trace cache cache-size "
                           "allow-external shards force";

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

bool opts_takes(const command *c, const char *name)
{
    return has_word(c->takes, name) || has_word(opts_common, name);
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
    if (strcmp(row->name, "durability") == 0 && isdigit((unsigned char)found[0]) &&
        strlen(found) <= 2 && opts_takes(c, "codec")) {
        fputs("cippus: a compression level is part of the codec: --codec NAME:LEVEL\n", stderr);
        return EXIT_USAGE;
    }
    return wrong_value(c, row, what, found);
}

/* "KEY=VALUE": as it was given, or of a row that is a key, behind the texts before it in o->text.
 */
static int add_option(const command *c, const opt_row *row, const char *text, opts *o)
{
    if (strncmp(row->name, "option", strlen("option")) == 0) {
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

/* Names that people know from extensions and other programs: those of formats, and numpy's of
 * types. Any other text is itself. */
static const char *known_as(const opt_row *row, const char *text)
{
    static const char *const names[][3] = {
        { "format", "b2nd", "blosc2" },      { "format", "b2", "blosc2" },
        { "format", "ra", "rawarray" },      { "format", "blp", "bloscpack" },
        { "format", "numpy", "npy" },        { "dtype", "float", "float64" },
        { "dtype", "double", "float64" },    { "dtype", "single", "float32" },
        { "dtype", "half", "float16" },      { "dtype", "int", "int64" },
        { "dtype", "uint", "uint64" },       { "dtype", "short", "int16" },
        { "dtype", "ushort", "uint16" },     { "dtype", "byte", "int8" },
        { "dtype", "ubyte", "uint8" },       { "dtype", "bool", "bool8" },
        { "dtype", "complex", "complex128" }
    };
    const char *kind = row->at == offsetof(opts, format) ? "format"
                       : row->at == offsetof(opts, dtype) || row->at == offsetof(opts, as) ? "dtype"
                                                                                           : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(kind, names[i][0]) == 0 && strcmp(text, names[i][1]) == 0)
            return names[i][2];
    return text;
}

/* One that --version lists, or 2 after a complaint with the nearest. */
static int check_format(const command *c, const opt_row *row, const char *text)
{
    suggestion s = { .wanted = text };
    const char *name, *caps;
    if (strcmp(c->name, "convert") == 0 && has_word("csv tsv json jsonl", text))
        return 0;
    for (size_t i = 0; (name = cip_format_at(i, NULL, &caps)) != NULL; i++) {
        if (strcmp(name, text) == 0)
            return 0; /* which the build may lack: then it says so */
        if (caps[0] != '\0')
            suggest_offer(&s, name);
    }
    fprintf(stderr, "cippus: --%s: expected a format, found ", row->name);
    print_escaped(stderr, text);
    return suggest_print(&s, "") ? EXIT_USAGE : end_wrong(c);
}

const char *parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end); /* which takes blanks, hexadecimal digits, "inf" and "nan", too */
    return end != text && (size_t)(end - text) == strspn(text, "+-.0123456789eE") &&
                   fabs(*out) <= DBL_MAX
               ? end
               : NULL;
}

/* A number that is not negative, as `1e-6`. */
static bool parse_tolerance(const char *text, double *out)
{
    const char *end = parse_number(text, out);
    return end != NULL && *end == '\0' && !signbit(*out);
}

/* Whole numbers, and the least and the largest of each kind. */
static const struct {
    uint64_t least, most;
} range_of[] = {
    [OPT_COUNT] = { 0, UINT32_MAX },
    [OPT_SIDE] = { 1, 16384 },
    [OPT_INDEX] = { 0, INT64_MAX },
    [OPT_SIZE] = { 0, UINT64_MAX },
};

static int set_number(const command *c, const opt_row *row, const char *text, char *at)
{
    const uint64_t least = range_of[row->kind].least, most = range_of[row->kind].most;
    char what[64] = "a number";
    uint64_t n = 0;
    const bool valid = parse_size(text, &n);
    if (!valid || n < least || n > most) {
        if (valid)
            snprintf(what, sizeof what, "a number from %" PRIu64 " to %" PRIu64, least, most);
        return wrong_value(c, row, what, text);
    }
    if (row->kind == OPT_COUNT || row->kind == OPT_SIDE)
        memcpy(at, &(uint32_t){ (uint32_t)n }, sizeof(uint32_t));
    else
        memcpy(at, &n, sizeof n);
    return 0;
}

static int set_value(const command *c, const opt_row *row, const char *text, opts *o)
{
    char *at = (char *)o + row->at;
    text = row->kind == OPT_TEXT ? known_as(row, text) : text;
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
    return set_number(c, row, text, at);
}

/* Words that people know from other programs. */
static const char *const synonyms[][2] = {
    { "compression", "codec" },
    { "compress", "codec" },
    { "c", "codec" },
    { "clevel", "codec" },
    { "chunksize", "chunks" },
    { "chunk-size", "chunks" },
    { "chunkshape", "chunks" },
    { "key", "path" },
    { "array", "path" },
    { "type", "dtype" },
    { "output-format", "format" },
    { "f", "format" },
    { "clobber", "overwrite" },
    { "n", "dry-run" },
};

/* `arg`: as it was given, with its dashes; its name has `len` letters. */
static int unknown_option(const command *c, const char *arg, size_t len)
{
    char wanted[64], name[64];
    snprintf(wanted, sizeof wanted, "%.*s", (int)(len < sizeof wanted ? len : 0),
             arg + strspn(arg, "-"));
    suggestion s = { .wanted = wanted };
    for (const opt_row *r = opt_rows; r->name != NULL; r++)
        if (opts_takes(c, r->name)) {
            snprintf(name, sizeof name, "%.*s", name_len(r), r->name);
            suggest_offer(&s, name);
        }
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(wanted, synonyms[i][0]) == 0 && opts_takes(c, synonyms[i][1]))
            s = (suggestion){ .wanted = synonyms[i][1] }, suggest_offer(&s, synonyms[i][1]);
    begin_wrong("unknown option ", arg);
    const bool column = strcmp(wanted, "column") == 0 || strcmp(wanted, "columns") == 0;
    if ((column || strcmp(wanted, "path") == 0) && strstr(c->args, "PATH") != NULL) {
        fprintf(stderr, "; %s: cippus %s %s\n",
                column ? "a column is the end of the path" : "the path is a word of its own",
                c->name, column ? "FILE TABLE/COLUMN" : c->args);
        return EXIT_USAGE;
    }
    return suggest_print(&s, "--") ? EXIT_USAGE : end_wrong(c);
}

void note_renamed(const char *dashes, const char *before, const char *now)
{
    fprintf(stderr, "cippus: note: %s%s is now called %s%s\n", dashes, before, dashes, now);
}

/* Names of versions before 0.4, which still work. */
static const char *const renamed[][2] = { { "level", "durability" },
                                          { "most", "limit" },
                                          { "yaml", "query" } };

static const opt_row *find_row(const command *c, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i][0]) == len && memcmp(renamed[i][0], name, len) == 0 &&
            opts_takes(c, renamed[i][1])) {
            note_renamed("--", renamed[i][0], renamed[i][1]);
            name = renamed[i][1];
            len = strlen(name);
            break;
        }
    for (const opt_row *r = opt_rows; r->name != NULL; r++)
        if ((size_t)name_len(r) == len && memcmp(r->name, name, len) == 0 && opts_takes(c, r->name))
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
    if (row == NULL && strcmp(name, "all") == 0) { /* of --help */
        o->all = true;
        return 0;
    }
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

/* One block for all lists, each as long as argv with two words more (split_joined), and for texts
 * that are put together of its. */
static bool make_room(int argc, char **argv, opts *o)
{
    const size_t n = (size_t)argc + 3;
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
    o->block = o->chunk = o->tree_slack = o->inline_nbytes = o->port = -1;
    if (!make_room(argc, argv, o))
        return EXIT_FAILED;
    bool only_pos = false;
    for (int i = 1; i < argc; i++) {
        if (!only_pos && strcmp(argv[i], "--") == 0) {
            only_pos = true;
        } else if (!only_pos && strcmp(argv[i], "-h") == 0) {
            o->help = true;
        } else if (!only_pos && (strcmp(argv[i], "-r") == 0 || strcmp(argv[i], "-R") == 0) &&
                   opts_takes(c, "recursive")) {
            o->recursive = true;
        } else if (!only_pos && strcmp(argv[i], "-q") == 0 && opts_takes(c, "quiet")) {
            o->quiet = true;
        } else if (!only_pos && strcmp(argv[i], "-o") == 0 &&
                   find_row(c, "output", strlen("output")) != NULL) {
            if (i + 1 >= argc)
                return wrong(c, "a value is missing after ", argv[i]);
            o->out = argv[++i];
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
    return o->all && !o->help && !opts_takes(c, "all") ? unknown_option(c, "--all", strlen("all"))
                                                       : 0;
}

int opts_check_count(const command *c, const opts *o)
{
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
