# Lets itself be traced.
end(child(lambda: C.ptrace(0, 0, 0, 0) == 0) and "ptrace")
