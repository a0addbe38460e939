#!/usr/bin/perl

# Two thousand runs, each with a fault of its own, while fronts are killed and
# nginx is reloaded: each has one verdict, the one that fits its fault.
# RETORT_RUNS changes how many, RETORT_SEED which.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep time);

my $RUNS = $ENV{RETORT_RUNS} // 2000;
my $SEED = $ENV{RETORT_SEED} // time ^ $$;
my $CLIENTS = 6;
my $true = JSON::PP::true;

# name, weight, seconds that it may take, verdict, code
my @FAULTS = (
    [ok => 30, 10, 'ok', 'print(6 * 7)'],
    [raise => 8, 10, 'error', '1 / 0'],
    [syntax => 3, 10, 'error', 'x = = 1'],
    [plot => 3, 10, 'ok', 'import matplotlib.pyplot as plt; plt.plot([1, 3])'],
    [sleep => 4, 0.4, 'timeout', 'import time; time.sleep(60)'],
    [deaf => 3, 0.4, 'timeout', 'while True:
    try:
        while True: pass
    except BaseException: pass'],
    [stop => 3, 0.4, 'timeout',
        'import os, signal; os.kill(os.getpid(), signal.SIGSTOP); input()'],
    [endless => 3, 0.5, 'timeout', 'while True: print("x" * 1000)'],
    [exit => 5, 10, 'killed', 'import os; os._exit(3)'],
    [crash => 4, 10, 'killed', 'import ctypes; ctypes.string_at(0)'],
    [kill => 5, 10, 'killed', 'import os; os.kill(os.getpid(), 9)'],
    [hog => 3, 20, 'oom', 'x = [b"x" * 1000000 for _ in range(5000)]'],
    [forks => 2, 10, 'error', 'import os, time
p = []
try:
    while True:
        n = os.fork()
        if n == 0: time.sleep(5); os._exit(0)
        p.append(n)
finally:
    for n in p: os.kill(n, 9); os.waitpid(n, 0)'],
    [disk => 2, 20, 'error', 'f = open("big", "wb")
try:
    while True: f.write(b"x" * 65536)
finally:
    import os; os.remove("big")'],
    [files => 2, 10, 'error', 'f = []
try:
    while True: f.append(open("/dev/null"))
finally: f.clear()'],
    [closed => 2, 10, 'ok', 'import os
for n in 1, 2:
    try: os.close(n)
    except OSError: pass
print(1)'],
    [channel => 2, 10, 'killed', 'import os
for n in range(3, 64):
    try: os.close(n)
    except OSError: pass'],
    [leave => 4, 10, 'cancelled', 'import time
print("on", flush=True); time.sleep(60)'],
    [cancel => 4, 10, 'cancelled', 'import time; time.sleep(60)'],
    [detach => 4, 10, 'ok', 'import time; time.sleep(0.05); print(1)'],
);

my $s = Retort::Service->new(profiles => { default => {
    import => 'numpy matplotlib.pyplot', ready => 2, memory => '192m 512m',
    disk => '8m 8m', processes => '24 24', files => '64 64', ttl => '5m 10m',
} });


sub fault_for {
    my ($n) = @_;

    my ($all, $i) = (0, 0);
    $all += $_->[1] for @FAULTS;
    my $at = int rand $all;
    $i++ while ($at -= $FAULTS[$i][1]) >= 0;
    return @{$FAULTS[$i]};
}


# what became of an execution, asked for until it is known

sub verdict_of {
    my ($id) = @_;

    my $end = time + 30;

    while (time < $end) {
        my ($http, $j) = $s->json('GET', "/v1/executions/$id");
        return "http $http" if $http == 404;
        return $j->{status} if $http == 200
            && $j->{status} !~ /^(?:waiting|running)$/;
        sleep 0.05;
    }

    return 'none';
}


sub one_run {
    my ($name, $limit, $code, @box) = @_;

    my %body = (code => $code, timeout => $limit, @box);

    if ($name eq 'leave') {
        my $id;
        $s->stream(POST => '/v1/execute', \%body, sub {
            $id //= $_[0]{execution_id};
            return $_[0]{type} ne 'stdout' });
        return defined $id ? verdict_of($id) : 'http';
    }

    if ($name eq 'cancel' || $name eq 'detach') {
        my $r = $s->run($code, %body, detach => $true);
        return "http $r->{http}" if $r->{http} != 202;
        sleep rand 0.2;
        $s->json('DELETE', "/v1/executions/$r->{execution_id}")
            if $name eq 'cancel';
        return verdict_of($r->{execution_id});
    }

    my $r = $s->run($code, %body);
    return "http $r->{http}" if $r->{http} != 200;
    return $r->{status} . ($r->{error} ? " $r->{error}{message}" : '');
}


# one client: half of its runs in a session of its own; a line for each run

sub client {
    my ($n, $out) = @_;

    srand $SEED + $n;
    my $box = '';

    for (1 .. $RUNS / $CLIENTS) {
        my ($name, undef, $limit, $want, $code) = fault_for();
        $box = eval { $s->session } // '' if $box eq '';
        my $in = $box ne '' && rand() < 0.5;
        my $began = time;
        my $got = one_run($name, $limit, $code, $in ? (sandbox_id => $box) : ());
        $got =~ s/\s+/_/g;
        print $out join(' ', $name, $want, $got, $began, time, $in), "\n";
        $box = '' if $in && $got =~ /^http_4(?:04|10)/;
    }
}


pipe my $in, my $out or die;
my @pids;

for my $n (1 .. $CLIENTS) {
    my $pid = fork // die;

    if ($pid == 0) {
        $out->autoflush;
        client($n, $out);
        POSIX::_exit(0);
    }

    push @pids, $pid;
}

close $out;

# the faults from outside, between two lines

my (@lines, @kills);

while (my $line = <$in>) {
    push @lines, $line;

    if (@lines % 250 == 200) {
        push @kills, time;
        kill 'KILL', $s->process('retort-front') // die;
    }

    kill 'HUP', $s->nginx_pid if @lines % 300 == 100;
}

waitpid $_, 0 for @pids;

my (%bad, %seen, @slow);

for (@lines) {
    my ($name, $want, $got, $began, $ended, $in) = split;
    my $hit = grep { $_ > $began - 5 && $_ < $ended } @kills;

    $seen{$name}++;
    push @slow, "$name " . ($ended - $began) if $ended - $began > 45;
    next if $got =~ /^$want(?:_|$)/;
    next if $hit && $got =~ /^(?:lost|http_(?:429|503|404)|http|cancelled)(?:_|$)/;
    my ($since) = sort { $a <=> $b } grep { $_ > 0 } map { $ended - $_ } @kills;
    $bad{"$name: $got, not $want, " . ($since // 0) . " in $in"}++;
}

is(scalar @lines, int($RUNS / $CLIENTS) * $CLIENTS, 'every run came to an end');
is(join("\n", map { "$_ ($bad{$_})" } sort keys %bad), '',
    'each had the one verdict that fits its fault') or diag("seed $SEED");
is("@slow", '', 'none of them hung');
cmp_ok(scalar @kills, '>', 0, scalar(@kills) . ' fronts were killed meanwhile');
is(join(' ', sort keys %seen), join(' ', sort map { $_->[0] } @FAULTS),
    'every kind of fault was there');

$s->wait_ready;
is($s->run('print(1)')->{stdout}, "1\n", 'and it goes on');
$s->end;
done_testing;
