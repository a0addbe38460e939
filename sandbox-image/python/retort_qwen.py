"""What Qwen-Agent's interpreter has ready before its first cell.

Names that the image has no module for are missing, as they would be there.
"""

import contextlib
import importlib
import io
import signal

TIMEOUT = "M6_CODE_INTERPRETER_TIMEOUT"
FAMILIES = ("Noto Sans CJK SC", "WenQuanYi Micro Hei", "DejaVu Sans")

NAMES = (
    ("json", "json", None), ("math", "math", None), ("os", "os", None),
    ("re", "re", None), ("signal", "signal", None),
    ("matplotlib", "matplotlib", None), ("plt", "matplotlib.pyplot", None),
    ("np", "numpy", None), ("pd", "pandas", None), ("sns", "seaborn", None),
    ("FontProperties", "matplotlib.font_manager", "FontProperties"),
    ("Eq", "sympy", "Eq"), ("solve", "sympy", "solve"),
    ("symbols", "sympy", "symbols"),
)


def no_input(*args, **kwargs):
    raise NotImplementedError("Python input() function is disabled.")


no_input.__name__ = no_input.__qualname__ = "input"


class _M6CountdownTimer:
    @staticmethod
    def ring(number, frame):
        raise TimeoutError(TIMEOUT)

    @classmethod
    def start(cls, seconds):
        signal.signal(signal.SIGALRM, cls.ring)
        signal.alarm(seconds)

    @classmethod
    def cancel(cls):
        signal.alarm(0)


def font():
    """The first face that is there and has what the families promise."""
    from matplotlib.font_manager import FontProperties, findfont

    for family in FAMILIES:
        try:
            path = findfont(FontProperties(family=family),
                            fallback_to_default=False)
        except ValueError:
            continue
        return FontProperties(fname=path)

    return FontProperties()


def style(names):
    if "plt" not in names:
        return
    if "sns" in names:
        names["sns"].set_theme()
    names["_m6_font_prop"] = font()
    names["plt"].rcParams["font.family"] = names["_m6_font_prop"].get_name()


def make_names():
    names = {"input": no_input, "_M6CountdownTimer": _M6CountdownTimer}
    nowhere = io.StringIO()

    with contextlib.redirect_stdout(nowhere), \
            contextlib.redirect_stderr(nowhere):
        for name, module, member in NAMES:
            try:
                found = importlib.import_module(module)
            except ImportError:
                continue
            names[name] = getattr(found, member) if member else found
        style(names)

    return names


def enter(shell):
    """Instead of the cell with which upstream begins: the first."""
    shell.user_ns.update(make_names())
    pass_by(shell)


def pass_by(shell):
    """Counts a cell that nobody sees."""
    history = shell.history_manager
    history.input_hist_parsed.append("")
    history.input_hist_raw.append("")
    shell._trait_values["execution_count"] = shell.execution_count + 1
