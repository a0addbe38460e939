# Makes a call from the page that lies at one address in every process.
# outside: may hold, some kernels have no such page
end(child(lambda: ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(0xffffffffff600400)(None) > 0) and "time")
