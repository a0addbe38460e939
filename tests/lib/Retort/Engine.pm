package Retort::Engine;

# An engine of containers for the tests alone: its own data, socket and
# containerd, no bridge, no iptables; nobody else's containers are seen.
# tests/run starts one for all programs (--engine) and tells them of it by
# RETORT_ENGINE; a program that runs by itself gets one that ends with it.
#
#   my $e = Retort::Engine->get;
#   print $e->socket, $e->image;
#   print $e->docker('ps', '-q');

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Retort::Wait qw(patiently);

our $TOP = abs_path(dirname(abs_path(__FILE__)) . '/../../..');

# the same under another name, for who asks for another one
use constant RUNC => '/usr/sbin/runc';

my $MINE;


sub get {
    my ($class) = @_;

    return bless { dir => $ENV{RETORT_ENGINE} }, $class if $ENV{RETORT_ENGINE};
    return $MINE //= $class->new;
}


sub new {
    my ($class) = @_;
    my $dir = tempdir('engine-XXXXXX', TMPDIR => 1, CLEANUP => 0);
    my $self = bless { dir => $dir, owner => $$ }, $class;

    # the socket is its group's; what else is there, root's alone
    chmod 0711, $dir;
    $self->start;

    return $self;
}


sub dir { $_[0]{dir} }

sub socket { "$_[0]{dir}/sock" }

sub name { ($_[0]{dir} =~ m{([^/]+)$})[0] }


# ends with whoever started it, should that be killed
sub start {
    my ($self) = @_;
    my $d = $self->{dir};
    my $pid = fork;

    die "fork: $!" unless defined $pid;

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$d/log";
        open STDERR, '>&', \*STDOUT;
        POSIX::setsid();
        exec $self->{owner} ? qw(setpriv --pdeathsig TERM) : (), 'dockerd',
            '--data-root', "$d/data", '--exec-root', "$d/exec",
            '--pidfile', "$d/pid", '-H', "unix://$d/sock",
            '--iptables=false', '--ip6tables=false', '--bridge=none',
            '--storage-driver=overlay2', '--cgroup-parent', '/' . $self->name,
            '--add-runtime', 'another=' . RUNC,
            '--add-runtime', "less=$TOP/tests/docker/runc-less",
            '--exec-opt', 'native.cgroupdriver=cgroupfs'
            or POSIX::_exit(127);
    }

    $self->{child} = $pid;

    patiently(sub {
        die "dockerd ended:\n" . $self->log if waitpid($pid, WNOHANG) > 0;
        return -S $self->socket && defined $self->docker('version');
    }, 60) or die "dockerd does not answer:\n" . $self->log;

    return $self;
}


sub slurp {
    my ($path) = @_;

    open my $f, '<', $path or return '';
    local $/;

    return scalar <$f> // '';
}


sub log { join "\n", (split /\n/, slurp("$_[0]{dir}/log"))[-20 .. -1] }

sub pid { slurp("$_[0]{dir}/pid") =~ /^(\d+)/ ? $1 : undef }


# what the client says, or undef if it fails
sub docker {
    my ($self, @args) = @_;

    open my $f, '-|', 'sh', '-c', 'exec docker "$@" 2>/dev/null < /dev/null',
        'sh', '-H', 'unix://' . $self->socket, @args or die "docker: $!";
    local $/;
    my $text = <$f> // '';
    local ($?, $!);

    return close $f ? $text : undef;
}


# the id of the image that namespace sandboxes have as a root file system
sub image {
    my ($self) = @_;

    return $self->{image} //= do {
        local $ENV{DOCKER_HOST} = 'unix://' . $self->socket;
        my $id = `\Q$TOP\E/auto/image --docker`;
        die "no image: auto/image --docker\n" if $?;
        $id =~ s/\s//gr;
    };
}


# the id of another one, with a file of that name and text in it as well
sub image_with {
    my ($self, $name, $text) = @_;
    my $context = tempdir('context-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my %file = (file => $text,
        Dockerfile => 'FROM ' . $self->image . "\nCOPY file $name\n");

    for (keys %file) {
        open my $f, '>', "$context/$_" or die $!;
        print $f $file{$_};
        close $f or die $!;
    }

    local $ENV{DOCKER_BUILDKIT} = 0;
    my $id = $self->docker('build', '-q', $context) // die 'no image';

    return $id =~ s/\s//gr;
}


# ids, of those with a label only if one is named; an engine that was killed while
# it removed one may name it for ever after, and not know it when asked for it
sub containers {
    my ($self, $label) = @_;
    my @named = split ' ', $self->docker('ps', '-aq', '--no-trunc',
        $label ? ('--filter', "label=$label") : ()) // die 'no engine answers';

    return grep { $self->inspect($_) } @named;
}


sub inspect {
    my ($self, $id) = @_;

    return decode_json($self->docker('inspect', $id) // '[]')->[0];
}


# what the host has of a container

sub cgroups {
    my ($self, $id) = @_;
    my $name = $self->name . "/$id";

    return grep { -d } "/sys/fs/cgroup/$name", glob "/sys/fs/cgroup/*/$name";
}


sub processes {
    my ($self, $id) = @_;
    my %pids = map { $_ => 1 } map { split ' ', slurp("$_/cgroup.procs") }
        $self->cgroups($id);

    return sort { $a <=> $b } keys %pids;
}


# ---- what happens to engines ----

sub hold { kill 'STOP', $_[0]->pid }

sub release { kill 'CONT', $_[0]->pid }


# as after a crash: its containers and containerd stay
sub crash {
    my ($self) = @_;
    my $pid = $self->pid;

    my $containerd = slurp("$self->{dir}/exec/containerd/containerd.pid");

    kill 'KILL', $pid;
    waitpid $pid, 0 if ($self->{child} // 0) == $pid;
    patiently(sub { !alive($pid) && !alive($containerd) }, 30)
        or die 'dockerd lives on';

    # an init that reaps nothing would have the next one wait for this number
    unlink "$self->{dir}/pid", $self->socket,
        "$self->{dir}/exec/containerd/containerd.pid";

    return;
}


# An engine that dies while it starts a container may know nothing of it later:
# its processes, ended here, as whoever runs the engine has to.
sub forgotten {
    my ($self) = @_;
    my %known = map { $_ => 1 } $self->containers;
    my %shim = map { /^process (\d+) .*shim.* -id (\w{64})/ ? ($2 => $1) : () }
        $self->traces;
    my @found;

    for my $id (grep { !$known{$_} } keys %shim) {
        my @pids = $self->processes($id);

        push @found, map { slurp("/proc/$_/cmdline") =~ tr/\0/ /r } @pids;
        kill 'KILL', @pids, $shim{$id};
        patiently(sub { rmdir for $self->cgroups($id); !$self->cgroups($id) }, 10);
    }

    return @found;
}


sub alive { slurp("/proc/$_[0]/stat") =~ /\) ([^ZX])/ }


# ---- its end ----

# processes, mounts and cgroups that have the engine's directory in their names
sub traces {
    my ($self) = @_;
    my ($d, $name) = ($self->{dir}, $self->name);
    my @found;

    for (glob '/proc/[0-9]*') {
        my ($pid) = m{(\d+)$};
        my $line = slurp("$_/cmdline") =~ tr/\0/ /r;

        push @found, "process $pid $line"
            if index($line, $d) >= 0 && $pid != $$;
    }

    push @found, map { "mount " . (split ' ')[4] }
        grep { index($_, $d) >= 0 } split /\n/, slurp('/proc/self/mountinfo');
    push @found, map { "cgroup $_" } grep { -d } glob "/sys/fs/cgroup/*/$name/*"
        . " /sys/fs/cgroup/$name/*";

    return @found;
}


# stops it; what it left on the machine is named, and taken away
sub end {
    my ($self) = @_;
    my $pid = $self->pid;
    my @left = map {"container $_"} eval { $self->containers };

    $self->docker('rm', '-f', map {/(\S+)$/} @left) if @left;

    if ($pid) {
        kill 'CONT', $pid;
        kill 'TERM', $pid;
        patiently(sub {
            waitpid $pid, WNOHANG;
            !kill 0, $pid;
        }, 60);
    }

    # a dockerd that crashed has left this to nobody
    system "! mountpoint -q $self->{dir}/data || umount $self->{dir}/data 2>/dev/null";
    patiently(sub { !$self->traces }, 10);
    push @left, $self->traces;
    kill 'KILL', map({/^process (\d+)/} @left),
        map { split ' ', slurp("$_/cgroup.procs") } map {/^cgroup (.*)/} @left;
    system 'umount', '-l', $_ for reverse map {/^mount (.*)/} @left;
    patiently(sub {
        rmdir for reverse sort glob join ' ', map { ("$_/*", $_) }
            '/sys/fs/cgroup/' . $self->name, '/sys/fs/cgroup/*/' . $self->name;
        return !grep {/^cgroup/} $self->traces;
    }, 10);
    remove_tree($self->{dir});
    $self->{ended} = 1;

    return @left;
}


END {
    if ($MINE && !$MINE->{ended} && $MINE->{owner} == $$) {
        local ($?, $!);
        print STDERR "# the engine left: $_\n" for $MINE->end;
    }
}


1;
