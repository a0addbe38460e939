# Makes the pipes large that it was given, which counts for the user who made them, and for all their other pipes.
import fcntl
end([f for f in (1, 2) if can(fcntl.fcntl, f, 1031, MIB)])
