"""IPython's own parts, without a terminal, a history file or a Jupyter wire.

What they say goes to the kernel (C) through _retort, at once and in order.
"""

import base64
import builtins
import io
import json
import linecache
import re
import subprocess
import sys
import time
import traceback

import _retort
import retort_chart
import retort_errors
import retort_figure
import retort_magics

from retort_errors import encode, ends, message_of

import IPython.core.interactiveshell as interactiveshell
import IPython.core.pylabtools as pylabtools
import IPython.core.ultratb as ultratb
import IPython.utils.io as ipython_io
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.formatters import BaseFormatter
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.lib.pretty import _repr_pprint
from IPython.utils.text import LSString, SList
from traitlets import Type
from traitlets.config import Config

SHOW, RESULT = 0, 1
SHORT_EXIT = ("An exception has occurred, use %tb to see the full "
              "traceback.\n\n")

# the repr of a display object, and the forms that say more
NAMELESS = re.compile(r"<IPython\.core\.display\.\w+ object>")
TEXTS = ("text/markdown", "text/latex", "application/json")
PLAIN_TYPES = frozenset((int, float, complex, bool, str, bytes))


# displays

def is_text(mime):
    return mime.startswith("text/") or mime in (
        "image/svg+xml", "application/javascript")


def form_bytes(mime, value):
    """A form as bytes: pictures raw, JSON as text."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)

    if mime == "application/json" or mime.endswith("+json"):
        if not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False, default=repr)
        return encode(value)

    if not isinstance(value, str):
        return encode(str(value))

    if mime.startswith(("image/", "audio/", "video/")) and not is_text(mime) \
            or mime == "application/pdf":
        return base64.b64decode(value)

    return encode(value)


def send(kind, data, exact=False):
    # charts of altair and plotly, places on a map: kept as what they are
    special = [m for m in data if m.endswith("+json")
               and not m.startswith("application/vnd.retort.")]

    if special:
        data = {"application/json": data[special[0]], **data}

    # an object that only holds a text is worth its text
    if not exact and NAMELESS.fullmatch(data.get("text/plain") or ""):
        for mime in TEXTS:
            if mime in data:
                text = form_bytes(mime, data[mime]).decode("utf-8", "replace")
                data = {**data, "text/plain": text}
                break

    _retort.display(kind, [(mime, form_bytes(mime, value))
                           for mime, value in data.items()
                           if value is not None])


class DataFormatter(BaseFormatter):
    """A form of a few types alone; the others are not asked for it.

    matplotlib takes its figures out of every formatter's own tables.
    """

    makers = {}

    def __call__(self, value):
        for kind in type(value).__mro__:
            make = self.makers.get((kind.__module__, kind.__name__))
            if make:
                return make(value)


def add_data_forms(formatter):
    for mime, types, make in retort_chart.FORMS:
        form = DataFormatter(parent=formatter, format_type=mime)
        form.makers = dict.fromkeys(types, make)
        formatter.formatters[mime] = form


def put(owner, trait, value):
    """Nobody observes these, and to set one checks its type and tells all."""
    owner._trait_values[trait] = value


def get(owner, trait):
    """One that has a value already: its descriptor need not be asked."""
    try:
        return owner._trait_values[trait]
    except KeyError:
        return getattr(owner, trait)


class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None,
                update=False, **kwargs):
        if not update:
            send(SHOW, data, self.shell.usage_to_stderr)

    def clear_output(self, wait=False):
        pass


class Hook(DisplayHook):
    """The value of a cell's last expression."""

    plain = printers = None

    def quiet(self):
        cells = self.shell.history_manager.input_hist_parsed
        return bool(cells) and ";" in cells[-1] and super().quiet()

    def write_output_prompt(self):
        pass

    def finish_displayhook(self):
        pass

    def compute_format_data(self, result):
        """Most values have one form; asking for all ten is what costs."""
        formatter = self.shell.display_formatter
        kind = type(result)

        if kind in PLAIN_TYPES:
            if self.printers is None:
                self.find_printers(formatter)

            if self.plain.get(kind, _repr_pprint) is _repr_pprint and not any(
                    kind in printers for printers in self.printers):
                return {"text/plain": repr(result)}, {}

        return formatter.format(result)

    def find_printers(self, formatter):
        self.plain = formatter.formatters["text/plain"].type_printers
        self.printers = [f.type_printers
                         for f in formatter.formatters.values()
                         if f.type_printers is not self.plain]

    def write_format_data(self, format_dict, md_dict=None):
        send(RESULT, format_dict, self.shell.usage_to_stderr)


# the shell

class History(HistoryManager):
    """What In, _i and %history show; nothing is stored."""

    last = ("", "", "")

    def store_inputs(self, line_num, source, source_raw=None):
        raw = (source if source_raw is None else source_raw).rstrip("\n")
        get(self, "input_hist_parsed").append(source.rstrip("\n"))
        get(self, "input_hist_raw").append(raw)
        one, two, three = self.last
        self.last = raw, one, two
        names = {"_i": one, "_ii": two, "_iii": three, "_i%d" % line_num: raw}
        shell = get(self, "shell")
        shell.user_ns.update(names)
        shell.user_ns_hidden.update(names)

    def forget_inputs(self):
        """Takes back the last store_inputs()."""
        self.input_hist_parsed.pop()
        self.input_hist_raw.pop()
        self.last = self.last[1:] + ("",)

    def reset(self, new_session=True):
        super().reset(new_session)
        self.last = ("", "", "")


class Compiler(CachingCompiler):
    """Names cells by their number; the text's hash is of no use here."""

    def cache(self, transformed_code, number=0, raw_code=None):
        names = self._filename_map
        name = "<ipython-input-%d-%d>" % (number, len(names))
        names[name] = number
        lines = [line + "\n" for line in transformed_code.splitlines()]
        entry = len(transformed_code), time.time(), lines, name
        linecache.cache[name] = linecache._ipython_cache[name] = entry
        return name


class Shell(InteractiveShell):
    compiler_class = Type(Compiler)
    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)

    def init_ipython_dir(self, ipython_dir):
        pass

    def init_history(self):
        self.history_manager = History(shell=self, parent=self)
        self.configurables.append(self.history_manager)

    def init_user_ns(self):
        super().init_user_ns()
        own = {"exit": sys.exit, "quit": sys.exit, "_": "", "__": "",
               "___": ""}
        self.user_ns.update(own)
        self.user_ns_hidden.update(own)

    def init_display_formatter(self):
        super().init_display_formatter()
        add_data_forms(self.display_formatter)
        self.display_formatter.active_types = \
            self.display_formatter.format_types

    def enable_gui(self, gui=None):
        retort_magics.no_window(gui)

    def enable_matplotlib(self, gui=None):
        return super().enable_matplotlib(retort_magics.inline(gui))

    def set_next_input(self, text, replace=False):
        retort_magics.next_input(self, text)

    # no terminal is made for a child: there is none to be had

    def system(self, cmd):
        cmd = self.var_expand(cmd, depth=1)
        sys.stdout.flush()
        sys.stderr.flush()
        code = subprocess.call(cmd, shell=True, executable="/bin/bash")
        self.user_ns["_exit_code"] = code

    system_raw = system_piped = system

    def getoutput(self, cmd, split=True, depth=0):
        if cmd.rstrip().endswith("&"):
            raise OSError("Background processes not supported.")
        text = subprocess.run(
            self.var_expand(cmd, depth=depth + 1), shell=True,
            executable="/bin/bash", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT).stdout.decode("utf-8", "replace")
        return SList(text.splitlines()) if split else LSString(text)

    def show_usage_error(self, exc):
        text = "UsageError: %s\n" % exc
        if self.usage_to_stderr:
            self.failed = True
            sys.stderr.write(text)
            return
        self.tell("UsageError", str(exc), text, text)

    def showtraceback(self, exc_tuple=None, filename=None, tb_offset=None,
                      exception_only=False, running_compiled_code=False):
        etype, value, tb = self._get_exc_info(exc_tuple)
        retort_magics.explain(value)

        if issubclass(etype, SyntaxError):
            self.showsyntaxerror(filename, running_compiled_code)
        elif etype is UsageError:
            self.show_usage_error(value)
        else:
            self._showtraceback(etype, value,
                                self.render(etype, value, tb, tb_offset))

    def render(self, etype, value, tb, tb_offset):
        try:
            if hasattr(value, "_render_traceback_"):
                return value._render_traceback_()
            return self.InteractiveTB.structured_traceback(
                etype, value, tb, tb_offset=tb_offset)
        except Exception:
            return ["".join(traceback.format_exception(etype, value, tb))]

    def _showtraceback(self, etype, evalue, stb):
        short = "".join(self.InteractiveTB._format_exception_only(
            etype, evalue))
        if etype is SystemExit or issubclass(etype, SystemExit):
            short = SHORT_EXIT + short
        full = self.InteractiveTB.stb2text(stb)
        if not full.endswith("\n"):
            full += "\n"
        self.tell(etype.__name__, message_of(evalue), short, full)

    def tell(self, name, message, short, full):
        self.failed = True
        message, message_cut = ends(encode(message))
        short, short_cut = ends(encode(short))
        _retort.error(encode(name), message, short, encode(full),
                      message_cut, short_cut)


def make_shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.autocall = 0

    # a descriptor that it holds for nothing, and that a fork would lose
    ipython_io.devnull.close()
    ipython_io.devnull = io.StringIO()

    ultratb._format_filename = retort_errors.format_filename
    pylabtools.print_figure = retort_figure.print_figure
    interactiveshell.PickleShareDB = lambda path: retort_magics.Database()
    shell = Shell.instance(config=config, profile_dir=ProfileDir())
    shell.InteractiveTB.tb_offset = 0
    shell.builtin_trap.__enter__()
    shell.display_trap.__enter__()
    retort_magics.enter(shell)
    # prepare() does what this is there for
    shell.events.unregister("pre_execute", shell._clear_warning_registry)
    shell.failed = shell.usage_to_stderr = False
    builtins.input = _retort.input

    return shell
