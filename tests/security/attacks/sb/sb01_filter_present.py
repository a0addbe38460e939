# Looks whether there is a filter of system calls.
end((status("Seccomp") != "2" or status("NoNewPrivs") != "1") and "no filter")
