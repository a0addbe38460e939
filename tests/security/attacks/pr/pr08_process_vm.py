# Reads memory by process_vm_readv.
class V(ctypes.Structure):
    _fields_ = [("p", ctypes.c_void_p), ("n", ctypes.c_size_t)]
b = ctypes.create_string_buffer(8)
v = V(ctypes.addressof(b), 8)
end(call(310, os.getpid(), ctypes.byref(v), 1, ctypes.byref(v), 1, 0) and "process_vm_readv")
