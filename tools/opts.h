/* SPDX-License-Identifier: BSD-3-Clause
 * The command line: one struct of option values, one table row for each option, and for each
 * command the letters of the rows that it takes. */
#ifndef CIPPUS_TOOLS_OPTS_H
#define CIPPUS_TOOLS_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress.h"

typedef struct opts {
    const char **pos; /* what is not an option */
    int npos;
    progress *bar; /* of the command's work */
    bool help, json, no_progress, trace, allow_external, force, sidecar, check, no_check;
    const char **shards; /* folders of --shards, nshard of them */
    size_t nshard;
    unsigned threads;
    uint64_t max_memory, max_elements;
    const char *cache;
    uint64_t cache_nbytes;
    bool blocks, chunks, query;                    /* info */
    bool recursive, tsv, quiet, only_paths;        /* ls, verify */
    uint32_t depth;                                /* tree */
    const char *find, *type, *value;               /* tree */
    const char *to, *dtype, *as, *points, *out;    /* cat */
    int64_t block, chunk;                          /* cat; -1: none */
    bool stored, mask, column_major, follow, all;  /* cat, stat */
    bool deep;                                     /* verify */
    const char *format, *codec, *path, *byteorder; /* convert */
    const char **format_options;                   /* writing: "KEY=VALUE", NULL last */
    size_t noption;                                /* writing */
    char *text;                                    /* room for those that are put together */
    bool new_array, insert;                        /* put */
    bool by_position;                              /* put, append */
    bool accept_loss, overwrite;                   /* convert */
    const char *level, *md5, *checksum;            /* writing */
    int64_t tree_slack;                            /* writing; -1: not given */
    uint64_t align;                                /* writing */
    bool apply, discard;                           /* recover */
    const char *url, *refs_format;                 /* refs */
    int64_t inline_nbytes;                         /* refs; -1: not given */
    const char *fill;                              /* convert, repair */
    uint64_t offset;                               /* reading */
    bool at_end, each;                             /* convert */
    const char *concat;                            /* convert: an axis */
    bool in_order;                                 /* repair */
    bool dry_run, break_links, string;             /* updates */
    const char *standard;                          /* convert */
    bool inlined, resolve_refs;                    /* convert */
    const char **paths;                            /* explode: every --path, in order */
    size_t npath;                                  /* explode */
    const char *name;                              /* convert */
    const char **names;                            /* convert: every --name, in order */
    size_t nname;                                  /* convert */
    double rtol, atol;                             /* diff */
    const char *ignore;                            /* diff */
    const char **ignores;                          /* diff: every --ignore, in order */
    size_t nignore;                                /* diff */
    bool ignore_tags, bookkeeping;                 /* diff */
    uint64_t limit;                                /* diff */
    bool bare;                                     /* explode */
    uint32_t wait;                                 /* updates: seconds */
    const char *history;                           /* updates */
    const char *from, *shape;                      /* raw and csv inputs */
    bool header, no_header, unescape;              /* csv inputs */
    const char *sep;                               /* csv inputs */
    const char *scale, *limits, *percentile, *map, *bad, *reduce, *shown_as; /* show */
    uint32_t width, height, zoom;                                            /* show */
    uint64_t max_nbytes;                                                     /* show */
    bool no_axes, preview;                                                   /* show */
    const char *bind;                                                        /* serve */
    int64_t port;         /* serve; -1: not given */
    bool is_public, cors; /* serve */
} opts;

/* OPT_SIDE: of a picture, in pixels or letters. OPT_FORMAT: becomes one of format_options, its key
 * the row's name, its value `yes` where none follows; the key of `option` is in its value. */
typedef enum opt_kind {
    OPT_FLAG,
    OPT_TEXT,
    OPT_COUNT,
    OPT_SIDE,
    OPT_INDEX,
    OPT_SIZE,
    OPT_NUMBER,
    OPT_FORMAT
} opt_kind;

typedef struct opt_row {
    const char *name; /* without the dashes */
    const char *arg;  /* what follows, or NULL for a flag */
    const char *help;
    opt_kind kind;
    size_t at;         /* in opts */
    const char *words; /* of these, separated by blanks, the value must be one; NULL: any text */
} opt_row;

/* All rows; a command names those it takes by `name`. */
extern const opt_row opt_rows[];

typedef struct command {
    const char *group; /* of this command and the next ones in the overview; NULL: as before */
    const char *name;
    const char *args; /* "FILE [PATH] [SLICE]" */
    int (*run)(const opts *o);
    int min, max;         /* how many positional arguments; max -1: any number */
    const char *help;     /* one line */
    const char *more;     /* lines below it in the command's own help, or NULL */
    const char *examples; /* shell lines */
    const char *takes;    /* names of its options, space-separated; those behind a "|" are shown by
                             --help --all only */
} command;

/* Parses argv[1..] for the command. 0, or the exit status after having said what is wrong. o->pos
 * points into a block that the caller frees. */
int opts_parse(const command *c, int argc, char **argv, opts *o);
/* Whether there are as many words beside the options as the command takes; the same. */
int opts_check_count(const command *c, const opts *o);
/* Names of the options of every command, and whether one is the command's. */
extern const char opts_common[];
bool opts_takes(const command *c, const char *name);
/* Tells whoever used the old name of a command or an option the new one. */
void note_renamed(const char *dashes, const char *before, const char *now);
/* --tree-slack as the library takes it: -1 for none, 0 for the default. */
int64_t opts_tree_slack(const opts *o);
/* --md5 or --checksum as the library's checksum: NULL when not given. */
const char *opts_checksum(const opts *o);
/* --durability as the library's. */
int opts_level(const opts *o);
/* "64M", "2GiB", "1000": bytes. */
bool parse_size(const char *text, uint64_t *out);
/* A finite decimal number as "-1.5e3": where it ends, or NULL. */
const char *parse_number(const char *text, double *out);

/* "10,20", "[10, 20]" or "10x20": lengths; "[]" is none. One may be `*`, which is -1, where `any`.
 * False for anything else. */
bool parse_shape(const char *text, bool any, int *ndim, int64_t *shape);

enum { EXIT_FINE = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_FAILED = 3 };

#endif
