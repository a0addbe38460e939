# Asks for Landlock, so that it can stack rules of its own.
# outside: may hold, kernels before 5.13 have none
end(call(444, None, 0, 1) and "landlock")
