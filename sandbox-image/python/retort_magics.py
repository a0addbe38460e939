"""What IPython's magics need a terminal, a pager or a notebook for.

Each works without, or says in one line why it cannot.
"""

import importlib.metadata
import sys

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

# backends of matplotlib whose pictures nobody would see
WINDOWS = frozenset((
    None, "auto", "notebook", "nbagg", "widget", "ipympl", "qt", "qt4", "qt5",
    "qt6", "gtk", "gtk3", "gtk4", "tk", "wx", "osx"))
NO_PACKAGES = (
    "%%%s: nothing can be installed in a sandbox, which has no network. "
    "\"%%pip list\" tells what is there.")
NO_EDITOR = ("%edit needs an editor, and there is none: write the file with "
             "%%writefile, and run it with %run.")
NO_WINDOW = ("%%gui %s: there is no screen; matplotlib's figures are shown as "
             "pictures.\n")
LEFT = "the debugger was left; it reads the run's standard input"


class Database(dict):
    """Instead of the one on disk; magics forget in it what is not there."""

    def __delitem__(self, name):
        self.pop(name, None)


def plain(data):
    if isinstance(data, dict):
        data = data.get("text/plain", "")
    return str(data)


def show(text):
    """Instead of a pager, and of the cell that a notebook would fill in."""
    if text and not text.endswith("\n"):
        text += "\n"
    sys.stdout.write(text)


def no_editor(shell, filename, linenum=None, wait=True):
    raise UsageError(NO_EDITOR)


def in_pager(shell, data, start=0, screen_lines=0, pager_cmd=None):
    # Qwen-Agent's tool does not read what a pager gets
    if not shell.usage_to_stderr:
        show(plain(data))


def next_input(shell, text):
    if not shell.usage_to_stderr:
        show(text)


def explain(value):
    """An end of the debugger, which says nothing."""
    kind = type(value)
    if (kind.__module__, kind.__name__) == ("bdb", "BdbQuit") \
            and not value.args:
        value.args = (LEFT,)


def no_window(gui):
    if gui in WINDOWS and gui is not None:
        sys.stderr.write(NO_WINDOW % gui)


def inline(gui):
    """The backend that figures are seen with."""
    if isinstance(gui, str):
        gui = gui.lower()
    return "inline" if gui in WINDOWS else gui


def packages():
    names = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            names[name] = distribution.version
    return "".join("%s==%s\n" % item for item in sorted(
        names.items(), key=lambda item: item[0].lower()))


@magics_class
class Substitutes(Magics):
    @line_magic
    def pip(self, line):
        """Tells what is installed ("list", "freeze")."""
        if line.split()[:1] not in (["list"], ["freeze"]):
            raise UsageError(NO_PACKAGES % "pip")
        show(packages())

    @line_magic
    def conda(self, line):
        """There is none."""
        raise UsageError(NO_PACKAGES % "conda")

    @line_magic
    def mamba(self, line):
        """There is none."""
        raise UsageError(NO_PACKAGES % "mamba")

    @line_magic
    def less(self, line):
        """Shows a file."""
        try:
            with open(line.strip(), errors="replace") as file:
                show(file.read())
        except OSError as error:
            raise UsageError("%%less: %s" % error)

    more = line_magic("more")(less)


def enter(shell):
    shell.register_magics(Substitutes)
    shell.set_hook("show_in_pager", in_pager)
    shell.set_hook("editor", no_editor)
