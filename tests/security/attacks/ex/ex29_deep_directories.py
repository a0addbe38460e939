# Makes 2000 directories, one inside the other.
def fill():
    top = "/tmp/.d%d" % os.getpid()
    os.mkdir(top)
    os.chdir(top)
    def one(i):
        os.mkdir("d")
        os.chdir("d")
    n = often(one, 2000)
    for i in range(n):
        os.chdir("..")
        os.rmdir("d")
    os.rmdir(top)
    return n == 2000
end(child(fill) and "2000 deep")
