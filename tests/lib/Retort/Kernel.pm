package Retort::Kernel;

# The front's side of kernel.h, in Perl, and a retort-kernel --bare behind it:
# in its own mount, pid and network namespaces, chrooted into the image with
# the layer laid over it.  When the object goes, the namespaces go, and with
# them every mount and process.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp ();
use IO::Poll qw(POLLIN POLLHUP);
use POSIX ();
use Socket qw(AF_UNIX SOCK_SEQPACKET PF_UNSPEC SOL_SOCKET SO_SNDTIMEO
    MSG_DONTWAIT);

use constant {
    RUN => 2, FILE => 4, ACK => 6, RESET => 8,
    READY => 101, OUT => 103, SYNC => 105, DISPLAY => 107, MIME => 109,
    ERROR => 111, DONE => 113, FILED => 115, MORE => 120,
    PUT => 20, DATA => 22, GET => 24, LIST => 26, DELETE => 28,
    ENTRY => 117, BYTES => 119, CHANGE => 121, SOME => 0, LAST => 1, ABORT => 2,
    PAYLOAD => 32768, HEAD => 32, PATIENCE => 60,
};

our $TOP = abs_path(dirname(__FILE__) . '/../../..');
our $LAYER = $ENV{RETORT_LAYER} || "$TOP/objs/layer";

my $setup = <<'END';
root=$1; layer=$2; image=$3; uid=$4; shift 4
mount -t overlay overlay -o "ro,lowerdir=$layer:$image" "$root"
mount -t tmpfs -o size=64m,mode=755,uid=$uid,gid=$uid tmpfs "$root/workspace"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/dev"
for n in null zero full random urandom; do
    : > "$root/dev/$n"; mount --bind "/dev/$n" "$root/dev/$n"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -m 1777 "$root/dev/shm"
mount -t proc proc "$root/proc"
rc=0
"$@" || rc=$?
[ -z "${LINGER:-}" ] || exec perl -e '$SIG{CHLD} = "IGNORE"; sleep 9 while 1'
exit $rc
END


# image(): path of the sandbox image; undef if it was not built

sub image {
    my $path = qx($TOP/auto/image --print);
    chomp $path;
    return $path ne '' ? $path : undef;
}


# new(imports => [...], allow => [...], env => {...}, mode => '--bare',
#     linger => 1: what the kernel leaves behind lives on when it has ended)

sub new {
    my ($class, %opt) = @_;
    my $image = image() or die "no image: run auto/image\n";
    my $self = bless {
        run => 0, events => [], dir => File::Temp->newdir('retort-XXXXXX',
            TMPDIR => 1),
    }, $class;

    socketpair(my $ours, my $theirs, AF_UNIX, SOCK_SEQPACKET, PF_UNSPEC)
        or die "socketpair: $!";
    pipe(my $out, my $out_w) or die "pipe: $!";
    pipe(my $err, my $err_w) or die "pipe: $!";

    my @imports = ((map { ('--import', $_) } @{ $opt{imports} || [] }),
        map { ('--allow', $_) } @{ $opt{allow} || [] });
    my %env = %{ $opt{env} || {} };
    my $uid = 1000;

    my $pid = fork;
    die "fork: $!" unless defined $pid;

    if ($pid == 0) {
        my @high = map { POSIX::dup2(fileno $_->[0], $_->[1]); $_->[1] }
            ([$theirs, 63], [$out_w, 61], [$err_w, 62]);
        open STDIN, '<', '/dev/null';
        POSIX::dup2(61, 1);
        POSIX::dup2(62, 2);
        POSIX::dup2(63, 3);
        POSIX::close($_) for 4 .. 63;
        $ENV{LINGER} = 1 if $opt{linger};
        exec 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--net',
            '--propagation', 'private', 'bash', '-euc', $setup, 'bash',
            "$self->{dir}", $LAYER, $image, $uid, 'chroot',
            "--userspec=$uid:$uid", "$self->{dir}", '/usr/bin/env', '-i',
            '-C', '/workspace', (map { "$_=$env{$_}" } keys %env),
            @{ $opt{wrap} || [] }, '/usr/lib/retort/retort-kernel',
            $opt{mode} || '--bare', @imports
            or POSIX::_exit(127);
    }

    close $_ for $theirs, $out_w, $err_w;
    @$self{qw(pid sock out err)} = ($pid, $ours, $out, $err);
    $self->{fds} = { 1 => $out, 2 => $err };
    setsockopt($ours, SOL_SOCKET, SO_SNDTIMEO, pack('l!l!', PATIENCE, 0));
    return $self;
}


sub start {
    my ($class, %opt) = @_;
    my $self = $class->new(%opt);
    my $ready = $self->packet;
    die 'kernel did not start: ' . $self->noise . "\n"
        unless $ready && $ready->{type} == READY;
    return $self;
}


sub noise {
    my ($self) = @_;
    $self->drain;
    return join '', map { $_->[2] } @{ $self->{events} };
}


# pipes: everything that is in them now becomes events

sub drain {
    my ($self) = @_;

    for my $which (1, 2) {
        my $fh = $self->{fds}{$which} or next;

        while (1) {
            my $poll = IO::Poll->new;
            $poll->mask($fh => POLLIN);
            last unless $poll->poll(0) > 0;
            my $n = sysread $fh, my $data, 65536;
            last unless $n;
            push @{ $self->{events} }, ['pipe', $which, $data];
        }
    }
}


# the next packet, or undef at the end of the channel; pipes are read meanwhile

sub packet {
    my ($self, $patience) = @_;
    my $deadline = time + ($patience || PATIENCE);

    while (1) {
        my $poll = IO::Poll->new;
        $poll->mask($self->{sock} => POLLIN);
        $poll->mask($_ => POLLIN) for values %{ $self->{fds} };
        my $left = $deadline - time;
        die "the kernel says nothing\n" if $left <= 0;
        next if $poll->poll($left) <= 0;

        if ($poll->events($self->{sock})) {
            my $ok = recv $self->{sock}, my $raw, PAYLOAD + HEAD, 0;
            return unless defined $ok && length $raw;
            return unpack_packet($raw);
        }

        for my $which (keys %{ $self->{fds} }) {
            my $fh = $self->{fds}{$which};
            next unless $poll->events($fh);
            my $n = sysread $fh, my $data, 65536;
            push @{ $self->{events} }, ['pipe', $which, $data] if $n;
            delete $self->{fds}{$which} unless $n;
        }
    }
}


sub unpack_packet {
    my ($raw) = @_;
    my ($version, $type, $len, $run, $a, $b, @part) = unpack 'CCSLLLLLLL', $raw;
    die "bad packet\n" if $version != 1 || length($raw) != HEAD + $len;
    return { type => $type, run => $run, a => $a, b => $b, part => \@part,
        body => substr($raw, HEAD) };
}


# a whole message: body split into its parts

sub message {
    my ($self) = @_;
    my $msg = $self->packet or return;
    my $total = 0;
    $total += $_ for @{ $msg->{part} };

    while (length $msg->{body} < $total) {
        my $more = $self->packet or return;
        die "MORE was due\n" if $more->{type} != MORE;
        $msg->{body} .= $more->{body};
    }

    my $at = 0;
    $msg->{parts} = [map { my $p = substr $msg->{body}, $at, $_; $at += $_; $p }
        @{ $msg->{part} }];
    return $msg;
}


sub send_packet {
    my ($self, $type, $run, $a, $b, $part, $body, $version) = @_;
    my @part = (@$part, 0, 0, 0, 0)[0 .. 3];
    return defined send $self->{sock}, pack('CCSLLLLLLL', $version || 1, $type,
        length $body, $run, $a, $b, @part) . $body, 0;
}


sub send_message {
    my ($self, $type, $run, $a, @parts) = @_;
    my $body = join '', @parts;
    my @len = map { length } @parts;

    do {
        my $piece = substr $body, 0, PAYLOAD, '';
        $self->send_packet($type, $run, $a, $type == RUN ? $self->{flags} // 0
            : 0, \@len, $piece) or return 0;
        $type = MORE;
    } while (length $body);

    return 1;
}


# begins a run; run() does that and collects its events

sub begin {
    my ($self, $code, %opt) = @_;
    my $env = join '', map { "$_=$opt{env}{$_}\0" } sort keys %{ $opt{env} };
    $self->{events} = [];
    $self->{changes} = [];
    $self->{saved} = [];
    # want => [files, bytes of one, all or pictures alone]
    my @want = $opt{want} ? pack 'QLL', @{ $opt{want} }[1, 0, 2] : ();
    $self->send_message(RUN, ++$self->{run}, $opt{bash} ? 1 : 0, $code, $env,
        defined $opt{stdin} ? $opt{stdin} : '', @want);
}


sub one_event {
    my ($self, $msg) = @_;
    my ($type, @p) = ($msg->{type}, @{ $msg->{parts} });
    my $events = $self->{events};

    if ($type == SYNC) {
        $self->drain;
        $self->send_packet(ACK, $msg->{run}, 0, 0, [], '');
    }
    elsif ($type == OUT) { push @$events, ['out', $msg->{a}, $p[0]] }
    elsif ($type == CHANGE) {
        my ($size, $hashed, undef, $sha) = unpack 'QLLH64', $p[1];
        my $how = (qw(more created changed deleted))[$msg->{a}];
        push @{ $self->{changes} }, [$how, $p[0], $size, $hashed ? $sha : ''];
    }
    elsif ($type == MIME && length $p[2]) {
        pop @$events;
        push @{ $self->{saved} }, [@p[2, 1]];
    }
    elsif ($type == DISPLAY) {
        push @$events, ['display', $msg->{a}, {}, $msg->{b}];
    }
    elsif ($type == MIME) { $events->[-1][2]{ $p[0] } = $p[1] }
    elsif ($type == ERROR) { push @$events, ['error', @p] }
    elsif ($type == DONE) { push @$events, ['done', $msg->{a}, $msg->{b}] }
    else { die "unexpected message $type\n" }
}


# collect(): events up to KRN_DONE; undef if the kernel goes

sub collect {
    my ($self) = @_;

    while (my $msg = $self->message) {
        die "another run\n" if $msg->{run} != $self->{run};
        $self->one_event($msg);
        return merge($self->{events}) if $msg->{type} == DONE;
    }

    return;
}


sub run {
    my ($self, @args) = @_;
    $self->begin(@args);
    return $self->collect;
}


# neighbouring pieces of one stream are one

sub merge {
    my ($events) = @_;
    my @all;

    for my $e (@$events) {
        if (@all && $e->[0] =~ /^(?:out|pipe)$/ && $all[-1][0] eq $e->[0]
            && $all[-1][1] == $e->[1])
        {
            $all[-1][2] .= $e->[2];
        }
        else { push @all, [@$e] }
    }

    return \@all;
}


# brief(): events as short strings, for tables
#   1:TEXT 2:TEXT      written through sys.stdout, sys.stderr
#   |1:TEXT |2:TEXT    written to the descriptor
#   show:TEXT result:TEXT    a display, its text/plain; (png …) other forms,
#                            but for charts and tables as data
#   error:SHORT
#   ok, failed         the end; an exit code of bash after it

sub brief {
    my ($events) = @_;
    return ['gone'] unless $events;
    my @brief;

    for my $e (@$events) {
        my ($type, @v) = @$e;

        if ($type eq 'out') { push @brief, "$v[0]:$v[1]" }
        elsif ($type eq 'pipe') { push @brief, "|$v[0]:$v[1]" }
        elsif ($type eq 'error') { push @brief, "error:$v[2]" }
        elsif ($type eq 'done') {
            push @brief, ($v[0] ? 'failed' : 'ok') . ($v[1] ? " $v[1]" : '');
        }
        else {
            my %form = %{ $v[1] };
            my $text = delete $form{'text/plain'};
            my @other = map { s{.*/}{}r } grep { !/vnd\.retort/ }
                sort keys %form;
            push @brief, ($v[0] ? 'result' : 'show')
                . (@other ? "(@other)" : '') . ':' . ($text // '');
        }
    }

    return \@brief;
}


sub file {
    my ($self, $name, $content) = @_;
    $self->send_message(FILE, ++$self->{run}, 0, $name, $content);
    my $msg = $self->message or return;
    die "FILED was due\n" if $msg->{type} != FILED;
    return $msg->{a};
}


# asks about files; what comes up to KRN_FILED: its errno, its b, the entries
# ([name, is, size, modified]) and the bytes

sub ask {
    my ($self, $type, $name, $a, $b) = @_;
    $self->send_packet($type, ++$self->{run}, $a // 0, $b // 0,
        [length $name], $name);
    return $self->asked;
}


sub asked {
    my ($self) = @_;
    my (@entries, $bytes);

    while (my $msg = $self->message) {
        my @p = @{ $msg->{parts} };
        die "another run\n" if $msg->{run} != $self->{run};

        if ($msg->{type} == ENTRY) {
            my ($size, $modified, $is) = unpack 'QQL', $p[1];
            push @entries, [$p[0], $is, $size, $modified];
        }
        elsif ($msg->{type} == BYTES) { $bytes .= $p[0] }
        elsif ($msg->{type} == FILED) {
            return ($msg->{a}, $msg->{b}, \@entries, $bytes);
        }
        else { die "unexpected message $msg->{type}\n" }
    }

    die "the kernel is gone\n";
}


# the pieces of a KRN_PUT; how it ends

sub put {
    my ($self, $name, $end, @pieces) = @_;
    $self->send_packet(PUT, ++$self->{run}, 0, 0, [length $name], $name);
    $self->data($_, SOME) for @pieces;
    $self->data('', $end);
    return ($self->asked)[0, 1];
}


sub data {
    my ($self, $piece, $how) = @_;
    return $self->send_packet(DATA, $self->{run}, $how, 0, [length $piece],
        $piece);
}


# the kernel's own pid, seen from here: unshare, bash as pid 1, kernel

sub kernel_pid { return ($_[0]->pids)[0] }


# the bash's children that live: the kernel, and its copy

sub pids {
    my ($self) = @_;
    my @pids = $self->{pid};

    for (1, 2) {
        open my $fh, '<', "/proc/$pids[0]/task/$pids[0]/children" or return;
        @pids = split ' ', <$fh> // '' or return;
    }

    return grep { alive($_) } @pids;
}


sub alive {
    my ($pid) = @_;
    open my $fh, '<', "/proc/$pid/stat" or return 0;
    return (<$fh> // ') Z') !~ /\) Z/;
}


sub interrupt { kill 'INT', $_[0]->kernel_pid }


# end(): closes the channel, waits, tells the wait status

sub end {
    my ($self) = @_;
    return $self->{status} if defined $self->{status};
    close $self->{sock};
    my $deadline = time + PATIENCE;
    $self->reap($deadline);
    return $self->{status};
}


sub reap {
    my ($self, $deadline) = @_;
    local $SIG{ALRM} = sub { kill 'KILL', $self->{pid} };
    alarm($deadline - time);
    waitpid $self->{pid}, 0;
    alarm 0;
    $self->{status} = $?;
    return $?;
}


sub DESTROY {
    my ($self) = @_;
    local ($?, $!, $@);
    return if defined $self->{status} || !$self->{pid};
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
}

1;
