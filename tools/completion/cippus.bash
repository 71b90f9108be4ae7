# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: commands, options of the command, files. Paths in a file come from `cippus ls`.

_cippus_options() {
    cippus "$1" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

_cippus() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "info ls tree cat stat verify convert set rm mv put append resize edit freeze defrag explode implode recover --help --version" -- "$word")
        return
    fi
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_cippus_options "$command")" -- "$word") ;;
    *)
        local file=${COMP_WORDS[COMP_CWORD - 1]}
        case $command in
        cat | stat | put | append | resize)
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
