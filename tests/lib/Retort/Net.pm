package Retort::Net;

# A network of a test's own: a namespace in which public and private addresses
# are all here, with a resolver that says what the test wants.  Used before
# anything else, because it executes the test again inside.
#
#   use Retort::Net;
#   Retort::Net::names('good.test' => ['93.184.216.34'], ...);
#
# A name's list is the answer to each question; lists in it take turns.

use strict;
use warnings;

use File::Temp ();
use IO::Socket::INET;
use POSIX ();
use Socket qw(inet_pton inet_ntop AF_INET AF_INET6);

our $PUBLIC = '93.184.216.34';
our $PUBLIC6 = '2606:2800:220:1:248:1893:25c8:1946';

# what must not be reached, and would answer
our @PRIVATE = qw(10.0.0.1 192.168.1.1 172.16.0.1 169.254.169.254 100.64.0.1
    100.100.100.200 168.63.129.16 192.0.0.192 198.18.0.1 203.0.113.1
    fd00:ec2::254 fd00::1 64:ff9b::a00:1 2002:a00:1::1 2001:db8::1 2001:0:a00:1::1
    2606:2800:220:1:0:5efe:10.0.0.1);

my ($resolver, $dir);


sub import {
    return if $ENV{RETORT_NET} || $^C;

    local $ENV{RETORT_NET} = 1;
    exec 'unshare', '--net', '--mount', '--propagation', 'private', '--', $^X,
        (map {"-I$_"} @INC), $0, @ARGV or die "unshare: $!";
}


sub run { system(@_) == 0 or die "@_: failed"; return }


sub setup {
    run(qw(ip link set lo up));

    for my $address ($PUBLIC, $PUBLIC6, @PRIVATE) {
        run(qw(ip addr add), $address, qw(dev lo),
            $address =~ /:/ ? 'nodad' : ());
    }

    $dir = File::Temp->newdir('retort-net-XXXXXX', TMPDIR => 1);
    chmod 0755, $dir;
    open my $f, '>', "$dir/resolv.conf" or die $!;
    print $f "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n";
    close $f;
    open $f, '>', "$dir/hosts" or die $!;
    print $f "127.0.0.1 localhost here\n::1 localhost ip6-localhost\n";
    close $f;
    run('mount', '--bind', "$dir/$_", "/etc/$_") for qw(resolv.conf hosts);

    return;
}


sub reply {
    my ($query, $names) = @_;
    my ($id, $at, @labels) = (unpack('n', $query), 12);

    while (my $n = ord substr $query, $at, 1) {
        push @labels, substr $query, $at + 1, $n;
        $at += $n + 1;
    }

    my $type = unpack 'n', substr $query, $at + 1, 2;
    my $question = substr $query, 12, $at + 5 - 12;
    my $list = $names->{lc join '.', @labels};
    my $family = $type == 28 ? AF_INET6 : $type == 1 ? AF_INET : 0;

    if ($list && ref $list->[0]) {
        my $turn = $list->[0];

        # both questions of one look-up are the same turn
        shift @$list if @$list > 1 && $type == 28;
        $list = $turn;
    }

    my @found = grep {defined} map { $family ? inet_pton($family, $_) : undef }
        @{ $list // [] };

    return pack('nnnnnn', $id, $list ? 0x8180 : 0x8183, 1, scalar @found, 0, 0)
        . $question . join '', map {
            pack('nnnNn', 0xc00c, $type, 1, 0, length) . $_ } @found;
}


sub names {
    my (%names) = @_;
    my $sock = IO::Socket::INET->new(Proto => 'udp',
        LocalAddr => '127.0.0.1', LocalPort => 53) or die "resolver: $!";

    $resolver = fork // die "fork: $!";

    if ($resolver == 0) {
        while (my $from = $sock->recv(my $query, 4096)) {
            $sock->send(reply($query, \%names), 0, $from);
        }
        POSIX::_exit(0);
    }

    return;
}


END {
    if ($resolver) {
        local $?;
        kill 'KILL', $resolver;
        waitpid $resolver, 0;
    }
}


1;
