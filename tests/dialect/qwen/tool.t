#!/usr/bin/perl

# The tool in conf-examples, with a stand-in for Qwen-Agent's base class,
# against the whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => 'numpy pandas matplotlib.pyplot seaborn sympy' } });
my $d = $s->{dir};

$s->{location} = <<"CONF";
location /qwen/ {
    retort_api qwen;
    retort_pass unix:$d/run/front.sock;
    retort_auth_key_file $d/keys;
}
CONF
$s->configure;
$s->start;

mkdir $_ for "$d/py", "$d/py/qwen_agent", "$d/py/qwen_agent/tools";
Retort::Service::write_file("$d/py/qwen_agent/$_", '')
    for '__init__.py', 'tools/__init__.py';
Retort::Service::write_file("$d/in put.txt", 'from a file');
Retort::Service::write_file("$d/py/qwen_agent/tools/base.py", <<'PY');
TOOLS = {}


def register_tool(name, allow_overwrite=False):
    def keep(cls):
        cls.name = name
        TOOLS[name] = cls
        return cls
    return keep


class BaseTool:
    def __init__(self, cfg=None):
        self.cfg = cfg or {}
PY
Retort::Service::write_file("$d/py/main.py", <<'PY');
import sys
import qwen_code_interpreter
from qwen_agent.tools.base import TOOLS

make = TOOLS["code_interpreter"]
cfg = {"url": sys.argv[1], "key": sys.argv[2]}
a, b = make(cfg), make(cfg)
print(a.call('{"code": "x = 6"}'))
print(a.call("x * 7", files=[sys.argv[3], "/nowhere/at/all"]))
print(a.call("open('in put.txt').read()"))
print("NameError" in b.call("x"), repr(b.call(" ")))
PY

my @cmd = ('/usr/bin/env', "PYTHONPATH=$d/py:$Retort::Service::TOP/conf-examples",
    'PYTHONDONTWRITEBYTECODE=1', '/usr/bin/python3', "$d/py/main.py",
    $s->url('/qwen/code_interpreter'), $s->{key}, "$d/in put.txt");

open my $out, '-|', @cmd or die "python3: $!";
my $said = do { local $/; <$out> };
close $out;

is($?, 0, 'the tool runs');
is($said, "Finished execution.\n"
    . "execute_result:\n\n```\n42\n```\n"
    . "execute_result:\n\n```\n'from a file'\n```\nTrue ''\n",
    'an instance keeps its state and its files, another one has neither');

$s->end;
done_testing;
