"""Pictures of figures, drawn once.

Where only what is drawn on shall be kept, matplotlib draws a figure twice: to
learn its bounds, then shifted to them.  Here it is drawn whole, and cut out.
What is not as simple as most figures are is left to matplotlib.
"""

import base64 as base
import contextlib
import io
import sys

from IPython.core import pylabtools

RLE = 3         # zlib's strategy for long runs of the same: plots are that
OPAQUE = 255

drawn_twice = pylabtools.print_figure


def once(ask):
    """What it answers first is the answer for as long as this is used."""
    known = []

    def answer(*args):
        if not known:
            known.append(ask(*args))
        return known[0]

    return answer


@contextlib.contextmanager
def settled(figure):
    """Ticks stay where the drawing has put them; each asks for all again."""
    kinds = sys.modules["matplotlib.axis"]
    axes = [axis for ax in figure.axes for axis in ax._axis_map.values()
            if type(axis) in (kinds.XAxis, kinds.YAxis)]
    try:
        for axis in axes:
            axis._update_ticks = once(axis._update_ticks)
            axis._get_ticklabel_bboxes = once(axis._get_ticklabel_bboxes)
        yield
    finally:
        for axis in axes:
            vars(axis).pop("_update_ticks", None)
            vars(axis).pop("_get_ticklabel_bboxes", None)


def is_simple(figure):
    agg = sys.modules.get("matplotlib.backends.backend_agg")
    return (agg is not None and isinstance(figure.canvas, agg.FigureCanvasAgg)
            and figure.canvas.device_pixel_ratio == 1
            and figure.get_layout_engine() is None)


def bounds(figure, renderer):
    """Left, bottom, width, height of what is drawn on, in pixels."""
    box = figure.get_tightbbox(renderer).padded(
        sys.modules["matplotlib"].rcParams["savefig.pad_inches"])
    return (round(box.x0 * figure.dpi), round(box.y0 * figure.dpi),
            int(box.width * figure.dpi), int(box.height * figure.dpi))


def png(pixels, dpi):
    numpy = sys.modules["numpy"]
    if (pixels[..., 3] == OPAQUE).all():
        pixels = pixels[..., :3]

    out = io.BytesIO()
    sys.modules["PIL.Image"].fromarray(numpy.ascontiguousarray(pixels)).save(
        out, "png", dpi=(dpi, dpi), compress_type=RLE)
    return out.getvalue()


def drawn_once(figure):
    """None if something is drawn outside of the figure."""
    canvas = figure.canvas
    agg = sys.modules["matplotlib.backends.backend_agg"].FigureCanvasAgg
    was = canvas._is_saving
    canvas._is_saving = True
    try:
        # else drawing itself may move what is settled
        still = all(ax.get_aspect() == "auto" for ax in figure.axes)

        if not still:
            agg.draw(canvas)

        with settled(figure):
            if still:
                agg.draw(canvas)
            left, bottom, width, height = bounds(figure, canvas.get_renderer())
    finally:
        canvas._is_saving = was

    pixels = sys.modules["numpy"].asarray(canvas.buffer_rgba())
    top = pixels.shape[0] - bottom - height

    if min(left, bottom, top) < 0 or left + width > pixels.shape[1]:
        return None
    return png(pixels[top:top + height, left:left + width], figure.dpi)


def print_figure(fig, fmt="png", bbox_inches="tight", base64=False, **kwargs):
    data = None

    if fmt == "png" and bbox_inches == "tight" and not kwargs \
            and (fig.axes or fig.lines):
        try:
            data = drawn_once(fig) if is_simple(fig) else None
        except Exception:
            pass        # matplotlib meets it again, and says what it is

    if data is None:
        return drawn_twice(fig, fmt, bbox_inches, base64, **kwargs)

    return base.b64encode(data).decode() if base64 else data
