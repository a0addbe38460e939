# Asks where its memory lies, and chooses it.
n = ctypes.c_int()
end(call(239, ctypes.byref(n), None, 0, None, 0) and "get_mempolicy")
