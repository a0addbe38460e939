#!/usr/bin/perl

# Bash cells, beside Python cells in one session.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;


# two pipes have no order among them: what each said as a whole, then the rest

sub bash {
    my $events = $kernel->run(shift, bash => 1, @_) // return ['gone'];
    my %said;

    for my $e (grep { $_->[0] eq 'pipe' } @$events) {
        $said{ $e->[1] } .= $e->[2];
    }

    return Retort::Kernel::brief([
        (map { ['pipe', $_, $said{$_}] } sort keys %said),
        grep { $_->[0] ne 'pipe' } @$events]);
}


sub python { return Retort::Kernel::brief($kernel->run(@_)) }


is_deeply(bash('echo hi; echo e >&2'), ["|1:hi\n", "|2:e\n", 'ok'],
    'output and errors');
is_deeply(bash('exit 3'), ['failed 3'], 'the exit code');
is_deeply(bash('false'), ['failed 1'], 'of the last command');
is_deeply(bash('kill -TERM $$'), ['failed 143'], '128 and the signal');
is_deeply(bash('nosuch'), ["|2:bash: line 1: nosuch: command not found\n",
    'failed 127'], 'a command that is not there, with the user\'s own line');
is_deeply(bash("echo a\nif"), ["|1:a\n",
    "|2:bash: -c: line 3: syntax error: unexpected end of file\n", 'failed 2'],
    'a syntax error, with the user\'s own line');
is_deeply(bash(''), ['ok'], 'an empty cell');

is_deeply(bash('x=1; mkdir -p d/e; cd d; echo new > f'), ['ok'], 'cd');
is_deeply(python('import os; os.getcwd()'), ["result:'/workspace/d'", 'ok'],
    'the folder is the session\'s');
is_deeply(bash('pwd; cat f; echo "[$x]"'), ["|1:/workspace/d\nnew\n[]\n", 'ok'],
    'files and folder stay, variables do not');
is_deeply(python("os.chdir('..')"), ['ok'], 'Python changes it');
is_deeply(bash('pwd'), ["|1:/workspace\n", 'ok'], 'for bash as well');
is_deeply(bash('cd d/e; exit 5'), ['failed 5'], 'cd, and an exit code');
is_deeply(bash('pwd'), ["|1:/workspace/d/e\n", 'ok'], 'is still a cd');
is_deeply(bash("trap 'echo bye' EXIT; cd /tmp"), ["|1:bye\n", 'ok'],
    'a trap of the cell\'s own runs');
python("os.chdir('/workspace')");
is_deeply(bash('mkdir gone; cd gone; rmdir ../gone'), ['ok'],
    'a folder that is gone');
is_deeply(bash('pwd'), ["|1:/workspace\n", 'ok'], 'is not gone to');

is_deeply(bash('read a; echo "[$a]"; cat', stdin => "one\ntwo\n"),
    ["|1:[one]\ntwo\n", 'ok'], 'standard input');
is_deeply(bash('cat'), ['ok'], 'is empty without one');
is_deeply(bash('echo $T1-$HOME-$0-$#', env => { T1 => 'v' }),
    ["|1:v-/workspace-bash-0\n", 'ok'], 'environment');
is_deeply(bash('echo "[$T1$BASH_ENV]"; bash -c "echo [\$BASH_ENV]"'),
    ["|1:[]\n[]\n", 'ok'], 'which is gone in the next run');

my $long = "echo start\n" . ("# " . 'x' x 100 . "\n") x 2000 . "echo end\nnosuch";
is_deeply(bash($long), ["|1:start\nend\n",
    "|2:/dev/fd/41: line 2003: nosuch: command not found\n", 'failed 127'],
    'code that is too long for an argument');

is_deeply(bash('ls /proc/self/fd | sort -n | tr "\n" " "'),
    ['|1:0 1 2 3 40 ', 'ok'],
    'a program gets no descriptor of ours but its folder\'s');
is_deeply(python("!ls /proc/self/fd | sort -n | tr '\\n' ' '"),
    ['|1:0 1 2 3 ', 'ok'], 'and none at all from Python');

is_deeply(bash('ps -o sid= -p $$ | tr -d " " | grep -qx $$ && echo own'),
    ["|1:own\n", 'ok'], 'a session of its own');
is_deeply(bash('sleep 1000 & echo started'), ["|1:started\n", 'ok'],
    'a job left behind does not keep the cell');
is_deeply(python('1'), ['result:1', 'ok'], 'Python goes on meanwhile');

is_deeply(bash('awk "BEGIN { print 1 }"; echo "{}" | jq -c .; echo a | sed s/a/b/;'
    . 'zip -q z.zip d/f && unzip -p z.zip; nproc --all > n; '
    . 'tar cf - d | gzip | file -b - | cut -c1-4; pgrep -c sleep'),
    ["|1:1\n{}\nb\nnew\ngzip\n1\n", 'ok'], 'the usual tools');

is($kernel->end, 0, 'the kernel ends with its channel');

# as many processors as the sandbox has

$kernel = Retort::Kernel->start(env => { RETORT_CPUS => 1 });
is_deeply(bash('nproc; python3 -c "import os; print(os.cpu_count(), '
    . 'len(os.sched_getaffinity(0)))"'), ["|1:1\n1 1\n", 'ok'],
    'nproc and Python programs know the quota');
is_deeply(python('import os, multiprocessing; os.cpu_count(), '
    . 'len(os.sched_getaffinity(0)), multiprocessing.cpu_count()'),
    ['result:(1, 1, 1)', 'ok'], 'and the session itself');
is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
