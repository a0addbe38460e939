# Makes 2000 timers.
def one(i):
    t = ctypes.c_void_p()
    if C.timer_create(0, None, ctypes.byref(t)):
        raise OSError
end(child(lambda: often(one, 2000) == 2000) and "2000 timers")
