cippus ls nothing.asdf
