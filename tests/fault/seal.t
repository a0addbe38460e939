#!/usr/bin/perl

# Every system call that pid 1 makes, from its clone to the word that its kernel
# runs, is made to fail, one at a time, by strace on the template.  Which they
# are is seen by strace as well, so that none is left out.  No sandbox runs, the
# answer names the step, nothing is left, and the next spawn works.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Retort::Strace;
use Test::More;

plan skip_all => 'strace is missing' unless Retort::Strace->here;

# the bounding set is dropped one by one, until the kernel knows no more: of
# those calls the first and the last
my $caps = Retort::Service::slurp('/proc/sys/kernel/cap_last_cap') + 2;
my %same = map { $_ => 1 } 3 .. $caps;

my $s = Retort::Service->new(profiles => { default => {
    import => '', ready => '0' } });

# each group is entered by a write and a close, behind one close
my $groups = $s->cgroups;
my $in = $groups + 1;

# of these the step is known: the system call, which one of the process
my %step = (
    (map {; "write $_" => 'cgroup attach', 'close ' . ($_ + 1) => 'cgroup attach' } 1 .. $groups),
    'openat 1' => 'cgroup namespace', 'close ' . ($in + 1) => 'cgroup namespace',
    'unshare 1' => 'cgroup namespace',
    'setresgid 1' => 'ids', 'setgroups 1' => 'ids', 'setresuid 1' => 'ids',
    'prctl 1' => 'ids', 'mount 1' => 'private mounts',
    'mount 2' => 'namespace limits', 'openat 2' => 'namespace limits',
    "write $in" => 'namespace limits', 'mount 3' => 'root overlay',
    'mount 4' => 'proc', 'mount 5' => 'dev', 'mount 6' => 'workspace',
    'mount 7' => 'tmp', 'mount 8' => 'shm',
    'chdir 1' => 'pivot', 'pivot_root 1' => 'pivot', 'umount2 1' => 'pivot',
    'sethostname 1' => 'hostname', 'setsid 1' => 'session',
    'prlimit64 1' => 'rlimits', 'prlimit64 5' => 'rlimits',
    'prctl 2' => 'capabilities', 'prctl ' . ($caps + 2) => 'capabilities',
    'capset 1' => 'capabilities', 'prctl ' . ($caps + 4) => 'no_new_privs',
    'landlock_create_ruleset 1' => 'landlock', 'landlock_add_rule 2' => 'landlock',
    'landlock_restrict_self 1' => 'landlock', 'dup2 2' => 'descriptors',
    'close_range 2' => 'descriptors', 'seccomp 1' => 'seccomp',
    'signalfd4 1' => 'kernel', 'bind 1' => 'channel', 'unlink 1' => 'channel',
    'clone 1' => 'kernel',
);

# nothing hangs on whether they work: harmless.t
my %harmless = map { $_ => 1 } qw(close umask brk);

# but the template's socket is in the way of the first steps, which end with one
$harmless{"close $_"} = 0 for 1 .. $in + 1;

# fails in the template first, which hears of nothing without it: of the child
# alone it is in go.t
my $heard = 'recvmsg 1';


# a strace on the template and all that it forks
sub attach {
    my ($log, @what) = @_;

    return Retort::Strace->attach($s, $s->process('retort-kernel'), $log, '-f', @what);
}


# what pid 1 of one sandbox calls, in its order: "openat 1", "openat 2" and so on
sub calls {
    my $log = "$s->{dir}/calls";
    my $strace = attach($log);
    my $r = $s->run('print("ran")');
    my (@calls, %n, $pid1);

    $strace->detach_after;
    is($r->{stdout}, "ran\n", 'a sandbox runs while its calls are written down');

    for (split /\n/, Retort::Service::slurp($log)) {
        my ($pid, $call, $args) = /^(\d+)\s+(\w+)\((.*)/ or next;

        # who makes a cgroup namespace is the sandbox
        $pid1 //= $pid if $call eq 'unshare';
        push @calls, [$pid, $call, $args];
    }

    return map { "$_->[1] " . ++$n{$_->[1]} } until_ready(grep { $_->[0] == $pid1 } @calls);
}


sub until_ready {
    my @calls;

    for (@_) {
        push @calls, $_;
        last if $_->[1] eq 'sendmsg';
    }

    return @calls;
}


sub fault {
    my ($of) = @_;
    my ($call, $when) = split ' ', $of;
    my $name = "$call, number $when";
    my $before = length $s->log;
    my $strace = attach('/dev/null', '-e', "trace=$call", '-e', "inject=$call:error=EIO:when=$when");
    my $r = $s->run('print("ran")');
    my $over = $strace->detach_after;

    unlike($r->{stdout} // '', qr/ran/, "$name fails: no sandbox runs");
    cmp_ok($r->{http}, '>=', 500, '... the answer is a refusal');
    like($r->{error}{message} // '', $step{$of} ? qr/"\Q$step{$of}\E"/ : qr/step "[a-z_ ]+"/, '... it names the step')
        or diag(explain($r), substr $s->log, $before);
    ok($over, '... nothing is left');

    return;
}


my @calls = calls();

is_deeply([grep { my $of = $_; !grep { $_ eq $of } @calls } sort keys %step], [],
    'each call whose step is known is made') or diag("@calls");
cmp_ok(scalar @calls, '>', 100, scalar(@calls) . ' calls seal a sandbox');

for my $of (grep { !($harmless{$_} // $harmless{ (split)[0] }) } @calls) {
    my ($call, $when) = split ' ', $of;

    fault($of) unless $of eq $heard || $call eq 'prctl' && $same{$when};
}

# the clone is the template's own
$step{'clone3 1'} = 'clone';
fault('clone3 1');

is($s->run('print(1)')->{stdout}, "1\n", 'after all of them the next one works');

my $strace = attach('/dev/null', '-e', 'trace=recvmsg', '-e', 'inject=recvmsg:error=EIO:when=1');

# it may take longer to be there than a request waits for it
ok($s->until_true(sub { ($s->run('print(2)')->{stdout} // '') eq "2\n" }),
    'a template that hears nothing is replaced by another one');
ok($strace->detach_after, '... and nothing of its own is left');
like($s->log, qr/template "default" is gone/, '... as the log says');
$s->end;
done_testing;
