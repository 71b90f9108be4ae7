/* SPDX-License-Identifier: BSD-3-Clause
 * The messages that users meet: what each means and what to do. `cippus help errors` prints them,
 * and scripts/errors_page.py makes docs/guide/errors.md of them, running every example. */
#include "help.h"

#include <stdio.h>

#include "cippus/cippus.h"

typedef struct kind {
    cip_status status; /* CIP_OK: nothing failed */
    const char *meaning;
} kind;

static const kind kinds[] = {
    { CIP_ERR_ARG, "The command line or the call is wrong. Nothing was done." },
    { CIP_ERR_NOT_FOUND, "There is no such file, or no such node or array in it." },
    { CIP_ERR_EXISTS, "Something already has this name, and is not overwritten." },
    { CIP_ERR_FORMAT, "The file has none of the formats that are read." },
    { CIP_ERR_UNSUPPORTED, "The file may be good, but the format, the file or this build does not "
                           "allow it." },
    { CIP_ERR_CORRUPT, "The file is damaged: it contradicts itself or its format." },
    { CIP_ERR_TRUNCATED, "The file is damaged: it ends too early." },
    { CIP_ERR_CHECKSUM, "Data do not match the checksum that is stored with them." },
    { CIP_ERR_RANGE, "An index, a shape or a value is out of range." },
    { CIP_ERR_TYPE, "A value has a different type than is needed." },
    { CIP_ERR_LIMIT, "Reading would need more memory or elements than a limit allows." },
    { CIP_ERR_NOMEM, "The system gave no more memory." },
    { CIP_ERR_IO, "The system failed to read or write." },
    { CIP_ERR_READONLY, "The file or folder cannot be written to." },
    { CIP_ERR_BUSY, "Another program is using the file." },
    { CIP_ERR_STALE, "Another program replaced or removed the file since it was opened." },
    { CIP_ERR_CANCELLED, "A callback of the program stopped the call." },
    { CIP_OK, "The command did its work; these lines say what you may want to know." },
};

/* In `text`, "..." stands for what differs from case to case. `example` is a line of shell for a
 * copy of samples/ that prints it; NULL where it takes a second program or a broken system. */
typedef struct message {
    cip_status status;
    const char *text, *meaning, *remedy, *example;
} message;

static const message messages[] = {
    { CIP_ERR_ARG, "unknown command '...'", "No command has this name.",
      "Use the name that is suggested, or see 'cippus --help'.", "cippus view night.asdf" },
    { CIP_ERR_ARG, "unknown option --...", "The command does not have this option.",
      "'cippus help COMMAND --all' lists all options of a command.",
      "cippus cat night.asdf --colour" },
    { CIP_ERR_ARG, "... cannot be combined with ...", "Two options exclude each other.",
      "Leave one of them out.", "cippus cat night.asdf --block 1 --points -" },
    { CIP_ERR_ARG, "unknown dtype '...'", "No element type has this name.",
      "Use a NumPy name such as float32, int16 or '>f8'.",
      "cippus cat night.asdf image --dtype flaot32" },
    { CIP_ERR_ARG, "cannot tell the output format from '...'",
      "The extension of the output does not belong to a known format.",
      "Use a known extension, or --format NAME.", "cippus convert tide.blp tide.dat" },
    { CIP_ERR_ARG, "expected the path of one of the ... arrays",
      "The file has several arrays, and none was chosen.", "Add the path of one of them.",
      "cippus cat night.asdf" },
    { CIP_ERR_ARG, "expected a slice of at most ... dimensions",
      "The slice has more parts than the array has dimensions.",
      "'cippus ls FILE' shows the shape.", "cippus cat night.asdf image '[0, 0, 0]'" },
    { CIP_ERR_ARG, "VALUE is not YAML at byte ...", "The value cannot be read as YAML.",
      "Correct it, or use --string to store the text as it is.",
      "cippus set night.asdf title '{a: '" },
    { CIP_ERR_NOT_FOUND, "cannot open '...': No such file or directory",
      "The file does not exist. If the line starts with another file, its data are in this one.",
      "Check the name. External data must be in the same place as when they were written.",
      "cippus ls nigth.asdf" },
    { CIP_ERR_NOT_FOUND, "the server answered 404: there is no such file",
      "The URL names nothing on this server.", "Check the URL. That of a folder ends with '/'.",
      NULL },
    { CIP_ERR_IO, "the server answered 403: access is denied",
      "The server does not let you read this.",
      "S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.", NULL },
    { CIP_ERR_UNSUPPORTED, "the server does not support range requests",
      "It sends only whole files, so that parts of them cannot be read.",
      "Download the file, or use --cache DIR, into which it is copied.", NULL },
    { CIP_ERR_UNSUPPORTED, "a URL can be read, but not written to",
      "Files on servers are never changed.",
      "Convert it to a file on this machine, and change that.",
      "cippus set https://example.org/a.asdf title 1" },
    { CIP_ERR_NOT_FOUND, "no node '...'", "The metadata tree has nothing at this path.",
      "'cippus ls FILE' lists arrays, 'cippus tree FILE' everything.",
      "cippus cat night.asdf imge" },
    { CIP_ERR_NOT_FOUND, "no field is named '...'", "The records have no such field.",
      "The message lists the fields.", "cippus cat night.asdf stars/colour" },
    { CIP_ERR_EXISTS, "... exists; --overwrite replaces it", "The output is already there.",
      "Choose another name, or use --overwrite (overwrite=True in Python).",
      "cippus convert tide.blp complex.ra" },
    { CIP_ERR_EXISTS, "'...' is an array; --force replaces it",
      "The value would replace an array and its data.", "Use --force if you mean that.",
      "cippus set night.asdf image 5" },
    { CIP_ERR_FORMAT, "this is ..., which is not read", "The file has another, known format.",
      "Follow the hint if there is one: unpack the file, or fetch it with git.",
      "printf 'version https://git-lfs.github.com/spec/v1\\n' > big.asdf; cippus ls big.asdf" },
    { CIP_ERR_FORMAT, "expected the start of a known format",
      "The first bytes do not belong to any known format.",
      "For raw bytes or csv use --from raw or --from csv.",
      "echo hello > notes.txt; cippus ls notes.txt" },
    { CIP_ERR_UNSUPPORTED, "found '...'; did you mean '...'?",
      "The format or this build does not have this codec.", "Choose one that is listed.",
      "cippus convert night.asdf out.asdf --codec gzip" },
    { CIP_ERR_UNSUPPORTED, "... has no option '...'", "The output format has no such option.",
      "'cippus help convert --all' lists the options of each format.",
      "cippus convert tide.blp tide.b2nd --option speed=9" },
    { CIP_ERR_UNSUPPORTED, "... files do not support ...",
      "Files of this format cannot be changed in this way.",
      "Convert the file to a format that allows it, such as ASDF.",
      "cippus set complex.ra title x" },
    { CIP_ERR_UNSUPPORTED, "... holds one array, the input has ...",
      "The output format has room for a single array.", "Choose an array with --path.",
      "cippus convert night.asdf night.npy" },
    { CIP_ERR_UNSUPPORTED, "... cannot hold all of it: ...",
      "The output format would lose something; each loss was printed before.",
      "Accept it with --accept-loss (accept_loss=True), or choose another format.",
      "cippus convert night.asdf stars.ra --path stars" },
    { CIP_ERR_UNSUPPORTED, "expected a known encoding, found '...'",
      "A program encoded the block in its own way.",
      "C programs can supply the codec (cip_open_options.codecs).", "cippus cat early.asdf own" },
    { CIP_ERR_CORRUPT, "expected ... bytes of data for the dims, found a size of ...",
      "Two parts of the header do not agree, so it is damaged.",
      "Get the file again, or save what is readable with 'cippus repair'.",
      "cp complex.ra bad.ra; printf X | dd of=bad.ra bs=1 seek=32 conv=notrunc status=none; "
      "cippus ls bad.ra" },
    { CIP_ERR_TRUNCATED, "expected ... bytes of the block, found ... up to the file's end",
      "The file ends inside a block.", "Get the file again, or save the rest with 'cippus repair'.",
      "head -c 60000 night.asdf > short.asdf; cippus cat short.asdf image '[0, 0]'" },
    { CIP_ERR_CHECKSUM, "the stored bytes do not match their ...",
      "The data changed since they were written.",
      "Get the file again; 'cippus verify' shows what else is damaged.",
      "cp tide.blp bad.blp; printf X | dd of=bad.blp bs=1 seek=1000 conv=notrunc status=none; "
      "cippus cat bad.blp '[5]'" },
    { CIP_ERR_RANGE, "expected an index within the length ... of axis ...",
      "The index is beyond the end of the array.", "'cippus ls FILE' shows the shape.",
      "cippus cat night.asdf image '[200]'" },
    { CIP_ERR_RANGE, "the value of element ... does not fit ... exactly",
      "The array's type cannot hold the new value.",
      "Use --accept-loss to round or clip it, or convert the array to a wider type.",
      "cippus put night.asdf counts '[0, 0]' 2.5" },
    { CIP_ERR_RANGE, "the selection has shape ..., the input ...",
      "The data do not match the part that they should replace.",
      "Choose a part of the same shape.", "cippus put night.asdf counts '[0:2, 0:2]' complex.ra" },
    { CIP_ERR_RANGE, "expected rows of shape ..., found an input of shape ...",
      "Rows to append must match the array in every dimension but the first.",
      "Reshape or slice the input first.", "cippus append cube.b2nd complex.ra" },
    { CIP_ERR_TYPE, "'...' is in the tree, but is not an array",
      "The path leads to metadata, not to an array.", "Use 'cippus tree FILE PATH'.",
      "cippus cat night.asdf exposure" },
    { CIP_ERR_TYPE, "cannot convert ... to ...", "There is no conversion between these types.",
      "For records, choose a field as PATH/FIELD.", "cippus cat night.asdf stars --dtype float32" },
    { CIP_ERR_TYPE, "expected numbers, found ...", "The array does not consist of numbers.",
      "For records, choose a field as PATH/FIELD.", "cippus stat night.asdf stars" },
    { CIP_ERR_LIMIT, "expected at most ... elements, found ...",
      "The selection is larger than --max-elements.", "Read a smaller part, or raise the limit.",
      "cippus cat night.asdf image --max-elements 100" },
    { CIP_ERR_LIMIT, "... which exceeds the memory limit of ...",
      "The file needs more memory than --max-memory.", "Raise the limit.", NULL },
    { CIP_ERR_IO, "writing to standard output: ...", "The output could not be written.",
      "Free some space, or write to another disk.",
      "cippus cat night.asdf image --to raw > /dev/full" },
    { CIP_ERR_READONLY, "... no permission", "You may not write to the file or its folder.",
      "Ask its owner, or write a copy elsewhere.", NULL },
    { CIP_ERR_BUSY, "another writer is updating the file",
      "Another program is changing the file at this moment.",
      "Try again later; --wait SECONDS waits for it.", NULL },
    { CIP_ERR_BUSY, "file changed since open: ...",
      "Another program changed the file while it was read.", "Open it again.", NULL },
    { CIP_ERR_STALE, "... since it was opened, so nothing was written; open it again",
      "Another file now has the name of the opened one.",
      "Open it again (refresh() in Python) and repeat the change.", NULL },
    { CIP_OK, "elements outside ... are dropped", "The new shape is smaller than the old one.",
      "Try it with --dry-run first.", "cippus resize tide.blp 10,12" },
    { CIP_OK, "the codec ... did not make the data smaller",
      "The data are stored uncompressed, or larger than before.",
      "Try a filter such as shuffle, or no codec.",
      "cippus convert night.asdf image.b2nd --path image --codec lz4 --filter none" },
    { CIP_OK, "no checksum is stored for its data", "--check has nothing to compare the data with.",
      "Write the file with checksums ('cippus convert --md5 current').",
      "cippus cat complex.ra '[0, 0]' --check" },
    { CIP_OK, "the array's name is left out: ...", "The output format stores no names.",
      "Nothing, unless you need the name.", "cippus convert night.asdf image.npy --path image" },
};

void help_errors(void)
{
    help_wrapped("The messages of cippus, by the kind that stands before the text. "
                 "docs/guide/errors.md is the same list, with an example of each.",
                 0, 0);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const cip_status st = kinds[k].status;
        const int n = printf("\n%s: ", st == CIP_OK ? "note" : cip_status_name(st));
        help_wrapped(kinds[k].meaning, n, 2);
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
            if (messages[i].status != st)
                continue;
            fputs("  ", stdout);
            help_wrapped(messages[i].text, 2, 6);
            fputs("      ", stdout);
            help_wrapped(messages[i].meaning, 6, 6);
            fputs("      ", stdout);
            help_wrapped(messages[i].remedy, 6, 6);
        }
    }
}
