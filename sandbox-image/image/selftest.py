"""Run in a new image, as uid 1000: what was deleted must not be missed."""

import importlib
import io
import os
import sys
import warnings

warnings.simplefilter("ignore")

MODULES = (
    "IPython matplotlib_inline.backend_inline bottleneck bs4 docx h5py "
    "html5lib jinja2 lxml.html matplotlib.pyplot networkx numexpr numpy "
    "odf.opendocument openpyxl pandas PIL.Image pypdf reportlab.pdfgen.canvas "
    "requests scipy.stats scipy.optimize scipy.signal scipy.integrate seaborn "
    "sklearn.ensemble sklearn.linear_model statsmodels.api sympy tables "
    "tabulate tqdm xlrd xlsxwriter yaml sqlite3 ssl zoneinfo ctypes lzma "
    "curses readline multiprocessing"
)


def main():
    for name in MODULES.split():
        importlib.import_module(name)

    import numpy
    import pandas
    from sklearn.linear_model import LinearRegression

    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [2.0, 4.0, 6.0]})
    book = io.BytesIO()
    frame.to_excel(book, index=False)
    book.seek(0)
    assert pandas.read_excel(book)["b"].tolist() == [2, 4, 6]
    assert round(LinearRegression().fit(frame[["a"]], frame["b"]).coef_[0]) == 2
    assert "openblas" in os.path.realpath("/usr/lib/%s/libblas.so.3"
                                          % sys.implementation._multiarch)
    assert numpy.linalg.norm(numpy.eye(3)) > 1


main()
