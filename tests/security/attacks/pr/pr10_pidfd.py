# Takes a descriptor of a process, and with it one that the process has open.
def go():
    f = C.syscall(ctypes.c_long(434), os.getppid(), 0)
    return f >= 0
end(child(go) and "pidfd_open")
