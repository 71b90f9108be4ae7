cippus set file path value
