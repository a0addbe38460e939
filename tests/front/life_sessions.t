#!/usr/bin/perl

# How long a session lives: since its last use, since its beginning, or until
# its interpreter ends.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep time);
use Time::Local qw(timegm);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { TIMED => 0, EXIT => 1 };

my ($f, $r, $id);

sub at {
    my ($y, $mo, $d, $h, $m, $s) =
        $_[0] =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):([\d.]+)Z$/ or return 0;
    return timegm(0, $m, $h, $d, $mo - 1, $y) + $s;
}

sub look { return $f->get('GET', "/sandboxes/$_[0]") }

sub life { my $b = look($_[0])->{json}; at($b->{expires_at}) - at($b->{created_at}) }

sub made {
    my ($body) = @_;
    my $box = $f->get('POST', '/sandboxes', $body);
    is($box->{status}, 201, 'a session');
    return $box->{json}{sandbox_id};
}

sub run { return $f->execute({ code => $_[1], sandbox_id => $_[0] }) }

sub sum { return join ' ', @{$_[0]{json}}{qw(status state)} }

sub count { my %n = $f->{broker}->counts(); return $n{$_[0]} // 0 }

# timed, of any age

$f = Retort::Front->start(ttl => 2000, ttl_max => 5000);
$id = made();
my $first = look($id)->{json}{expires_at};
sleep 0.3;
$r = run($id, '1');
cmp_ok(at($r->{json}{expires_at}), '>=', at($first) + 0.3, 'each use renews it');
cmp_ok(life(made({ ttl => 5 })), '>', 4, 'a request may ask for more time');
cmp_ok(life(made({ ttl => 1 })), '<', 1.5, 'or for less');
is($f->get('POST', '/sandboxes', { ttl => 6 })->{status}, 400,
   'but not for more than there is');
ok(wait_for(sub { look($id)->{status} == 410 }), 'without use it ends');
is(run($id, '1')->{json}{error}{code}, 'sandbox_expired', 'and that is told');
undef $f;

# timed, and of a bounded age

$f = Retort::Front->start(ttl => 60_000, alive => 5000);
$id = made();
cmp_ok(life($id), '<=', 5, 'no session is promised more than its age');
$r = run($id, '$v{x} = 1');
cmp_ok(at($r->{json}{expires_at}), '<=', at($first = look($id)->{json}{created_at})
                                         + 5, 'use does not renew that');
is(sum($r), 'ok kept', 'it is used until then');
my $late = $f->client;
my $c = $f->client;
my @p = $f->params('POST', '/execute', CONTENT_TYPE => 'application/json');
my $cell = sub { JSON::PP->new->encode({ sandbox_id => $id, code => $_[0] }) };
$c->send_request(@p, $cell->('nap(30)'));
wait_for(sub { look($id)->{json}{status} eq 'running' });
$late->send_request(@p, $cell->('1'));
my $began = time;
$r = Retort::Front::decode($c->read_answer);
cmp_ok(time - $began, '<', 10, 'what runs then ends with it');
is(sum($r), 'killed gone', 'as killed');
is($r->{json}{error}{message}, 'Killed: The session is as old as it may become.',
   'and says why');
is(Retort::Front::decode($late->read_answer)->{json}{error}{code},
   'sandbox_expired', 'who waited for it is told that it ended');
is(look($id)->{status}, 410, 'so is who comes later');
is_deeply($f->get('GET', '/sandboxes')->{json}{sandboxes}, [],
          'it is in no list');

$id = made();
kill 'KILL', $f->{pid};
$f->ended;
$f->run();
is(sum(run($id, '1')), 'ok kept', 'a session whose front died goes on');
cmp_ok(life($id), '<=', 5, 'with its age');
ok(wait_for(sub { look($id)->{status} == 410 }), 'and ends of it');
undef $f;

# until the interpreter ends

$f = Retort::Front->start(ttl => 300, alive => 600_000, life => EXIT);
is($f->get('POST', '/sandboxes', { ttl => 1 })->{status}, 400,
   'there is no ttl to ask for');
$id = made();
cmp_ok(abs(life($id) - 600), '<', 1, 'its end is that of its age');
run($id, '$v{x} = 7');
sleep 0.8;
$r = run($id, 'out($v{x})');
is($r->{json}{stdout}, '7', 'it is kept while nobody uses it');
is(at($r->{json}{expires_at}), at(look($id)->{json}{expires_at}),
   'each answer has its end');
is(sum(run($id, 'die "no"')), 'error kept', 'an error does not end it');
is(sum($f->execute({ code => 'nap(20)', sandbox_id => $id, timeout => 0.2 })),
   'timeout kept', 'nor does a run that can be interrupted');
$r = run($id, 'POSIX::_exit(3)');
is(sum($r), 'killed gone', 'the end of its interpreter does');
is($r->{json}{sandbox_id}, undef, 'no sandbox is named any more');
is(look($id)->{status}, 410, 'it is gone');
my $stuck = made();
is(sum($f->execute({ code => '$SIG{INT} = "IGNORE"; 1 while 1', timeout => 0.2,
                     sandbox_id => $stuck })),
   'timeout gone', 'so does one that has to be killed at its limit');
is(look($stuck)->{status}, 410, 'it is gone, too');
is(run($id, '1')->{status}, 410, 'for runs, too');

$id = made();
run($id, 'if (!fork) { nap(0.1); kill 9, getppid; exit }');
ok(wait_for(sub { look($id)->{status} == 410 }),
   'so it is if the interpreter ends between two runs');
is_deeply($f->get('GET', '/sandboxes')->{json}{sandboxes}, [],
          'and nobody finds it');

my @named = (HTTP_X_SESSION_ID => 'mine', RETORT_API => 'qwen');
sub named {
    return $f->get('POST', '/code_interpreter',
                   { params => { code => $_[0] }, timeout => 0 }, @named)->{body};
}
named('$v{n} = 1');
like(named('out($v{n})'), qr/1/, 'a session by its client\'s name lives, too');
named('POSIX::_exit(1)');
unlike(named('out($v{n} // "none")'), qr/1/, 'ends, too, and begins anew');

$id = made();
kill 'KILL', $f->{pid};
$f->ended;
my $ends = count('exits');
$f->{broker}->tell('killkernels');
ok(wait_for(sub { count('exits') > $ends }), 'an interpreter ends');
$f->run();
ok(wait_for(sub { look($id)->{status} == 410 }),
   'one whose interpreter ended while there was no front is gone');
undef $f;

# boxes that wait

$f = Retort::Front->start(ready => 2);
ok(wait_for(sub { count('boxes') == 2 }), 'two boxes wait');
for my $how (qw(killkernels endbox)) {
    my $before = count('spawn');
    $f->{broker}->tell($how);
    ok(wait_for(sub { count('boxes') == 2 && count('spawn') == $before + 2 }),
       "others take their place when they end ($how), without any request");
}
is(sum($f->execute({ code => 'out(1)' })), 'ok gone', 'a run has a good one');
ok(wait_for(sub { count('boxes') == 2 }), 'two wait again');
$f->{broker}->tell('silent', 1);
$ends = count('exits');
$f->{broker}->tell('killkernels');
wait_for(sub { count('exits') == $ends + 2 });
$r = $f->execute({ code => 'out(1)' });
is(sum($r), 'ok gone', 'one that ended is never handed out, told or not');
$f->{broker}->tell('silent', 0);

done_front($f);
