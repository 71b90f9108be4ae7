mkdir nothing
cippus ls nothing
