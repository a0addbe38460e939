#!/usr/bin/perl

# How a run can end, and what is left then: one verdict, told by the front.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start();
my $late = 'Timeout: Code execution exceeded the time limit.';
my ($r, $id);

sub keep {
    return $f->execute({ code => '$v{x} = 1', keep => JSON::PP::true })
             ->{json}{sandbox_id};
}

sub sum { return join ' ', @{$_[0]{json}}{qw(status state)} }

# the time is over

$r = $f->execute({ code => 'out("go\n"); nap(60)', timeout => 0.2 });
is(sum($r), 'timeout gone', 'a cell ends when its time is over');
is($r->{json}{markdown},
   "stdout:\n\n```\ngo\n\n```\n\nerror:\n\n```\n$late\n```",
   'with what it said before, and the reason');

$id = keep();
$r = $f->execute({ code => 'nap(60)', timeout => 0.2, sandbox_id => $id });
is(sum($r), 'timeout kept', 'an interrupt ends the cell, not the sandbox');
$r = $f->execute({ code => 'out($v{x})', sandbox_id => $id });
is($r->{json}{stdout}, '1', 'its variables are alive');
is(sum($r), 'ok kept', 'and it works');

$r = $f->execute({ code => '$SIG{INT} = "IGNORE"; 1 while 1', timeout => 0.2,
                   sandbox_id => $id });
is(sum($r), 'timeout lost', 'who ignores the interrupt is killed');
is($r->{json}{sandbox_id}, $id, 'its sandbox stays');
$r = $f->execute({ code => 'out(defined $v{x} ? 1 : 0)', sandbox_id => $id });
is($r->{json}{stdout}, '0', 'with a new interpreter');
is(sum($r), 'ok kept', 'that works');

$r = $f->execute({ code => 'local $SIG{INT} = sub { }; nap(0.1) for 1 .. 20;
                            out("x")',
                   timeout => 0.2, sandbox_id => $id });
like(sum($r), qr/^timeout/, 'who swallows the interrupt is late all the same');

# memory, and deaths of other kinds

$id = keep();
$r = $f->execute({ code => 'out("a"); oom()', sandbox_id => $id });
is(sum($r), 'oom lost', 'memory that ran out is told from the counters');
like($r->{json}{error}{message}, qr/^Out of memory: .* 256000000 bytes/,
     'with the limit');
is($r->{json}{stdout}, 'a', 'and what was said before');

$r = $f->execute({ code => 'kill 9, $$; nap(9)', sandbox_id => $id });
is(sum($r), 'killed lost', 'an interpreter that dies is told as killed');
like($r->{json}{error}{message}, qr/signal 9/, 'by which signal');

$r = $f->execute({ code => 'POSIX::_exit(7)', sandbox_id => $id });
like($r->{json}{error}{message}, qr/exited with code 7/, 'or exit code');

$r = $f->execute({ code => 'out("Timeout: Out of memory: Killed:")' });
is(sum($r), 'ok gone', 'what a cell prints decides nothing');

# an interpreter that dies between two cells

sub exits { my %n = $f->{broker}->counts(); return $n{exits} // 0 }

$id = keep();
my $exits = exits();
$f->execute({ code => 'if (!fork) { nap(0.1); kill 9, getppid; exit }',
              sandbox_id => $id });
ok(wait_for(sub { exits() > $exits }), 'an interpreter dies between two cells');
$r = $f->execute({ code => 'out(defined $v{x} ? 1 : 0)', sandbox_id => $id });
is(sum($r), 'ok lost', 'that is told with the next one');
is($r->{json}{stdout}, '0', 'which runs in a new interpreter');

# the client goes away

sub leave {
    my ($cell, $how) = @_;

    my $c = $f->client;
    my $before = boxes();
    $c->send_request($f->params('POST', '/execute',
                                CONTENT_TYPE => 'application/json'),
                     JSON::PP->new->encode($cell));
    ok(wait_for(sub {
        $cell->{sandbox_id}
            ? $f->get('GET', "/sandboxes/$id")->{json}{status} eq 'running'
            : boxes() > $before
    }), 'a cell runs');
    $how->($c);
}

sub boxes { my %n = $f->{broker}->counts(); return $n{boxes} }

my $boxes = boxes();

leave({ code => 'nap(60)' }, sub { $_[0]->close });
ok(wait_for(sub { boxes() == $boxes }),
   'when its client goes, a sandbox for one cell goes, too');

leave({ code => 'nap(60)', sandbox_id => $id }, sub { $_[0]->close });
ok(wait_for(sub {
    $f->get('GET', "/sandboxes/$id")->{json}{status} eq 'ready'
}), 'in a kept one the cell is interrupted');
is(sum($f->execute({ code => '1', sandbox_id => $id })), 'ok kept',
   'and the sandbox works');

leave({ code => 'nap(60)', keep => JSON::PP::true }, sub { $_[0]->close });
ok(wait_for(sub { boxes() == $boxes }),
   'a kept one whose id nobody learned is ended');

leave({ code => 'nap(60)', sandbox_id => $id }, sub {
    my ($c) = @_;
    $c->raw(Retort::FastCGI::record(2, 1, ''));
    my $a = $c->read_answer;
    is($a->{header}{'x-retort-status'}, 'cancelled',
       'an abort is answered with the verdict cancelled');
});

# the kernel's end is never told: nothing waits for ever

$f->{broker}->tell('deaf', 1);
$f->{broker}->tell('silent', 1);
$r = $f->execute({ code => '1 while 1', timeout => 0.1, sandbox_id => $id });
is(sum($r), 'timeout gone', 'a box that cannot be signalled is ended whole');

done_front($f);
