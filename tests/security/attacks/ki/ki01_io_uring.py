# Sets up an io_uring, whose operations no filter sees.
b = ctypes.create_string_buffer(256)
end(child(lambda: call(425, 4, b)) and "io_uring")
