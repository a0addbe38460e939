"""What the kernel (C) calls around a cell of a tenant's.

It calls Cell's methods before and after, and runs the code in between itself,
so that none of the frames here lies below it.  Nothing here guards anything:
tenant code can reach and replace all of it, and harms its own session only.
"""

import __future__
import ast
import functools
import gc
import inspect
import io
import linecache
import logging
import operator
import os
import re
import sys
import threading
import time

import _retort
import retort_chart
import retort_context
import retort_policy
import retort_qwen
import retort_value

from retort_errors import message_of
from retort_ipython import get, make_shell, put

from IPython.core.autocall import IPyAutocall
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
from IPython.core.macro import Macro

QWEN_TIMED = 2
BACKEND = "module://matplotlib_inline.backend_inline"

# what may be Python and yet mean something else to IPython
PROMPT = re.compile(r"^\s*(In ?\[|\.{3}|>>>)", re.M)
SEPARATOR = re.compile(r"[\s,]+")
FIRST_WORD = re.compile(r"\s*([^\W\d]\w*)")

# code that may multiply matrices; threads for it cost more than most cells
NEEDS_BLAS = re.compile(r"numpy|scipy|sklearn|statsmodels")
# and code that may be about to draw: what a plot writes to is copied at once
DRAWS = re.compile(
    r"\.(?:plot|subplots|figure|hist|scatter|bar|imshow|savefig|show)\b")
# who does not ask Python how many processors there are
THREADS = (
    "RETORT_CPUS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")

AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURE = functools.reduce(operator.or_, (
    getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names))


class ForkHooks:
    """What the libraries do around a fork for threads that a template has not.

    Locks are taken before and let go after, in parent and child: all of
    that is left out, or nothing.
    """

    def __init__(self):
        lists = [self.holding(hook) for hook in (
            logging._acquireLock, logging._releaseLock, threading._after_fork)]
        self.lists = [] if None in lists else [(l, l[:]) for l in lists]

    @staticmethod
    def holding(hook):
        lists = [one for one in gc.get_referrers(hook) if type(one) is list]
        return lists[0] if len(lists) == 1 else None

    @staticmethod
    def needless(hook):
        if getattr(hook, "__module__", None) in ("threading", "logging"):
            return True
        pool = sys.modules.get("concurrent.futures.thread")
        return (pool is not None and getattr(hook, "__self__", None)
                is pool._global_shutdown_lock)

    def spare(self):
        for hooks, whole in self.lists:
            hooks[:] = [one for one in whole if not self.needless(one)]

    def restore(self):
        for hooks, whole in self.lists:
            hooks[:] = whole


def make_stream(which):
    return io.TextIOWrapper(_retort.Out(which), encoding="utf-8",
                            errors="backslashreplace", write_through=True)


def make_stdin():
    return io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)),
                            encoding="utf-8", errors="replace")


class Cell:
    """What the kernel calls, in this order, for each run."""

    def __init__(self):
        sys.stdin = sys.__stdin__ = make_stdin()
        sys.stdout = sys.__stdout__ = make_stream(1)
        sys.stderr = sys.__stderr__ = make_stream(2)
        # not before: sitecustomize takes it away from ordinary programs
        os.environ["MPLBACKEND"] = BACKEND
        self.shell = make_shell()
        self.result = None
        self.environ = []
        self.allowed = []
        self.restricted = 0         # lists of this run
        self.loop = None
        self.hooks = None
        self.blas = 0
        self.undrawn = True
        self.style = self.is_qwen = 0
        self.for_figures = []       # what is called after each cell
        self.contexts = retort_context.Contexts(self.shell)
        self.enter = self.contexts.enter

    # around a run

    def new_stdin(self):
        sys.stdin = make_stdin()

    def enter_environ(self, block):
        self.environ = []
        for entry in block.split(b"\0")[:-1]:
            name, value = os.fsdecode(entry).split("=", 1)
            self.environ.append((name, os.environ.get(name)))
            os.environ[name] = value
            if name == retort_policy.PLACE:
                self.restrict(value)
        self.new_zone()

        if retort_policy.NAME in os.environ:
            self.restrict(os.environ[retort_policy.NAME])

    def restrict(self, names):
        retort_policy.enter(SEPARATOR.split(names.strip()))
        self.restricted += 1

    def leave_environ(self):
        while self.restricted:
            self.restricted -= 1
            retort_policy.leave()

        for name, value in reversed(self.environ):
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.new_zone()
        self.environ = []

    def brought(self, name):
        return any(name == one for one, _ in self.environ)

    def new_zone(self):
        """The C library reads TZ once, unless it is told to."""
        if self.brought("TZ"):
            time.tzset()

    # a run

    def is_plain(self, code):
        """Would IPython leave this text as it is, if it is valid Python?"""
        if PROMPT.search(code):
            return False

        if "\n" in code.strip():
            return True

        word = FIRST_WORD.match(code)
        if word is None:
            return True

        word = word.group(1)
        shell = self.shell
        magics = get(get(shell, "magics_manager"), "magics")
        return (word not in magics["line"]
                and not isinstance(shell.user_ns.get(word),
                                   (IPyAutocall, Macro)))

    def parse(self, code, name):
        shell = self.shell
        tree = shell.compile.ast_parse(code, filename=name)
        return shell.transform_ast(tree)

    def remember(self, raw, cell):
        shell = self.shell
        count = get(shell, "execution_count")
        name = shell.compile.cache(cell, count, raw_code=raw)
        get(shell, "history_manager").store_inputs(count, cell, raw)
        return name

    def transform(self, raw):
        """Magics and the like; blank lines above stay, for line numbers."""
        text = raw.lstrip("\n")
        cell = self.shell.transform_cell(text)
        return "\n" * (len(raw) - len(text)) + cell

    def compile_one(self, raw, name):
        """A cell of one simple statement: it is seen without its tree.

        Where there is a colon there may be statements within a statement.
        """
        if (":" in raw or ";" in raw or "\n" in raw
                or get(self.shell, "ast_transformers")):
            return None

        try:
            return self.compile_piece(raw, name, "single")
        except (SyntaxError, ValueError, OverflowError):
            return None

    def compile_piece(self, piece, name, mode):
        compiler = self.shell.compile
        code = compile(piece, name, mode, compiler.flags | AWAIT, True)
        # what a cell has from __future__ goes for all that follows
        compiler.flags |= code.co_flags & FUTURE
        return code

    def compile(self, tree, name):
        """One piece for the statements, one for a last expression."""
        body = tree.body
        last = []

        if body and isinstance(body[-1], ast.Expr):
            last = body[-1:]
            body = body[:-1]

        pieces = []
        if body:
            pieces.append((ast.Module(body, []), "exec"))
        if last:
            pieces.append((ast.Interactive(last), "single"))

        return tuple([self.compile_piece(piece, name, mode)
                      for piece, mode in pieces])

    def prepare(self, raw, style=0):
        """The cell as code objects; None if an error was told instead."""
        shell = self.shell
        shell.failed = False
        self.style = style
        shell.usage_to_stderr = style != 0

        if style and not self.is_qwen:
            retort_qwen.enter(shell)
            self.is_qwen = 1

        sys.displayhook = shell.displayhook
        info = ExecutionInfo(raw, True, False, True, None)
        self.result = ExecutionResult(info)

        if not raw or raw.isspace():
            return ()

        if self.blas and NEEDS_BLAS.search(raw):
            _retort.blas(self.blas)
            self.blas = 0

        if self.undrawn and DRAWS.search(raw):
            _retort.expect_plot()
            self.undrawn = False

        self.result.execution_count = get(shell, "execution_count")
        put(shell.displayhook, "exec_result", self.result)
        # a warning in each cell, though its line in another had the same
        shell.user_ns.pop("__warningregistry__", None)
        self.trigger("pre_execute")
        self.trigger("pre_run_cell", info)

        try:
            return self.translate(raw)
        except BaseException as error:
            self.result.error_before_exec = error
            self.report(type(error), error, None)
            return None

    def translate(self, raw):
        if self.is_plain(raw):
            name = self.remember(raw, raw)
            code = self.compile_one(raw, name)
            if code is not None:
                return (code,)
            try:
                tree = self.parse(raw, name)
            except (SyntaxError, ValueError, OverflowError):
                pass
            else:
                return self.compile(tree, name)
            get(self.shell, "history_manager").forget_inputs()

        try:
            cell = self.transform(raw)
        except BaseException:
            self.remember(raw, raw)
            raise

        name = self.remember(raw, cell)
        return self.compile(self.parse(cell, name), name)

    def trigger(self, event, *args):
        events = self.shell.events
        if events.callbacks[event]:
            events.trigger(event, *args)

    def finish(self, ok):
        """True if the run went well to its end."""
        if self.style == QWEN_TIMED:
            retort_qwen._M6CountdownTimer.cancel()

        shell = self.shell
        result = self.result
        self.result = None
        put(shell.displayhook, "exec_result", None)
        put(shell, "last_execution_succeeded", bool(ok))
        put(shell, "last_execution_result", result)

        if result.execution_count is not None:
            put(shell, "execution_count", get(shell, "execution_count") + 1)

        if self.style == QWEN_TIMED:
            retort_qwen.pass_by(shell)

        figures = retort_chart.any_left()

        callbacks = shell.events.callbacks["post_execute"]

        if figures:
            retort_chart.close_shown()
            if not self.style:
                retort_chart.show_left(shell)
            retort_chart.show_first(callbacks)

        if figures or callbacks != self.for_figures:
            self.trigger("post_execute")
        self.trigger("post_run_cell", result)

        if ok and not shell.failed:
            if self.environ and self.brought(retort_value.NAME):
                retort_value.tell(shell.user_ns, result.result)

        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

        return bool(ok) and not shell.failed

    # errors

    def report(self, etype, value, tb):
        shell = self.shell

        if self.result is not None and tb is not None:
            self.result.error_in_exec = value

        tb = retort_policy.without_guard(self.own_frames(tb))
        value.__traceback__ = tb

        # IPython swallows an interrupt here, and asks again
        message_of(value)

        if tb is None and issubclass(etype, SyntaxError):
            sys.last_type, sys.last_value, sys.last_traceback = \
                etype, value, tb
            shell._showtraceback(etype, value, shell.SyntaxTB
                                 .structured_traceback(etype, value, []))
        else:
            shell.showtraceback((etype, value, tb))

        if not shell.failed:
            self.report_name(etype.__name__)

    def own_frames(self, tb):
        """Without the event loop's frames that lie below the cell."""
        names = self.shell.compile._filename_map
        first = tb

        while tb is not None and \
                tb.tb_frame.f_code.co_filename not in names:
            tb = tb.tb_next

        return tb or first

    def report_name(self, name):
        name = name.rpartition(".")[2]
        self.shell.tell(name, "", name + "\n", name + "\n")

    # await at the top level

    def event_loop(self):
        if self.loop is None or self.loop.is_closed():
            import asyncio
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def abandon(self, loop, task):
        if not task.done():
            task.cancel()
            try:
                loop.run_until_complete(task)
            except BaseException:
                pass

    # the template

    def warm(self):
        """Runs what first runs pay for, then forgets it."""
        self.rehearse("print(1)")
        self.rehearse("1 + 1")
        self.rehearse("'a'")
        self.rehearse("%who")
        self.rehearse("raise ValueError(1)")
        self.rehearse("await __import__('asyncio').sleep(0)")
        self.loop.close()
        self.loop = None

        if "pandas" in sys.modules:
            self.rehearse("import pandas as pd; pd.DataFrame({'a': [1]})")

        if "matplotlib.pyplot" in sys.modules:
            self.rehearse("import matplotlib.pyplot as plt; plt.plot([1, 2]);"
                          "plt.title('a'); plt.show()")

        # what plots a frame is imported by its first plot
        self.rehearse_plot()
        self.clean()
        self.undrawn = True

    def rehearse_cell(self):
        self.rehearse("print(1)")

    def rehearse_plot(self):
        if "matplotlib.pyplot" not in sys.modules:
            return

        if "pandas" in sys.modules:
            self.rehearse("import pandas as pd; pd.DataFrame({'a': [1, 2]})"
                          ".plot(); import matplotlib.pyplot as plt; plt.show()")
        else:
            self.rehearse("import matplotlib.pyplot as plt; plt.plot([1, 2]);"
                          "plt.show()")

    def rehearse(self, code):
        """A run, as the kernel does it, whose output goes nowhere."""
        import asyncio
        ns = self.shell.user_ns
        ok = True
        for piece in self.prepare(code) or ():
            try:
                value = eval(piece, ns)
                if inspect.iscoroutine(value):
                    self.event_loop().run_until_complete(value)
            except Exception as error:
                ok = False
                self.report(type(error), error, error.__traceback__)
        asyncio.set_event_loop(None)
        self.finish(ok)

    def numpy_state(self):
        """Where numpy.random's global generator keeps its words."""
        from numpy.random import MT19937, mtrand
        generator = mtrand._rand._bit_generator
        if not isinstance(generator, MT19937):
            raise TypeError("numpy's global generator is another one")
        return generator.ctypes.state_address

    def clean(self):
        shell = self.shell
        shell.reset(new_session=True)
        shell.failed = False
        shell.history_manager.output_hist_reprs.clear()
        shell.compile.reset_compiler_flags()
        shell.user_module.__dict__.pop("__warningregistry__", None)

        if "numpy.random" in sys.modules:
            # the reseeding after a fork knows nothing of a half-used pair
            sys.modules["numpy.random"].seed()
        self.forget_code()

        for name in ("last_type", "last_value", "last_traceback"):
            if hasattr(sys, name):
                delattr(sys, name)

    def forget_code(self):
        """The texts that tracebacks would quote."""
        names = self.shell.compile._filename_map

        for cache in (linecache.cache, linecache._ipython_cache):
            for name in names:
                cache.pop(name, None)

        names.clear()

    def settle(self):
        """What is here now stays: no collection in a sandbox touches it."""
        self.hooks = ForkHooks()
        self.hooks.spare()
        callbacks = self.shell.events.callbacks["post_execute"]
        retort_chart.show_first(callbacks)
        self.for_figures = retort_chart.callbacks(callbacks)
        gc.collect()
        gc.freeze()

    def allow(self, name):
        self.allowed.append(name)

    # the sandbox

    def place(self):
        """What is the same in every sandbox."""
        sys.path.insert(0, "")
        self.shell.history_manager.dir_hist[:] = ["/workspace"]

        if "tempfile" in sys.modules:
            sys.modules["tempfile"]._name_sequence = None
        if "uuid" in sys.modules:
            sys.modules["uuid"]._last_timestamp = None

    def start(self, cpus):
        """First call in a sandbox, before any code of the tenant's."""
        if self.hooks is not None:
            self.hooks.restore()
            self.hooks = None

        os.register_at_fork(before=_retort.flush)

        if cpus:
            self.limit(cpus)
        if self.allowed:
            retort_policy.enter(self.allowed)

    def resume(self, state):
        """In a copy that took over: it draws on where the kernel stood."""
        if state is not None:
            sys.modules["random"]._inst.setstate(state)

    def limber(self):
        """A run that leaves nothing behind."""
        shell = self.shell
        history = shell.history_manager
        before = dict(shell.user_ns), dict(shell.user_ns_hidden)

        for piece in self.prepare("print(1)\n1"):
            eval(piece, shell.user_ns)

        self.finish(True)
        self.forget_code()
        history.forget_inputs()

        for space, names in zip((shell.user_ns, shell.user_ns_hidden), before):
            space.clear()
            space.update(names)

        hook = shell.displayhook
        hook._ = hook.__ = hook.___ = ""
        history.output_hist.clear()
        history.output_hist_reprs.clear()
        shell.execution_count = 1
        shell.last_execution_result = None

    def limit(self, cpus):
        count = str(cpus)

        for name in THREADS:
            if os.environ.get(name) != count:
                os.environ[name] = count

        # with no numpy yet, it will be loaded with that many
        if cpus > 1 and "numpy" in sys.modules:
            self.blas = cpus

        import sitecustomize
        sitecustomize.limit(cpus)
