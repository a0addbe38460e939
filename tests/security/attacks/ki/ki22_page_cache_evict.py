# Drops a shared file from the page cache, to see who reads it again.
f = os.open(os.path.realpath("/bin/sh"), 0)
end([n for n, a in (("fadvise64", (221, f, 0, 4096, 4)), ("readahead", (187, f, 0, 4096))) if call(*a)])
