# Takes huge pages of the host's reserve, which no memory limit counts.
end(can(os.memfd_create, "h", 4) and "huge pages")
