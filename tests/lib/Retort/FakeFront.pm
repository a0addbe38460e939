package Retort::FakeFront;

# A front for tests of the nginx module: a FastCGI responder that does what
# its script says, byte by byte, and writes down what it saw.
#
#   my $front = Retort::FakeFront->new("$dir/front.sock", sub {
#       my $req = shift;
#       $req->stdin;                        # read the whole body
#       $req->answer("Content-Type: ...", $body);
#   });
#
#   $front->requests     list of { params, stdin, conn, notes }, as they ended
#   $front->stop
#
# Each connection has a process of its own, so that a stalling script holds
# nobody up.  A script that dies closes its connection.

use strict;
use warnings;

use Fcntl qw(:flock);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP;
use Scalar::Util qw(weaken);
use Socket;
use Time::HiRes qw(time sleep);

use constant { FCGI_BEGIN => 1, FCGI_END => 3, FCGI_PARAMS => 4,
               FCGI_STDIN => 5, FCGI_STDOUT => 6, FCGI_STDERR => 7 };


my %live;


sub new {
    my ($class, $address, $script) = @_;

    my $listen = $address =~ m{^/}
        ? IO::Socket::UNIX->new(Local => $address, Listen => 64)
        : IO::Socket::INET->new(LocalAddr => $address, Listen => 64,
                                ReuseAddr => 1);

    die "cannot listen on $address: $!\n" unless $listen;

    my $log = $address =~ m{^/} ? "$address.log"
        : tempdir('retort-fake-XXXXXX', TMPDIR => 1, CLEANUP => 1) . '/log';

    my $self = bless { address => $address, log => $log }, $class;

    $self->{pid} = fork() // die "fork: $!\n";

    if ($self->{pid} == 0) {
        $self->serve($listen, $script);
        require POSIX;
        POSIX::_exit(0);
    }

    close $listen;
    $self->{owner} = $$;
    weaken($live{$self->{pid}} = $self);

    return $self;
}


sub serve {
    my ($self, $listen, $script) = @_;

    my %child;
    my $conn = 0;
    my $over = 0;

    local $SIG{TERM} = sub { $over = 1; close $listen };
    local $SIG{CHLD} = 'DEFAULT';
    local $SIG{PIPE} = 'IGNORE';

    until ($over) {
        my $sock = $listen->accept;

        while ((my $pid = waitpid(-1, 1)) > 0) {
            delete $child{$pid};
        }

        next unless $sock;

        $conn++;
        my $pid = fork() // die "fork: $!\n";

        if ($pid) {
            $child{$pid} = 1;
            close $sock;
            next;
        }

        $SIG{TERM} = 'DEFAULT';
        close $listen;
        $self->connection($sock, $script, $conn);
        require POSIX;
        POSIX::_exit(0);
    }

    kill 'KILL', keys %child;
    waitpid $_, 0 for keys %child;
}


sub connection {
    my ($self, $sock, $script, $conn) = @_;

    while (1) {
        my $req = Retort::FakeFront::Request->new($sock, $conn);

        $req->{marker} = "$self->{log}.ends-$$";
        last unless $req->read_params;

        eval { $script->($req); 1 } or $req->note("died: $@");

        $self->write_log($req);
        unlink $req->{marker};

        last if $req->{closed} || !$req->{keep} || !$req->{ended};
    }
}


sub write_log {
    my ($self, $req) = @_;

    open my $fh, '>>', $self->{log} or die "$self->{log}: $!";
    flock $fh, LOCK_EX;
    print $fh JSON::PP->new->latin1->encode({
        map { $_ => $req->{$_} } qw(params order stdin conn notes flags)
    }), "\n";
    close $fh;
}


sub requests {
    my ($self, $n) = @_;

    my @seen;
    my $end = time + 10;

    # the client may know the end of an answer before it is written down
    sleep 0.005 while @{[glob "$self->{log}.ends-*"]} && time < $end;

    do {
        @seen = ();

        if (open my $fh, '<', $self->{log}) {
            # not while a line is being written
            flock $fh, LOCK_SH;
            @seen = map { JSON::PP->new->latin1->decode($_) } <$fh>;
        }

        return @seen if !defined $n || @seen >= $n;
        sleep 0.01;

    } while (time < $end);

    return @seen;
}


sub last_request {
    my ($self, $n) = @_;
    return ($self->requests($n // 1))[-1];
}


sub forget { unlink shift->{log} }


sub stop {
    my $self = shift;

    return unless $self->{pid};

    local $?;
    delete $live{$self->{pid}};
    kill 'TERM', $self->{pid};
    waitpid $self->{pid}, 0;
    delete $self->{pid};
    unlink $self->{log}, glob "$self->{log}.ends-*";
    unlink $self->{address} if $self->{address} =~ m{^/};
}


# a test that dies stops its fronts, too

END { $_ && $_->{owner} == $$ && $_->stop for values %live }


package Retort::FakeFront::Request;

use strict;
use warnings;

use IO::Select;
use Socket;
use Time::HiRes qw(time sleep);


sub new {
    my ($class, $sock, $conn) = @_;
    return bless { sock => $sock, conn => $conn, params => {}, order => [],
                   notes => [], stdin => '', flags => [] }, $class;
}


sub note { my $self = shift; push @{$self->{notes}}, @_ }


sub take {
    my ($self, $n) = @_;

    my $data = '';

    while (length $data < $n) {
        my $r = sysread $self->{sock}, $data, $n - length $data, length $data;
        return undef unless $r;
    }

    return $data;
}


sub read_record {
    my $self = shift;

    my $head = $self->take(8) // return;
    my ($version, $type, $id, $len, $pad) = unpack 'CCnnC', $head;

    my $content = $len ? $self->take($len) : '';
    return unless defined $content;
    return if $pad && !defined $self->take($pad);

    push @{$self->{flags}}, "version $version" if $version != 1;
    push @{$self->{flags}}, "id $id" if $id != 1;
    push @{$self->{flags}}, "record of $len" if $len > 32768;

    return ($type, $content);
}


sub read_params {
    my $self = shift;

    my $data = '';

    while (my ($type, $content) = $self->read_record) {
        if ($type == Retort::FakeFront::FCGI_BEGIN) {
            $self->{keep} = (unpack 'nC', $content)[1] & 1;
            next;
        }

        push @{$self->{flags}}, "type $type in params"
            if $type != Retort::FakeFront::FCGI_PARAMS;

        if ($content eq '') {
            $self->parse_params($data);
            return 1;
        }

        $data .= $content;
    }

    return 0;
}


sub parse_params {
    my ($self, $data) = @_;

    my $pos = 0;

    my $size = sub {
        my $n = unpack 'C', substr $data, $pos, 1;
        if ($n & 0x80) {
            $n = unpack('N', substr $data, $pos, 4) & 0x7fffffff;
            $pos += 3;
        }
        $pos++;
        return $n;
    };

    while ($pos < length $data) {
        my ($n, $v) = ($size->(), $size->());
        my $name = substr $data, $pos, $n;
        my $value = substr $data, $pos + $n, $v;
        $pos += $n + $v;

        push @{$self->{order}}, $name;
        $self->{params}{$name} //= $value;
    }

    push @{$self->{flags}}, 'params do not add up' if $pos != length $data;
}


# the whole body; undef if the worker went away before its end

sub stdin {
    my $self = shift;

    while (my ($type, $content) = $self->read_record) {
        push @{$self->{flags}}, "type $type in stdin"
            if $type != Retort::FakeFront::FCGI_STDIN;

        return $self->{stdin} if $content eq '';
        $self->{stdin} .= $content;
    }

    $self->note('stdin cut');
    return undef;
}


sub raw {
    my ($self, $bytes) = @_;

    my $pos = 0;

    while ($pos < length $bytes) {
        my $n = syswrite $self->{sock}, $bytes, length($bytes) - $pos, $pos;
        unless ($n) {
            $self->note("write: $!");
            return;
        }
        $pos += $n;
    }
}


sub record {
    my ($class, $type, $content, $pad) = @_;
    $pad //= 0;
    return pack('CCnnCC', 1, $type, 1, length $content, $pad, 0)
           . $content . "\0" x $pad;
}


sub out {
    my ($self, $data, $size) = @_;

    $size //= 65535;
    my $bytes = '';

    while (length $data) {
        $bytes .= $self->record(Retort::FakeFront::FCGI_STDOUT,
                                substr $data, 0, $size, '');
    }

    return $bytes;
}


sub end_record {
    my ($self, $status) = @_;
    return $self->record(Retort::FakeFront::FCGI_END,
                         pack 'NCx3', 0, $status // 0);
}


sub send { my ($self, $data) = @_; $self->raw($self->out($data)) }
sub err {
    my ($self, $data) = @_;
    $self->raw($self->record(Retort::FakeFront::FCGI_STDERR, $data));
}


# from here on somebody may ask for what was seen of this request

sub ends { open my $fh, '>', shift->{marker} or die "marker: $!" }


sub end {
    my ($self, $status) = @_;

    $self->ends;

    $self->raw($self->record(Retort::FakeFront::FCGI_STDOUT, '')
               . $self->end_record($status));
    $self->{ended} = 1;
}


# a whole answer: header lines without their ends, and the body

sub answer {
    my ($self, $header, $body) = @_;

    $self->ends;
    $header =~ s/\r?\n/\r\n/g;
    $self->send("$header\r\n\r\n" . ($body // ''));
    $self->end;
}


sub close {
    my $self = shift;

    $self->ends;
    CORE::close $self->{sock};
    $self->{closed} = 1;
}


# seconds until the worker closed, or undef after the time-out

sub wait_closed {
    my ($self, $seconds) = @_;

    my $start = time;
    my $select = IO::Select->new($self->{sock});

    while ((my $left = $start + $seconds - time) > 0) {
        next unless $select->can_read($left);
        my $n = sysread $self->{sock}, my $data, 65536;

        unless ($n) {
            $self->note('closed');
            $self->{closed} = 1;
            return time - $start;
        }
    }

    return undef;
}


1;
