"""Writes matplotlib's font list for the image, with aliases.

Code that was written for other machines asks for SimHei, Arial and the like.
matplotlib looks such names up in its own list and nowhere else, so the list
gets an entry for each of them that points at a face that is here.
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


def faces(manager, name):
    return [e for e in manager.ttflist if e.name == name]


def main():
    manager = fm._load_fontmanager(try_read_cache=False)

    wide = faces(manager, CJK)

    if not wide:
        sys.exit("no face is called " + CJK)

    for name in ALIASES:
        if faces(manager, name):
            continue

        for entry in wide:
            alias = copy.copy(entry)
            alias.name = name
            manager.ttflist.append(alias)

    fm.json_dump(manager, os.path.join(
        sys.argv[1], "fontlist-v%s.json" % fm.FontManager.__version__))


main()
