#!/usr/bin/perl

# One session, many cells: what each one says.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Encode qw(encode);
use Test::More;

use Retort::Kernel;

binmode(Test::More->builder->$_, ':utf8')
    for qw(output failure_output todo_output);

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $exit = "An exception has occurred, use %tb to see the full traceback.\n\n";

# promise, code, events

my @table = (
    ['print() is stdout', 'print(4)', "1:4\n", 'ok'],
    ['a last expression is a result', '2+2', 'result:4', 'ok'],
    ['an assignment says nothing', 'x=1', 'ok'],
    ['a variable lives on', 'x', 'result:1', 'ok'],
    ['an empty cell says nothing', '', 'ok'],
    ['a blank cell says nothing', "  \n\n ", 'ok'],
    ['a comment says nothing', '# none', 'ok'],
    ['None is no result', 'None', 'ok'],
    ['a semicolon hides a result', '1;', 'ok'],
    ['only the last expression is a result', "1\n2", 'result:2', 'ok'],
    ['_ is the last result', '_ + 1', 'result:3', 'ok'],
    ['print, then a result', "print('a')\n'b'", "1:a\n", "result:'b'", 'ok'],
    ['print, then an error', "print('a'); 1/0", "1:a\n",
        "error:ZeroDivisionError: division by zero\n", 'failed'],
    ['no newline is added', "print('a', end='')", '1:a', 'ok'],
    ['stderr is stderr', "import sys; print('e', file=sys.stderr)", "2:e\n",
        'ok'],
    ['stdout and stderr keep their order',
        "import sys\nsys.stdout.write('a')\nsys.stderr.write('b')\nprint('c')",
        '1:a', '2:b', "1:c\n", 'ok'],
    ['bytes may be written', "import sys\n_ = sys.stdout.buffer.write(b'ab\\n')",
        "1:ab\n", 'ok'],
    ['a function keeps its globals', "def f():\n    return x\nf()", 'result:1',
        'ok'],
    ['a class can be pickled', "class C: pass\nimport pickle\n"
        . "type(pickle.loads(pickle.dumps(C()))) is C", 'result:True', 'ok'],
    ['a warning is told', "import warnings\nwarnings.showwarning = "
        . "lambda text, *_, **__: print(text)\nwarnings.warn('w')",
        "1:w\n", 'ok'],
    ['and in the next cell again', "\n\nwarnings.warn('w')", "1:w\n", 'ok'],
    ['though not twice in one', "for i in 1, 2: warnings.warn('w')\n"
        . "warnings.showwarning = warnings._showwarning_orig", "1:w\n", 'ok'],
    ['await at the top level', "import asyncio\nawait asyncio.sleep(0, 7)",
        'result:7', 'ok'],
    ['async for at the top level', "async def g():\n    yield 1\n"
        . "async for i in g():\n    print(i)", "1:1\n", 'ok'],
    ['an error behind await', "async def g():\n    1/0\nawait g()",
        "error:ZeroDivisionError: division by zero\n", 'failed'],
    ['asyncio.run() in a cell', 'asyncio.run(asyncio.sleep(0, 8))', 'result:8',
        'ok'],
    ['display() comes at once, in order', "display(1)\nprint(2)\ndisplay(3)",
        'show:1', "1:2\n", 'show:3', 'ok'],
    ['display() of two is two', "display(1, 'a')", 'show:1', "show:'a'", 'ok'],
    ['HTML beside text', "from IPython.display import HTML\nHTML('<b>x</b>')",
        'result(html):<IPython.core.display.HTML object>', 'ok'],
    ['LaTeX, Markdown, JSON', "from IPython.display import *\n"
        . "display(Latex('a')); display(Markdown('b')); display(JSON([1]))",
        'show(latex):a', 'show(markdown):b', 'show(json):[1]', 'ok'],
    ['plotly\'s JSON, and that of maps', "display({'application/vnd.plotly.v1+json': {'a': 1}, "
        . "'text/plain': 'p'}, raw=True)", 'show(json vnd.plotly.v1+json):p', 'ok'],
    ['an object with forms of its own',
        "class R:\n    def _repr_svg_(self): return '<svg/>'\n"
        . "    def __repr__(self): return 'R'\nR()", 'result(svg+xml):R', 'ok'],
    ['a repr that fails is told', "class B:\n    def __repr__(self): 1/0\nB()",
        "error:ZeroDivisionError: division by zero\n", 'failed'],
    ['%magic works', '%precision 3', "result:'%.3f'", 'ok'],
    ['and has its effect', '1.23456', 'result:1.235', 'ok'],
    ['a magic in the middle', "y = 3\n%precision\ny", 'result:3', 'ok'],
    ['%%cell magic works', "%%capture c\nprint(5)", 'ok'],
    ['and gave its value', 'c.stdout', "result:'5\\n'", 'ok'],
    ['an unknown magic is an error', '%nomagic',
        "error:UsageError: Line magic function `%nomagic` not found.\n",
        'failed'],
    ['!shell works', '!echo hi', "|1:hi\n", 'ok'],
    ['!shell has a value', "v = !echo a; echo b\nv", "result:['a', 'b']", 'ok'],
    ['!shell expands variables', '!echo {x} $x', "|1:1 1\n", 'ok'],
    ['%%bash works', "%%bash\necho hi", "1:hi\n", 'ok'],
    ['a prompt in front is dropped', ">>> 1 + 1", 'result:2', 'ok'],
    ['an indented cell runs', "    x + 1", 'result:2', 'ok'],
    ['a name that is a magic, assigned', "time = 5\ntime", 'result:5', 'ok'],
    ['ValueError', 'raise ValueError("a")', "error:ValueError: a\n", 'failed'],
    ['KeyError', 'raise KeyError("k")', "error:KeyError: 'k'\n", 'failed'],
    ['AssertionError', 'assert False', "error:AssertionError\n", 'failed'],
    ['ModuleNotFoundError', 'import nothere',
        "error:ModuleNotFoundError: No module named 'nothere'\n", 'failed'],
    ['of a chain, the last', "raise KeyError(1) from ValueError(2)",
        "error:KeyError: 1\n", 'failed'],
    ['SystemExit', 'raise SystemExit(3)', "error:${exit}SystemExit: 3\n",
        'failed'],
    ['exit() is SystemExit', 'exit(4)', "error:${exit}SystemExit: 4\n",
        'failed'],
    ['what follows exit() does not run', "exit()\nprint(1)",
        "error:${exit}SystemExit\n", 'failed'],
    ['a message of several lines', 'raise ValueError("a\nb")' =~ s/\n/\\n/r,
        "error:ValueError: a\nb\n", 'failed'],
    ['a class raised without a message', 'raise KeyboardInterrupt',
        "error:KeyboardInterrupt\n", 'failed'],
    ['a message that cannot be made', "class E(Exception):\n"
        . "    def __str__(self): 1/0\nraise E",
        "error:E: <unprintable E object>\n", 'failed'],
    ['Chinese, and emoji', "print('你好 🐍')\n'π'", "1:你好 🐍\n", "result:'π'",
        'ok'],
    ['a lone surrogate is escaped', 'print("a\udc80")', "1:a\\udc80\n", 'ok'],
    ['invalid bytes are replaced',
        'import sys; sys.stdout.buffer.write(b"\xff\xe4\xbd|\n");',
        "1:\x{fffd}\x{fffd}\x{fffd}|\n", 'ok'],
    ['a character in two halves is whole',
        "import sys; b = sys.stdout.buffer\n"
        . "for i in '你\\n'.encode(): b.write(bytes([i])), b.flush()\nNone",
        "1:你\n", 'ok'],
    ['ANSI codes pass', 'print("\x1b[31mred\x1b[0m")', "1:\e[31mred\e[0m\n",
        'ok'],
    ['NUL passes', 'print("a\0b")', "1:a\0b\n", 'ok'],
    ['help() prints', "import sys\ndef h():\n    'doc'\nhelp(h)",
        "1:Help on function h in module __main__:\n\nh()\n    doc\n\n", 'ok'],
    ['warnings are stderr', "import warnings\nwarnings.warn('w')",
        qr/^2:.*UserWarning: w\n/, 'ok'],
    ['sys.argv is empty', "import sys; sys.argv", "result:['']", 'ok'],
    ['sys.path begins with the folder', "sys.path[0]", "result:''", 'ok'],
    ['__name__ is __main__', "__name__", "result:'__main__'", 'ok'],
    ['In counts', "len(In) == len(get_ipython().history_manager."
        . "input_hist_raw)", 'result:True', 'ok'],
    ['isatty() is false', 'sys.stdout.isatty(), sys.stdin.isatty()',
        'result:(False, False)', 'ok'],
    ['fileno() works', 'sys.stdout.fileno(), sys.stderr.fileno()',
        'result:(1, 2)', 'ok'],
    ['stdout can be redirected', "import io, contextlib\n"
        . "with contextlib.redirect_stdout(io.StringIO()) as s: print(1)\n"
        . 's.getvalue()', "result:'1\\n'", 'ok'],
    ['input() without stdin is an EOFError', 'input()',
        qr/^error:EOFError: input\(\) has nothing to read/, 'failed'],
    ['__future__ lasts', 'from __future__ import annotations', 'ok'],
    ['into the next cell', "def f(a: nothing): pass\nf.__annotations__['a']",
        "result:'nothing'", 'ok'],
    ['sympy is LaTeX', "import sympy; sympy.init_printing()\n"
        . "sympy.Symbol('a')", 'result(png latex):a', 'ok'],
);

my $kernel = Retort::Kernel->start;

for my $row (@table) {
    my ($promise, $code, @want) = @$row;
    my $got = Retort::Kernel::brief($kernel->run(encode('UTF-8', $code)));
    utf8::decode($_) for @$got;

    my $same = @$got == @want && !grep {
        ref $want[$_] ? $got->[$_] !~ $want[$_] : $got->[$_] ne $want[$_]
    } 0 .. $#want;

    ok($same, $promise) or diag explain { code => $code, got => $got,
        want => \@want };
}

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
