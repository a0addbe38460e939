# Installs a filter of its own by the older call.
import struct
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
end(child(lambda: C.prctl(22, 2, prog) == 0) and "PR_SET_SECCOMP")
