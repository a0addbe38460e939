#!/usr/bin/perl

# What a client sees while its code runs, through nginx and back.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::INET;
use JSON::PP;
use Retort::Service;
use Test::More;
use Time::HiRes qw(time);

my $s = Retort::Service->new(nginx => 'log_format verdict '
    . '\'$retort_execution "$retort_status"\';');
my $log = "$s->{dir}/access.log";
$s->stop_nginx;
Retort::Service::write_file("$s->{dir}/nginx.conf",
    $s->nginx_conf =~ s/access_log off;//r
                   =~ s/(\$s->\{nginx\}|log_format [^;]*;)/$1 access_log $log verdict;/r);
$s->start_nginx;


sub text { my ($type, @e) = @_;
           return join '', map { $_->{text} } grep { $_->{type} eq $type } @e }


sub types { return join ' ', map { $_->{type} } @_ }


# each line when it is written

my ($status, @e) = $s->stream(POST => '/v1/execute', { code => <<'PY' });
import time, sys
for i in range(4):
    print(i, flush=True)
    time.sleep(0.4)
PY
is($status, 200, 'a stream is answered with 200');
is(types(@e), 'status stdout stdout stdout stdout status', 'a line is an event');
cmp_ok($e[4]{at} - $e[1]{at}, '>', 0.9, 'that comes when it was printed');
is($e[-1]{status}, 'ok', 'the last one has the verdict');
$s->until_true(sub { Retort::Service::slurp($log)
    =~ /$e[0]{execution_id} "ok"/ }) or diag($s->error_log);
like(Retort::Service::slurp($log),
     qr/$e[0]{execution_id} "ok"/, 'and so has nginx\'s log');

# the order in which the code made them

($status, @e) = $s->stream(POST => '/v1/execute', { code => <<'PY' });
import os, sys
import matplotlib.pyplot as plt
from IPython.display import display, HTML
print('a')
display(HTML('<b>b</b>'))
os.write(1, b'c\n')
plt.plot([1, 2]); plt.show()
print('d', file=sys.stderr)
os.system('echo e')
'f'
PY
is(types(@e), 'status stdout display stdout image stderr stdout result status',
   'prints, displays, figures and children keep their order');
like($e[4]{url}, qr{^http://.*/static/.*\.png$}, 'a picture is a link at once');

($status, @e) = $s->stream(POST => '/v1/execute', { code => <<'PY' });
import os, sys
from IPython.display import display, HTML
for i in range(100):
    display(HTML('<b>%d</b>' % i))
    os.write(1, b'%d\n' % i)
    print(i, file=sys.stderr)
    os.write(1, b'%d\n' % i)
PY
is(types(@e), join(' ', 'status', ('display stdout stderr stdout') x 100, 'status'),
   'also if each follows at once, and often');

# a progress bar

($status, @e) = $s->stream(POST => '/v1/execute', { code => <<'PY' });
import time
from tqdm import tqdm
for i in tqdm(range(5), mininterval=0):
    time.sleep(0.1)
PY
my @bars = grep { $_->{type} eq 'stderr' } @e;
cmp_ok(scalar @bars, '>', 3, 'a progress bar moves while it runs');
like(text('stderr', @e), qr/\r.*100%/, 'by carriage returns, as it was written');

# resumed and joined, cut anywhere

my $run = $s->run('for i in range(400):
    print(i, "\u20ac" * (i % 7), flush=True)
    if i % 40 == 0: import time; time.sleep(0.05)', detach => JSON::PP::true);
is($run->{http}, 202, 'a detached run is answered at once');
my $want = join '', map { "$_ " . "\x{20ac}" x ($_ % 7) . "\n" } 0 .. 399;
my ($after, $got, $cuts, $end) = (0, '', 0, undef);

while (!$end && $cuts < 200) {
    my $n = 1 + int rand 5;
    my (undef, @part) = $s->stream(GET =>
        "/v1/executions/$run->{execution_id}/events?after=$after", undef,
        sub { $n-- > 0 });
    $cuts++;
    $got .= text('stdout', @part);
    $after = $part[-1]{id} if @part;
    ($end) = grep { $_->{type} eq 'status' && $_->{status} ne 'running' } @part;
}

is($got, $want, "a stream that was cut $cuts times joins to the whole");
is($end->{status}, 'ok', 'and to its end');
is($s->json('GET', "/v1/executions/$run->{execution_id}") ? ($s->json('GET',
   "/v1/executions/$run->{execution_id}"))[1]{stdout} : '', $want,
   'the final answer has it as well');

# nginx is reloaded in the middle

$run = $s->run('import time
for i in range(20): print(i, flush=True); time.sleep(0.1)',
    detach => JSON::PP::true);
kill 'HUP', $s->nginx_pid;
($status, @e) = $s->stream(GET => "/v1/executions/$run->{execution_id}/events");
is(text('stdout', @e), join('', map { "$_\n" } 0 .. 19),
   'a reload of nginx costs no event');

# who goes away

my $box = $s->session;
$s->run('n = 7', sandbox_id => $box);
my $began = time;
$s->stream(POST => '/v1/execute', { sandbox_id => $box, code =>
    'import time
print("on", flush=True)
for _ in range(300): time.sleep(0.1)' }, sub { $_[0]{type} ne 'stdout' });
my $r = $s->run('print(n)', sandbox_id => $box);
is($r->{stdout}, "7\n", 'a client that goes away leaves its session as it was');
cmp_ok(time - $began, '<', 20, 'and does not keep it busy');

$s->end;
done_testing;
