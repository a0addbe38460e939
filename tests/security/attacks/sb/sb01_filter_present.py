end((status("Seccomp") != "2" or status("NoNewPrivs") != "1") and "no filter")
