# Reads load and free memory of the whole host by sysinfo.
# inside: known, glibc's sysconf() goes wrong when it is refused
b = ctypes.create_string_buffer(128)
end(call(99, b) and any(b.raw[8:40]) and "sysinfo")
