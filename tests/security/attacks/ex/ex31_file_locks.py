# Takes 60,000 locks of ranges of files, which are memory of the kernel.
# inside: known, most kernels count them for nobody, and SQLite needs a few
import fcntl, tempfile
files = [tempfile.TemporaryFile() for i in range(12)]
n = sum(often(lambda i: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 10000 - 2 * i), 5000) for f in files)
end(n == 60000 and n)
