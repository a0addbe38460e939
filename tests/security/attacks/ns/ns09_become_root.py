# Becomes root.
end(child(lambda: (os.setresuid(0, 0, 0), os.setgroups([0])) and True) and "root")
