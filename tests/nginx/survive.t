#!/usr/bin/perl

# The places of runs outlive nobody: a worker that is killed, a reload, a zone
# of another size.

use strict;
use warnings;

use Test::More;

use Retort::Nginx;
use Retort::Runs;

my $ng = Retort::Nginx->new;
my $conf = <<'EOC';
%%MAIN%%
http {
    %%HTTP%%
    retort_zone main SIZE running=RUNNING waiting=6;
    retort_workspace $http_x_who;
    retort_limits zone=main waiting=4 wait=60s;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location = /status { retort_status main; }
    }
}
EOC

sub conf {
    my ($size, $running) = @_;
    (my $text = $conf) =~ s/SIZE/$size/;
    $text =~ s/RUNNING/$running/;
    $ng->conf($text);
}

conf('64k', 2);
my $t = Retort::Runs->new($ng);
$ng->start;


# killed with two that run and two that wait; nobody asks for the counts, so
# that it is the new worker that takes the places back

for my $round (1 .. 3) {
    my @s = map { $t->begin('a', "k$round-$_") } 1 .. 4;
    $t->is_status(2, 2, "two run, two wait ($round)");

    my ($old) = $ng->workers;
    kill 'KILL', $old;
    ok $ng->wait_for(sub { grep { $_ != $old } $ng->workers }),
        'their worker is killed, another one comes';
    close $_ for @s;

    my $had = () = $t->begun;
    @s = map { $t->begin('b', "n$round-$_") } 1 .. 2;
    ok $t->wait_begun($had + 2), 'as many may run again';
    $t->is_status(2, 0, 'and no other does');
    $t->end("n$round-$_") for 1 .. 2;
    is $ng->response($_)->{status}, 200, 'to their ends' for @s;
    $t->is_status(0, 0, 'nothing is left');
}

# a reload keeps them, in the order in which they came

my %run = map { $_ => $t->begin('a', $_) } qw(r1 r2);
$t->is_status(2, 0, 'two run');
$run{w1} = $t->begin('a', 'w1');
$t->is_status(2, 1, 'one waits');
ok $ng->reload, 'a reload';
$run{w2} = $t->begin('a', 'w2');
$t->is_status(2, 2, 'one more waits in the new worker');
my $had = () = $t->begun;
$t->end('r1');
is $ng->response($run{r1})->{body}, 'r1', 'one ends';
ok $t->wait_begun($had + 1), 'another begins';
is +($t->begun)[-1], 'w1', 'which is the older one, of the old worker';
$t->is_status(2, 1, 'the other one waits on');
$t->end('r2');
ok $t->wait_begun($had + 2), 'until the next one ends';
$t->end($_) for qw(w1 w2);
is $ng->response($run{$_})->{body}, $_, "$_ has its answer" for qw(r2 w1 w2);
$t->is_status(0, 0, 'nothing is left');

# another limit counts at once

$run{$_} = $t->begin('a', $_) for qw(l1 l2 l3);
$t->is_status(2, 1, 'two run, one waits');
conf('64k', 3);
ok $ng->reload, 'a reload with room for one more';
$t->is_status(3, 0, 'admits the one that waited at an old worker');

# another size is another zone: runs of old workers do not count in it

conf('128k', 2);
ok $ng->reload, 'a reload with another size';
$t->is_status(0, 0, 'begins at nothing');
$run{$_} = $t->begin('b', $_) for qw(z1 z2 z3);
$t->is_status(2, 1, 'and counts for itself');
$t->end_all;
is $ng->response($run{$_})->{body}, $_, "$_ has its answer"
    for qw(l1 l2 l3 z1 z2 z3);
$t->is_status(0, 0, 'nothing is left');
ok $ng->wait_for(sub { $ng->workers == 1 }), 'old workers end';

# that workers were killed is our own doing
(my $log = $ng->slurp('logs/error.log')) =~ s/.*exited on signal 9.*\n//g;
$ng->write('logs/error.log', $log);

$t->stop;
$ng->finish;
done_testing;
