# Looks for a thread without the filter.
import threading
stop = threading.Event()
t = threading.Thread(target=stop.wait)
t.start()
bad = [n for n in os.listdir("/proc/self/task") if status("Seccomp", "self/task/" + n) != "2"]
stop.set()
t.join()
end(bad)
