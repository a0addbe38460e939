#!/usr/bin/perl

# A front that dies loses no session: its successor finds the sandboxes again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 2);

sub keep {
    my $r = $f->execute({ code => $_[0], keep => JSON::PP::true });
    return $r->{json}{sandbox_id};
}

sub sum { return join ' ', @{$_[0]{json}}{qw(status state stdout)} }

sub run { return $f->execute({ code => $_[1], sandbox_id => $_[0] }) }

sub begin {
    my ($id, $code) = @_;

    my $c = $f->client;
    $c->send_request($f->params('POST', '/execute',
                                CONTENT_TYPE => 'application/json'),
                     JSON::PP->new->encode({ code => $code,
                                             sandbox_id => $id }));
    wait_for(sub {
        $f->get('GET', "/sandboxes/$id")->{json}{status} eq 'running'
    });
    return $c;
}

sub crash {
    kill 'KILL', $f->{pid};
    is($f->ended, 9, 'the front dies');
    $f->run();
}

# quiet ones

my $idle = keep('$v{x} = 1');
my $spoke = keep('$v{x} = 2; if (!fork) { nap(0.2); out("ghost"); exit }');
my $made = $f->get('POST', '/sandboxes', { ttl => 500 })->{json}{sandbox_id};
my $created = $f->get('GET', "/sandboxes/$made")->{json}{created_at};
ok(wait_for(sub { my %n = $f->{broker}->counts(); $n{boxes} == 5 }),
   'three sandboxes are kept, two wait');
sleep 0.4;
crash();

is(sum(run($idle, 'out($v{x})')), 'ok kept 1', 'a sandbox is found again');
is(sum(run($spoke, 'out($v{x})')), 'ok kept 2',
   'what it said meanwhile is dropped');
is($f->get('GET', "/sandboxes/$made")->{json}{created_at}, $created,
   'one that never ran, too, with its age');
is($f->get('GET', "/sandboxes/$idle", '', RETORT_WORKSPACE => 'other')
   ->{status}, 404, 'each still belongs to its workspace');
is(scalar @{$f->get('GET', '/sandboxes')->{json}{sandboxes}}, 3,
   'and there are no others');
ok(wait_for(sub { my %n = $f->{broker}->counts(); $n{boxes} == 5 }),
   'boxes that waited are ended, new ones wait');
my %n = $f->{broker}->counts();
cmp_ok($n{kill}, '>=', 2, 'for a front cannot know what ran in them');

# busy ones

my @busy = map { keep('$v{x} = 3') } 1 .. 5;
my @c = (begin($busy[0], 'nap(60)'),
         begin($busy[1], 'out("flood") while 1'),
         begin($busy[2], '$SIG{INT} = "IGNORE"; 1 while 1'),
         begin($busy[3], 'fd1("flood" x 100) while 1'),
         begin($busy[4], 'raw(head(103, 5, 1, 0, 90000) . "begun"); nap(60)'));
crash();

is($c[0]->read_answer->{ended}, 0, 'its requests end without an answer');
is(sum(run($busy[0], 'out($v{x})')), 'ok kept 3',
   'a cell that slept was interrupted, its variables live');
is(sum(run($busy[1], 'out($v{x})')), 'ok kept 3',
   'one that talked, too, and its output is gone');
is(sum(run($busy[2], 'out($v{x} // "none")')), 'ok lost none',
   'one that would not be interrupted has a new interpreter, and that is told');
is(sum(run($busy[3], 'out($v{x})')), 'ok kept 3',
   'one that filled a pipe was interrupted');
like(sum(run($busy[4], 'out($v{x} // "none")')), qr/^ok (kept 3|lost none)$/,
     'one in the middle of a message is usable');
is(sum(run($busy[2], 'out("again")')), 'ok kept again', 'and stays so');

# once more, with a cell that waits for an answer to its sync

my $c = begin($busy[0], '$SIG{INT} = "IGNORE"; nap(1); sync(); out("late")');
crash();
is(sum(run($busy[0], 'out($v{x})')), 'ok kept 3',
   'a kernel that waits for an acknowledgement gets on');

# runs that are undone, as no front came to tell

run($busy[3], '$v{undone} = 2');
crash();
my $r = run($busy[3], 'delete $v{undone}; out($v{x})');
is(sum($r), 'ok restored 3', 'what was restored before the front died is told by the next one');
is($r->{json}{state_reason}, 'the two runs before this one are undone as well', '... with how far it is behind');
is(sum(run($busy[3], 'out($v{x})')), 'ok kept 3', '... once');

# an interpreter that ended while there was no front

my ($exits) = +{ $f->{broker}->counts() }->{exits} // 0;
kill 'KILL', $f->{pid};
$f->ended;
$f->{broker}->tell('killkernels');
wait_for(sub { my %now = $f->{broker}->counts(); ($now{exits} // 0) > $exits });
$f->run();
is(sum(run($busy[1], 'out($v{x} // "none")')), 'ok lost none',
   'an interpreter that ended meanwhile has a successor, and that is told');

# nothing but what has a record

$f->client->send_request($f->params('POST', '/execute',
                                    CONTENT_TYPE => 'application/json'),
                         '{"code":"nap(60)"}');
sleep 0.2;
my $alive = @{$f->get('GET', '/sandboxes')->{json}{sandboxes}};
crash();
ok(wait_for(sub { my %now = $f->{broker}->counts();
                  $now{boxes} == $alive + 2 }),
   'a sandbox for one cell does not survive its front');

kill 'KILL', $f->{pid};
$f->ended;
$f->{broker}->tell('endbox');
$f->run();
is_deeply($f->get('GET', '/sandboxes')->{json}{sandboxes}, [],
          'sandboxes that ended meanwhile are not found');
is(run($idle, '1')->{status}, 410, 'nor run: they are known to be gone');
is($f->execute({ code => '1', sandbox_id => $idle },
               RETORT_WORKSPACE => 'other')->{status}, 404,
   'to their workspace only');
(my $forged = $idle) =~ s/.$/$& eq '0' ? '1' : '0'/e;
is(run($forged, '1')->{status}, 404, 'and no other id is');

done_front($f);
