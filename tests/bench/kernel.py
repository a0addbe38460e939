"""An ipykernel through jupyter-client, as a service would drive it.

Prints a JSON object: microseconds of starts with a first cell, of warm cells,
and of a plot in a warm kernel; bytes of private memory when idle.
"""

import json
import sys
import time

from jupyter_client.manager import start_new_kernel

STARTS, CELLS = int(sys.argv[1]), int(sys.argv[2])
IMPORTS = "import numpy, pandas, matplotlib.pyplot\n"


def timed(client, code):
    began = time.perf_counter()
    client.execute_interactive(code, output_hook=lambda message: None,
                               timeout=60)
    return round((time.perf_counter() - began) * 1e6)


def private(pid):
    kib = 0
    for line in open("/proc/%d/smaps_rollup" % pid):
        if line.startswith("Private_"):
            kib += int(line.split()[1])
    return kib * 1024


found = {"fresh": [], "warm": []}

for i in range(STARTS):
    began = time.perf_counter()
    manager, client = start_new_kernel(kernel_name="python3")
    timed(client, IMPORTS + "print(2+2)")
    found["fresh"].append(round((time.perf_counter() - began) * 1e6))

    if i == STARTS - 1:
        found["warm"] = [timed(client, "x=1") for _ in range(CELLS)]
        found["private"] = private(manager.provisioner.pid)

    client.stop_channels()
    manager.shutdown_kernel(now=True)

print(json.dumps(found))
