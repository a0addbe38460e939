#!/usr/bin/perl

# Hundreds of sessions that nobody used for too long end in the same moment.
# The front tells its broker of each, and the broker says two things to each:
# more than fits into their socket while one of them does not listen.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Select;
use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { MANY => 400, TTL => 5 };

my $f = Retort::Front->start(nslots => MANY, sessions => MANY);

sub count { my %n = $f->{broker}->counts(); return $n{$_[0]} // 0 }

ok(wait_for(sub { count('kill') == 1 && count('boxes') == 0 }),
   'the first sandbox, of the start, is gone');
$f->{broker}->tell('empty', 1);

is(scalar(grep {
    $f->get('POST', '/sandboxes', { ttl => TTL })->{status} == 201
} 1 .. MANY), MANY, 'hundreds of sessions are made');

# a front that stands still until all of them are due

my $due = time + TTL;
kill 'STOP', $f->{pid};
sleep 0.1 while time <= $due;
kill 'CONT', $f->{pid};

my $c = $f->client;
$c->send_request($f->params('GET', '/sandboxes'), '');

if (!ok(IO::Select->new($c->{sock})->can_read(30),
        'while they end it answers'))
{
    # and its broker cannot be asked
    kill 'KILL', $f->{pid};
    done_testing();
    exit;
}

ok(wait_for(sub { count('boxes') == 0 }), 'each of them ends');
is(count('kill'), MANY + 1, 'once');
is($f->get('POST', '/sandboxes')->{status}, 201, 'then there is place again');

done_front($f);
