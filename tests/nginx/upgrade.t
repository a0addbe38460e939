#!/usr/bin/perl

# A new binary next to the old one: both admit by the same counts, a run that
# ends at one wakes a waiter of the other, and the old one can take over again.

use strict;
use warnings;

use Test::More;

use Retort::Nginx;
use Retort::Runs;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
env LD_PRELOAD;
env ASAN_OPTIONS;
http {
    %%HTTP%%
    retort_zone main 64k running=1 waiting=6;
    retort_workspace $http_x_who;
    retort_limits zone=main waiting=4 wait=60s;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location = /status { retort_status main; }
    }
}
EOC

my $t = Retort::Runs->new($ng);
$ng->start(orphan => 1);
my $old = $ng->{pid};


sub workers_of {
    my $pid = shift;
    return Retort::Nginx::workers({ pid => $pid });
}


my %run = (u1 => $t->begin('a', 'u1'));
$t->is_status(1, 0, 'a run');
$run{u2} = $t->begin('a', 'u2');
$t->is_status(1, 1, 'and one that waits');

kill 'USR2', $old;
my $new;
ok $ng->wait_for(sub {
    ($new) = $ng->slurp('nginx.pid') =~ /(\d+)/;
    return -e $ng->dir . '/nginx.pid.oldbin' && $new && $new != $old
        && workers_of($new);
}), 'a second master';
$ng->log_like(qr/using inherited retort zone "main"/, 'has the zone');

# what is asked while the old one stands still is asked of the new one

my ($first) = workers_of($old);
$ng->halt($first);
$t->is_status(1, 1, 'the new one has the counts');
$run{u3} = $t->begin('b', 'u3');
$t->is_status(1, 2, 'and adds to them');
kill 'CONT', $first;

$t->end('u1');
is $ng->response($run{u1})->{body}, 'u1', 'a run of the old one ends';
ok $t->wait_begun(2), 'another one begins';
is $t->last, 'u3', 'at the new one, whose turn it is';
$t->end('u3');
is $ng->response($run{u3})->{body}, 'u3', 'a run of the new one ends';
ok $t->wait_begun(3), 'another one begins';
is $t->last, 'u2', 'at the old one';

# a dead worker of the new one

$t->end('u2');
is $ng->response($run{u2})->{body}, 'u2', 'which ends as well';
$ng->halt($first);
my @s = map { $t->begin('a', "v$_") } 1 .. 2;
$t->is_status(1, 1, 'one runs, one waits at the new one');
my ($worker) = workers_of($new);
kill 'KILL', $worker;
ok $ng->wait_for(sub { grep { $_ != $worker } workers_of($new) }),
    'whose worker is killed';
close $_ for @s;
$run{v3} = $t->begin('a', 'v3');
ok $ng->wait_for(sub { $t->last eq 'v3' }, 10), 'the next one runs';
$t->is_status(1, 0, 'alone');
kill 'CONT', $first;

# back to the old one

kill 'QUIT', $new;
ok $ng->wait_for(sub {
    !grep { Retort::Nginx::title($_) !~ /shutting down/ } workers_of($new)
}), 'the new one serves nobody any more';
$run{v4} = $t->begin('b', 'v4');
$t->is_status(1, 1, 'the old one has the counts');
$t->end('v3');
is $ng->response($run{v3})->{body}, 'v3', 'a run of the new one ends';
ok $ng->wait_for(sub { $t->last eq 'v4' }, 10), 'one of the old one begins';
$t->end('v4');
is $ng->response($run{v4})->{body}, 'v4', 'and ends';
$t->is_status(0, 0, 'nothing is left');
ok $ng->wait_for(sub { !kill 0, $new }), 'the new master is gone';

# that a worker was killed is our own doing
(my $log = $ng->slurp('logs/error.log')) =~ s/.*exited on signal 9.*\n//g;
$ng->write('logs/error.log', $log);

$t->stop;
$ng->finish;
done_testing;
