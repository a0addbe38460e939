# Holds 100 dead children that it does not wait for.
def one(i):
    if os.fork() == 0:
        os._exit(0)
n = often(one, 100)
for i in range(n):
    os.wait()
end(n == 100 and "100 zombies")
