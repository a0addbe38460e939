#!/usr/bin/perl

# A run that waits at one worker is woken by the end of a run at another one,
# by an event, not by a look now and then; who leaves gives the place up.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Retort::Nginx;
use Retort::Runs;

my $ng = Retort::Nginx->new;
my $conf = <<'EOC';
%%MAIN%%
http {
    %%HTTP%%
    log_format pid '$args $pid $status $retort_status';
    access_log %%DIR%%/logs/pid.log pid;
    retort_zone main 64k running=1 waiting=6;
    retort_workspace $http_x_who;
    retort_limits zone=main waiting=4 wait=20s;
    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /h2/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace h2;
        }
        location = /status { retort_status main; }
    }
}
EOC

$ng->conf($conf);
(my $text = $ng->slurp('nginx.conf')) =~ s/worker_processes 1/worker_processes 2/;
$ng->write('nginx.conf', $text);

my $t = Retort::Runs->new($ng);
$ng->start;
$ng->wait_for(sub { $ng->workers == 2 });
my @w = $ng->workers;


# what is done while the other worker stands still is done at this one

sub at {
    my ($n, $what) = @_;
    $ng->halt($w[1 - $n]);
    my @res = $what->();
    kill 'CONT', $w[1 - $n];
    return $res[0];
}


sub switches {
    my $pid = shift;
    open my $fh, '<', "/proc/$pid/status" or return -1;
    my ($n) = join('', <$fh>) =~ /^voluntary_ctxt_switches:\s*(\d+)/m;
    return $n;
}


# seconds from the end of a run at one worker to the begin of another's

sub hand_over {
    my ($from, $to, $n) = @_;

    my ($one, $two) = ("$from$to-$n-1", "$from$to-$n-2");
    my $s1 = at($from, sub {
        my $s = $t->begin('a', $one);
        $ng->wait_for(sub { $t->last eq $one }, 10);
        return $s;
    });
    my $s2 = at($to, sub {
        my $s = $t->begin('a', $two);
        $ng->wait_for(sub { $t->status->{waiting} == 1 }, 10);
        return $s;
    });

    my $looked = switches($w[$to]);
    select undef, undef, undef, 0.3;
    $looked = switches($w[$to]) - $looked;

    $t->end($one);
    $ng->response($s1);
    my $start = time;
    my $woken = $ng->wait_for(sub { $t->last eq $two }, 10);
    my $time = time - $start;
    $t->end($two);
    $ng->response($s2);

    return ($woken, $time, $looked);
}


for (['one worker', 0, 0], ['another worker', 0, 1], ['the first', 1, 0]) {
    my ($name, $from, $to) = @$_;
    my ($woken, $looked) = (0, 0);
    my @time;

    for my $n (1 .. 4) {
        my ($w, $t, $l) = hand_over($from, $to, $n);
        $woken += $w;
        $looked += $l;
        push @time, $t;
    }

    is $woken, 4, "the end of a run wakes a waiter at $name";
    cmp_ok((sort { $a <=> $b } @time)[1], '<', 20 / 10,
           'long before its time is over');
    cmp_ok $looked, '<', 4, 'meanwhile its worker has slept';
}

my %pid;
$ng->wait_for(sub {
    %pid = $ng->slurp('logs/pid.log') =~ /^(\S+-\d-\d) (\d+) 200/mg;
    keys %pid == 24;
});
is_deeply [map { $pid{"01-1-$_"} } 1, 2], \@w, 'these were at two workers';

# leaving

my $run = $t->begin('a', 'long');
$t->is_status(1, 0, 'a run');
my $s = $t->begin('b', 'leaves');
$t->is_status(1, 1, 'another one waits');
close $s;
$t->is_status(1, 0, 'whose client closes: its place is free');

$s = h2_request('reset');
$t->is_status(1, 1, 'one waits on an HTTP/2 stream');
print $s h2_frame(3, 0, 1, pack 'N', 8);
$s->flush;
$t->is_status(1, 0, 'which is reset: its place is free');
close $s;

$s = h2_request('dies');
$t->is_status(1, 1, 'one more');
close $s;
$t->is_status(1, 0, 'whose connection is closed: its place is free');

$t->end('long');
$ng->response($run);
$t->is_status(0, 0, 'nothing is left');
is scalar(grep { /leaves|reset|dies/ } $t->begun), 0,
    'nothing of them has reached the front';
$ng->wait_for(sub {
    3 == (() = $ng->slurp('logs/pid.log') =~ /499 cancelled/g)
});
like $ng->slurp('logs/pid.log'), qr/^$_ \d+ 499 cancelled/m,
    "the log says so ($_)" for qw(leaves reset dies);

$t->stop;
$ng->finish;
done_testing;


sub h2_frame {
    my ($type, $flags, $stream, $payload) = @_;
    return substr(pack('N', length $payload), 1)
        . pack('CCN', $type, $flags, $stream) . $payload;
}


sub h2_request {
    my $name = shift;

    my $s = $ng->connect(1);
    my $block = join '', map {
        "\0" . join '', map { pack('C', length $_) . $_ } @$_
    } [':method', 'POST'], [':scheme', 'http'],
      [':path', "/h2/execute?$name"], [':authority', 'l'];

    print $s "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . h2_frame(4, 0, 0, '')
        . h2_frame(1, 5, 1, $block);
    return $s;
}
