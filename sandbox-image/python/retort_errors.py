"""The texts of exceptions."""

from IPython.core.interactiveshell import InteractiveShell

MESSAGE = 250000                # bytes of one


def encode(text):
    return text.encode("utf-8", "backslashreplace")


def format_filename(file, color, normal, *, lineno=None):
    """Names a cell as newer versions of IPython do."""
    shell = InteractiveShell._instance
    number = shell.compile._filename_map.get(file) if shell else None

    if number is None:
        where = "" if lineno is None else ":%s" % lineno
        return "File %s%s" % (file, where)

    where = "" if lineno is None else ", line %s" % lineno
    return "Cell In[%s]%s" % (number, where)


def message_of(value):
    try:
        if isinstance(value, SyntaxError) and isinstance(value.msg, str):
            return value.msg
        return str(value)
    except Exception:
        return "<exception str() failed>"


def ends(text):
    """Head and tail of an exception's text, and how much is missing.

    The front cuts in the same way, so a second cut swallows this one's mark.
    The traceback goes whole, and has all of the text.
    """
    if len(text) <= MESSAGE:
        return text, 0

    head = text[:MESSAGE // 4 * 3].decode("utf-8", "ignore").encode()
    tail = text[-(MESSAGE // 4):].decode("utf-8", "ignore").encode()
    lost = len(text) - len(head) - len(tail)
    both = head + encode("\n[… %s of %s bytes cut …]\n" % (
        format(lost, ","), format(len(text), ","))) + tail

    return both, min(len(text) - len(both), 0xffffffff)
