package Retort::FastCGI;

# A FastCGI client over a Unix socket, polite or not.
#
#   my $c = Retort::FastCGI->new($path);
#   my $r = $c->request({ RETORT_API => 'native', ... }, $body);
#   $r->{status}, $r->{header}{'content-type'}, $r->{body}, $r->{ended}
#
# raw() sends any bytes; record(), begin(), params() and stdin() make them.

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

use constant { BEGIN_REQUEST => 1, ABORT => 2, END_REQUEST => 3, PARAMS => 4,
               STDIN_ => 5, STDOUT_ => 6, STDERR_ => 7 };

use constant PATIENCE => 60;


sub new {
    my ($class, $path) = @_;

    my $sock = IO::Socket::UNIX->new(Peer => $path) or return;
    return bless { sock => $sock, in => '', id => 1 }, $class;
}


sub record {
    my ($type, $id, $content) = @_;

    return pack('CCnnCC', 1, $type, $id, length $content, 0, 0) . $content;
}


sub begin {
    my ($id, $keep, $role) = @_;

    return record(BEGIN_REQUEST, $id,
                  pack('nCx5', $role // 1, $keep ? 1 : 0));
}


sub pair {
    my ($name, $value) = @_;

    my $out = '';

    for my $n (length $name, length $value) {
        $out .= $n < 128 ? pack('C', $n) : pack('N', $n | 0x80000000);
    }

    return $out . $name . $value;
}


sub params {
    my ($id, $params) = @_;

    my $all = join '', map { pair($_, $params->{$_}) } sort keys %$params;
    my $out = '';

    while (length $all) {
        $out .= record(PARAMS, $id, substr($all, 0, 32768, ''));
    }

    return $out . record(PARAMS, $id, '');
}


sub stdin {
    my ($id, $body) = @_;

    my $out = '';

    while (length $body) {
        $out .= record(STDIN_, $id, substr($body, 0, 32768, ''));
    }

    return $out . record(STDIN_, $id, '');
}


sub raw {
    my ($self, $bytes) = @_;

    local $SIG{PIPE} = 'IGNORE';

    while (length $bytes) {
        my $n = syswrite $self->{sock}, $bytes;
        return unless defined $n;
        substr($bytes, 0, $n, '');
    }

    return 1;
}


sub more {
    my ($self, $patience) = @_;

    return unless IO::Select->new($self->{sock})->can_read($patience);

    my $n = sysread $self->{sock}, my $bytes, 65536;
    return unless $n;

    $self->{in} .= $bytes;
    return 1;
}


# 1 if the peer closes within the time without having said anything

sub closed {
    my ($self, $patience) = @_;

    my $end = time + $patience;

    while ((my $left = $end - time) > 0) {
        IO::Select->new($self->{sock})->can_read($left) or next;
        my $n = sysread $self->{sock}, my $bytes, 65536;
        return 1 unless $n;
        return 0;
    }

    return 0;
}


# one whole record, [type, id, content], or nothing

sub read_record {
    my ($self, $patience) = @_;

    my $end = time + ($patience // PATIENCE);

    while (1) {
        if (length $self->{in} >= 8) {
            my (undef, $type, $id, $len, $pad) = unpack 'CCnnC', $self->{in};

            if (length $self->{in} >= 8 + $len + $pad) {
                my $content = substr $self->{in}, 8, $len;
                substr($self->{in}, 0, 8 + $len + $pad, '');
                return [$type, $id, $content];
            }
        }

        my $left = $end - time;
        return if $left <= 0 || !$self->more($left);
    }
}


sub send_request {
    my ($self, $params, $body, %o) = @_;

    my $id = $self->{id};
    $body //= '';

    return $self->raw(begin($id, $o{keep})
                      . params($id, { CONTENT_LENGTH => length $body,
                                      %$params })
                      . stdin($id, $body));
}


sub read_answer {
    my ($self, $patience) = @_;

    my %r = (out => '', err => '', ended => 0);

    while (my $rec = $self->read_record($patience)) {
        my ($type, undef, $content) = @$rec;

        $r{out} .= $content if $type == STDOUT_;
        $r{err} .= $content if $type == STDERR_;

        if ($type == END_REQUEST) {
            $r{ended} = 1;
            $r{protocol} = unpack 'x4C', $content;
            last;
        }
    }

    my ($head, $rest) = split /\r\n\r\n/, $r{out}, 2;

    for my $line (split /\r\n/, $head // '') {
        my ($name, $value) = split /:\s*/, $line, 2;
        $r{header}{lc $name} = $value;
    }

    $r{status} = ($r{header}{status} // '') =~ /^(\d+)/ ? $1 : 0;
    $r{body} = $rest // '';

    return \%r;
}


sub request {
    my ($self, $params, $body, %o) = @_;

    $self->send_request($params, $body, %o);
    return $self->read_answer($o{patience});
}


sub close {
    my ($self) = @_;

    CORE::close $self->{sock};
}


1;
