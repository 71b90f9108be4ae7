# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: commands, options of the command and their values, keys of --option, files, and paths in the file that was named. All
# lists come from the command itself.

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
    cippus "$1" --help --all 2>/dev/null | sed -n "s/^ *$format: \([a-z_]*=\)\.\.\..*/\1/p"
}

# Names of formats or codecs, as --version lists them.
_cippus_names() {
    cippus --version 2>/dev/null | sed -n "s/^$1: //p" | sed 's/([^)]*)//g; s/,/ /g'
}

# What --codec takes: chunks of Blosc go by the codecs in them, and msgpack stores metadata.
_cippus_codecs() {
    echo none $(_cippus_names codecs | sed 's/\bblosc\b//; s/\bmsgpack\b//') blosclz lz4hc blsc bls2
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

_cippus_arrays() {
    [ ! -e "$1" ] || cippus ls --json "$1" 2>/dev/null | sed -n 's/.*"path": "\([^"\\]*\)".*/\1/p'
}

_cippus_nodes() {
    [ ! -e "$1" ] || cippus tree --find . "$1" 2>/dev/null | sed 's/: .*//'
}

# Values of the option $2; false where they are files, or anything.
_cippus_values() {
    case $2 in
    --to) echo text raw npy csv json ;;
    --from) echo raw csv ;;
    --format) _cippus_names formats ;;
    --codec) _cippus_codecs ;;
    --byteorder) echo little big ;;
    --durability) echo power process ;;
    --md5) echo current legacy none ;;
    --type) echo null bool int float string timestamp binary seq map array ;;
    --dtype | --as) echo bool8 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 ;;
    --path) _cippus_arrays "$(_cippus_file "$1")" ;;
    --option) _cippus_keys "$1" ;;
    *) return 1 ;;
    esac
}

# Paths in the file: of arrays, or of all nodes; with files where one may stand there as well.
_cippus_paths() {
    case $1 in
    cat | resize) _cippus_arrays "$2" ;;
    stat | put | append) _cippus_arrays "$2" && compgen -f -- "$3" ;;
    set | rm | mv) _cippus_nodes "$2" ;;
    tree) _cippus_nodes "$2" && compgen -f -- "$3" ;;
    *) compgen -f -- "$3" ;;
    esac
}

_cippus() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD - 1]} file values
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(cippus --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p') help --help --version" -- "$word")
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
