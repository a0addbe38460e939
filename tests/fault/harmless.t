#!/usr/bin/perl

# The calls of sealing whose failure ends nothing: a close after the first step,
# the umask, the heap.
# Each fails, and what it leaves is closed or replaced by a later step: the
# sandbox is as sealed as one of which no call failed.  The others: seal.t.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Retort::Strace;
use Test::More;

plan skip_all => 'strace is missing' unless Retort::Strace->here;

my $s = Retort::Service->new(profiles => { default => {
    import => '', ready => '0', processes => '40' } });
my $walls = Retort::Service::slurp("$Retort::Service::TOP/conf-examples/walls.py");


# what the host sees of each process: its rights, and what it has open
sub seen {
    my %seen;

    for my $pid ($s->inside) {
        my $status = Retort::Service::slurp("/proc/$pid/status") or next;
        my ($inner) = $status =~ /^NSpid:.*\s(\d+)$/m;
        # but for files of its own
        my %open = map { $_ => 1 } grep { !m{^/(?:tmp|workspace)\b} }
            map { (readlink // 'gone') =~ s/\d+/N/gr } glob "/proc/$pid/fd/*";

        # a copy of the kernel may come or go; ids are by slot
        $seen{$inner == 1 ? 'pid 1' : 'kernel'} = [
            map({s/\d{6,}/N/gr} $status =~ /^((?:Uid|Gid|Groups|Umask|Cap\w+|NoNewPrivs|Seccomp\w*):.*)/mg),
            sort keys %open] if $inner <= 2;
    }

    return \%seen;
}


# a session, made while that fails, with its walls and what the host sees
sub made {
    my ($call, $when, $how) = @_;
    my $log = "$s->{dir}/calls";
    my $strace = $call && Retort::Strace->attach($s, $s->process('retort-kernel'), $log, '-f',
        '-e', "trace=$call", '-e', "inject=$call:$how:when=$when");
    my $box = $s->session;

    # which wants more of the heap
    is($s->run("x = [bytearray(2000) for i in range(5000)]\nprint(len(x))", sandbox_id => $box)->{stdout},
        "5000\n", $call ? "$call, $when fails: a sandbox runs" : 'a sandbox runs');
    $strace->detach if $call;

    my $said = $s->run($walls, sandbox_id => $box)->{stdout};
    my $seen = seen();

    $s->json('DELETE', "/v1/sandboxes/$box");
    $s->until_true(sub { !$s->inside && !$s->boxes }) or fail('it ends');

    return ($said, $seen, $call ? Retort::Service::slurp($log) : '');
}


my ($said, $seen) = made();

unlike($said, qr/MISSING/, 'in a sandbox of which no call failed all walls stand');
is(scalar(() = $said =~ /^stands/mg), 16, '... sixteen');
is_deeply([sort keys %$seen], ['kernel', 'pid 1'], '... and the host sees both of its processes');

for (
    ['close', join('..', map { $_ + $s->cgroups } 3, 19), 'error=EIO', 'no descriptor of the later steps is closed when it was used', 10],
    ['umask', '1', 'error=EIO', 'the umask is not set', 1],
    # answers where the heap ends, and errors look like an address
    ['brk', '1+', 'retval=0', 'the heap does not grow', 1],
) {
    my ($call, $when, $how, $what, $least) = @$_;
    my ($now, $sees, $log) = made($call, $when, $how);

    cmp_ok(scalar(() = $log =~ /INJECTED/g), '>=', $least, "... $what");
    is($now, $said, '... all walls stand');
    is_deeply($sees, $seen, '... its processes have the same rights, and nothing else open');
}

is($s->run('print(1)')->{stdout}, "1\n", 'after all of them the next one works');
$s->end;
done_testing;
