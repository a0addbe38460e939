#!/usr/bin/perl

# retortctl and a front with fake sandboxes: what it prints and how it exits,
# and what a terminal gets to see.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Cwd qw(abs_path);
use JSON::PP;
use POSIX ();
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $program = abs_path("$FindBin::Bin/../../objs/retortctl");
my $f = Retort::Front->start(control => 0, ready => 1);
my $socket = "$f->{dir}/control.sock";
my ($cell, $err) = ("$f->{dir}/cell.py", "$f->{dir}/err");


# its exit code and what it prints

sub ctl {
    my (@args) = @_;
    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $err;
        exec $program, '--socket', $socket, @args or POSIX::_exit(127);
    }

    my $text = do { local $/; <$out> } // '';
    close $out;
    return ($? >> 8, $text);
}


sub told { open my $in, '<', $err or return ''; local $/; return <$in> // '' }

sub json { return decode_json((ctl(@_, '--json'))[1] || '{}') }

sub cell {
    open my $out, '>', $cell or die "$!";
    print $out shift;
    close $out;
    return $cell;
}


# what there is

my $id = $f->get('POST', '/sandboxes')->{json}{sandbox_id};
my ($code, $out) = ctl('ps');
is($code, 0, 'sandboxes are listed');
like($out, qr/^\Q$id\E +demo +default +idle +\d{4}-/m, 'each in a line');
ok(wait_for(sub { json('pool')->{profiles}[0]{ready} == 1 }),
   'a pool is full in the end');
is(scalar @{json('ps')->{sandboxes}}, 1, 'what waits there is left out');
is(scalar @{json('ps', '--all')->{sandboxes}}, 2, 'unless it is asked for');
like((ctl('show', $id))[1], qr/^limit memory_bytes: 256000000$/m,
     'one is shown with its limits');
is(json('show', $id)->{usage}{peak_memory_bytes}, 5_000_000,
   'and what it uses');
like((ctl('pool', '--kick'))[1], qr/^default +yes +1 +1 +1 +0 +64$/m,
     'pools are shown');
is((ctl('show', 'sbx_n1_' . '0' x 32))[0], 1, 'what is not there is told');

# the command line

for my $bad (['show', '../drain'], ['show', ''], ['show'], ['ps', 'x'],
             ['nothing'], ['key'], [], ['ps', '--off'], ['ps', '--nothing'],
             ['run', "$f->{dir}/none"], ['run', cell('1'), '--timeout', 'x'])
{
    is((ctl(@$bad))[0], 2, "\"@$bad\" is a wrong command line");
}

is((ctl('ps', '--socket', "$f->{dir}/none"))[0], 3, 'a front that is away');

# runs

is_deeply([ctl('run', cell('out("42\n")'))], [0, "42\n"],
          'a run prints what it prints');
is_deeply([ctl('run', cell('out("no end")'))], [0, "no end\n"],
          'with a last line that has an end');
is((ctl('run', cell('die "x\n"')))[0], 1, 'an error has its exit code');
like(told(), qr/Fault: x/, 'and is shown');
is((ctl('run', cell('nap(9)'), '--timeout', '0.3'))[0], 4, 'so has a timeout');
is((ctl('run', $cell, '--workspace', 'a b'))[0], 1, 'a bad workspace is told');
is((ctl('run', $cell, '--profile', 'none'))[0], 1, 'and an unknown profile');
like(told(), qr/unknown_profile/, 'by the code of the error');
cell('out("a\n" x 100_000)');
is(length((ctl('run', $cell))[1]) > 60_000, 1, 'a long output comes');

my @events = map { decode_json($_) } split /\n/,
    (ctl('run', cell('out("a")'), '--json'))[1];
is($events[0]{status}, 'running', 'as JSON a run is its events');
is($events[-1]{status}, 'ok', 'the last one its end');

# live

cell('out("first\n"); nap(20)');
my $pid = open(my $live, '-|') // die;
if ($pid == 0) {
    open STDERR, '>', $err;
    exec $program, 'run', $cell, '--socket', $socket;
}
is(scalar <$live>, "first\n", 'output is there before the end');
my ($busy) = grep { $_->{status} eq 'busy' } @{json('ps')->{sandboxes}};
is_deeply([ctl('kill', $busy->{id} // 'none')],
          [0, "$busy->{id} was ended\n"], 'the run can be ended');
close $live;
is($? >> 8, 6, 'which is its exit code');

cell('out("first\n"); nap(20)');
$pid = open($live, '-|') // die;
exec $program, 'run', $cell, '--socket', $socket if $pid == 0;
readline $live;
kill 'INT', $pid;
close $live;
ok(wait_for(sub {
    !grep { $_->{status} eq 'busy' } @{json('ps')->{sandboxes}}
}), 'when retortctl is interrupted its run ends, too');

# a terminal obeys; what a run says to it must not be obeyed

cell('nap(0.8); out("\e]0;evil\a \xc2\x9b31m\x7f\r caf\xc3\xa9\t.")');
my $shown = '^[]0;evil^G \x9b31m^?^M caf' . "\xc3\xa9\t.";
is((ctl('run', $cell))[1], "\e]0;evil\a \xc2\x9b31m\x7f\r caf\xc3\xa9\t.\n",
   'into a pipe every byte goes as it is');
$out = `script -qec '$program run $cell --socket $socket' /dev/null < /dev/null`;
like($out, qr/\Q$shown\E/, 'on a terminal control characters are shown');
unlike($out, qr/\e\]|\xc2\x9b|\x7f|\a/, 'and not sent');
like($out, qr/running, \d+ s/, 'and it says that the run goes on');

# the end

is((ctl('kill', $id))[0], 0, 'a session is ended');
is((ctl('kill', $id))[0], 1, 'once');
is((ctl('drain'))[0], 0, 'it drains');
is((ctl('run', cell('1')))[0], 1, 'then nothing runs');
like(told(), qr/draining/, 'and that is why');
is(json('drain', '--off')->{draining}, JSON::PP::false, 'it takes work again');
is((ctl('run', $cell))[0], 0, 'and runs');

done_front($f);
