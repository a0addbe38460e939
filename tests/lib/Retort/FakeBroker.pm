package Retort::FakeBroker;

# A broker for tests of retort-front: speaks broker.h, makes no sandbox.  A box
# is a process that speaks kernel.h (Retort::FakeKernel) and evaluates the code
# of a cell as Perl.  Started in a process of its own; orders and questions go
# over a control socket:
#
#   my $b = Retort::FakeBroker->new("$dir/broker");
#   my $sock = $b->connect();          # descriptor 3 of a front
#   $b->tell('spawn', BRK_EFULL);      # all SPAWNs from now on
#   $b->tell('empty', 1);              # and their boxes have no interpreter
#   my %count = $b->counts();

use strict;
use warnings;

use Errno qw(EINTR);
use Fcntl;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Socket;

use Retort::FakeKernel;

use constant { HELLO => 2, SPAWN => 4, KILL => 6, SIGNAL => 8, RECORD => 14,
               RESTART => 16,
               EV_BOX => 101, EV_BOXES_END => 103, EV_KERNEL_EXIT => 105,
               EV_BOX_EXIT => 107, EV_DRAIN => 109,
               REQ => 624, ANS => 792, SYS_sendmsg => 46,
               OK => 0, EBOX => 2 };

my @NAMES = ([HELLO, 'hello'], [SPAWN, 'spawn'], [KILL, 'kill'],
             [SIGNAL, 'signal'], [RECORD, 'record'], [RESTART, 'restart']);


sub new {
    my ($class, $path, $defaults) = @_;

    my $listen = IO::Socket::UNIX->new(Local => $path, Listen => 8,
                                       Type => SOCK_SEQPACKET) or die "$!";
    socketpair my $mine, my $its, AF_UNIX, SOCK_SEQPACKET, 0 or die "$!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        CORE::close $mine;
        eval { serve($listen, $its, $defaults); 1 } or print STDERR "fake broker: $@";
        POSIX::_exit(0);
    }

    CORE::close $its;

    return bless { path => $path, pid => $pid, control => $mine,
                   owner => $$ }, $class;
}


sub connect {
    my ($self) = @_;

    return IO::Socket::UNIX->new(Peer => $self->{path},
                                 Type => SOCK_SEQPACKET) // die "$!";
}


sub tell {
    my ($self, @words) = @_;

    send $self->{control}, "@words", 0;
    recv $self->{control}, my $answer, 65536, 0;

    return $answer;
}


sub counts {
    my ($self) = @_;

    return split / /, $self->tell('counts');
}


sub stop {
    my ($self) = @_;

    return unless $self->{pid} && $$ == $self->{owner};
    CORE::close $self->{control};
    waitpid delete $self->{pid}, 0;
    unlink $self->{path};
}


sub DESTROY { local $?; $_[0]->stop() }


# the broker's own process from here on

my (%box, %by_pid, %count, %order, $front, $ready, $slot, @defaults, @held,
    @empty);


sub answer {
    my (%a) = @_;

    my $stat = pack 'QQQQLL', @{$a{stat} // [0, 0, 0, 0, 0, 0]};
    my $msg = pack 'SSLQLlLL', $a{op}, $a{code} // 0, $a{seq} // 0,
                   $a{id} // 0, $a{step} // 0, $a{error} // 0, 0,
                   $a{count} // 0;

    substr($msg, 24, 4) = pack 'l', $a{status} // 0;
    $msg .= $stat . pack('a32', $a{profile} // '')
            . ($a{limits} // "\0" x 56) . pack('a512', $a{record} // '');

    # a front that has not said hello is told nothing
    fd_send($front, $msg, @{$a{fds} // []}) if $front && $ready;
}


sub fd_send {
    my ($sock, $msg, @fds) = @_;

    my $control = '';
    $control = pack 'QLL(l)*', 16 + 4 * @fds, SOL_SOCKET, 1, @fds if @fds;
    $control .= "\0" x (-length($control) % 8);

    my $iov = pack 'PQ', $msg, length $msg;
    my $mh = pack 'QLLPQ' . (@fds ? 'P' : 'Q') . 'QLL', 0, 0, 0, $iov, 1,
                  (@fds ? $control : 0), length $control, 0, 0;

    return syscall SYS_sendmsg, fileno($sock), $mh, 0x4000;
}


# the files of a box's cgroups, as v1 has them; its kernel writes to them

sub counters {
    my @files = map { open my $fh, '+>', undef or die "$!"; $fh } 1 .. 6;

    Retort::FakeKernel::add($files[2], 3_000_000);
    Retort::FakeKernel::add($files[3], 5_000_000);

    return @files;
}


# the descriptors of all boxes without an interpreter, and the other ends of two

sub empty {
    return if @empty;

    socketpair my $channel, my $its, AF_UNIX, SOCK_SEQPACKET, 0 or die "$!";
    pipe my $r, my $w or die "$!";
    @empty = ([$channel, $r, $r, counters()], $its, $w);
}


# a process for a box's interpreter, and the front's ends of its descriptors

sub kernel {
    my ($b) = @_;

    socketpair my $channel, my $its, AF_UNIX, SOCK_SEQPACKET, 0 or die "$!";
    pipe my $out_r, my $out_w or die "$!";
    pipe my $err_r, my $err_w or die "$!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        setpgrp;
        CORE::close $_ for $channel, $out_r, $err_r, $front;
        Retort::FakeKernel::main($its, $out_w, $err_w, $b->{counters});
        POSIX::_exit(0);
    }

    # the child may not have come so far yet
    setpgrp $pid, $pid;

    $b->{fds} = [$channel, $out_r, $err_r, @{$b->{counters}}];
    $b->{pid} = $pid;
    $by_pid{$pid} = $b;

    return map { fileno $_ } @{$b->{fds}};
}


sub spawn {
    my ($req, $limits) = @_;

    if ($order{hold}) {
        push @held, [$req, $limits];
        return;
    }

    my $code = $order{spawn} // OK;
    my @limits = unpack 'Q5L4', $limits;

    $limits = pack 'Q5L4', map { $limits[$_] || $defaults[$_] } 0 .. 8;

    $code = 3 if $order{slots} && keys %box >= $order{slots};

    if ($code) {
        answer(%$req, code => $code, step => 1, error => 13);
        return;
    }

    my $id = ++$slot | 7 << 32;       # slots are not used again here
    my $b = $box{$id} = { id => $id, limits => $limits,
                          profile => $req->{profile}, record => '' };
    my @fds;

    if ($order{empty}) {
        empty();
        $b->{fds} = $empty[0];
        $b->{counters} = [@{$empty[0]}[3 .. 8]];
        @fds = map { fileno $_ } @{$b->{fds}};

    } else {
        $b->{counters} = [counters()];
        @fds = kernel($b);
    }

    answer(%$req, id => $id, limits => $limits, fds => \@fds);
}


sub stat_of {
    my ($b) = @_;

    my @n = Retort::FakeKernel::counted($b->{counters});

    return [$n[0] / 1000, $n[1] / 1000, @n[2, 3, 5, 4]];
}


sub box_end {
    my ($b) = @_;

    delete $box{$b->{id}};

    # as the broker: an end is told when all that was in there is dead
    if ($b->{pid}) {
        kill 'KILL', -$b->{pid};
        waitpid $b->{pid}, 0;
        delete $by_pid{$b->{pid}};
    }

    answer(op => EV_BOX_EXIT, id => $b->{id}, stat => stat_of($b),
           status => 9) unless $order{silent};
}


my %ops = (
    HELLO, sub {
        my ($req) = @_;
        $ready = 1;
        answer(%$req, count => scalar keys %box);
        for my $b (sort { $a->{id} <=> $b->{id} } values %box) {
            answer(op => EV_BOX, id => $b->{id}, profile => $b->{profile},
                   limits => $b->{limits}, record => $b->{record},
                   fds => [map { fileno $_ } @{$b->{fds}}]);
        }
        answer(op => EV_BOXES_END);
    },
    KILL, sub { my ($req, $b) = @_; answer(%$req); box_end($b) },
    SIGNAL, sub {
        my ($req, $b) = @_;
        my $sig = $req->{signal} == 2 ? 'INT' : 'KILL';
        $count{"sig$sig"}++;
        # the interpreter hears INT, KILL is for all in the box
        kill $sig, $sig eq 'INT' ? $b->{pid} : -$b->{pid}
            if $b->{pid} && !$order{deaf};
        answer(%$req);
    },
    RECORD, sub {
        my ($req, $b) = @_;
        $b->{record} = $req->{record};
        answer(%$req);
    },
    RESTART, sub {
        my ($req, $b) = @_;
        if ($b->{pid}) { kill 'KILL', $b->{pid}; waitpid $b->{pid}, 0 }
        answer(%$req, fds => [kernel($b)]);
    },
);


sub request {
    my $n = sysread $front, my $msg, 4096;

    if (!$n) {
        CORE::close $front;
        undef $front;
        return;
    }

    my %r;
    @r{qw(op version seq id signal reset profile limits record)}
        = unpack 'SSLQLLZ32a56a512', $msg;

    my ($name) = map { $_->[1] } grep { $_->[0] == $r{op} } @NAMES;
    $count{$name // "bad"}++;
    $count{bad}++ if $n != REQ || $r{version} != 2;

    my %req = map { $_ => $r{$_} } qw(op seq id signal profile record);
    delete $req{profile} unless $r{op} == SPAWN;

    return spawn(\%req, $r{limits}) if $r{op} == SPAWN;

    my $b = $box{$r{id}};
    delete $req{record} unless $r{op} == RECORD;

    if ($r{op} != HELLO && !$b) {
        answer(%req, code => EBOX);

    } elsif ($ops{$r{op}}) {
        $ops{$r{op}}->(\%req, $b);
    }
}


sub reap {
    while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) {
        my $b = delete $by_pid{$pid} or next;
        my $status = $?;

        next unless $box{$b->{id}} && $b->{pid} == $pid;

        # how a fake kernel says that memory ran out
        Retort::FakeKernel::add($b->{counters}[4], 1) if $status == 77 << 8;
        $status = 9 if $status == 77 << 8;

        $b->{pid} = 0;
        $count{exits}++;
        answer(op => EV_KERNEL_EXIT, id => $b->{id}, status => $status,
               stat => stat_of($b)) unless $order{silent};
    }
}


sub order {
    my ($control) = @_;

    my $n = sysread $control, my $text, 65536;
    return 0 unless $n;

    my ($word, @args) = split / /, $text;
    my $answer = 'ok';

    if ($word eq 'counts') {
        $answer = join ' ', %count, boxes => scalar keys %box;

    } elsif ($word eq 'drain') {
        answer(op => EV_DRAIN);

    } elsif ($word eq 'endbox') {
        box_end($_) for values %box;

    } elsif ($word eq 'killkernels') {
        kill 'KILL', map { -$_->{pid} } grep { $_->{pid} } values %box;

    } elsif ($word eq 'release') {
        # the first that was held succeeds, whatever is ordered
        my ($first, @rest) = splice @held;
        $order{hold} = 0;
        { local $order{spawn} = 0; spawn(@$first) }
        spawn(@$_) for @rest;

    } elsif ($word eq 'hangup') {
        CORE::close $front if $front;
        undef $front;

    } else {
        $order{$word} = $args[0];
    }

    syswrite $control, $answer;
    return 1;
}


sub serve {
    my ($listen, $control, $defaults) = @_;

    @defaults = unpack 'Q5L4', $defaults;
    pipe my $bell_r, my $bell_w or die "$!";
    $bell_w->blocking(0);
    $bell_r->blocking(0);
    local $SIG{CHLD} = sub { syswrite $bell_w, '.' };

    while (1) {
        my $sel = IO::Select->new($listen, $control, $bell_r,
                                  $front ? $front : ());

        for my $fh ($sel->can_read()) {
            if ($fh == $listen) {
                # what the last one said before it ended still counts
                request() while $front
                    && IO::Select->new($front)->can_read(0);
                CORE::close $front if $front;
                $front = $listen->accept();
                $ready = 0;

            } elsif ($fh == $control) {
                if (!order($control)) {
                    kill 'KILL', map { -$_->{pid} }
                                 grep { $_->{pid} } values %box;
                    1 while wait != -1;
                    return;
                }

            } elsif ($fh == $bell_r) {
                sysread $bell_r, my $dots, 4096;
                reap();

            } elsif ($front && $fh == $front) {
                request();
            }
        }
    }
}


1;
