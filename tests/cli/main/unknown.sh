cippus frobnicate
