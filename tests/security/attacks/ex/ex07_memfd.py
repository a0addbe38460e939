# Takes 512 MiB in files that are in no directory.
def fill():
    fds = [os.memfd_create("m") for i in range(64)]
    return all(os.write(f, bytes(8 * MIB)) == 8 * MIB for f in fds)
end(child(fill) and "512 MiB in memfds")
