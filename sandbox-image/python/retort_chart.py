"""Figures and tables as data: what is drawn, beside its picture.

Names and types are those that E2B's clients know.  All amounts are bounded.
Nothing is imported from a library: whoever has a figure has loaded it.
Whatever goes wrong here, the cell goes on and the data is missing.
"""

import builtins
import json
import math
import re
import sys
import warnings
import weakref

CHART = "application/vnd.retort.chart+json"
FRAME = "application/vnd.retort.dataframe+json"

POINTS = 5000                   # of one figure
CHARTS = 64                     # axes of one figure
ROWS, COLUMNS = 100, 100        # of a table
TICKS = 100
TITLE, TEXT = 1000, 200         # characters
BYTES = 256 * 1024              # as JSON

UNIT = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]\s*$")
NAMED = ("FixedFormatter", "FuncFormatter", "StrCategoryFormatter")
DATES = ("_SwitchableDateConverter", "DateConverter", "DatetimeConverter",
         "ConciseDateConverter")


# values

def cut(text, size=TEXT):
    """Bounded, and without lone surrogates."""
    text = str(text)
    if len(text) > size:
        text = text[:size - 1] + "\u2026"
    return text if text.isascii() else \
        text.encode("utf-8", "replace").decode()


def is_time(value):
    return hasattr(value, "isoformat") or type(value).__name__ == "datetime64"


def time_text(value):
    """ISO 8601, without the fraction of a second if there is none."""
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    head, dot, fraction = text.partition(".")
    return head if dot and not fraction.strip("0") else text


def plain(value):
    """Something that JSON has; null is what is not there."""
    if value is None or isinstance(value, (bool, str)):
        return cut(value) if isinstance(value, str) else value

    if is_time(value):
        return None if str(value) == "NaT" else time_text(value)

    if type(value).__module__ == "numpy" and hasattr(value, "item") \
            and not getattr(value, "shape", ()):
        value = value.item()

    if isinstance(value, (bool, int)):
        return value if abs(value) < 1 << 63 else str(value)[:TEXT]

    if isinstance(value, float):
        return value if math.isfinite(value) else None

    return None if str(value) in ("<NA>", "NaT", "--") else cut(value)


def dump(data):
    return json.dumps(data, ensure_ascii=False, allow_nan=False,
                      separators=(",", ":"))


# axes

def of(thing, *names):
    """Is it of a class of that name?"""
    return any(c.__name__ in names for c in type(thing).__mro__)


def number(value):
    return "%g" % value


class Side:
    """One axis of an Axes."""

    def __init__(self, ax, which):
        self.axis = getattr(ax, which + "axis")
        self.label = cut(getattr(ax, "get_%slabel" % which)(), TITLE)
        self.scale = getattr(ax, "get_%sscale" % which)()
        converter = getattr(self.axis, "converter", None)
        self.period = of(converter, "PeriodConverter")
        self.dates = not self.period and of(converter, *DATES)
        self.freq = getattr(self.axis, "freq", getattr(ax, "freq", None))

        if self.dates or self.period:
            self.scale = "datetime"
        elif of(converter, "StrCategoryConverter"):
            self.scale = "categorical"

        # texts first: asking for them moves the places of some
        self.texts = [cut(t.get_text()) for t in self.labels()[:TICKS]]
        self.ticks = list(self.axis.get_majorticklocs()[:TICKS])
        self.named = of(self.axis.get_major_formatter(), *NAMED)

    def labels(self):
        """As they were drawn, or would be."""
        if self.axis.figure.stale:
            return self.axis.get_majorticklabels()

        count = len(self.axis.get_majorticklocs())
        ticks = self.axis.majorTicks[:count]
        both = [t.label1 for t in ticks] + [t.label2 for t in ticks]
        return [label for label in both if label.get_visible()]

    def unit(self):
        found = UNIT.search(self.label)
        return found.group(1) if found else None

    def at(self, value):
        """A place on the axis as what stands for it."""
        if isinstance(value, str) or is_time(value):
            return plain(value)

        if self.dates:
            from matplotlib.dates import num2date
            return time_text(num2date(value).replace(tzinfo=None))

        if self.period and self.freq is not None:
            from pandas import Period
            if not isinstance(value, Period):
                value = Period(ordinal=int(value), freq=self.freq)
            return str(value)

        if self.scale == "categorical":
            return self.name(value)

        return plain(value)

    def name(self, value):
        """The text that stands at, or nearest to, a place."""
        if self.named and len(self.ticks):
            best = min(range(len(self.ticks)),
                       key=lambda i: abs(self.ticks[i] - value))
            if abs(self.ticks[best] - value) <= 0.5 \
                    and best < len(self.texts):
                return self.texts[best]

        if self.dates or self.period:
            return cut(self.at(value))

        return number(value)

    def write(self, to, which):
        to[which + "_ticks"] = [self.at(t) for t in self.ticks]
        to[which + "_tick_labels"] = self.texts
        to[which + "_scale"] = self.scale


def is_data(ax, line):
    """False for what spans the axes, and for parts of something else."""
    return (line.get_label() != "_nolegend_" and all(
        line.get_transform().contains_branch_seperately(ax.transData)))


def data_lines(ax):
    """(line, what has its name) of each."""
    lines = [(n, n) for n in ax.lines if is_data(ax, n)]

    for thing in ax.containers:
        if of(thing, "ErrorbarContainer") and thing.lines[0] is not None:
            lines.append((thing.lines[0], thing))
        elif of(thing, "StemContainer"):
            lines.append((thing.markerline, thing))

    return lines


def name_of(thing, kind):
    label = str(thing.get_label())
    own = re.fullmatch(r"_(?:child|container)(\d+)", label)
    return "%s %s" % (kind, own.group(1)) if own else cut(label)


def span_of(patch, upright):
    """From, to, value."""
    if upright:
        start, width, value = (patch.get_x(), patch.get_width(),
                               patch.get_height())
    else:
        start, width, value = (patch.get_y(), patch.get_height(),
                               patch.get_width())

    near = abs(width) * 1e-9
    return tuple(0.0 if abs(v) < near else v
                 for v in (start, start + width)) + (value,)


# box plots: matplotlib keeps no record, so it is read off the lines

def short_lines(ax):
    """Each line as two lists; long ones are no part of a box."""
    for line in ax.lines[:POINTS]:
        x, y = line.get_xdata(), line.get_ydata()
        if len(x) <= POINTS:
            yield line, list(x), list(y)


def box_frames(ax):
    for line, x, y in short_lines(ax):
        if len(x) >= 5 and x[0] == x[-1] and y[0] == y[-1]:
            yield min(x), max(x), min(y), max(y)

    for patch in ax.patches:
        if type(patch).__name__ == "PathPatch":
            v = patch.get_path().vertices
            yield (v[:, 0].min(), v[:, 0].max(), v[:, 1].min(), v[:, 1].max())


def box_of(lines, frame):
    """What lines along the box's middle, or across it, say."""
    left, right, low, high = frame
    middle = (left + right) / 2
    near = (right - left) * 1e-6
    whiskers, median, outliers = [], None, []

    for x, y, joined in lines:
        if len(x) and all(abs(v - middle) <= near for v in x):
            if not joined:
                outliers = y
            elif len(x) == 2:
                whiskers.append(y)
        elif joined and len(x) == 2 and y[0] == y[1] \
                and low <= y[0] <= high \
                and abs(min(x) - left) <= near \
                and abs(max(x) - right) <= near:
            median = y[0]

    if median is None or len(whiskers) != 2:
        return None

    least, most = min(whiskers[0]), max(whiskers[1])

    # a mark inside is the mean
    return middle, (least, low, median, high, most), \
        [v for v in outliers if not least <= v <= most]


def boxes(ax, upright):
    lines = []
    found = []

    for line, x, y in short_lines(ax):
        joined = line.get_linestyle() not in ("None", "none", " ", "")
        lines.append((x, y, joined) if upright else (y, x, joined))

    for frame in box_frames(ax):
        box = box_of(lines, frame if upright else frame[2:] + frame[:2])
        if box:
            found.append(box)

    return found


# one Axes

class Reader:
    def __init__(self, ax, points):
        self.ax = ax
        self.points = points
        self.cut = False

    def thin(self, series):
        """So many of each that all together stay in bounds, ends included."""
        share = max(2, self.points // max(1, len(series)))
        for name, xs, ys in series:
            n = min(len(xs), len(ys))
            step = -(-n // share)
            if step > 1:
                self.cut = True
                keep = list(range(0, n, step))[:share]
                keep[-1] = n - 1
            else:
                keep = range(n)
            yield name, [xs[i] for i in keep], [ys[i] for i in keep]

    def read(self):
        ax = self.ax
        title = ax.get_title() or ax.get_title("left") or ax.get_title("right")
        chart = {"type": "unknown", "title": cut(title, TITLE)}

        if getattr(ax, "name", "") not in ("rectilinear", "polar"):
            return dict(chart, elements=[])

        wedges = [p for p in ax.patches if of(p, "Wedge")]
        if wedges:
            return dict(chart, type="pie", elements=self.pie(wedges))

        self.x, self.y = Side(ax, "x"), Side(ax, "y")

        for upright in (True, False):
            found = boxes(ax, upright) if ax.lines else []
            if found:
                return self.planar(chart, "box_and_whisker", upright,
                                   self.box(found, upright))

        bars = [c for c in ax.containers if of(c, "BarContainer") and len(c)]
        if bars:
            upright = getattr(bars[0], "orientation", "") != "horizontal"
            return self.planar(chart, "bar", upright, self.bar(bars, upright))

        return self.point_chart(chart)

    def planar(self, chart, kind, upright, elements):
        """As if the values stood on the y axis."""
        x, y = (self.x, self.y) if upright else (self.y, self.x)
        chart["type"] = kind
        chart.update(x_label=x.label, y_label=y.label, x_unit=x.unit(),
                     y_unit=y.unit(), elements=elements)
        return chart

    def point_chart(self, chart):
        ax = self.ax
        lines = data_lines(ax)
        dots = [c for c in ax.collections if of(c, "PathCollection")]
        joined = [n for n, _ in lines
                  if n.get_linestyle() not in ("None", "none", " ", "")]
        kind = "line" if joined else "scatter" if lines or dots else "unknown"
        self.planar(chart, kind, True, self.series(lines, dots))
        self.x.write(chart, "x")
        self.y.write(chart, "y")
        return chart

    def series(self, lines, dots):
        all_of = [(name_of(named, "Line"), n.get_xdata(orig=True),
                   n.get_ydata(orig=True)) for n, named in lines[:POINTS]]

        for dot in dots[:POINTS]:
            offsets = dot.get_offsets()
            all_of.append((name_of(dot, "Scatter"), offsets[:, 0],
                           offsets[:, 1]))

        all_of = [(name, getattr(x, "values", x) if not self.x.period else x,
                   getattr(y, "values", y)) for name, x, y in all_of]

        return [{"label": name, "points":
                 [[self.x.at(a), self.y.at(b)] for a, b in zip(xs, ys)]}
                for name, xs, ys in self.thin(all_of)]

    def pie(self, wedges):
        self.cut = len(wedges) > self.points
        return [{"label": cut(w.get_label()) if not
                 w.get_label().startswith("_") else "",
                 "angle": plain(abs(w.theta2 - w.theta1)),
                 "radius": plain(w.r)} for w in wedges[:self.points]]

    def box(self, found, upright):
        side = self.x if upright else self.y
        result = []

        for middle, five, outliers in found[:self.points]:
            keep = list(outliers)[:max(1, self.points // len(found))]
            self.cut = self.cut or len(keep) < len(outliers)
            result.append(dict(zip(
                ("label", "min", "first_quartile", "median",
                 "third_quartile", "max", "outliers"),
                [side.name(middle)] + [plain(v) for v in five]
                + [[plain(v) for v in keep]])))

        return result

    def bar(self, bars, upright):
        side = self.x if upright else self.y
        share = max(1, self.points // len(bars))
        result = []

        for bar in bars[:self.points]:
            group = name_of(bar, "Group")
            spans = [span_of(p, upright) for p in bar.patches]
            spans = [s for s in spans if math.isfinite(s[0] + s[1])]
            bins = self.is_histogram(spans, side)
            self.cut = self.cut or len(spans) > share

            for a, b, value in spans[:share]:
                label = "%g \u2013 %g" % (a, b) if bins \
                    else side.name((a + b) / 2)
                result.append({"label": label, "value": plain(value),
                               "group": group})

        return result

    def is_histogram(self, spans, side):
        """Bars side by side over a scale of numbers."""
        if len(spans) < 2 or side.named or side.scale != "linear":
            return False

        near = abs(spans[-1][1] - spans[0][0]) * 1e-6
        together = all(abs(a[1] - b[0]) <= near
                       for a, b in zip(spans, spans[1:]))
        return together and not all(
            ((a + b) / 2).is_integer() and abs(b - a - 1) <= near
            for a, b, _ in spans)


def has_data(ax):
    return bool(ax.lines or ax.patches or ax.collections or ax.containers
                or ax.images)


def chart_of(figure, points):
    axes = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    full = [ax for ax in axes if has_data(ax)]
    axes = (full or axes[:1])[:CHARTS]

    if not axes:
        return None

    readers = [Reader(ax, points // len(axes)) for ax in axes]
    charts = [r.read() for r in readers]
    above = getattr(figure, "_suptitle", None)
    above = cut(above.get_text(), TITLE) if above is not None else ""

    if len(charts) == 1:
        chart = charts[0]
        chart["title"] = chart["title"] or above
    else:
        chart = {"type": "superchart", "title": above, "elements": charts}

    if any(r.cut for r in readers) or len(full) > CHARTS:
        chart["truncated"] = True

    return chart


shown = []                      # figures that this cell has displayed


def chart(figure):
    """JSON of a figure, or None.  Asked for last, when it was drawn."""
    try:
        return chart_text(figure)
    finally:
        # until something in it is changed
        figure.stale = False
        shown.append(weakref.ref(figure))


def any_left():
    """Is there a figure, or was there one in this cell?"""
    try:
        pyplot = sys.modules.get("matplotlib._pylab_helpers")
        inline = sys.modules.get("matplotlib_inline.backend_inline")
        return bool(shown or (pyplot and pyplot.Gcf.figs)
                    or (inline and inline.show._draw_called))
    except AttributeError:
        return True


def callbacks(registered):
    """These, if each of them has to do with figures alone."""
    return registered[:] if all(one in (
        getattr(sys.modules.get("matplotlib.pyplot"),
                "_draw_all_if_interactive", None),
        getattr(sys.modules.get("matplotlib_inline.backend_inline"),
                "flush_figures", None)) for one in registered) else []


def show_first(registered):
    """Before pyplot draws all that are open: shown, they are drawn and closed."""
    draw = getattr(sys.modules.get("matplotlib.pyplot"),
                   "_draw_all_if_interactive", None)
    if draw in registered:
        registered.remove(draw)
        registered.append(draw)


def close_shown():
    """What was displayed, and is as it was then, does not come out again."""
    try:
        inline = sys.modules["matplotlib_inline.config"].InlineBackend
        if inline.instance().close_figures:
            for figure in [ref() for ref in shown]:
                if figure is not None and not figure.stale:
                    sys.modules["matplotlib.pyplot"].close(figure)
    except Exception:
        pass
    shown.clear()


def show_left(shell):
    """Figures of a cell that chose agg, which shows nothing by itself.

    Those that nobody has seen in their present state: what was saved to a file
    has been drawn.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or pyplot.get_backend().lower() != "agg":
        return

    try:
        managers = sys.modules["matplotlib._pylab_helpers"].Gcf
        figures = [manager.canvas.figure
                   for manager in managers.get_all_fig_managers()
                   if manager.canvas.figure.stale]
        if figures:
            with_formats(shell)
        for figure in figures:
            builtins.display(figure)
    except Exception:
        shell.showtraceback()
    shown.clear()


def with_formats(shell):
    """Figures are pictures, also if the inline backend was never loaded."""
    from IPython.core.pylabtools import select_figure_formats
    from matplotlib_inline.config import InlineBackend

    config = InlineBackend.instance(parent=shell)
    select_figure_formats(shell, config.figure_formats,
                          **config.print_figure_kwargs)


def chart_text(figure):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for points in (POINTS, POINTS // 10, POINTS // 100):
                data = chart_of(figure, points)
                text = dump(data) if data else None
                if text is None or len(text.encode()) <= BYTES:
                    return text
    except Exception:
        pass

    return None


# tables

def frame_of(frame, rows):
    pandas = sys.modules["pandas"]

    if isinstance(frame, pandas.Series):
        frame = frame.to_frame("" if frame.name is None else frame.name)

    head = frame.iloc[:rows, :COLUMNS]
    columns = [head.iloc[:, i] for i in range(head.shape[1])]
    cells = [[plain(v) for v in column.array] for column in columns]

    return {
        "columns": [cut(c) for c in head.columns],
        "dtypes": [cut(c.dtype) for c in columns],
        "index": [plain(v) for v in head.index],
        "rows": [list(row) for row in zip(*cells)] if cells
        else [[] for _ in range(head.shape[0])],
        "shape": list(frame.shape),
        "truncated": head.shape != frame.shape,
    }


def frame(value):
    """JSON of a table's beginning, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for rows in (ROWS, ROWS // 10, 1):
                text = dump(frame_of(value, rows))
                if len(text.encode()) <= BYTES:
                    return text
    except Exception:
        pass

    return None


FORMS = (
    (CHART, (("matplotlib.figure", "Figure"),), chart),
    (FRAME, (("pandas.core.frame", "DataFrame"),
             ("pandas.core.series", "Series")), frame),
)
