"""Every interpreter of the image: as many processors as the sandbox has.

A processor quota is not visible to a program, so that pools would be made
for all the cores of the host.
"""

import os


def limit(count):
    real = os.sched_getaffinity

    def sched_getaffinity(pid):
        return set(sorted(real(pid))[:count])

    def cpu_count():
        return count

    os.cpu_count = cpu_count
    os.sched_getaffinity = sched_getaffinity


def child():
    """A program that a session starts has nobody to show its figures to."""
    cpus = os.environ.get("RETORT_CPUS", "")

    if cpus.isdecimal() and int(cpus) > 0:
        limit(int(cpus))

    if os.environ.get("MPLBACKEND", "").startswith("module://matplotlib_in"):
        os.environ["MPLBACKEND"] = "agg"


child()
