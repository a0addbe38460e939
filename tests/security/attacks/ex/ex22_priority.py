# Takes a higher priority than it has.
end(child(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5) is None) and "negative nice")
