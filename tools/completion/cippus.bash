# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: commands, options of the command, keys of --option, files. Paths in a file come from `cippus ls`.

_cippus_options() {
    cippus "$1" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

# "KEY=" of --option: of the format that --format names, else of all.
_cippus_keys() {
    local i format='[a-z0-9]*'
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" != --format ] || format=${COMP_WORDS[i + 1]}
    done
    cippus "$1" --help 2>/dev/null | sed -n "s/^ *$format: \([a-z_]*=\)\.\.\..*/\1/p"
}

_cippus() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "info ls tree cat stat verify convert set rm mv put append resize edit freeze defrag explode implode recover repair --help --version" -- "$word")
        return
    fi
    if [ "${COMP_WORDS[COMP_CWORD - 1]}" = --option ]; then
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$(_cippus_keys "$command")" -- "$word")
        return
    fi
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_cippus_options "$command")" -- "$word") ;;
    *)
        local file=${COMP_WORDS[COMP_CWORD - 1]}
        case $command in
        cat | stat | put | append | resize | rm)
            if [ -f "$file" ]; then
                mapfile -t COMPREPLY < <(compgen -W "$(cippus ls "$file" 2>/dev/null | cut -d' ' -f1)" -- "$word")
                return
            fi
            ;;
        esac
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    esac
}
complete -o filenames -F _cippus cippus
