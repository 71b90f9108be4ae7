# The README's picture shows what the command prints.
python3 "$ROOT/scripts/terminal_svg.py" --check "$(command -v cippus)"
