# Makes a pair of sockets of another family than AF_UNIX.
# outside: may hold, TIPC is a module
b = (ctypes.c_int * 2)()
end([f for f in range(2, 46) if call(53, f, 1, 0, b) or call(53, f, 5, 0, b)])
