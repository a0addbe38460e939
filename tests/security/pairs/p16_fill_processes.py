# Takes as many processes as it can.
# ---- hostile
import time
def one(i):
    if os.fork() == 0:
        time.sleep(6)
        os._exit(0)
n = often(one, 200)
tell(n=n)
# ---- victim
end(not can(lambda: child(lambda: True) and None) and "none left")
