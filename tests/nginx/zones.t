#!/usr/bin/perl

# What a zone has room for, whose record is given to whom, and what a rate
# lets through.

use strict;
use warnings;

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use Retort::Nginx;
use Retort::Runs;

my $ng = Retort::Nginx->new(<<'EOC', alarm => qr/is full/);
%%MAIN%%
http {
    %%HTTP%%
    retort_zone small 32k;
    retort_zone large 1m;
    retort_zone tiny 32k;
    retort_zone rates 64k;
    retort_workspace $http_x_who;
    server {
        listen 127.0.0.1:%%PORT%%;
        keepalive_requests 100000;
        location /v1/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=small running=2000;
        }
        location = /large {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=large rate=1r/m;
        }
        location = /tiny {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=tiny rate=1r/m;
        }
        location /fast/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=rates rate=20r/s burst=9;
        }
        location /minute/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=rates rate=1r/m burst=2;
        }
        location /qwen/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api qwen;
            retort_limits zone=rates rate=1r/m;
        }
        location /small { retort_status small; }
        location /all { retort_status large; }
    }
}
EOC

my $t = Retort::Runs->new($ng);
$ng->start;


sub code {
    my $res = shift;
    my $code = eval { decode_json($res->{body})->{error}{code} };
    return $code ? "$res->{status} $code" : $res->{status};
}


# the smallest zone: nobody's record is taken while a run of his is there

my $big = 'w' x 64;
my %run = ($big => $t->begin($big, 'first'));
$t->is_status(1, 0, 'a workspace with 64 characters runs', '/small');
is $t->status('/small')->{workspaces}[0]{workspace}, $big, 'and is counted';
is code($ng->response($t->begin('w' x 65, ''))), '403 forbidden',
    'one with 65 is nobody';

my $room;
for my $n (1 .. 400) {
    my $s = $t->begin("w$n", "w$n");
    my $ok = $ng->wait_for(sub {
        IO::Select->new($s)->can_read(0)
            || $t->status('/small')->{running} == $n + 1
    }, 10);
    $run{"w$n"} = $s;
    next unless IO::Select->new($s)->can_read(0);
    $room = $n;
    last;
}

my $res = $ng->response(delete $run{"w$room"});
is code($res), '503 capacity', "with $room busy workspaces nobody is idle";
is $res->{header}{'retry-after'}, 1, 'the next one is told when to come again';
is code($ng->response($t->begin($big, ''))), 200,
    'for those who are there nothing changes';

$t->end('w7');
$ng->response(delete $run{w7});
$run{new} = $t->begin('new', 'new');
$t->is_status($room, 0, 'once one is idle there is a place', '/small');
my %seen = map { $_->{workspace} => 1 } @{$t->status('/small')->{workspaces}};
ok $seen{new} && !$seen{w7} && $seen{$big}, 'which is his';
$t->end_all;
$ng->response($_) for values %run;
$t->is_status(0, 0, 'nothing is left', '/small');

# three thousand of them in a megabyte: each has used up what it may for a
# minute, so that a record that was lost would show

my $s = $ng->connect;
my %got;

for my $n (1 .. 3000, 1 .. 3000) {
    print $s "GET /large HTTP/1.1\r\nHost: l\r\nX-Who: w$n\r\n\r\n";
    $got{code($ng->response($s))}++;
}

is_deeply \%got, { 200 => 3000, '429 too_many_requests' => 3000 },
    'three thousand workspaces are in a megabyte';
is scalar(@{$t->status('/all')->{workspaces}}), 3000, 'and all are listed';

# who has requests to wait for is not idle

%got = ();
for my $n (1 .. 100, 1 .. 5) {
    print $s "GET /tiny HTTP/1.1\r\nHost: l\r\nX-Who: w$n\r\n\r\n";
    $got{code($ng->response($s))}++;
}

is_deeply [sort keys %got], [200, '429 too_many_requests', '503 capacity'],
    'a rate is not forgotten for the sake of another workspace';
is $got{'429 too_many_requests'}, 5, 'nor that of the first ones';
close $s;

# rates: as many as the burst and one at once, then what the time gives

sub flood {
    my ($uri, $n) = @_;
    my $s = $ng->connect;
    my ($start, $ok) = (time, 0);
    for (1 .. $n) {
        print $s "GET $uri HTTP/1.1\r\nHost: l\r\nX-Who: r\r\n\r\n";
        $ok++ if $ng->response($s)->{status} == 200;
        $n > 500 and select undef, undef, undef, 0.001;
    }
    return ($ok, time - $start);
}

my ($ok) = flood('/minute/x', 300);
is $ok, 3, 'one, and a burst of two: three in a moment';
$res = $ng->get('/minute/x', 'X-Who' => 'r');
cmp_ok $res->{header}{'retry-after'}, '<=', 60, 'the next one within a minute';
cmp_ok $res->{header}{'retry-after'}, '>', 45, 'and no sooner';

my ($many, $seconds) = flood('/fast/x', 1200);
my $due = 10 + 20 * $seconds;
cmp_ok $many, '<=', $due + 1, 'no more than the rate gives';
cmp_ok $many, '>=', $due * 0.9 - 1, 'and not much less';

# the form is that of the dialect, in which such a thing is no call

$ng->post('/qwen/code_interpreter', '{}', 'X-Who' => 'q');
$res = $ng->post('/qwen/code_interpreter', '{}', 'X-Who' => 'q');
is code($res), '429 too_many_requests', 'what is no call is JSON for qwen, too';
is $res->{header}{'content-type'}, 'application/json', 'and is named so';
ok $res->{header}{'retry-after'}, 'with a time to come again';

$t->stop;
$ng->finish;
done_testing;
