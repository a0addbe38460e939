#!/usr/bin/perl

# A sandbox that is made, or that dies, leaves the cores to those in which
# somebody's code runs; but not for long, where none is ever free.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Retort::Service;
use Retort::Strace;
use Test::More;

plan skip_all => 'strace is missing' unless Retort::Strace->here;

my $s = Retort::Service->new(profiles => { default => { import => '', ready => '0' } });
my $log = "$s->{dir}/broker.strace";


# what the broker wrote into the file of each group, in order
sub written {
    my (%file, @words);

    for (split /\n/, Retort::Service::slurp($log)) {
        $file{$2} = $1 if /^openat\(\d+, "(box\d+\/[\w.]+)".* = (\d+)$/;

        my ($fd, $word) = /^write\((\d+), "(\d)", 1\)/ or next;

        push @words, $word if $file{$fd} =~ /cpu\.idle$/;
    }

    return @words;
}


sub idle {
    my @files = grep { -e } map {"$_/cpu.idle"} $s->boxes;

    return join ' ', map { Retort::Service::slurp($_) =~ /(\d+)/ } @files;
}


sub watched { Retort::Strace->attach($s, $s->{broker}, $log, '-e', 'trace=openat,write') }


# the one that was made at the start, to see that it can be
ok($s->until_true(sub { !$s->inside && !$s->boxes }), 'there is no sandbox');

my $t = watched();
my $box = $s->session;

is(idle(), '0', 'where code may run it has its share');
is($s->run('x = 1', sandbox_id => $box)->{status}, 'ok', '... and runs');
is(idle(), '0', '... with it');
$s->json('DELETE', "/v1/sandboxes/$box");
ok($t->detach_after, 'it ends');
like(join(' ', written()), qr/^1 0 1( 0)?$/, 'it yielded while it was made, not while it lived, and when it died');

# ---- not for ever ----

my $mapd = $s->process('retort-mapd') or die 'no map writer';

$t = watched();
kill 'STOP', $mapd;

my $asks = fork // die;

if ($asks == 0) {
    POSIX::_exit($s->run('print(1)')->{stdout} ne "1\n");
}

# a group that has just been made has its share, too: what was written counts
ok($s->until_true(sub { join(' ', written()) =~ /^1 0/ }), 'who is not made in time has its share again')
    or diag(join ' ', written());
is(idle(), '0', '... while it is not made yet');
kill 'CONT', $mapd;
waitpid $asks, 0;
is($?, 0, '... and comes to its end');
$t->detach_after;

$s->end;
done_testing;
