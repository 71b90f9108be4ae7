# A header whose last line lacks its end: the tree starts on a line of its own.
for head in '#ASDF 1.0.0' '#ASDF 1.0.0\n# a comment' '#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0'; do
    printf "$head" > x.asdf
    cippus set x.asdf a 1
    cat x.asdf
    cippus tree x.asdf a
done
printf '#ASDF 1.0.0' > x.asdf
cippus convert x.asdf y.asdf
cippus info y.asdf | head -n 1
