# docs/guide/errors.md is made from the table of messages, and each example prints the message it shows.
python3 "$ROOT/scripts/errors_page.py" "$(command -v cippus)" --check
cippus help errors | head -14
cippus help errors | awk 'length > 80' | wc -l
