# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish: what the one for bash offers. All lists come from the command itself.

function __cippus_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

function __cippus_commands
    cippus --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
    printf 'help\tShow a command\'s options and examples\n'
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

function __cippus_paths
    set -l file (__cippus_file)
    test -n "$file"; or return
    switch (__cippus_command)
        case set rm mv tree
            cippus tree --find . $file 2>/dev/null | sed 's/: .*//'
        case cat stat put append resize convert diff info zarr-refs explode
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

complete -c cippus -n 'test (count (commandline -opc)) -eq 1' -a '(__cippus_commands)'
complete -c cippus -n 'test (count (commandline -opc)) -eq 2; and test (__cippus_command) = help' -f -a '(__cippus_commands)'
complete -c cippus -n 'test (count (commandline -opc)) -gt 1; and string match -q -- "-*" (commandline -ct)' -f -a '(__cippus_options)'
complete -c cippus -n 'test (count (commandline -opc)) -gt 2' -a '(__cippus_paths)'
complete -c cippus -l to -x -a 'text csv tsv json npy raw'
complete -c cippus -l from -x -a 'raw csv'
complete -c cippus -l format -x -a '(__cippus_names formats) csv tsv json'
complete -c cippus -l codec -x -a '(__cippus_codecs)'
complete -c cippus -l byteorder -x -a 'little big'
complete -c cippus -l durability -x -a 'power process'
complete -c cippus -l md5 -x -a 'current legacy none'
complete -c cippus -l dtype -x -a 'bool8 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 float double int bool'
complete -c cippus -l path -x -a '(__cippus_paths)'
