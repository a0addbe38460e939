#!/usr/bin/perl

# The filter of system calls as it is made, asked for every number and for the
# arguments that it looks at, on x86-64 and on arm64: its program is followed
# here instruction by instruction.  That it is in force is asked from inside, by
# attacks/sb.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $gen = "$Retort::Service::TOP/objs/gen/seccomp_gen";
my %arch = (x86_64 => 0xc000003e, aarch64 => 0xc00000b7);
my %foreign = (i386 => 0x40000003, arm => 0x40000028, mips => 8, 'riscv64' => 0xc00000f3);
my $X32 = 1 << 30;
my ($EPERM, $ENOSYS, $FAMILY) = (1, 38, 97);
my (%filter, %number);


# what a call is answered: "allow", "kill" or an error number
sub ask {
    my ($arch, $nr, @args) = @_;
    my ($code, $pc, $acc) = ($filter{$arch} // $filter{x86_64}, 0, 0);
    my $data = pack 'VVQ<Q<6', $nr, $arch{$arch} // $foreign{$arch}, 0,
        map { $_ // 0 } @args[0 .. 5];

    while (1) {
        my ($op, $jt, $jf, $k) = @{ $code->[$pc++] // die 'past the end' };

        if ($op == 0x20) { $acc = unpack 'V', substr $data, $k, 4 }
        elsif ($op == 0x15) { $pc += $acc == $k ? $jt : $jf }
        elsif ($op == 0x25) { $pc += $acc > $k ? $jt : $jf }
        elsif ($op == 0x35) { $pc += $acc >= $k ? $jt : $jf }
        elsif ($op == 0x45) { $pc += $acc & $k ? $jt : $jf }
        elsif ($op == 0x54) { $acc &= $k }
        elsif ($op == 0x05) { $pc += $k }
        elsif ($op == 0x06) {
            return 'allow' if $k == 0x7fff0000;
            return 'kill' if $k == 0x80000000;
            return ($k & 0xffff0000) == 0x50000 ? $k & 0xffff : "action $k";
        }
        else { die "instruction $op" }
    }
}


# those of a list that are not answered so
sub others {
    my ($want, @calls) = @_;

    return join ' ', grep { my @call = split / /; ask(@call) ne $want } @calls;
}


for my $arch (sort keys %arch) {
    $filter{$arch} = [map { [map { /x/ ? hex : $_ } /(0x[0-9a-f]+|\d+)/g] }
        grep { /^ *\{ 0x/ } split /\n/, `$gen $arch`];
    $number{$arch} = { map { (split)[1, 0] } split /\n/, `$gen $arch names` };
    cmp_ok(scalar @{ $filter{$arch} }, '>', 100, "there is a filter for $arch");
    cmp_ok(scalar keys %{ $number{$arch} }, '>', 200, '... whose calls have names');
}

my %nr = %{ $number{x86_64} };

# ---- whose calls ----

is(others('kill', map { "x86_64 " . ($_ | $X32) } 0 .. 600), '', 'x32 ends who calls it, by any number');

for my $arch (sort keys %foreign) {
    is(others('kill', map {"$arch $_"} 0 .. 450), '', "$arch ends who calls it, by any number");
}

is(others($ENOSYS, map { ("x86_64 $_", "aarch64 $_") } 451 .. 1200), '', 'what is newer than the list is missing');

# ---- one list for both ----

my @both = grep { exists $number{aarch64}{$_} } sort keys %nr;

cmp_ok(scalar @both, '>', 250, @both . ' calls are on both');
is(join(' ', grep { my $name = $_; grep {
    my @args = @$_;
    ask('x86_64', $nr{$name}, @args) ne ask('aarch64', $number{aarch64}{$name}, @args)
} [], [(1) x 6], [(0xffffffff) x 6], [1 << 32, 1 << 32, 1 << 32, 1 << 32] } @both), '',
    '... and each is answered alike');

for my $arch (sort keys %arch) {
    my %of = %{ $number{$arch} };
    my $say = sub { my ($name, @args) = @_; "$arch $of{$name}" . join '', map {" $_"} @args };

    is(others('allow', map { $say->($_) } qw(read write openat close mmap brk execve exit_group
        futex fcntl sendmsg recvmsg getrandom clock_gettime rt_sigaction kill)), '',
        "$arch: what every program needs is allowed");
    is(others($EPERM, map { $say->($_) } qw(ptrace process_vm_readv process_vm_writev kcmp bpf
        perf_event_open keyctl add_key request_key mount umount2 pivot_root chroot setns unshare
        open_by_handle_at name_to_handle_at fanotify_init inotify_init1 quotactl init_module
        finit_module delete_module kexec_load reboot swapon settimeofday clock_settime
        mbind move_pages migrate_pages mincore splice tee vmsplice sendfile shmget msgget semget
        mq_open seccomp userfaultfd io_setup acct setdomainname sethostname syslog setgroups
        sched_setaffinity ioprio_set)), '', '... and nothing that reaches out of a sandbox');
    is(others($ENOSYS, map { $say->($_) } qw(clone3 openat2 io_uring_setup landlock_restrict_self
        pidfd_open pidfd_getfd process_madvise memfd_secret fsopen move_mount)), '',
        '... what libraries probe for is missing');

    # ---- arguments: values that pass, values that do not, and those with junk above ----
    my $high = 7 << 32;

    is(others('allow', map { $say->('clone', $_) } 17, 0x3d0f00, 0x8011), '', "$arch: clone makes threads and children");
    is(others($EPERM, map { my $f = $_; map { $say->('clone', $_) } $f, $f | 17, $f | $high }
        0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000), '',
        '... and none with a namespace');
    is(others('allow', map { $say->($_, 1, 1, 0) } qw(socket socketpair)), '', '... sockets are local');
    is(others($FAMILY, map { my $f = $_; map { $say->($_, $f, 1, 0) } qw(socket socketpair) }
        0, 2 .. 45, 1 | $high), '', '... of no other family');
    is(others($EPERM, map { $say->($_, 1, 1, 1) } qw(socket socketpair)), '', '... or protocol');
    is(others('allow', map { $say->('ioctl', 0, $_) } 0x5401, 0x5413, 0x541b, 0x5421), '', '... ioctl asks');
    is(others($EPERM, map { my $c = $_; map { $say->('ioctl', 0, $_) } $c, $c | $high }
        0x5412, 0x541c, 0x5423, 0x540e, 0x8933, 0x40049409, 0xff03), '', '... and pushes nothing');
    is(others('allow', map { $say->('prctl', $_) } 15, 3, 38), '', '... prctl knows a few');
    is(others($EPERM, map { my $o = $_; map { $say->('prctl', $_) } $o, $o | $high }
        8, 22, 24, 28, 35, 36, 37, 47, 67, 0x59616d61, 0x53564d41), '', '... and no others');
    is(others('allow', $say->('prlimit64', 0, 4, 0), $say->('prlimit64', 0, 7, 4096),
        $say->('setrlimit', 7, 4096)), '', '... limits can be asked for, and set');
    is(others($EPERM, $say->('prlimit64', 0, 4, 4096), $say->('prlimit64', 0, 4 | $high, 4096),
        $say->('prlimit64', 1, 7, 0), $say->('prlimit64', $high, 7, 0), $say->('setrlimit', 4, 4096),
        $say->('setrlimit', 4 | $high, 4096)), '', '... but not that of cores, nor another one\'s');
    is(others($EPERM, map { $say->(@$_) } ['mmap', 0, 4096, 3, 0x40022], ['memfd_create', 0, 4],
        ['madvise', 0, 0, 12], ['madvise', 0, 0, 25], ['fcntl', 1, 1031, 4096], ['fcntl', 1, 1024],
        ['setsockopt', 3, 1, 26], ['setsockopt', 3, 1, 76], ['personality', 0x40000],
        ['personality', 0xffffffff | $high], ['sendto', 3, 0, 0, 1], ['recvfrom', 3, 0, 0, 0x4001],
        ['sendmsg', 3, 0, 1], ['recvmsg', 3, 0, 1 | $high], ['preadv2', 3, 0, 0, 0, 0, 8],
        ['sched_setscheduler', 0, 1]), '', '... and so on');
}

done_testing;
