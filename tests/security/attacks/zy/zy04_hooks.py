# Looks for handlers, threads and timers of a launcher.
# outside: launcher
import signal, threading
bad = [s for s in signal.valid_signals() if s != signal.SIGINT and callable(signal.getsignal(s)) and not isinstance(signal.getsignal(s), signal.Handlers)]
bad += threading.enumerate()[1:]
end(bad or sys.getprofile() or sys.gettrace() or any(signal.getitimer(t) != (0, 0) for t in (0, 1, 2)))
