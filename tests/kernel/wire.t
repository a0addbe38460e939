#!/usr/bin/perl

# The channel: resets, and packets that break the protocol.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

use constant { GONE => 0, WIRE => 2 };

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }

sub reset_ok {
    my ($promise) = @_;
    $kernel->send_packet(Retort::Kernel::RESET, 4711, 0, 0, [], '');
    my $msg;
    do { $msg = $kernel->packet } until !$msg
        || $msg->{type} == Retort::Kernel::RESET;

    # what the run left in the pipes: a front reads them dry as well
    $kernel->drain;
    is($msg && $msg->{run}, 4711, $promise);
}


reset_ok('an idle kernel echoes a reset');
is_deeply(brief('x = 1; x'), ['result:1', 'ok'], 'and goes on');

# a front that dies: in the middle of a message, of a file, of an answer

$kernel->send_packet(Retort::Kernel::RUN, 90, 0, 0, [50_000], 'y' x 32768);
reset_ok('half a message is dropped');
is_deeply(brief('x'), ['result:1', 'ok'], 'and the session kept');

$kernel->send_packet(Retort::Kernel::FILE, 91, 0, 0, [4, 50_000], 'half'
    . 'z' x 32000);
reset_ok('half a file is dropped');
is_deeply(brief("import os; os.path.exists('half')"), ['result:False', 'ok'],
    'and removed');

$kernel->begin("import os\nos.system('echo a')\nprint('b')\nos.system('echo c')"
    . "\nprint('d' * 100_000)\n1/0");
my $msg;

{
    local $kernel->{fds} = {};
    $msg = $kernel->packet;
}

is($msg->{type}, Retort::Kernel::SYNC, 'a run that waits for its front');
reset_ok('ends by itself after a reset');
is_deeply(brief('x'), ['result:1', 'ok'], 'and the session goes on');

$kernel->begin("import time\nfor i in range(3000): print('e' * 1000)");
reset_ok('a run that nobody reads ends once somebody does');
is_deeply(brief('x'), ['result:1', 'ok'], 'and nothing of it is left');
$kernel->drain;

is_deeply(brief("import threading\nthreading.Thread(target=lambda: ["
    . "time.sleep(0.2), print('f' * 99), print('g' * 99999)]).start()"), ['ok'],
    'a thread that writes between runs');
select undef, undef, undef, 0.4;
my $events = brief('2');
like($events->[0], qr/^1:f{99}\n/, 'is heard in the next run');
cmp_ok(length $events->[0], '<=', 32770, 'as far as there is room');
is($events->[-1], 'ok', 'and disturbs nothing');

is($kernel->end, GONE, 'the end of the channel is the end of the kernel');


# each of these ends the kernel, cleanly and at once

my @run = (Retort::Kernel::RUN, 1, 0, 0);

my @broken = (
    ['an unknown type', sub { $_[0]->send_packet(99, 1, 0, 0, [], '') }],
    ['another version', sub { $_[0]->send_packet(@run, [1], '1', 2) }],
    ['a length that is wrong',
        sub { send $_[0]{sock}, pack('CCSLLLLLLL', 1, 2, 9, 1, 0, 0, 1, 0, 0, 0)
            . '1', 0 }],
    ['half a head', sub { send $_[0]{sock}, 'abc', 0 }],
    ['more body than the parts', sub { $_[0]->send_packet(@run, [1], '12') }],
    ['an empty piece', sub { $_[0]->send_packet(@run, [9], '') }],
    ['four parts', sub { $_[0]->send_packet(@run, [0, 0, 0, 1], '1') }],
    ['four gigabytes', sub { $_[0]->send_packet(@run, [(0xffffffff) x 3], '1') }],
    ['a language that is none',
        sub { $_[0]->send_packet(Retort::Kernel::RUN, 1, 7, 0, [1], '1') }],
    ['MORE of nothing',
        sub { $_[0]->send_packet(Retort::Kernel::MORE, 1, 0, 0, [], '') }],
    ['MORE of another run', sub {
        $_[0]->send_packet(@run, [2], '1');
        $_[0]->send_packet(Retort::Kernel::MORE, 2, 0, 0, [2], '1') }],
    ['a run inside a run', sub {
        $_[0]->send_packet(@run, [2], '1');
        $_[0]->send_packet(@run, [2], '11') }],
    ['a variable without a value', sub { $_[0]->send_packet(@run, [1, 2], "1a\0")
        }],
    ['a variable without an end', sub { $_[0]->send_packet(@run, [1, 3], '1a=b')
        }],
    ['a variable without a name', sub { $_[0]->send_packet(@run, [1, 3], "1=b\0")
        }],
    ['a kernel\'s own message', sub { $_[0]->send_packet(113, 1, 0, 0, [], '') }],
);

for my $row (@broken) {
    my ($name, $send) = @$row;
    my $one = Retort::Kernel->start;
    $send->($one);
    my $said = $one->packet;
    is($said, undef, "$name: nothing is answered");
    is($one->end >> 8, WIRE, "$name: the kernel says why it goes");
}

done_testing();
