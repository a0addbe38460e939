#!/usr/bin/perl

# The allow-list of imports: what it refuses, in which words, and what it
# leaves alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $end = 'is not allowed by PYTHON_PACKAGES_WHITELIST_IMPORT';
my $kernel = Retort::Kernel->start(imports => ['numpy', 'pandas',
    'matplotlib.pyplot'], allow => ['pandas', 'openpyxl', '-turtle']);


sub refused {
    my ($code, $name, $what, %opt) = @_;
    is_deeply(Retort::Kernel::brief($kernel->run($code, %opt)),
        ["error:ImportError: module '$name' $end\n", 'failed'], $what);
}


sub fine {
    my ($code, $what, %opt) = @_;
    my $brief = Retort::Kernel::brief($kernel->run($code, %opt));
    is($brief->[-1], 'ok', $what) or diag explain $brief;
}


refused('import socket', 'socket', 'a module that is not in the list');
refused('import numpy', 'numpy', 'one that is loaded already');
refused('import matplotlib.pyplot as plt', 'matplotlib', 'a part of one');
refused('from scipy import stats', 'scipy', 'from ... import');
refused('def f():' . "\n    import requests\nf()", 'requests',
    'inside of a function');
refused('import nothere', 'nothere', 'one that does not exist');
refused('__import__("numpy")', 'numpy', '__import__()');
refused('import importlib; importlib.import_module("numpy.linalg")', 'numpy',
    'importlib.import_module()');
refused('importlib.__import__("numpy")', 'numpy', 'importlib.__import__()');
refused('import pkgutil; pkgutil.resolve_name("numpy:array")', 'numpy',
    'by way of pkgutil');
refused('exec("import numpy")', 'numpy', 'exec()');
refused('exec("import numpy", {})', 'numpy', 'exec() with a namespace of its own');
refused('import turtle', 'turtle', 'a module that the list takes away');
refused('import subprocess', 'subprocess', 'subprocess, if it is not named');

my $events = $kernel->run('import json' . "\n" . 'import socket');
unlike($events->[0][4], qr/retort_policy|skipping/,
    'the traceback ends at the line that asked');
like($events->[0][4], qr/----> 2 import socket/, 'which it shows');

fine('import csv, json, statistics, math, datetime, collections, re, sqlite3, os',
    'the standard library is there');
fine('import pandas as pd', 'a package of the list');
is_deeply(Retort::Kernel::brief($kernel->run(<<'END')), ["1:3 12 2\n", 'ok'],
import io
f = pd.DataFrame({'a': [1, 2, 3], 'd': pd.to_datetime(['2024-01-01'] * 3)})
book = io.BytesIO()
f.to_excel(book)
g = pd.read_excel(book)
h = f.groupby('a').agg(['min'])
v = f.a.values; v.mean(); v.std(); v.sort(); str(v); pd.eval('1 + 1')
print(len(g), f.a.sum() * 2, f.rolling(2).a.mean().count())
END
    'it may use what it needs itself');
fine("import pickle\npickle.loads(pickle.dumps(f))", 'pickle as well');
fine("f.plot(); get_ipython().run_line_magic('who', '')",
    'and draw with what it needs');
refused('import numpy', 'numpy', 'which does not make that the tenant\'s');
fine("open('mine.py', 'w').write('import json\\nx = 1')\nimport mine",
    'a module that the tenant wrote');
refused("open('other.py', 'w').write('import numpy')\nimport other", 'numpy',
    'but not what that one imports');
fine('import datetime; datetime.datetime.strptime("1", "%d"); '
    . 'from IPython.display import display', 'what Python loads for itself');
fine('import asyncio; await asyncio.sleep(0)', 'await');

# a run may have less, not more

my $name = 'PYTHON_PACKAGES_WHITELIST_IMPORT';
refused('import pandas', 'pandas', 'a run\'s own list takes away',
    env => { $name => 'numpy, openpyxl' });
refused('import numpy', 'numpy', 'and gives nothing',
    env => { $name => 'numpy' });
fine('import openpyxl', 'both lists have this one',
    env => { $name => 'numpy, openpyxl' });
fine('import pandas', 'the next run is free of it');
refused('import numpy', 'numpy', 'but not of the profile\'s');
refused('import pandas', 'pandas', 'the list of the place where it came in takes away',
    env => { RETORT_IMPORT_ALLOW => 'openpyxl' });
refused('import openpyxl', 'openpyxl', 'all three must have a name',
    env => { RETORT_IMPORT_ALLOW => 'openpyxl', $name => 'pandas' });
fine('import pandas, openpyxl', 'and the next run is free of both');
$kernel->end;

$kernel = Retort::Kernel->start(imports => ['numpy']);
fine("import builtins, importlib\nassert type(builtins.__import__).__name__ "
    . '== "builtin_function_or_method"' . "\nimport numpy, socket, subprocess",
    'without a list nothing is replaced and nothing refused');
refused('import numpy', 'numpy', 'a run may ask for one', env => { $name => '' });
fine('import numpy, socket', 'for that run alone');
$kernel->end;

$kernel = Retort::Kernel->start(allow => ['socket', 'subprocess']);
fine('import socket, subprocess', 'unusual modules can be named');
refused('import ctypes', 'ctypes', 'each by itself');
$kernel->end;

done_testing();
