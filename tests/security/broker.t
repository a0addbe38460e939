#!/usr/bin/perl

# A front that has been taken over can do nothing but what its operations
# allow.  In the place of retort-front runs a program that speaks the broker's
# protocol wrongly; the broker ends it, or answers with a code, and goes on.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Copy qw(copy);
use Retort::Service;
use Test::More;

my $top = $Retort::Service::TOP;
my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => '', memory => '64m 128m', ready => '0', sessions => '5' } },
    conf => { slots => 8 });
my $bin = "$s->{dir}/bin";
my $store = "$s->{dir}/artifacts";

mkdir $bin;

for my $program (qw(retort-broker retort-mapd retort-launch retort-fetch
        retort-docker)) {
    copy("$top/objs/$program", "$bin/$program") or die "$program: $!";
    chmod 0755, "$bin/$program";
}

is(system('gcc', '-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-o',
        "$bin/retort-front", "-I$top/helper/lib", "-I$top/helper/protocol",
        "$FindBin::Bin/foul_front.c", "$top/helper/lib/fdpass.c"),
    0, 'the foul front is built');

my $conf = Retort::Service::slurp("$s->{dir}/retortd.conf");

$conf =~ s/^programs .*/programs $bin/m;
Retort::Service::write_file("$s->{dir}/retortd.conf", $conf);
$s->start_retortd;
ok($s->until_true(sub { $s->log =~ /: ready/ }), 'the broker serves it');

my $broker = $s->{broker};



# lets the next front play a case
sub provoke {
    my ($case) = @_;
    my $front = $s->until_true(sub { $s->process('retort-front') });

    Retort::Service::write_file("$store/case", "$case\n", 0644);
    unlink "$store/said";
    kill 'KILL', $front;

    return;
}


# ... and what that front says of it
sub play {
    provoke(@_);
    $s->until_true(sub { -s "$store/said" });

    my $said = Retort::Service::slurp("$store/said");

    chomp $said;
    return $said;
}


sub descriptors { scalar(() = glob "/proc/$broker/fd/*") }

my %ended = (
    early => 'an operation before hello',
    hello => 'a second hello',
    short => 'a message that is too short',
    long => 'a message that is too long',
    version => 'another version',
    seq => 'a request without a number',
    unknown => 'an operation that does not exist',
    descriptors => 'descriptors, where none belong',
    rights => 'as many descriptors as a packet takes',
    signal => 'a signal that is not in the list',
);

sub foul { scalar(() = $s->log =~ /broke the protocol/g) }

my $open = descriptors();

for my $case (sort keys %ended) {
    my $before = foul();

    provoke($case);
    ok($s->until_true(sub { foul() > $before }), "$ended{$case} ends the front");
    unlike(Retort::Service::slurp("$store/said"), qr/answered/, '... unanswered');
    ok($s->until_true(sub { $s->process('retort-front') }),
        '... and another is started');
    ok(kill(0, $broker), '... by the same broker');
}

provoke('deaf');
ok($s->until_true(sub { $s->log =~ /front does not read/ }),
    'a front that asks and never reads is found out');
ok($s->until_true(sub { $s->process('retort-front') }), '... and another is started');

provoke('empty');
ok($s->until_true(sub { $s->log =~ /front is gone.*front is gone/s }),
    'a packet of nothing is an end');
ok($s->until_true(sub { $s->process('retort-front') }), '... and another is started');

is(play('profile'), 'profile code 1 memory 0', 'a name that does not end is no profile');
is(play('above'), 'above code 0 memory ' . (128 << 20),
    'memory above the ceiling becomes the ceiling');
is(play('dead'), 'dead code 2 memory 0', 'the id of a dead sandbox stays dead');
is(play('full'), 'full code 3 memory 0', 'more sandboxes than the profile has are refused');
is(play('drop'), 'drop code 0 memory 0', 'boxes of fronts that are gone are offered to the next');
is(play('forged'), 'forged bad 0 code 0',
    'every operation on an id that is like a living one is refused; the living one lives');
is(play('hurry'), 'hurry bad 0 code 0',
    'signals, limits and restarts before a restart is through are refused');
is(play('names'), 'names bad 0 code 0', 'names that are like a profile\'s are refused');
play('drop');
is(play('flood'), 'flood bad 0 code 0', '20,000 questions in a row are answered');
is(play('limits'), join(' ', 'limits code 0', 128 << 20, 256 << 20, 16384, 64 << 20,
    256 << 20, 128, 2000, 512), 'all limits at their highest become the ceilings');
play('drop');
ok($s->until_true(sub { descriptors() <= $open }), 'in the end the broker has no more open than at first')
    or diag(descriptors() . " and $open");
like($s->log, qr/broke the protocol: operation 9999/, 'the log names what was foul');

$s->end;
done_testing;
