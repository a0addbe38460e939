#!/usr/bin/perl

# Two hundred clients of five workspaces at once, at two workers: each gets an
# answer, the workspaces take turns, and nothing is left.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::Nginx;
use Retort::Runs;

my $ng = Retort::Nginx->new;
my $conf = <<'EOC';
%%MAIN%%
http {
    %%HTTP%%
    retort_zone main 64k running=4 waiting=20;
    retort_workspace $http_x_who;
    retort_limits zone=main waiting=4 wait=60s;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location = /status { retort_status main; }
    }
}
EOC

$ng->conf($conf);
(my $text = $ng->slurp('nginx.conf')) =~ s/worker_processes 1/worker_processes 2/;
$ng->write('nginx.conf', $text);

my $t = Retort::Runs->new($ng);
$ng->start;

my @who = qw(a b c d e);
my %run;

# one after the other, so that a queue in the order of arrival is not fair

for my $who (@who) {
    $run{"$who-$_"} = $t->begin($who, "$who-$_") for 1 .. 40;
}

$t->is_status(4, 20, 'four run, twenty wait');
my $late = $ng->response($t->begin('f', 'late'));
is $late->{status}, 503, 'who comes now does so at the capacity';
is $late->{header}{'retry-after'}, 1, 'and is told when to come again';

# a hundred and seventy-six have been refused: theirs can be read

my %got;
my $select = IO::Select->new(values %run);
my %name = reverse %run;

while (keys %run > 24) {
    my @ready = $select->can_read(20) or last;
    for my $s (@ready) {
        my $name = $name{$s};
        my $res = $ng->response($s);
        my $code = eval { decode_json($res->{body})->{error}{code} } // '';
        $got{"$res->{status} $code " . ($res->{header}{'retry-after'} // '')}++;
        $select->remove($s);
        delete $run{$name};
    }
}

my $refused = ($got{'429 too_many_runs 1'} // 0) + ($got{'503 capacity 1'} // 0);
is $refused, 176, 'all the others are refused, with a time to come again'
    or diag explain \%got;
is scalar(keys %got), ($got{'503 capacity 1'} ? 2 : 1), 'and nobody else is';

# they end one by one

$t->wait_begun(4);
my @ended;
my $bad = 0;

for my $n (0 .. 23) {
    my $name = ($t->begun)[$n];
    $t->end($name);
    my $res = $ng->response($run{$name});
    $bad++ if $res->{status} != 200 || $res->{body} ne $name;
    $t->wait_begun($n + 5) if $n < 20;
}

is $bad, 0, 'those that were admitted have their answers';

my @begun = $t->begun;
is scalar(@begun), 24, 'nothing of the others has reached the front';

my @turns = map { join ' ', sort map { substr $_, 0, 1 }
                  @begun[4 + 5 * $_ .. 8 + 5 * $_] } 0 .. 3;
is_deeply \@turns, [('a b c d e') x 4], 'each workspace once in each turn';

$t->is_status(0, 0, 'nothing is left');
my $s = $t->status;
is_deeply [@$s{qw(admitted queued)}], [24, 20], 'all are counted';
is $s->{limited} + $s->{refused}, 177, 'the refused ones, too';
is_deeply [grep { $_->{running} || $_->{waiting} } @{$s->{workspaces}}], [],
    'of no workspace';

$t->stop;
$ng->finish;
done_testing;
