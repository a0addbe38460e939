# Opens the interpreter and the shell for writing.
bad = []
for p in (os.__file__, os.path.realpath("/bin/sh"), "/etc/passwd"):
    try:
        os.close(os.open(p, os.O_WRONLY))
        bad.append(p)
    except OSError as e:
        if e.errno == errno.ETXTBSY:
            bad.append(p)
end(bad)
