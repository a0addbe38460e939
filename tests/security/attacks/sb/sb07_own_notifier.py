# Installs a filter of its own.
b = ctypes.create_string_buffer(256)
end(child(lambda: call(317, 2, 0, ctypes.c_char_p(b"\0\0\xff\x7f"))) and "seccomp(2)")
