"""Namespaces of one interpreter, each with a working folder of its own.

A client that has several contexts in a sandbox has one of these for each.
Modules that are imported are the same in all.
"""

import builtins
import os
import sys
import types

WORKSPACE = "/workspace"


def here():
    try:
        return os.getcwd()
    except OSError:
        return WORKSPACE


class Contexts:
    """By their numbers; 0 is the shell's own."""

    def __init__(self, shell):
        self.shell = shell
        self.number = 0
        self.left = {}

    def enter(self, number, fresh):
        """Goes where this context's variables and folder are."""
        if number == self.number and not fresh:
            return

        self.left[self.number] = (self.shell.user_module, here())

        if fresh and number:
            self.left.pop(number, None)

        space, folder = self.left.get(number) or (self.make(), WORKSPACE)
        self.show(space)
        sys.modules["__main__"] = space
        self.number = number

        try:
            os.chdir(folder)
        except OSError:
            os.chdir(WORKSPACE)

    def show(self, space):
        self.shell.user_module = space
        self.shell.user_ns = space.__dict__

    def make(self):
        """An empty __main__, with what a shell puts into the first one."""
        before = self.shell.user_module
        space = types.ModuleType("__main__", "A context of its own.")
        space.__builtins__ = builtins
        self.show(space)
        self.shell.init_user_ns()
        self.show(before)
        return space
