# Holds 200 threads at once.
import threading
stop = threading.Event()
threading.stack_size(1 << 16)
n = often(lambda i: threading.Thread(target=stop.wait, daemon=True).start(), 200)
stop.set()
end(n == 200 and "200 threads")
