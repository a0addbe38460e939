#!/usr/bin/perl

# What Qwen-Agent's interpreter returns, byte for byte, through the whole
# service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => 'numpy pandas matplotlib.pyplot seaborn sympy' } });

$s->{location} = <<"CONF";
location /qwen/ {
    retort_api qwen;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_static_url http://h/s;
}
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;
my $F = '```';


sub call {
    my ($params, %o) = @_;
    my $r = $s->request('POST', '/qwen/code_interpreter',
        $json->encode({ params => $params, session => 'a', %o }));

    return $r->{content};
}


sub raw {
    return $s->request('POST', '/qwen/code_interpreter', $_[0],
        'content-type' => 'text/plain', 'x-session-id' => 'a')->{content};
}


sub block { "$_[0]:\n\n$F\n$_[1]\n$F" }

sub out { block('stdout', "$_[0]\n") }

sub result { block('execute_result', $_[0]) }

sub error { block('error', "$_[0]\n") }

my $done = 'Finished execution.';
my $late = block('error', 'Timeout: Code execution exceeded the time limit.');

# the text that a model wrote, what comes back

my @table = (
    ['print(4)', out(4)], ['2+2', result(4)], ['x=1', $done], ['x', result(1)],
    ["x = 'a'; x", result("'a'")], ["'a'", error("NameError: name 'a' is not "
        . 'defined')], ['x = 1', $done], ['None', $done], ['# none', $done], ['1;', $done],
    ['print()', out('')], ["print('a', end='')", block('stdout', 'a')],
    ['1/0', error('ZeroDivisionError: division by zero')],
    ["print('a'); 1/0", out('a') . "\n\n"
        . error('ZeroDivisionError: division by zero')],
    ["print('a')\n5", out('a') . "\n\n" . result(5)],
    ["import sys\nprint('e', file=sys.stderr)", block('stderr', "e\n")],
    ['raise ValueError("a")', error('ValueError: a')],
    ['raise KeyError("k")', error("KeyError: 'k'")],
    ['assert False', error('AssertionError')],
    ['import nothere', error("ModuleNotFoundError: No module named 'nothere'")],
    ["try:\n    1/0\nexcept Exception as e:\n    raise KeyError(1) from e",
        error('KeyError: 1')],
    ['raise SystemExit(3)', error('An exception has occurred, use %tb to see '
        . "the full traceback.\n\nSystemExit: 3")],
    ['input()', error('NotImplementedError: Python input() function is '
        . 'disabled.')],
    ["input('name?')", error('NotImplementedError: Python input() function is '
        . 'disabled.')],
    ['undefined', error("NameError: name 'undefined' is not defined")],
    ['', ''], ['  ', ''], ["\n\t\n", ''], ['{"code": " "}', ''],
    ['{"code": "print(1)"}', out(1)], ["{code: 'print(1)',}", out(1)],
    ["// c\n{code: /* d */ 'print(2)'}", out(2)],
    ['{"code": "print(1)", "code": "print(2)"}', out(2)],
    ['{"a": +1, "b": [NaN, Infinity,], "code": "print(3)"}', out(3)],
    ['{"code": "print(\'\\u00e9\')"}', out("\xc3\xa9")],
    ['{"code": "print(\'\\x41\')"}', out('A')],
    ["{\"code\": \"print('\t')\"}", out("\t")],
    ['{code: "print(\\' . "\n" . '5)"}', out(5)],
    ["text ${F}py\nprint(1)\n$F more", out(1)],
    ["$F\nprint(1)\n$F", out(1)], ["${F}python\n2+3\n$F", result(5)],
    ["a ${F}py\n1\n$F b ${F}py\n2\n$F", result(1)],
    ['"print(1)"', out(1)], ["\"${F}py\\nprint(7)\\n$F\"", out(7)],
    ['"{\\"code\\": \\"print(8)\\"}"', out(8)],
    ['42', result(42)], ['[1]', result('[1]')], ['{"x":1}', result("{'x': 1}")],
    ['true', error("NameError: name 'true' is not defined")],
    ['null', error("NameError: name 'null' is not defined")],
    ['{"code": 5}', "An error occurred when calling tool `code_interpreter`:\n"
        . "AttributeError: 'int' object has no attribute 'strip'\nTraceback:\n"],
    ['{"code": null}', "An error occurred when calling tool "
        . "`code_interpreter`:\nAttributeError: 'NoneType' object has no "
        . "attribute 'strip'\nTraceback:\n"],
    ['import asyncio; await asyncio.sleep(0, 6)', result(6)],
    ['!echo hi', out('hi')], ['math.pi > 3', result('True')],
    ['np.arange(3)', result('array([0, 1, 2])')],
    ['pd.DataFrame({"a": [1]})', result("   a\n0  1")],
    ['solve(Eq(symbols("y"), 2))', result('[2]')],
    ['[m.__name__ for m in (plt, sns, json, math, os, re, signal, matplotlib)]',
        result("['matplotlib.pyplot',\n 'seaborn',\n 'json',\n 'math',\n 'os',"
            . "\n 're',\n 'signal',\n 'matplotlib']")],
    ['sns.set_theme()', $done],
    ['plt.rcParams["font.family"][0] == _m6_font_prop.get_name()',
        result('True')],
    ["print('\x1b[1mb')", out("\x1b[1mb")],
    ["raise ValueError('\\x1b[31mred')", error('ValueError: red')],
    ["print('$F')", out($F)], ['display(1)', block('display_data', '1')],
    ["import time\nprint('a')\ntime.sleep(0.6)\nprint('b')",
        out('a') . "\n\n" . out('b')],
    ["print('a')\nprint('b')", out("a\nb")],
    ['print?', $done], ['%page x', $done], ['%magic', $done],
    ['x', result(1)],
);

for my $row (@table) {
    my ($text, $want) = @$row;
    my $name = $text =~ s/\n/ /gr;

    utf8::encode(my $bytes = $text);
    is(raw($text), $want, "the text: $name");
}

# ---- time ----

is(call("print('go'); import time; time.sleep(9)", timeout => 1),
    out('go') . "\n\n$late", 'a timeout keeps what was printed');
is(call('x'), result(1), 'and the variables');
is(call('1', timeout => 0), result(1), 'zero seconds are no limit');
is(call('1', timeout => undef), result(1), 'nor is null');
is(call('1', timeout => 1.5), error("TypeError: 'float' object cannot be "
    . 'interpreted as an integer'), 'half a second is no whole one');
is(call('1 +') =~ s/In\[\d+\]/In[n]/r, error("  Cell In[n], line 2\n    1 +\n"
    . "       ^\nSyntaxError: invalid syntax"),
    'lines are counted from behind the countdown');
like(call('1 +', timeout => 0), qr/, line 1\n/, 'and from one without it');

# ---- figures, files, sessions ----

my $two = "plt.plot([1]); plt.show(); plt.plot([2]); plt.show()";
my $pic = qr{http://h/s/[0-9a-f]{32}\.png};

like(call($two), qr/^!\[fig-001\]\($pic\)\n\n!\[fig-002\]\($pic\)\z/,
    'figures are numbered links') for 1, 2;
is(call('print(open("a b.txt").read())', files => ['http://x.invalid/y', 7,
    'data:text/plain;name=a%20b.txt;base64,aGk=']), out('hi'),
    'a data URL is a file, what cannot be had is left out');
is(call({ code => 'x' }), result(1), 'params may be an object');
is(call('x', session => 'b'), error("NameError: name 'x' is not defined"),
    'another session knows nothing of it');
is(call('pd.DataFrame', session => 'b') =~ s/.*(DataFrame).*/$1/sr, 'DataFrame',
    'and has its own names');

$s->end;
done_testing;
