"""Every interpreter of the image: as many processors as the sandbox has.

A processor quota is not visible to a program, so that pools would be made
for all the cores of the host.
"""

import os
import sys


class Vision:
    """OpenCV asks the system alone, so it is told when it has been loaded."""

    def __init__(self, count):
        self.count = count

    def find_spec(self, name, path=None, target=None):
        if name != "cv2":
            return None

        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path,
                                                                target)
            if spec is not None:
                return self.counted(spec)

    def counted(self, spec):
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            if hasattr(module, "setNumThreads"):
                module.setNumThreads(self.count)

        spec.loader.exec_module = exec_module
        return spec


PROCESSORS = ("SC_NPROCESSORS_ONLN", "SC_NPROCESSORS_CONF")


def limit(count):
    real = os.sched_getaffinity
    plain = os.sysconf
    counts = PROCESSORS + tuple(os.sysconf_names[n] for n in PROCESSORS)

    def sched_getaffinity(pid):
        return set(sorted(real(pid))[:count])

    def cpu_count():
        return count

    def sysconf(name):
        return count if name in counts else plain(name)

    if "cv2" in sys.modules:
        sys.modules["cv2"].setNumThreads(count)
    else:
        sys.meta_path.insert(0, Vision(count))

    os.cpu_count = cpu_count
    os.sched_getaffinity = sched_getaffinity
    os.sysconf = sysconf


def child():
    """A program that a session starts has nobody to show its figures to."""
    cpus = os.environ.get("RETORT_CPUS", "")

    if cpus.isdecimal() and int(cpus) > 0:
        limit(int(cpus))

    if os.environ.get("MPLBACKEND", "").startswith("module://matplotlib_in"):
        os.environ["MPLBACKEND"] = "agg"


child()
