#!/usr/bin/perl

# What a web server, or somebody who pretends to be one, can do on the socket.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Retort::FakeBroker;
use Retort::FastCGI;
use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 2);
my $cell = '{"code":"out(1)"}';
my @post = ($f->params('POST', '/execute',
                       CONTENT_TYPE => 'application/json'));
my ($c, $r);

sub whole {
    my ($id, $more, $body) = @_;

    return Retort::FastCGI::begin($id, 1)
           . Retort::FastCGI::params($id, { %{$post[0]}, %$more })
           . Retort::FastCGI::stdin($id, $body // $cell);
}

# who may connect

my $pid = fork // die;

if ($pid == 0) {
    chmod 0777, $f->{path};
    POSIX::setuid(65533);
    my $other = $f->client;
    POSIX::_exit($other && $other->raw(whole(1, {}))
                 && !$other->closed(10) ? 1 : 0);
}

waitpid $pid, 0;
is($? >> 8, 0, 'another uid is closed out');
like($f->log, qr/uid 65533 .* may not connect/, 'and logged');

# what is no request

my %bad = (
    'HTTP' => "GET / HTTP/1.0\r\n\r\n",
    'zeroes' => "\0" x 64,
    'an unknown version' => pack('CCnnCC', 9, 1, 1, 8, 0, 0) . "\0" x 8,
    'an unknown type' => Retort::FastCGI::record(77, 1, ''),
    'request id 0' => Retort::FastCGI::begin(0, 0),
    'another role' => Retort::FastCGI::begin(1, 0, 2),
    'management records' => Retort::FastCGI::record(9, 0, ''),
    'a short begin' => Retort::FastCGI::record(1, 1, "\0\1"),
    'a body before params' => Retort::FastCGI::begin(1, 0)
                              . Retort::FastCGI::record(5, 1, 'x'),
    'params of another request' => Retort::FastCGI::begin(1, 0)
                                   . Retort::FastCGI::record(4, 2, 'x'),
    'a name of 2 GiB' => Retort::FastCGI::begin(1, 0)
                         . Retort::FastCGI::record(4, 1, "\xff\xff\xff\xff\1x"),
    'a pair that is cut' => Retort::FastCGI::begin(1, 0)
                            . Retort::FastCGI::record(4, 1, "\1\5Axx")
                            . Retort::FastCGI::record(4, 1, ''),
);

for my $what (sort keys %bad) {
    $c = $f->client;
    $c->raw($bad{$what});
    ok($c->closed(10), "$what: closed");
}

$c = $f->client;
$c->raw(Retort::FastCGI::begin(1, 0)
        . Retort::FastCGI::record(4, 1, "\x04\x80\x00\x70\x00NAME" . 'v' x 28672)
          x 4);
ok($c->closed(10), 'params without an end: closed at the bound');

# silence holds no thread

my $head = substr whole(1, {}), 0, 120;
my @cut = map {
    my $half = $f->client;
    $half->raw(substr $head, 0, $_);
    $half
} 1 .. length $head;
my @idle = map { $f->client } 1 .. 100;

is($f->execute({ code => 'out(1)' })->{json}{stdout}, '1',
   'connections cut after each byte, and silent ones, hold nobody up');

$c = $f->client;
for my $piece (unpack '(a5)*', whole(1, {})) {
    $c->raw($piece);
    select undef, undef, undef, 0.0005;
}
is($c->read_answer->{status}, 200, 'a request may come in small pieces');

# keep-alive

$c = $f->client;
my $good = 0;
for my $i (1 .. 500) {
    $c->raw(whole($i % 60000 + 1, {}));
    $r = $c->read_answer;
    $good++ if $r->{ended} && $r->{status} == 200;
}
is($good, 500, 'one connection carries many requests');

for my $i (1 .. 50) {
    $c->raw(whole(1, { PATH_INFO => '/nothing' }, 'x' x 1000));
    $good++ if $c->read_answer->{status} == 404;
}
is($good, 550, 'also such whose bodies nobody reads');

$c = $f->client;
$c->send_request(@post, $cell);
$c->read_answer;
ok($c->closed(10), 'without keep-alive the front closes');

# bodies

for my $t ([ '5', $cell, 400, 'longer than announced' ],
           [ '500', $cell, 400, 'shorter than announced' ],
           [ '99999999999999', $cell, 413, 'announced beyond the bound' ],
           [ 'x', $cell, 400, 'without a number' ],
           [ undef, 'x' x 1_100_000, 413, 'beyond the bound, unannounced' ]) {
    $c = $f->client;
    $c->raw(whole(1, defined $t->[0] ? { CONTENT_LENGTH => $t->[0] } : {},
                  $t->[1]));
    is($c->read_answer->{status}, $t->[2], "a body $t->[3]");
}

$c = $f->client;
$c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::params(1, @post)
        . Retort::FastCGI::record(5, 9, 'other')
        . Retort::FastCGI::stdin(1, $cell));
is($c->read_answer->{status}, 200, 'a body of another request is nobody\'s');

my %before = $f->{broker}->counts();

$c = $f->client;
$c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::params(1, @post)
        . Retort::FastCGI::record(5, 1, '{"code":'));
$c->close;
$c = $f->client;
$c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::params(1, @post)
        . Retort::FastCGI::record(1, 1, "\0\1" . "\0" x 6));
$c->close;
is($f->execute({ code => '1' })->{status}, 200, 'half bodies end nothing else');
my %after = $f->{broker}->counts();
is($after{spawn} - $before{spawn}, 1, 'and make no sandbox');

# the end of a body that is none, in a packet of its own, as Apache sends it

$r = $f->execute({ code => 'nap(1); out("late\n")', detach => \1 });
my $events = $f->params('GET', "/executions/$r->{json}{execution_id}/events",
                        HTTP_ACCEPT => 'application/x-ndjson');
$c = $f->client;
$c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::params(1, $events));
sleep 0.2;
$c->raw(Retort::FastCGI::stdin(1, ''));
like($c->read_answer->{body}, qr/late.*"status":"ok"/s,
     'the end of an empty body is no client that leaves');

# descriptors

$c = $f->client;
open my $null, '<', '/dev/null';
Retort::FakeBroker::fd_send($c->{sock}, whole(1, {}), (fileno $null) x 200);
is($c->read_answer->{status}, 200, 'descriptors that come along are dropped');

# somebody who never reads

my @deaf = map {
    my $d = $f->client;
    setsockopt $d->{sock}, 1, 8, pack 'i', 2048;
    $d->raw(whole(1, {}, '{"code":"out(q(x) x 1000000)","limits":'
                         . '{"output_bytes":1000000}}'));
    $d
} 1, 2;
ok(wait_for(sub {
    my $try = $f->client;
    $try->send_request(@post, $cell);
    $try->read_answer(25)->{status} == 200
}, 40), 'who never reads the answer is dropped in the end');

ok($cut[60]->closed(20), 'a head that never becomes whole is closed in the end');
like($f->log, qr/never became whole/, 'and logged');

# probes

my @h = (RETORT_API => 'health', RETORT_WORKSPACE => '', PATH_INFO => '');
is($f->get('GET', '', '', @h, SCRIPT_NAME => '/health')->{body},
   qq({"status":"ok"}\n), 'the probe of life');
is($f->get('GET', '', '', @h, SCRIPT_NAME => '/health',
           PATH_INFO => '/startup')->{json}{status}, 'ready',
   'the probe of readiness');
is($f->get('POST', '', '', @h, SCRIPT_NAME => '/health')->{header}{allow},
   'GET, HEAD', 'probes are only read');

done_front($f);
