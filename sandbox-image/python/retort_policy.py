"""Which packages the tenant's own code may import: a policy, not a wall.

It answers honest code with a clear error.  Whoever wants to get round it can:
everything here is in the tenant's reach, and what holds the code is the
sandbox.  Nothing is replaced unless there is a list.
"""

import builtins
import importlib
import sys
from importlib.machinery import PathFinder

NAME = "PYTHON_PACKAGES_WHITELIST_IMPORT"
PLACE = "RETORT_IMPORT_ALLOW"   # the same, of where the run came in

# of the standard library, what is there for networks, processes and C; a
# list that names one of these allows it
UNUSUAL = frozenset((
    "_ctypes", "_multiprocessing", "_posixsubprocess", "_socket", "_ssl",
    "asyncore", "ctypes", "ftplib", "http", "imaplib", "multiprocessing",
    "nntplib", "poplib", "pty", "smtpd", "smtplib", "socket", "socketserver",
    "ssl", "subprocess", "telnetlib", "webbrowser", "xmlrpc"))

ALWAYS = (sys.stdlib_module_names - UNUSUAL) | {"__main__", "IPython"}

LIBRARY = ("/usr/lib/python3", "/usr/lib/retort/")
HELPERS = frozenset(("importlib", "importlib._bootstrap", "pkgutil", "runpy",
                     "pydoc", __name__))

plain_import = builtins.__import__
plain_module = importlib.import_module
lists = []                      # all of them must have a name


def read(words):
    """A list: names to allow, and with "-" names to refuse."""
    names = [w.partition(".")[0] for w in words]
    refused = {n[1:] for n in names if n.startswith("-")}
    return (ALWAYS | set(names)) - refused


def enter(words):
    lists.append(read(words))
    builtins.__import__ = guarded_import
    importlib.__import__ = guarded_import
    importlib.import_module = guarded_module


def leave():
    lists.pop()
    if not lists:
        builtins.__import__ = plain_import
        importlib.__import__ = plain_import
        importlib.import_module = plain_module


# who asks, and for what

def is_library(names):
    """Do these globals belong to a module of the image?"""
    module = sys.modules.get(names.get("__name__"))
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and file.startswith(LIBRARY)


def tenant_asks(names):
    if names is not None and is_library(names):
        return False

    try:
        frame = sys._getframe(2)
    except ValueError:
        return False

    while frame is not None and frame.f_globals.get("__name__") in HELPERS:
        frame = frame.f_back

    if frame is None:
        return False

    file = frame.f_code.co_filename
    return not file.startswith(LIBRARY) and not file.startswith("<frozen") \
        and not is_library(frame.f_globals)


def is_own(top):
    """A module that the tenant wrote."""
    if top in sys.modules:
        file = getattr(sys.modules[top], "__file__", None)
    else:
        spec = PathFinder.find_spec(top)
        if spec is None:
            return False
        file = spec.origin or next(iter(spec.submodule_search_locations or ()),
                                   None)

    return isinstance(file, str) and not file.startswith(LIBRARY)


def check(name):
    top = name.partition(".")[0]

    if all(top in names for names in lists) or is_own(top):
        return

    raise ImportError("module '%s' is not allowed by %s" % (top, NAME),
                      name=top)


# in the place of Python's own

def guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
    __tracebackhide__ = True

    # C code that needs a module asks with a list; it has no frame to look at
    inner = type(fromlist) is list and \
        str(name).partition(".")[0] in sys.modules

    if level == 0 and not inner and isinstance(name, str) \
            and tenant_asks(globals):
        check(name)

    return plain_import(name, globals, locals, fromlist, level)


def guarded_module(name, package=None):
    __tracebackhide__ = True

    if isinstance(name, str) and not name.startswith(".") \
            and tenant_asks(None):
        check(name)

    return plain_module(name, package)


guarded_import.__name__ = guarded_import.__qualname__ = "__import__"
guarded_module.__name__ = guarded_module.__qualname__ = "import_module"


def without_guard(tb):
    """The traceback up to the line that asked."""
    last = tb

    while last is not None and last.tb_next is not None:
        if last.tb_next.tb_frame.f_globals is globals():
            last.tb_next = None
            break
        last = last.tb_next

    return tb
