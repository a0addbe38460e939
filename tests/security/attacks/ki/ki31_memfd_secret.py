# Takes memory that the kernel itself cannot look into.
# outside: may hold, it is off on many kernels
end(call(447, 0) and "memfd_secret")
