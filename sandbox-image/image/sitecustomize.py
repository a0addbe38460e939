"""Every interpreter of the image: as many processors as the sandbox has.

A processor quota is not visible to a program, so that pools would be made
for all the cores of the host.
"""

import os


def _cpus():
    try:
        return max(0, int(os.environ["RETORT_CPUS"]))
    except (KeyError, ValueError):
        return 0


def _limit(count):
    real = os.sched_getaffinity

    def sched_getaffinity(pid):
        return set(sorted(real(pid))[:count])

    def cpu_count():
        return count

    os.cpu_count = cpu_count
    os.sched_getaffinity = sched_getaffinity


if _cpus():
    _limit(_cpus())
