# Changes modes of files that are not its own.
end(can(os.chmod, "/etc/passwd", 0o644) and "chmod")
