#!/usr/bin/perl

# Every magic of IPython, by name: each works, or ends with a clear message,
# and none waits for somebody.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start(imports => ['numpy', 'matplotlib.pyplot']);
my $none = 'nothing can be installed in a sandbox';
my $window = 'show\(png\):<Figure .* ok$';
my %seen;

# code, what comes of it: a pattern for all outputs, joined

my @table = (
    # time, and what was run
    ['%time 6 * 7', 'Wall time: .* result:42 ok'], ['%timeit -n2 -r2 1', 'per loop .* ok'],
    ["%%time\nz = 3\nz", 'Wall time: .* result:3 ok'],
    ["%%timeit -n2 -r2\nz = 3", 'per loop .* ok'],
    ['%prun sum(range(9))', 'function calls .* ok'], ["%%prun\nsum([1])", 'function calls .* ok'],
    ['%history -n 1', '^1:   1: %time 6 \* 7\n ok'], ['%hist 1', '^1:%time 6 \* 7\n ok'],
    ['%recall 1', '^1:%time 6 \* 7\n ok'], ['%rep 1', '^1:%time 6 \* 7\n ok'],
    ['%rerun 1', 'result:42 ok'], ['%macro mm 1', 'Macro `mm` created'], ['mm', 'result:42 ok'],
    ['%save s.py 1', 'were written to file `s.py`'],
    # files
    ["%%writefile m.py\nmx = 5\nprint(mx)", '^1:Writing m.py\n ok'],
    ["%%writefile -a m.py\n# end", '^1:Appending to m.py\n ok'],
    ["%%file n.py\n1/0", '^1:Writing n.py\n ok'],
    ['%load m.py', '^1:# %load m.py\nmx = 5\nprint\(mx\)\n# end\n ok'],
    ['%loadpy m.py', '^1:# %load m.py\nmx = 5\n'], ['%pycat m.py', '^1:mx = 5\n'],
    ['%run m.py', '^1:5\n ok'], ['mx', 'result:5 ok'], ['%run n.py', 'ZeroDivisionError'],
    ['%run -d m.py', 'ipdb> '], ['%run -p m.py', 'function calls'], ['%run no.py', 'not found'],
    ['%less m.py', '^1:mx = 5\n'], ['%more m.py', '^1:mx = 5\n'],
    ['%less no.py', 'error:UsageError: %less: .*No such file'],
    ['%cat m.py', '^\|1:mx = 5\n'], ['%cp m.py o.py', '^ok'], ['%mv o.py p.py', '^ok'],
    ['%rm p.py', '^ok'], ['%mkdir d', '^ok'], ['%rmdir d', '^ok'], ['%ls', 'm\.py'],
    ['%ll', 'm\.py'], ['%lx', ''], ['%lf', 'm\.py'], ['%lk', ''], ['%ldir', ''],
    ['%notebook x.ipynb', "error:.*No module named 'nbformat'"],
    ['%edit', 'error:UsageError: %edit needs an editor, and there is none'],
    ['%ed m.py', 'error:UsageError: %edit needs an editor'],
    ['%pastebin 1', 'error:URLError'],
    # places
    ['%pwd', "result:'/workspace' ok"], ['%cd /tmp', '^1:/tmp\n ok'], ['%cd -', '^1:/workspace\n ok'],
    ['%cd nowhere', "No such file or directory: 'nowhere'"], ['%pushd /tmp', '/tmp'],
    ['%dirs', 'workspace|~'], ['%popd', '/workspace'], ['%dhist', '0: /workspace'],
    ['%bookmark a', '^ok'], ['%bookmark -l', 'a -> /workspace'], ['%rehashx', 'ok$'],
    # variables
    ['%env X=1', 'env: X=1'], ['%env X', "result:'1' ok"], ['%set_env Y=2', 'env: Y=2'],
    ['%who', '\bmx\b'], ['%who_ls', "'mx'"], ['%whos', 'mx +int +5'], ['%xdel mx', '^ok'],
    ['%reset_selective -f z', '^ok'], ['z', 'NameError'], ['%reset -f', 'ok$'],
    # the shell
    ["%%bash\necho a; echo b >&2", '^1:a\n 2:b\n ok'], ["%%sh\necho c", '^1:c\n ok'],
    ["%%bash\nexit 3", 'error:CalledProcessError: .*exit status 3'],
    ["%%script cat\nx", '^1:x\n ok'], ["%%perl\nprint 1 + 1", '^1:2 ok'],
    ["%%python\nprint(3)", '^1:3\n ok'], ["%%python3\nprint(4)", '^1:4\n ok'],
    ["%%ruby\n1", "Couldn't find program: 'ruby'"], ["%%pypy\n1", "Couldn't find program"],
    ["%%python2\n1", "Couldn't find program"], ["%%bash --out o\necho 5", '^ok'], ['o', "'5\\\\n'"],
    ["%%bash --bg\nsleep 0.1", 'ok$'], ['%killbgscripts', 'killed'],
    ['%sx echo d', "result:\\['d'\\] ok"], ['%system echo d', "result:\\['d'\\] ok"],
    ["%%sx\necho d", "result:\\['d'\\] ok"], ["%%system\necho d", "result:\\['d'\\] ok"],
    ["%%!\necho d", "result:\\['d'\\] ok"], ['%sc a=echo d', 'ok$'], ['a', "'d"],
    ['%alias hi echo hello %s', '^ok'], ['%hi you', '^\|1:hello you\n ok'], ['%unalias hi', '^ok'],
    ['!python -c "print(6)"', '^\|1:6\n ok'], ['!sleep 5 &', '^ok'],
    # what is shown
    ["%%html\n<b>x</b>", 'show\(html\)'], ["%%HTML\n<b>x</b>", 'show\(html\)'],
    ["%%latex\n\$x\$", 'show\(latex\)'], ["%%markdown\n**x**", 'show\(markdown\)'],
    ["%%svg\n<svg/>", 'show\(svg\+xml\)'], ["%%SVG\n<svg/>", 'show\(svg\+xml\)'],
    ["%%js\n1", 'show\(javascript\)'], ["%%javascript\n1", 'show\(javascript\)'],
    ["%%capture c\nprint(7)", '^ok'], ['c.stdout', "'7\\\\n'"],
    (map { ["%matplotlib $_\nimport matplotlib.pyplot as plt; plt.plot([1]);", $window] }
        '', qw(inline notebook widget qt auto)),
    ["%matplotlib agg\nplt.plot([1]);", $window],
    ["%pylab\nplot([1]);", 'Figure'], ['%gui', '^ok'], ['%gui qt', '^2:%gui qt: there is no screen'],
    ['%precision 3', "'%.3f'"], ['%precision', "'%r'"], ['%pprint', 'OFF'], ['%pprint', 'ON'],
    ['%colors', 'error:UsageError'], ['%colors NoColor', '^ok'], ['%page os', 'ok$'],
    # help
    ['%lsmagic', 'Available line magics'], ['%magic', "IPython's 'magic' functions"],
    ['%quickref', 'Quick Reference Card'], ['%config', 'InlineBackend'], ['len?', 'number of items'],
    ['%pinfo len', 'number of items'], ['%pinfo2 c', 'CapturedIO'], ['?', 'IPython'],
    ['%pdef len', 'len\(obj, /\)'], ['%pdoc len', 'number of items'], ['nothing?', 'not found'],
    ['%psource len', 'No source found'], ['%pfile m.py', 'mx = 5'], ['%psearch le*', '\blen\n'],
    # errors and debuggers: there is nothing for them to read
    ['1/0', 'ZeroDivisionError'], ['%tb', 'ZeroDivisionError'], ['%debug', '1/0.*ipdb> \n ok'],
    ["%%debug\n1", 'ipdb> \n ok'], ['breakpoint()', 'error:BdbQuit: the debugger was left'],
    ['%pdb on', 'ON'], ['1/0', 'ZeroDivisionError'], ['%pdb off', 'OFF'], ['%xmode Plain', 'Plain'],
    ['%xmode Context', 'Context'], ['help()', 'help utility'], ['%nosuch', 'not found'],
    ["%%nosuch\n1", 'not found'], ["%%time", 'cell body is empty'],
    # the rest of it
    ['%alias_magic t time', 'Created'], ['%t 1', 'Wall time'], ['%autoawait', 'on'],
    ['%autocall 0', 'OFF|Off'], ['%automagic', 'OFF'], ['%automagic', 'ON'], ['%doctest_mode', 'ON'],
    ['%doctest_mode', 'OFF'], ['%load_ext autoreload', '^ok'], ['%autoreload 2', '^ok'],
    ['%reload_ext autoreload', '^ok'], ['%unload_ext autoreload', 'ok$'], ['%load_ext no', 'No module'],
    ['%logstart', 'active'], ['%logstate', 'active'], ['%logoff', 'OFF'], ['%logon', 'ON'],
    ['%logstop', '^ok'], ['%pip list', 'numpy==1\.'], ['%pip freeze', 'numpy==1\.'],
    (map { ["%$_ install x", "error:UsageError: %$_: $none"] } qw(pip conda mamba)),
);

my ($names) = $kernel->run("import json\nm = get_ipython().magics_manager.lsmagic()\n"
    . "print(json.dumps([['%' + n for n in m['line']] + ['%%' + n for n in m['cell']]]))")
    ->[0][2];
$kernel->end;
$kernel = Retort::Kernel->start(imports => ['numpy', 'matplotlib.pyplot']);
$kernel->run('%time 6 * 7');

for my $row (@table[1 .. $#table]) {
    my ($code, $want) = @$row;
    my $said = join ' ', @{ Retort::Kernel::brief($kernel->run($code)) };
    like($said, qr/$want/s, $code =~ s/\n/ | /gr);
    unlike($said, qr/AttributeError|KeyError|^gone/, '... in its own words');
    $seen{$1} = 1 if $code =~ /^(%%?[\w!]+)/;
}

$seen{'%time'} = 1;
is_deeply([grep { !$seen{$_} } @{ decode_json($names)->[0] }], [],
    'no magic of IPython is missing here');
is(Retort::Kernel::brief($kernel->run("import bdb\n1/0"))->[-1], 'failed', 'an error');
is_deeply(Retort::Kernel::brief($kernel->run('%debug', stdin => "p 40 + 2\nq\n"))->[-1], 'ok',
    'a debugger reads what the run is given');
$kernel->end;

done_testing();
