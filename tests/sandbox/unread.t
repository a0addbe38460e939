#!/usr/bin/perl

# A client that goes away has its run cancelled, and may come back: if that cell
# had to be killed, the next run tells what became of the variables.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my ($s, $box);


# asks for a stream, reads until the cell says that it has begun, and is gone
sub leave {
    my ($code) = @_;
    my $begun;

    $s->stream('POST', '/v1/execute', { code => $code, sandbox_id => $box }, sub {
        $begun ||= grep { defined && /begun/ } values %{ $_[0] };
        return !$begun;
    });
    ok($begun, 'a client goes away in the middle of a cell');

    return;
}


sub told { return join ' | ', map { $_ // '' } @{ $_[0] }{qw(status stdout state state_reason)} }

my $deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 2\nprint('begun', flush=True)\ntime.sleep(60)\n";

for my $snapshot (qw(on off)) {
    $s = Retort::Service->new(profiles => { default => { import => '', snapshot => $snapshot } });
    $box = $s->session;
    is($s->run('x = 1', sandbox_id => $box)->{status}, 'ok', "snapshots are $snapshot: there is a variable");

    leave("import time\nprint('begun', flush=True)\ntime.sleep(60)\n");
    is(told($s->run('print(x)', sandbox_id => $box)), "ok | 1\n | kept | ", '... a cell that ends when it is told to costs nothing');

    leave($deaf);

    my $r = $s->run('print(globals().get("x"))', sandbox_id => $box);

    is(told($r), $snapshot eq 'on' ? "ok | 1\n | restored | the run before this one is undone as well"
        : "ok | None\n | lost | its profile has snapshots off", '... what a killed one cost is told by the next');
    is($s->run('1', sandbox_id => $box)->{state}, 'kept', '... once');

    leave($deaf);
    leave("import time\nprint('begun', flush=True)\ntime.sleep(60)\n");
    is($s->run('1', sandbox_id => $box)->{state}, $snapshot eq 'on' ? 'restored' : 'lost', '... also behind another that nobody read');
    $s->end;
}

done_testing;
