# Takes all the timers that its user may have.
# ---- hostile
def one(i):
    if C.timer_create(0, None, ctypes.byref(ctypes.c_void_p())):
        raise OSError
often(one, 1000)
tell()
# ---- victim
end(C.timer_create(0, None, ctypes.byref(ctypes.c_void_p())) != 0 and "none left")
