# Takes 512 MiB in one process.
end(child(lambda: touch(512)) and "512 MiB")
