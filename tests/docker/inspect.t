#!/usr/bin/perl

# What the engine was asked for, as it tells it of a living sandbox: what is
# promised, with the profile's numbers, and nothing else.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";

BEGIN { $ENV{RETORT_BACKEND} = 'docker' }

use Retort::Service;

my $s = Retort::Service->new(profiles => { default => {
    ready => 0, memory => '256m 256m', processes => '40 40', cpu => '1 1',
    files => '200 200', disk => '32m 32m', inodes => '1000 1000',
    tmp => '16m 16m' } });
my $e = $s->{engine};

# the service has tried one when it started
ok($s->until_true(sub { !$s->containers }), 'a pool of none has no container');

my $id = $s->session;
is($s->run('print(2+2)', sandbox_id => $id)->{stdout}, "4\n", 'a session runs');

my @ids = $s->containers;
is(scalar @ids, 1, 'it is one container');

my $c = $e->inspect($ids[0]);
my ($conf, $host) = @$c{qw(Config HostConfig)};

# empty in one of the engine's ways
sub nothing {
    my ($v) = @_;

    return 1 if !defined $v || $v eq '' || (!ref $v || ref $v eq
        'JSON::PP::Boolean') && !$v;
    return ref $v eq 'ARRAY' ? !@$v : ref $v eq 'HASH' ? !grep { !nothing($_) }
        values %$v : 0;
}


my %has = map { $_ => $host->{$_} } grep { !nothing($host->{$_}) } keys %$host;
my $seccomp = (grep {/^seccomp=/} @{ $has{SecurityOpt} // [] })[0] // '';
my %limits = map { $_ => delete $has{$_} } qw(Memory MemorySwap);
my %ulimits = map { $_->{Name} => "$_->{Soft} $_->{Hard}" }
    @{ delete $has{Ulimits} // [] };
my %tmpfs = %{ delete $has{Tmpfs} // {} };

is_deeply([grep { !/^seccomp=/ } @{ delete $has{SecurityOpt} }],
    ['no-new-privileges'], 'nothing inside gains a right by exec');

# the text that was made of helper/init/gen, as the C compiler reads it
my $header = Retort::Service::slurp("$Retort::Service::TOP/objs/gen/seccomp_profile.h");
my $ours = join '', map { s/\\"/"/gr } $header =~ /^\s+"((?:[^"\\]|\\.)*)";?$/mg;

is($seccomp, "seccomp=$ours", 'the seccomp profile is ours');
unlike($seccomp, qr/"defaultAction"\s*:\s*"SCMP_ACT_ALLOW"/,
    'what it does not name, it does not allow');

ok(scalar(grep { $_ eq '/proc/kcore' } @{ $host->{MaskedPaths} }),
    'what the engine hides of /proc stays hidden');

# where the engine puts them, and how it shows what cannot be changed
my %masked = map { $_ => 1 } @{ delete $has{MaskedPaths} };
delete @has{qw(CgroupParent Runtime ShmSize ConsoleSize ReadonlyPaths
    Isolation)};

is_deeply([grep { !$masked{$_} } '/sys', grep { m{/[a-z][^/]*$}
    && !m{/(?:self|thread-self|mounts|net)$} } glob '/proc/*'], [],
    'of /sys and /proc nothing is to be seen but processes');

is_deeply(\%has, {
    NetworkMode => 'none', IpcMode => 'private', CgroupnsMode => 'private',
    ReadonlyRootfs => JSON::PP::true, AutoRemove => JSON::PP::true,
    CapDrop => ['ALL'], LogConfig => { Type => 'none', Config => {} },
    RestartPolicy => { Name => 'no', MaximumRetryCount => 0 },
    NanoCpus => 1_000_000_000, PidsLimit => $has{PidsLimit},
}, 'all that was asked for is what is promised') or diag(explain \%has);

is($limits{Memory}, $limits{MemorySwap}, 'there is no swap');
cmp_ok($limits{Memory}, '>=', 256 << 20, 'the memory is the profile\'s');
cmp_ok($limits{Memory}, '<=', 512 << 20, '... and that of an interpreter');
is($has{PidsLimit}, 41, 'so is the number of processes, and one for the stream');
is_deeply(\%ulimits, { nofile => '200 200', core => '1 1', msgqueue => '0 0' },
    'and that of descriptors; cores go nowhere, there are no message queues');

is_deeply([sort keys %tmpfs], [qw(/dev/shm /tmp /workspace)],
    'three places can be written to');
like($tmpfs{'/workspace'}, qr/size=33554432,.*nr_inodes=1000/,
    'the workspace has the profile\'s size');
like($tmpfs{$_}, qr/size=16777216,.*nr_inodes=1000/, "$_ as well")
    for '/tmp', '/dev/shm';
is(scalar(grep { !/nosuid/ || !/nodev/ } values %tmpfs), 0,
    'none takes a device or another user\'s rights');
is_deeply([map { $_->{Destination} } @{ $c->{Mounts} }], [],
    'no file and no volume of the host is mounted');

like($conf->{User}, qr/^(\d{5,}):\1$/, 'the user is not root, nor anybody else of the host');
is_deeply([$c->{Path}, $c->{Args}[0]],
    ['/usr/lib/retort/retort-kernel', '--carried'], 'it starts our program');
is_deeply([$s->containers], \@ids, 'the label names the service');
is($c->{Image}, $e->image, 'the image is the profile\'s');
is_deeply([grep { $_ ne 'none' } keys %{ $c->{NetworkSettings}{Networks} }],
    [], 'no network is joined');

my $status = Retort::Service::slurp("/proc/$c->{State}{Pid}/status");
my %status = $status =~ /^(\w+):\s*(\S+)/mg;
is($status{Name}, 'retort-kernel', '... which is its first process');
like($status, qr/^NSpid:.*\t1$/m, '... pid 1, and no init of the engine\'s');
unlike($status, qr/^[UG]id:.*\t0\b/m, '... not root on the host');
is($status{CapBnd}, '0' x 16, 'its first process can have no capability');
is($status{NoNewPrivs}, 1, 'nor gain one');
is($status{Seccomp}, 2, 'and its calls are filtered');

# ---- who may open the engine's socket ----

my $group = (stat $e->socket)[5];
my (%may, %filtered, @others);

for my $pid ($s->{broker}, $s->children($s->{broker})) {
    my $text = Retort::Service::slurp("/proc/$pid/status");
    my %of = map { /^(\w+):\s*(.*)/ } split /\n/, $text;
    my ($name) = Retort::Service::slurp("/proc/$pid/cmdline") =~ m{([^/\0]+)};

    if (grep { $_ == $group } split ' ', "$of{Gid} $of{Groups}") {
        $may{$name}++;
        $filtered{$name} += $of{Seccomp} == 2;
    } else {
        push @others, $name;
    }
}

isnt($group, 0, 'the engine\'s socket has a group');
is_deeply([sort keys %may], [qw(retort-docker retort-launch)],
    'which none has but retort-docker, and who starts it');
is_deeply([sort @others], [qw(retort-broker retort-fetch retort-front
    retort-launch retort-mapd)], '... not broker, front, map writer or fetcher');
is($may{'retort-docker'}, 3, 'there are retort-docker, its remover and a relay');
is($filtered{'retort-docker'}, 1, '... the relay has no call left for it');

$s->json('DELETE', "/v1/sandboxes/$id");
ok($s->until_true(sub { !$s->containers }), 'the container goes with the session');
$s->end;
done_testing();
