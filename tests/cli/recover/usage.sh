cippus recover --apply --discard x
