# Wakes the victim, who waits at a page of a shared file.
# known: a channel between two that both want one
# ---- victim
import threading, time
def page():
    C.mmap.restype = ctypes.c_void_p
    return C.mmap(None, ctypes.c_size_t(4096), 1, 1, os.open(os.path.realpath("/bin/sh"), 0), ctypes.c_long(0))
woken = []
def wait():
    p = page()
    t = (ctypes.c_long * 2)(5, 0)
    if C.syscall(ctypes.c_long(202), ctypes.c_void_p(p), 0, ctypes.cast(p, ctypes.POINTER(ctypes.c_int))[0], t) == 0:
        woken.append(1)
thread = threading.Thread(target=wait)
thread.start()
time.sleep(0.3)
tell()
# ---- hostile
C.mmap.restype = ctypes.c_void_p
p = C.mmap(None, ctypes.c_size_t(4096), 1, 1, os.open(os.path.realpath("/bin/sh"), 0), ctypes.c_long(0))
C.syscall(ctypes.c_long(202), ctypes.c_void_p(p), 1, 9)
tell()
# ---- victim
thread.join(6)
end(woken and "heard")
