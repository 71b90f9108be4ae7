printf "#ASDF 1.0.0\n%%YAML 1.1\n--- \nkey: \"a\\\\x1b[31mred\\\\u202e\"\n...\n" >x.asdf
cippus tree x.asdf
cippus tree --value red x.asdf
cippus tree --json x.asdf
cippus ls "$(printf "no\033[31m")" 2>&1 || true
