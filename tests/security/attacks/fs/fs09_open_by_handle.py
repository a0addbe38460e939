# Asks for a file handle, with which the root of the host was opened in 2014.
b = ctypes.create_string_buffer(b"\x80\0\0\0" + bytes(200))
m = ctypes.c_int()
end(call(303, -100, b"/", b, ctypes.byref(m), 0) and "a handle of the root")
