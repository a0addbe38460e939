#!/usr/bin/perl

# Every kind of system call that seals a sandbox is made to fail, one at a time,
# by strace on the template.  No sandbox runs, the answer names the step, nothing
# is left, and the next spawn works.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

plan skip_all => 'strace is missing' unless -x '/usr/bin/strace';

# the bounding set is dropped one by one, until the kernel knows no more
my $caps = Retort::Service::slurp('/proc/sys/kernel/cap_last_cap') + 2;

# system call, which one of the process, the step that it belongs to
my @faults = (
    ['clone3', 1, 'clone'], ['openat', 1, 'cgroup namespace'],
    ['unshare', 1, 'cgroup namespace'], ['setresgid', 1, 'ids'],
    ['setgroups', 1, 'ids'], ['setresuid', 1, 'ids'], ['prctl', 1, 'ids'],
    ['openat', 2, 'namespace limits'], ['write', 1, 'namespace limits'],
    ['mount', 1, 'private mounts'], ['mount', 2, 'root overlay'],
    ['mount', 3, 'proc'], ['mount', 4, 'dev'], ['mount', 5, 'workspace'],
    ['mount', 6, 'tmp'], ['mount', 7, 'shm'], ['chdir', 1, 'pivot'],
    ['pivot_root', 1, 'pivot'], ['umount2', 1, 'pivot'],
    ['sethostname', 1, 'hostname'], ['setsid', 1, 'session'],
    ['prlimit64', 1, 'rlimits'], ['prlimit64', 5, 'rlimits'],
    ['prctl', 2, 'capabilities'], ['prctl', $caps + 2, 'capabilities'],
    ['capset', 1, 'capabilities'], ['prctl', $caps + 4, 'no_new_privs'],
    ['landlock_add_rule', 2, 'landlock'],
    ['landlock_restrict_self', 1, 'landlock'],
    ['dup2', 2, 'descriptors'], ['close_range', 2, 'descriptors'],
    ['seccomp', 1, 'seccomp'], ['signalfd4', 1, 'kernel'],
    ['clone', 1, 'kernel'],
);

my $s = Retort::Service->new(profiles => { default => {
    import => '', ready => '0' } });


# strace, once it holds the template; it ends with us
sub attach {
    my ($call, $when) = @_;
    my $out = "$s->{dir}/strace";
    my $target = $s->process('retort-kernel') or die 'no template';

    unlink $out;

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $out;
        exec '/usr/bin/strace', '-f', '-o', '/dev/null', '-e', "trace=$call",
            '-e', "inject=$call:error=EIO:when=$when", '-p', $target
            or POSIX::_exit(127);
    }

    $s->until_true(sub { Retort::Service::slurp($out) =~ /attached/ })
        or die "strace: " . Retort::Service::slurp($out);

    return $pid;
}


for my $fault (@faults) {
    my ($call, $when, $step) = @$fault;
    my $name = "$call, number $when";
    my $before = length $s->log;
    my $strace = attach($call, $when);
    my $r = $s->run('print("ran")');

    kill 'TERM', $strace;
    waitpid $strace, 0;
    unlike($r->{stdout} // '', qr/ran/, "$name fails: no sandbox runs");
    cmp_ok($r->{http}, '>=', 500, '... the answer is a refusal');
    like($r->{error}{message} // '', qr/\Q$step\E/, '... it names the step')
        or diag(explain($r), substr $s->log, $before);
    ok($s->until_true(sub { !$s->inside && !$s->boxes }), '... nothing is left');
    is($s->run('print(1)')->{stdout}, "1\n", '... and the next one works');
}

$s->end;
done_testing;
