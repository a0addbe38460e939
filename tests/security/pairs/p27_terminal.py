# Opens the victim's terminal.
# ---- victim
try:
    m, s = os.openpty()
    tell(name=os.ttyname(s))
except OSError:
    tell(name="/dev/pts/0")
# ---- hostile
end(can(os.open, told["name"], os.O_RDWR | os.O_NOCTTY) and "opened")
