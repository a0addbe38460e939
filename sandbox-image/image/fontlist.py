"""Writes matplotlib's font list for the image, with aliases.

Code that was written for other machines asks for SimHei, Arial and the like.
matplotlib looks such names up in its own list and nowhere else, so the list
gets an entry for each of them that points at a face that is here.

And whatever a text asks for, the face that has Chinese, Japanese and Korean
stands behind it: matplotlib 3.6 falls back along font.family alone, which a
style, a serif title or a formula replaces.
"""

import copy
import os
import sys

os.environ["MPLCONFIGDIR"] = sys.argv[1]

import matplotlib.font_manager as fm        # noqa: E402

CJK = "WenQuanYi Micro Hei"

# Arial and its like stand first in many themes.  The wide face has Latin as
# well, so mixed text never shows boxes.
ALIASES = (
    "SimHei", "SimSun", "NSimSun", "FangSong", "KaiTi", "Microsoft YaHei",
    "Microsoft JhengHei", "STHeiti", "STSong", "STKaiti", "STFangsong",
    "PingFang SC", "PingFang TC", "PingFang HK", "Heiti SC", "Heiti TC",
    "Hiragino Sans GB", "Hiragino Sans", "Source Han Sans",
    "Source Han Sans SC", "Source Han Sans CN", "Source Han Serif SC",
    "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK JP",
    "Noto Sans CJK KR", "Noto Sans SC", "Noto Serif CJK SC",
    "WenQuanYi Zen Hei", "Arial Unicode MS", "AlibabaPuHuiTi-3-45-Light",
    "Alibaba PuHuiTi 3.0", "Droid Sans Fallback", "MS Gothic", "MS Mincho",
    "Meiryo", "Yu Gothic", "IPAexGothic", "IPAGothic", "TakaoGothic",
    "Malgun Gothic", "NanumGothic", "Nanum Gothic", "AppleGothic", "Gulim",
    "Batang", "Arial", "Helvetica", "Liberation Sans",
)

LATIN = {
    "DejaVu Sans": ("Comic Sans MS", "Impact", "Verdana", "Tahoma", "Calibri",
                    "Helvetica Neue", "Segoe UI", "Roboto", "Open Sans",
                    "Ubuntu", "Geneva", "Lucida Grande"),
    "DejaVu Serif": ("Times New Roman", "Times", "Georgia", "Cambria",
                     "Palatino", "Liberation Serif"),
    "DejaVu Sans Mono": ("Courier New", "Courier", "Consolas", "Menlo",
                         "Monaco", "Liberation Mono"),
}

# file, text that stands there once, what stands before it from now on
PATCHES = (
    ("font_manager.py", """\
        return fpaths

    @lru_cache(1024)
""", """\
        if fontext == 'ttf' and %(path)r not in fpaths:
            fpaths.append(%(path)r)

"""),
    ("_mathtext.py", """\
                _log.warning("Font {!r} does not have a glyph for {!a} "
""", """\
                wide = get_font(%(path)r)
                if wide.get_char_index(uniindex) != 0:
                    return wide, uniindex, False
"""),
)


def faces(manager, name):
    return [e for e in manager.ttflist if e.name == name]


def add(manager, name, entries):
    if faces(manager, name):
        return

    for entry in entries:
        alias = copy.copy(entry)
        alias.name = name
        manager.ttflist.append(alias)


def patch(path):
    """Puts the face behind all others, for texts and in formulas."""
    for name, place, text in PATCHES:
        name = os.path.join(os.path.dirname(fm.__file__), name)

        with open(name) as file:
            parts = file.read().split(place)

        if len(parts) != 2:
            sys.exit("%s is not what it was: see PATCHES" % name)

        with open(name, "w") as file:
            file.write((text % {"path": path} + place).join(parts))


def main():
    manager = fm._load_fontmanager(try_read_cache=False)

    wide = faces(manager, CJK)

    if not wide:
        sys.exit("no face is called " + CJK)

    for name in ALIASES:
        add(manager, name, wide)

    for face, names in LATIN.items():
        for name in names:
            add(manager, name, faces(manager, face))

    patch(wide[0].fname)
    fm.json_dump(manager, os.path.join(
        sys.argv[1], "fontlist-v%s.json" % fm.FontManager.__version__))


main()
