#!/usr/bin/perl

# Boxes that are ready before they are asked for.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Select;
use JSON::PP;
use Test::More;
use Time::HiRes qw(sleep);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my ($f, $c);

sub count { my %n = $f->{broker}->counts(); return $n{$_[0]} // 0 }

# of which the front knows
sub ready {
    my ($n) = @_;
    return wait_for(sub { $f->get('GET', '/metrics', '', RETORT_API => 'metrics')
                              ->{body} =~ /^retort_pool_ready\S* $n$/m });
}

sub sum { return join ' ', @{$_[0]{json}}{qw(status state)} }

# one that is taken has a successor before anybody asks for it

$f = Retort::Front->start(ready => 1);
ok(wait_for(sub { count('boxes') == 1 }), 'a box waits');
$c = $f->client;
$c->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 '{"code":"nap(1e6)"}');
ok(wait_for(sub { count('boxes') == 2 }),
   'another is made while the first one is still at work');
undef $c;
ok(wait_for(sub { count('boxes') == 1 }), 'whose client goes away');

# one that is being made is for who comes next

$f->{broker}->tell('hold', 1);
is(sum($f->execute({ code => 'out(1)' })), 'ok gone', 'it serves');
ok(wait_for(sub { count('spawn') == 3 }), 'its successor is being made');
$f->{broker}->tell('spawn', 5);
$c = $f->client;
$c->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 '{"code":"out(2)"}');
sleep 0.3;
$f->{broker}->tell('release');
like($c->read_answer->{body}, qr/"stdout":"2"/,
     'a request that comes meanwhile needs no other one');
is($f->execute({ code => 'out(3)' })->{status}, 500,
   'and if none can be made the next one is told');
$f->{broker}->tell('spawn', 0);
ok(wait_for(sub { count('boxes') == 1 }), 'a box waits again');
undef $f;

# as many at once as there are cores, and not for each of a hundred cores

$f = Retort::Front->start(ready => 8);
ok(wait_for(sub { count('boxes') == 8 }), 'eight wait');
$f->{broker}->tell('hold', 1);
$f->{broker}->tell('endbox');
chomp(my $cores = `nproc`);
my $makers = $cores < 4 ? $cores : 4;
ok(wait_for(sub { count('spawn') == 8 + $makers }),
   'when they end, some are made at the same time');
sleep 0.3;
is(count('spawn'), 8 + $makers, 'one for each core, four at most');
$f->{broker}->tell('release');
ok(wait_for(sub { count('boxes') == 8 && count('spawn') == 16 }),
   'until eight wait again, and no more');
undef $f;

# who has had them all lately leaves the last ones to others

$f = Retort::Front->start(ready => 4);
my @other = (RETORT_WORKSPACE => 'other');
$f->execute({ code => '1' }) for 1 .. 40;
ok(ready(4), 'after forty runs four wait');
$f->{broker}->tell('hold', 1);
is(join(' ', map { $f->execute({ code => '1' })->{json}{status} } 1 .. 3),
   join(' ', ('ok') x 3), 'who asked so much has three of them');
$c = $f->client;
$c->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 '{"code":"out(8)"}');
ok(!IO::Select->new($c->{sock})->can_read(0.5), 'and waits for the next');
is(sum($f->execute({ code => '1' }, @other)), 'ok gone',
   'one is there for another workspace');
my $late = $f->client;
$late->send_request($f->params('POST', '/execute', @other,
                               CONTENT_TYPE => 'application/json'),
                    '{"code":"out(9)"}');
sleep 0.3;
$f->{broker}->tell('release');
like($late->read_answer->{body}, qr/"stdout":"9"/, 'which is served');
like($c->read_answer->{body}, qr/"stdout":"8"/, 'as is who waited');
undef $f;

# beside others, who may run one at a time waits while others are made

sub soonest {
    my @us = sort { $a <=> $b } map {
        $f->execute({ code => '1' }, @_)->{json}{timings_us}{create} } 1 .. 3;
    return $us[0];
}

$f = Retort::Front->start(ready => 32);
ok(ready(32), 'enough wait for two workspaces');
$f->execute({ code => '1' }) for 1 .. 30;
ok(ready(32), 'also when one has had thirty');
$f->{broker}->tell('hold', 1);
is(sum($f->execute({ code => '1' }, @other)), 'ok gone', 'the other one comes');
my ($free, $other) = (soonest(), soonest(@other, RETORT_RUNNING => 1));
my $paced = soonest(RETORT_RUNNING => 1);
cmp_ok($paced, '>', $free, "without a bound nobody waits ($paced us, $free us)");
cmp_ok($paced, '>', $other, "nor who had few ($other us)");
is($f->execute({ code => '1' }, RETORT_RUNNING => 0)->{json}{error}{code},
   'bad_param', 'no run at once is no bound');
$f->{broker}->tell('release');
undef $f;

# but who can have no other one takes it

$f = Retort::Front->start(ready => 8);
ok(wait_for(sub { count('boxes') == 8 }), 'eight wait again');
$f->{broker}->tell('slots', 8);
$f->execute({ code => '1' }) for 1 .. 40;
my @busy = map { $f->client } 1 .. 7;
$_->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 '{"code":"nap(600)"}') for @busy;
ok(ready(1), 'one is left, and no place for another');
is(sum($f->execute({ code => '1' })), 'ok gone', 'it runs in the one that is left');
ok(wait_for(sub { count('kill') == 41 }), 'which ends');
sleep 0.2;
is(count('kill'), 41, 'once, and no other one has to');
undef @busy;
undef $f;

# who wants another one has its place

$f = Retort::Front->start(ready => 8);
ok(wait_for(sub { count('boxes') == 8 }), 'eight wait once more');
$f->{broker}->tell('slots', 8);
is(sum($f->execute({ code => '1', limits => { processes => 40 } })), 'ok gone',
   'one that waits makes way for one with limits of its own');

done_front($f);
