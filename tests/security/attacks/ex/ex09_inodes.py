# Makes up to 3000 empty files in each directory that it can write to.
bad = []
for d in ("/workspace", "/tmp", "/var/tmp", "/dev/shm"):
    def one(i):
        os.close(os.open("%s/.i%d-%d" % (d, os.getpid(), i), os.O_CREAT | os.O_WRONLY))
    n = often(one, 3000)
    for i in range(n):
        os.unlink("%s/.i%d-%d" % (d, os.getpid(), i))
    if n == 3000:
        bad.append(d)
end(bad)
