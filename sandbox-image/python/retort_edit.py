"""A text editor of three commands, as a program: what is asked is a JSON
object on stdin, what became of it another one on stdout.

    {"command": "view", "path": "a.py", "view_range": [1, 20], "limit": 65536}

A process of its own, so that nothing which a tenant did to the interpreter of
the session changes what is edited.
"""

import base64
import json
import os
import stat
import sys

LARGEST = 64 << 20
KINDS = {
    ".png": "image", ".jpg": "image", ".jpeg": "image", ".gif": "image",
    ".webp": "image", ".pdf": "pdf",
}


class Refused(Exception):
    def __init__(self, message, code="invalid_tool_input"):
        super().__init__(message)
        self.code = code


def read(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Refused("The file does not exist.", "file_not_found") from None

    with open(fd, "rb") as file:
        is_ = os.fstat(fd)

        if not stat.S_ISREG(is_.st_mode):
            raise Refused("It is not a regular file.")
        if is_.st_size > LARGEST:
            raise Refused("The file is too large to be edited.")

        return file.read()


def text(data):
    return data.decode("utf-8", "replace")


def lines_of(data):
    """Its lines without their ends; nothing stands behind the last one."""
    lines = data.split(b"\n")

    if lines[-1] == b"":
        lines.pop()

    return lines


def folder(path):
    names = []

    with os.scandir(path) as entries:
        for entry in entries:
            kind = "/" if entry.is_dir(follow_symlinks=False) else ""
            names.append(text(os.fsencode(entry.name)) + kind)

    names.sort()
    content = "".join(name + "\n" for name in names)

    return {"type": "view", "file_type": "text", "content": content,
            "num_lines": len(names), "start_line": 1,
            "total_lines": len(names)}


def part(data, span):
    lines = lines_of(data)
    total = len(lines)

    if span is None:
        return data, total, 1, total

    first, last = span

    if last == -1:
        last = total
    if not 1 <= first <= max(total, 1) or last < first:
        raise Refused(f"The view_range is not within the {total} lines.")

    last = min(last, total)
    some = data.split(b"\n")[first - 1:last]
    end = b"\n" if last < total or data.endswith(b"\n") else b""

    return b"\n".join(some) + end, last - first + 1, first, total


def view(ask):
    path = ask["path"]

    if os.path.isdir(path):
        return folder(path)

    data = read(path)
    kind = KINDS.get(os.path.splitext(path)[1].lower(), "text")

    if kind != "text":
        return {"type": "view", "file_type": kind,
                "content": base64.b64encode(data).decode(),
                "num_lines": None, "start_line": None, "total_lines": None}

    data, number, first, total = part(data, ask.get("view_range"))

    return {"type": "view", "file_type": "text", "content": text(data),
            "num_lines": number, "start_line": first, "total_lines": total}


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def create(ask):
    path = ask["path"]

    if os.path.lexists(path) and not os.path.isfile(path):
        raise Refused("There is something that is not a regular file.")

    known = os.path.exists(path)
    above = os.path.dirname(path)

    if above:
        os.makedirs(above, exist_ok=True)

    write(path, ask["file_text"].encode())

    return {"type": "create", "is_file_update": known}


def hunk(old, new, at):
    """The lines that differ; numbers are those of a unified diff."""
    first = at

    while old and new and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]

    return {"type": "str_replace",
            "old_start": first if old else first - 1, "old_lines": len(old),
            "new_start": first if new else first - 1, "new_lines": len(new),
            "lines": ["-" + text(line) for line in old]
                     + ["+" + text(line) for line in new]}


def str_replace(ask):
    data = read(ask["path"])
    old = ask["old_str"].encode()
    new = ask["new_str"].encode()
    at = data.find(old)

    if at == -1:
        raise Refused("The old_str is not in the file.")
    if data.find(old, at + 1) != -1:
        raise Refused("The old_str is in the file more than once.")

    begin = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at + len(old))
    end = len(data) if end == -1 else end + 1
    before = data[begin:end]
    after = data[begin:at] + new + data[at + len(old):end]
    write(ask["path"], data[:at] + new + data[at + len(old):])

    return hunk(lines_of(before), lines_of(after),
                data.count(b"\n", 0, begin) + 1)


def serve(ask):
    commands = {"view": view, "create": create, "str_replace": str_replace}

    try:
        return commands[ask["command"]](ask)
    except Refused as why:
        return {"type": "error", "code": why.code, "message": str(why)}
    except OSError as why:
        return {"type": "error", "code": "invalid_tool_input",
                "message": why.strerror or "It failed."}


def main():
    ask = json.loads(sys.stdin.buffer.read())
    said = json.dumps(serve(ask))

    if len(said) > ask["limit"]:
        said = json.dumps({
            "type": "error", "code": "invalid_tool_input",
            "message": "That is more than an answer may have: "
                       "a view_range takes less."})

    sys.stdout.write(said)


if __name__ == "__main__":
    main()
