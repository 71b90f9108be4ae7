# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish: what the one for bash offers. All lists come from the command itself.

function __cippus_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

function __cippus_commands
    cippus --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
    printf 'help\tShow the options of a command, or what messages mean\n'
end

function __cippus_options
    cippus (__cippus_command) --help --all 2>/dev/null | sed -n 's/^  \(--[a-z0-9-]*\).* \{2,\}\(.*\)/\1\t\2/p'
end

# The first word behind the command that is a file.
function __cippus_file
    for word in (commandline -opc)[3..-1]
        if test -e "$word"
            echo $word
            return
        end
    end
end

# Paths in the file, for the command that is named.
function __cippus_paths
    set -l file (__cippus_file)
    test -n "$file"; or return
    switch $argv[1]
        case set rm mv tree
            cippus tree --find . $file 2>/dev/null | sed 's/: .*//'
        case cat show stat put append resize convert diff info zarr-refs explode
            cippus ls --paths $file 2>/dev/null
    end
end

function __cippus_names
    cippus --version 2>/dev/null | sed -n "s/^$argv[1]: //p" | sed 's/, \([a-z]\)/\n\1/g' | grep -v 'not in this build' | sed 's/ .*//'
end

function __cippus_codecs
    set -l has (__cippus_names codecs)
    echo none
    for pair in zlib:zlib bzp2:bzip2 lz4:lz4 lz4hc:lz4 lz4f:lz4f zstd:zstd blosclz:blosc blsc:blosc bls2:blosc
        set -l names (string split : $pair)
        contains $names[2] $has; and echo $names[1]
    end
end

# Values of the option before the cursor; false where they are files, or anything.
function __cippus_values
    switch (commandline -opc)[-1]
        case --to
            printf '%s\n' text csv tsv json jsonl npy raw
        case --from
            printf '%s\n' raw csv
        case --format
            switch (__cippus_command)
                case zarr-refs
                    printf '%s\n' json parquet
                case show
                    printf '%s\n' auto blocks kitty ascii
                case '*'
                    __cippus_names formats
                    printf '%s\n' csv tsv json jsonl
            end
        case --scale
            printf '%s\n' linear log asinh sqrt
        case --reduce
            printf '%s\n' extremes sample min max mean
        case --map
            printf '%s\n' {viridis,plasma,inferno,magma,cividis,gray,turbo,coolwarm}{,_r}
        case --codec
            __cippus_codecs
        case --filter
            printf '%s\n' shuffle bitshuffle delta bytedelta trunc_prec int_trunc ndcell ndmean
        case --checksum
            printf '%s\n' none crc32 adler32 md5 sha1 sha224 sha256 sha384 sha512
        case --standard
            printf '%s\n' 1.6.0 1.5.0 1.4.0 1.3.0 1.2.0 1.1.0 1.0.0 0.1.0
        case --type
            printf '%s\n' null bool int float string timestamp binary seq map array
        case --option
            cippus (__cippus_command) --help --all 2>/dev/null | sed -n 's/^ *[a-z0-9]*: \([a-z_]*=\)\.\.\..*/\1/p'
        case --byteorder
            printf '%s\n' little big
        case --durability
            printf '%s\n' power process
        case --md5
            printf '%s\n' current legacy none
        case --dtype --as
            printf '%s\n' bool8 {,u}int{8,16,32,64} float{16,32,64} complex{64,128} float double int bool
        case --path
            __cippus_paths convert
        case --ignore
            __cippus_paths tree
        case '*'
            return 1
    end
end

complete -c cippus -n 'test (count (commandline -opc)) -eq 1' -a '(__cippus_commands)'
complete -c cippus -n 'test (count (commandline -opc)) -eq 2; and test (__cippus_command) = help' -f -a '(__cippus_commands) errors\t"Explain the messages"'
complete -c cippus -n 'test (count (commandline -opc)) -gt 1; and string match -q -- "-*" (commandline -ct)' -f -a '(__cippus_options)'
complete -c cippus -n '__cippus_values >/dev/null' -f -a '(__cippus_values)'
complete -c cippus -n 'test (count (commandline -opc)) -gt 2; and not __cippus_values >/dev/null' -a '(__cippus_paths (__cippus_command))'
