cippus --help
cippus cat --help
