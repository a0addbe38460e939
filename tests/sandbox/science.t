#!/usr/bin/perl

# Libraries believe the quota, and work within the default limits: language,
# time zone, processors, processes.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new;

my $counts = <<'PY';
import os, sys, json, multiprocessing, subprocess, joblib, numexpr, numpy
from threadpoolctl import threadpool_info
def square(x): return x * x
child = subprocess.run([sys.executable, '-c', '''
import os, multiprocessing, numpy
from threadpoolctl import threadpool_info
print(os.cpu_count(), len(os.sched_getaffinity(0)), multiprocessing.cpu_count(),
      max([p['num_threads'] for p in threadpool_info()] or [0]))'''],
    capture_output=True, text=True)
pool = multiprocessing.Pool()
print(json.dumps({
    'os': os.cpu_count(), 'affinity': len(os.sched_getaffinity(0)),
    'multiprocessing': multiprocessing.cpu_count(), 'joblib': joblib.cpu_count(),
    'openmp': int(os.environ['OMP_NUM_THREADS']),
    'pool': pool._processes, 'squares': pool.map(square, range(3)),
    'joblib squares': joblib.Parallel(n_jobs=-1)(
        joblib.delayed(square)(i) for i in range(3)),
    'blas': max(p['num_threads'] for p in threadpool_info()),
    'numexpr': numexpr.nthreads, 'cores of numexpr': numexpr.detect_number_of_cores(),
    'sysconf': os.sysconf('SC_NPROCESSORS_ONLN'), 'pages': os.sysconf('SC_PAGESIZE'),
    'threads': [int(os.environ[n + '_NUM_THREADS']) for n in ('OPENBLAS', 'MKL', 'NUMBA')],
    'child': child.stdout + child.stderr,
    'nproc': subprocess.run(['nproc'], capture_output=True, text=True).stdout}))
PY

for my $n (1, 2) {
    my $box = $s->session(limits => { cpu => $n });
    my $r = $s->run($counts, sandbox_id => $box);
    my $is = eval { JSON::PP::decode_json($r->{stdout}) }
        or diag "$r->{stdout}$r->{stderr}$r->{error}{traceback}";
    is_deeply([@$is{qw(os affinity multiprocessing joblib openmp pool)}],
        [($n) x 6], "with cpu=$n everything counts $n processors");
    is($is->{blas}, $n, 'BLAS has so many threads');
    is_deeply([@{ $is->{threads} }, @$is{'sysconf', 'cores of numexpr'}], [($n) x 5],
        'and who asks in another way is told the same');
    cmp_ok($is->{pages}, '>=', 4096, 'what else sysconf() knows is as it was');
    cmp_ok($is->{numexpr}, '<=', $n, 'numexpr no more');
    is($is->{child}, "$n $n $n $n\n", 'another interpreter sees the same');
    is($is->{nproc}, "$n\n", 'and so does the shell');
    is_deeply([@$is{'squares', 'joblib squares'}], [[0, 1, 4], [0, 1, 4]],
        'pools of multiprocessing and joblib work');
    is($r->{stderr}, '', 'without a warning');
}

is($s->run('import os; print(os.cpu_count())', limits => { cpu => 0.5 })
    ->{stdout}, "1\n", 'half a processor is one');

# each library by itself, in an interpreter of its own

my %use = (
    numpy => 'assert numpy.linalg.inv(numpy.eye(200)).sum() == 200',
    scipy => "import scipy.optimize, scipy.stats\n"
        . 'assert abs(scipy.optimize.brentq(lambda x: x - 2, 0, 5) - 2) < 1e-6',
    pandas => "assert pandas.DataFrame({'a': [1, 2]}).eval('b = a * 2').b.sum() == 6",
    sklearn => "import sklearn.ensemble\n"
        . "f = sklearn.ensemble.RandomForestClassifier(n_jobs=-1)\n"
        . 'assert f.fit([[0], [1]] * 9, [0, 1] * 9).predict([[1]])[0] == 1',
    statsmodels => "import statsmodels.api as sm\n"
        . 'assert abs(sm.OLS([1., 2, 3], [1., 2, 3]).fit().params[0] - 1) < 1e-9',
    sympy => "assert str(sympy.integrate(sympy.Symbol('x'))) == 'x**2/2'",
    networkx => 'assert networkx.path_graph(4).number_of_edges() == 3',
    numexpr => "a = 2\nassert numexpr.evaluate('a + 1') == 3",
    h5py => "h5py.File('a.h5', 'w')['x'] = [1, 2]\n"
        . "assert h5py.File('a.h5')['x'][1] == 2",
    tables => "tables.open_file('b.h5', 'w').close()",
    bottleneck => 'assert bottleneck.nansum([1., 2]) == 3',
    seaborn => "import matplotlib.pyplot as plt\n"
        . "seaborn.histplot([1, 2, 2]); plt.savefig('a.png')\n"
        . "assert open('a.png', 'rb').read(4) == b'\\x89PNG'",
);

for my $n (1, 2) {
    my $box = $s->session(limits => { cpu => $n });
    for my $name (sort keys %use) {
        my $r = $s->bash("python3 -W error::ImportWarning x.py && echo good",
            sandbox_id => $box, files => [{ name => 'x.py',
                text => "import $name\n$use{$name}\n" }]);
        is("$r->{stdout}$r->{stderr}", "good\n",
            "$name works with cpu=$n and the default limits");
    }
}

# language and time

my $box = $s->session;
my $text = "import sys, locale, subprocess\n"
    . "open('é.txt', 'w').write('价格')\n"
    . "print(sys.stdout.encoding, sys.getfilesystemencoding(), "
    . "locale.getpreferredencoding(), open('é.txt').read(), "
    . "subprocess.run(['cat', 'é.txt'], capture_output=True, text=True).stdout, "
    . "*locale.getlocale(locale.LC_CTYPE))";
is($s->run($text, sandbox_id => $box)->{stdout},
    "utf-8 utf-8 utf-8 价格 价格 C UTF-8\n" =~ s/C UTF-8/en_US UTF-8/r,
    'text is UTF-8 everywhere');
is($s->bash("locale charmap; python3 -c \"print(open('é.txt').read())\"; "
    . 'echo é | grep -c "^.$"', sandbox_id => $box)->{stdout},
    "UTF-8\n价格\n1\n", 'in the shell as well');

my $now = "import time, datetime, pandas as pd\n"
    . "print(time.strftime('%z'), datetime.datetime(2024, 7, 1).astimezone()"
    . ".strftime('%H:%M%z'), time.tzname[0], "
    . "round((pd.Timestamp.now() - pd.Timestamp.utcnow().tz_localize(None))"
    . ".total_seconds() / 3600), datetime.datetime.fromtimestamp(0).hour)";
is($s->run($now, sandbox_id => $box)->{stdout},
    "+0000 00:00+0000 UTC 0 0\n", 'time is UTC');
is($s->run($now, sandbox_id => $box, env => { TZ => 'Asia/Tokyo' })->{stdout},
    "+0900 00:00+0900 JST 9 9\n", 'or what the run\'s TZ says');
is($s->run($now, sandbox_id => $box)->{stdout},
    "+0000 00:00+0000 UTC 0 0\n", 'and UTC again in the next run');
is($s->bash('date -d @0 +%H:%M%z', sandbox_id => $box,
    env => { TZ => 'America/New_York' })->{stdout}, "19:00-0500\n",
    'the shell follows it too');
is($s->run("from zoneinfo import ZoneInfo\nimport pandas as pd\n"
    . "print(pd.Timestamp('2024-07-01', tz='Europe/Berlin').tz_convert("
    . "'Asia/Kolkata'))", sandbox_id => $box)->{stdout},
    "2024-07-01 03:30:00+05:30\n", 'zones have their rules');

# the first figure

my $r = $s->run("import os, matplotlib, matplotlib.font_manager as f\n"
    . "d = matplotlib.get_configdir()\n"
    . "print(d, os.listdir(d), *[os.readlink(d + '/' + n) "
    . "for n in os.listdir(d)])\n"
    . "import matplotlib.pyplot as plt\nplt.title('价格 가격'); plt.show()\n"
    . "print(os.listdir(d))");
like($r->{stdout}, qr{^/tmp/\.matplotlib\ \['(fontlist-v\d+\.json)'\]
    \ /usr/lib/retort/matplotlib/\1\n\['\1'\]\n$}x,
    'the first figure uses the image\'s font list, and makes none');
is($r->{stderr}, '', 'without a word');
is($s->bash("python3 -X importtime -c 'import logging; "
    . "logging.basicConfig(level=logging.INFO); import matplotlib.pyplot' 2>&1 |"
    . " grep -ci 'generated new fontmanager'")->{stdout}, "0\n",
    'another interpreter makes none either');

$s->end;
done_testing();
