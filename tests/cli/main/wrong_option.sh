cippus ls --nothing file
