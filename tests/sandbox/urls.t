#!/usr/bin/perl

# Files by URL through the whole service: who fetches, what a front's death and
# retort-fetch's own leave, and what retortd says of lines that make no sense.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Fetch qw(web answer);
use Retort::Prom;
use Retort::Service;
use Test::More;

my $csv = "a,b\n" . join '', map { "$_," . $_ * 2 . "\n" } 1 .. 1000;

my $web = web(sub {
    my ($sock, $head) = @_;

    $head =~ m{^GET /stall} ? sleep 600 : answer($sock, 200, $csv);
});

my $at = "http://127.0.0.1:$web->{port}";
my $s = Retort::Service->new(location =>
    'location = /metrics { retort_api metrics; retort_pass unix:%RUN%/front.sock; }',
    profiles => { default => { import => 'pandas' } },
    conf => { fetch => 'time=60s', fetch_allow => "127.0.0.1:$web->{port}" });
my $sum = 'import pandas; print(int(pandas.read_csv("data.csv")["b"].sum()))';
my $retortd = "$Retort::Service::TOP/objs/retortd";

is($s->run($sum, files => ["$at/data.csv"])->{stdout}, "1001000\n", 'code reads a file by its URL');
is($s->run('import urllib.request as u; u.urlopen("' . "$at/data.csv" . '")')->{status}, 'error',
    '... which it cannot fetch itself');

my ($status, $r) = $s->json('POST', '/v1/execute', { code => '1', files => ['http://127.0.0.1:1/x'] });

is("$status $r->{error}{code}", '422 file_not_fetched', 'what is not listed is not fetched');

$s->run($sum, files => ["$at/data.csv"]);

sub count { Retort::Prom->parse($s->get('/metrics')->{content})->value(@_) }

is(count('retort_fetches_total', result => 'ok'), 1, 'what was fetched is counted');
is(count('retort_fetches_total', result => 'refused'), 1, '... what was refused');
is(count('retort_fetches_total', result => 'cached'), 1, '... what was known already');
cmp_ok(count('retort_fetched_bytes_total'), '>=', length $csv, '... and its bytes');

my $pid = $s->process('retort-fetch');

ok($pid, 'retort-fetch is a process of the service');
like(Retort::Service::slurp("/proc/$pid/status"), qr/^Uid:\s+(${\ scalar getpwnam 'retort-fetch'})\s+\1\s+\1\s+\1$/m, '... as its own user');

# a sanitizer needs calls that the filter refuses: programs with one have none
my $filter = $ENV{RETORT_ASAN} ? 0 : 2;
like(Retort::Service::slurp("/proc/$pid/status"), qr/^CapBnd:\s+0+\n(?:.*\n)*NoNewPrivs:\s+1\nSeccomp:\s+$filter$/m, '... that can gain nothing');
is_deeply([sort map { readlink =~ s/:.*//r } grep { !m{/[012]$} } glob "/proc/$pid/fd/*"], ['socket'], '... and holds nothing but the channel');

kill 'KILL', $s->process('retort-front');
ok($s->until_true(sub { ($s->run($sum, files => ["$at/data.csv?2"])->{stdout} // '') eq "1001000\n" }), 'another front has it as well');
is($s->process('retort-fetch'), $pid, '... the same one');

kill 'KILL', $pid;
ok($s->until_true(sub { !kill 0, $pid }), 'when it is killed');
($status, $r) = $s->json('POST', '/v1/execute', { code => '1', files => ["$at/data.csv?3"] });
is("$status $r->{error}{code}", '503 fetch_away', '... it is told so');
is(count('retort_fetches_total', result => 'lost'), 1, '... and counted');
is($s->run('print(1)')->{stdout}, "1\n", '... and all else goes on');

# ---- lines that make no sense ----

my $conf = Retort::Service::slurp("$s->{dir}/retortd.conf");

for my $bad ('fetch colour=red', 'fetch_allow 10.0.0.0/33', 'endpoint x', 'endpoint x http://h/ key_file=/nonexistent', 'fetch') {
    Retort::Service::write_file("$s->{dir}/bad.conf", $conf . "$bad\n");
    isnt(system("$retortd --conf $s->{dir}/bad.conf --check 2> $s->{dir}/said"), 0, "--check refuses \"$bad\"");
    like(Retort::Service::slurp("$s->{dir}/said"), qr/retort(?:-fetch|d)\[\d+\] error: .*(?:colour|10\.0\.0\.0|endpoint|nonexistent|fetch)/,
        '... and says why');
}

is(system("$retortd --conf $s->{dir}/retortd.conf --check"), 0, 'it likes good ones');

# ---- the end, while something is fetched ----

$s->stop_retortd;
$s->start_retortd;
$s->wait_ready;

my $child = fork // die $!;

if ($child == 0) {
    $s->request('POST', '/v1/execute', qq({"code": "1", "files": ["$at/stall"]}));
    POSIX::_exit(0);
}

$pid = $s->process('retort-fetch');
ok($s->until_true(sub { $s->children($pid) }), 'something is fetched');

my @fetch = ($pid, $s->children($pid));

$s->end;
is_deeply([grep { kill 0, $_ } @fetch], [], 'the end of the service is that of retort-fetch and its children');
waitpid $child, 0;
done_testing;
