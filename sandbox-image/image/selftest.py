"""Run in a new image, as uid 1000: what was deleted must not be missed.

The profile's modules and programs are the arguments, one word each program.
"""

import importlib
import io
import os
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")

ALWAYS = ("sqlite3 ssl zoneinfo ctypes lzma curses readline multiprocessing "
          "IPython.core.interactiveshell")


def tables():
    import pandas

    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [2.0, 4.0, 6.0]})
    book = io.BytesIO()
    frame.to_excel(book, index=False)
    book.seek(0)
    assert pandas.read_excel(book)["b"].tolist() == [2, 4, 6]


def numbers():
    import numpy
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit([[1], [2], [3]], [2, 4, 6])
    assert round(model.coef_[0]) == 2
    assert "openblas" in os.path.realpath("/usr/lib/%s/libblas.so.3"
                                          % sys.implementation._multiarch)
    assert numpy.linalg.norm(numpy.eye(3)) > 1


def main():
    modules = ALWAYS.split() + sys.argv[1].split()

    for name in modules:
        importlib.import_module(name)

    for command in sys.argv[2].splitlines():
        subprocess.run(command.split(), check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    if "openpyxl" in modules:
        tables()
    if "sklearn.linear_model" in modules:
        numbers()


main()
