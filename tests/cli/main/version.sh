cippus --version | head -n 1
