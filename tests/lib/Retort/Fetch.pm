package Retort::Fetch;

# A retort-fetch under test, and web servers that it meets.
#
#   my $f = Retort::Fetch->start('fetch_allow 127.0.0.1:8080', ...);
#   my @files = $f->get('http://127.0.0.1:8080/a.csv', ...);
#   my $r = $f->call('planner', '{}', "x-trace: 1\n");
#   $r->{code} == OK; $r->{status}, $r->{type}, $r->{data}, $r->{text}
#
#   my $w = Retort::Fetch::web(sub { my ($sock, $req) = @_; ... });
#   $w->{port}

use strict;
use warnings;

use Cwd qw(abs_path);
use Errno;
use Exporter qw(import);
use Fcntl;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp ();
use IO::Select;
use IO::Socket::IP;
use POSIX ();
use Socket;
use Time::HiRes qw(sleep);

use Retort::FakeBroker;
use Retort::Wait qw(patiently);

use constant { GET => 2, CALL => 4, ABOUT => 6, HEAD => 101, DATA => 103,
               END_ => 105, OK => 0, REFUSED => 1, FAILED => 2, SIZE => 3,
               TIME => 4, BUSY => 5, NAME => 6, NOBODY => 65534,
               PATIENCE => 60 };

our @EXPORT_OK = qw(OK REFUSED FAILED SIZE TIME BUSY NAME wait_for web answer);

my $top = abs_path(dirname(__FILE__) . '/../../..');


sub program { $ENV{RETORT_FETCH} // "$top/objs/retort-fetch" }


# lines as in retortd's file; uid and front as options
sub start {
    my ($class, @lines) = @_;
    my %o = ref $lines[0] ? %{ shift @lines } : ();
    my $dir = File::Temp->newdir('retort-fetch-XXXXXX', TMPDIR => 1);
    my $front = $o{front} // $<;
    my @args = map { (split(' ', $_), '') } @lines;

    # nobody may not look into every checkout
    chmod 0755, $dir;
    copy(program(), "$dir/retort-fetch") or die program() . ": $!";
    chmod 0755, "$dir/retort-fetch";
    socketpair my $mine, my $its, AF_UNIX, SOCK_SEQPACKET, 0 or die "$!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        my $fd = fcntl $its, F_DUPFD, 20;

        open STDIN, '<', '/dev/null';
        open STDERR, '>>', "$dir/log";
        POSIX::dup2($fd, 3);
        POSIX::close($_) for 4 .. 60;
        %ENV = %{ $o{env} // {} };
        $) = '' . NOBODY . ' ' . NOBODY;
        POSIX::setgid(NOBODY);
        POSIX::setuid($o{uid} // NOBODY);
        exec "$dir/retort-fetch", $front, @args or POSIX::_exit(127);
    }

    close $its;
    my $self = bless { dir => $dir, pid => $pid, channel => $mine,
                       owner => $$ }, $class;

    $self->{ready} = sysread($mine, my $byte, 16) // 0;

    return $self;
}


sub log {
    my ($self) = @_;

    open my $fh, '<', "$self->{dir}/log" or return '';
    local $/;
    return scalar <$fh> // '';
}


# asks; the front's end of the conversation
sub ask {
    my ($self, $op, %o) = @_;
    my $head = $o{head} // '';
    my $body = $o{body} // '';

    socketpair my $mine, my $its, AF_UNIX, SOCK_SEQPACKET, 0 or die "$!";
    Retort::FakeBroker::fd_send($self->{channel}, pack('S4', 1, 0, 0, 0),
        fileno $its) == 8 or return;
    close $its;

    syswrite $mine, $o{raw} // pack('SSLLLQa32', $op, 0, $o{count} // 0,
        length $head, length $body, $o{limit} // 0, $o{name} // '');
    for my $part ($head, $body) {
        syswrite $mine, $_ for unpack '(a32768)*', $part;
    }

    return $mine;
}


# one packet, or nothing at the end
sub hear {
    my ($conv) = @_;

    IO::Select->new($conv)->can_read(PATIENCE) or die 'no answer';
    my $n = sysread $conv, my $p, 40000;

    # what was not read at the other end is told before what was written there
    $n = sysread $conv, $p, 40000 if !defined $n && $!{ECONNRESET};
    return unless $n;

    my %a;
    @a{qw(op code index status len keep)} = unpack 'SSLLLL', $p;
    @a{qw(type text)} = unpack 'x24 Z64 Z160', $p;
    $a{data} = substr $p, 248;

    return \%a;
}


# all of "count" answers, by their index
sub answers {
    my ($conv, $count) = @_;
    my @all = map { { data => '', ended => 0 } } 1 .. $count;

    while ((grep { !$_->{ended} } @all) && (my $a = hear($conv))) {
        my $r = $all[$a->{index}];

        if ($a->{op} == HEAD) {
            @$r{qw(status type keep)} = @$a{qw(status type keep)};
        } elsif ($a->{op} == DATA) {
            $r->{data} .= $a->{data};
            $r->{pieces}++;
        } else {
            @$r{qw(code text)} = @$a{qw(code text)};
            $r->{ended}++;
        }
    }

    return @all;
}


sub get {
    my ($self, @urls) = @_;
    my %o = ref $urls[0] ? %{ shift @urls } : ();
    my $conv = $self->ask(GET, %o, count => scalar @urls,
        body => join '', map {"$_\0"} @urls) or return;
    my @all = answers($conv, scalar @urls);

    return wantarray ? @all : $all[0];
}


sub call {
    my ($self, $name, $body, $head) = @_;
    my $conv = $self->ask(CALL, name => $name, body => $body, head => $head)
        or return;

    return (answers($conv, 1))[0];
}


sub model {
    my ($self, $name) = @_;

    return (answers($self->ask(ABOUT, name => $name), 1))[0];
}


sub children {
    my ($self) = @_;
    my @pids = split ' ', do {
        open my $f, '<', "/proc/$self->{pid}/task/$self->{pid}/children"
            or return;
        <$f> // '' };

    return @pids;
}


# closes the channel; how it ended
sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;
    my $status;

    close $self->{channel};
    wait_for(sub { waitpid($pid, POSIX::WNOHANG()) == $pid
                   && defined($status = $?) }) or kill 'KILL', $pid;

    return $status;
}


sub DESTROY { local ($?, $!); $_[0]->stop if $_[0]{owner} == $$ }


sub wait_for {
    my ($what, $patience) = @_;

    return patiently($what, $patience // 15);
}


# ---- servers ----

# one child a connection; $do gets the socket, the request's head and body
sub web {
    my ($do, %o) = @_;
    my $listen = IO::Socket::IP->new(Listen => 64, ReuseAddr => 1, V6Only => 1,
        LocalAddr => $o{address} // '127.0.0.1', LocalPort => $o{port} // 0)
        or die "listen: $!";
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        setpgrp;
        $SIG{CHLD} = 'IGNORE';
        while (1) {
            my $sock = $listen->accept or next;
            next if fork;
            $SIG{PIPE} = 'DEFAULT';
            my ($head, $body) = request($sock);
            $do->($sock, $head, $body) if defined $head;
            POSIX::_exit(0);
        }
    }

    # the child may not have come so far yet
    setpgrp $pid, $pid;

    return bless { pid => $pid, port => $listen->sockport, owner => $$ },
        'Retort::Fetch::Web';
}


sub request {
    my ($sock) = @_;
    my $all = '';

    until ($all =~ /\r\n\r\n/) {
        sysread $sock, $all, 65536, length $all or return;
    }

    my ($head, $body) = split /\r\n\r\n/, $all, 2;
    my ($length) = $head =~ /^Content-Length: (\d+)/mi;

    while (length $body < ($length // 0)) {
        sysread $sock, $body, 65536, length $body or return;
    }

    return ($head, $body);
}


sub answer {
    my ($sock, $status, $body, @lines) = @_;

    print $sock join("\r\n", "HTTP/1.1 $status X",
        'Content-Length: ' . length $body, 'Connection: close', @lines, '',
        $body);
    $sock->flush;

    return;
}


package Retort::Fetch::Web;


sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;

    kill 'KILL', -$pid;
    waitpid $pid, 0;

    return;
}


sub DESTROY { local ($?, $!); $_[0]->stop if $_[0]{owner} == $$ }


1;
