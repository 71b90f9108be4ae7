echo hello >x
cippus verify --json x
