"""Of pytest, for tests that were taken out of their packages: lets these find
them again, and writes what became of each."""

import importlib
import os

parts = os.environ['RETORT_TESTS'].split('/')

for n in range(1, len(parts)):
    try:
        package = importlib.import_module('.'.join(parts[:n]))
        package.__path__.append(os.path.abspath('/'.join(parts[:n])))
    except ImportError:
        pass


def pytest_runtest_logreport(report):
    if report.when == 'call' or report.outcome != 'passed':
        with open(os.environ['RETORT_RESULTS'], 'a') as f:
            f.write(f'{report.outcome} {report.nodeid}\n')
