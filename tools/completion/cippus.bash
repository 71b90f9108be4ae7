# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: commands, options of the command and their values, keys of --option, files, and paths in the file that was named. All
# lists come from the command itself.

_cippus_commands() {
    cippus --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

_cippus_options() {
    cippus "$1" --help --all 2>/dev/null | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'
}

# Whether a value follows the option $2 of the command $1.
_cippus_takes_value() {
    cippus "$1" --help --all 2>/dev/null | grep -q -- "^  $2 [^ ]"
}

# "KEY=" of --option: of the format that --format names, else of all.
_cippus_keys() {
    local i format='[a-z0-9]*'
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" != --format ] || format=${COMP_WORDS[i + 1]}
    done
    cippus "$1" --help --all 2>/dev/null | sed -n "s/^ *$format: \([a-z_]*=\)\.\.\..*/\1/p" | sort -u
}

# Names of formats or codecs that this build has, as --version lists them.
_cippus_names() {
    cippus --version 2>/dev/null | sed -n "s/^$1: //p" | sed 's/, \([a-z]\)/\n\1/g' | grep -v 'not in this build' | sed 's/ .*//' | tr '\n' ' '
}

# The format that the command $1 writes: that of --format, else by an extension: of the file that
# changes, or of what follows the first input.
_cippus_format() {
    local i first word
    first=$(_cippus_file "$1")
    for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        [ "$word" != --format ] || { echo "${COMP_WORDS[i + 1]}" && return; }
        [ "$1" = put ] || [ "$word" != "$first" ] || continue
        case $word in
        *.asdf) echo asdf ;;
        *.b2nd | *.b2frame) echo blosc2 ;;
        *.blp) echo bloscpack ;;
        *.blz | *.bcolz) echo blz ;;
        *.ra) echo rawarray ;;
        *.npy) echo npy ;;
        *.npz) echo npz ;;
        *.fits) echo fits ;;
        *.h5 | *.hdf5 | *.nc) echo hdf5 ;;
        *.zarr) echo zarr ;;
        *) continue ;;
        esac
        return
    done
}

# What --codec takes in that format, as far as this build has it.
_cippus_codecs() {
    local codec has
    has=" $(_cippus_names codecs)"
    _cippus_has() { [[ $has == *" $1 "* ]]; }
    echo none
    case $1 in
    asdf) set -- zlib bzp2 lz4 lz4f zstd blsc bls2 ;;
    b2* | blosc*) set -- blosclz lz4 lz4hc zlib zstd ;;
    blz* | bcolz) set -- blosclz lz4 lz4hc zlib zstd ;;
    rawarray) set -- lz4 ;;
    zarr) set -- zstd gzip blosc blosclz lz4 lz4hc zlib ;;
    npz) set -- zlib ;;
    hdf5) set -- zlib zstd lz4 blosc blosc2 ;;
    npy | fits | csv | tsv | json | jsonl) set -- ;;
    *) set -- zlib bzp2 lz4 lz4f lz4hc zstd blosclz blsc bls2 ;;
    esac
    for codec; do
        case $codec in
        bzp2) _cippus_has bzip2 ;;
        lz4hc) _cippus_has lz4 ;;
        blosclz | blsc | bls2 | blosc2) _cippus_has blosc ;;
        gzip) _cippus_has zlib ;;
        *) _cippus_has "$codec" ;;
        esac && echo "$codec"
    done
}

# The first word behind the command that is neither an option nor an option's value.
_cippus_file() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --*=*) ;;
        --*) ! _cippus_takes_value "$1" "${COMP_WORDS[i]}" || i=$((i + 1)) ;;
        -?*) ;;
        *)
            echo "${COMP_WORDS[i]}"
            return
            ;;
        esac
    done
}

# Paths of arrays, and those of the fields of records too.
_cippus_arrays() {
    [ ! -e "$1" ] || cippus ls --tsv "$1" 2>/dev/null | tail -n +2 | cut -f 2
}

_cippus_fields() {
    [ ! -e "$1" ] || cippus ls --paths "$1" 2>/dev/null
}

_cippus_nodes() {
    [ ! -e "$1" ] || cippus tree --find . "$1" 2>/dev/null | sed 's/: .*//'
}

# Values of the option $2; false where they are files, or anything.
_cippus_values() {
    case $2 in
    --to) echo text csv tsv json jsonl npy raw ;;
    --from) echo raw csv ;;
    --format)
        case $1 in
        zarr-refs) echo json parquet ;;
        show) echo auto blocks kitty ascii ;;
        convert) echo "$(_cippus_names formats) csv tsv json jsonl" ;;
        *) _cippus_names formats ;;
        esac
        ;;
    --scale) echo linear log asinh sqrt ;;
    --reduce) echo extremes sample min max mean ;;
    --map) echo {viridis,plasma,inferno,magma,cividis,gray,turbo,coolwarm}{,_r} ;;
    --codec) _cippus_codecs "$(_cippus_format "$1")" ;;
    --filter) echo shuffle bitshuffle delta bytedelta trunc_prec int_trunc ndcell ndmean ;;
    --checksum) echo none crc32 adler32 md5 sha1 sha224 sha256 sha384 sha512 ;;
    --standard) echo 1.6.0 1.5.0 1.4.0 1.3.0 1.2.0 1.1.0 1.0.0 0.1.0 ;;
    --byteorder) echo little big ;;
    --durability) echo power process ;;
    --md5) echo current legacy none ;;
    --type) echo null bool int float string timestamp binary seq map array ;;
    --dtype | --as) echo bool8 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 float double int bool ;;
    --path) _cippus_fields "$(_cippus_file "$1")" ;;
    --ignore) _cippus_nodes "$(_cippus_file "$1")" ;;
    --option) _cippus_keys "$1" ;;
    *) return 1 ;;
    esac
}

# Paths in the file: of arrays, or of all nodes; with files where one may stand there as well.
_cippus_paths() {
    case $1 in
    cat | show) _cippus_fields "$2" ;;
    resize) _cippus_arrays "$2" ;;
    stat | put) _cippus_fields "$2" && compgen -f -- "$3" ;;
    append) _cippus_arrays "$2" && compgen -f -- "$3" ;;
    set | rm | mv) _cippus_nodes "$2" ;;
    tree) _cippus_nodes "$2" && compgen -f -- "$3" ;;
    *) compgen -f -- "$3" ;;
    esac
}

_cippus() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD - 1]} file values
    if [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_cippus_commands) errors" -- "$word")
        return
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_cippus_commands) help --help --version" -- "$word")
        [ -n "${COMPREPLY[*]}" ] || mapfile -t COMPREPLY < <(compgen -f -- "$word") # `cippus FILE`
        return
    fi
    if [ "$COMP_CWORD" -gt 2 ] && values=$(_cippus_values "$command" "$before"); then
        [ "$before" != --option ] || compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
        return
    fi
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_cippus_options "$command")" -- "$word") ;;
    *)
        file=$(_cippus_file "$command")
        if [ -n "$file" ] && { [[ $before != --* ]] || ! _cippus_takes_value "$command" "$before"; }; then
            local IFS=$'\n'
            mapfile -t COMPREPLY < <(compgen -W "$(_cippus_paths "$command" "$file" "$word")" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}
complete -o filenames -F _cippus cippus
