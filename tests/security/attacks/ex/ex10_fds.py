# Opens 600 files, after it has raised its soft limit.
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
fds = []
n = often(lambda i: fds.append(os.open("/dev/null", 0)), 600)
for f in fds:
    os.close(f)
end(n == 600 and "600 descriptors")
