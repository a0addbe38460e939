package Leftovers;

# What tests must not leave on the machine.  A look before, a look after; what
# is new and stays is a leftover.

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(look leftovers);

# host ids of sandboxes, whatever "uid_base" a test has chosen
use constant {
    UID_FIRST => 1_500_000_000,
    UID_LAST  => 4_294_967_294,
};


sub rows {
    my ($path) = @_;

    open(my $file, '<', $path) or return;
    my @rows = <$file>;
    chomp @rows;

    return @rows;
}


sub processes {
    my %users = map { $_ => 1 } grep { defined }
        map { scalar getpwnam $_ } qw(retort retort-front retort-fetch);
    my %found;

    for my $dir (glob '/proc/[0-9]*') {
        my %status = map { /^(\w+):\s*(.*)/ ? ($1, $2) : () }
            rows("$dir/status");
        my ($uid) = split ' ', $status{Uid} // next;

        # a zombie of init's is not ours any more
        next if $status{State} =~ /^Z/ && $status{PPid} == 1;
        next unless $users{$uid} || ($uid >= UID_FIRST && $uid < UID_LAST);

        $found{"process $status{Pid} ($status{Name}), uid $uid, "
               . "state $status{State}"} = 1;
    }

    return %found;
}


sub mounts {
    return map { ((split ' ')[4] =~ m{^/var/cache/retort/image/})
                 ? () : ('mount ' . (split ' ')[4] => 1) }
        rows('/proc/self/mountinfo');
}


sub cgroups {
    return map { chomp; ("cgroup $_" => 1) }
        `find /sys/fs/cgroup -maxdepth 8 -type d -name 'retort*' 2>/dev/null`;
}


sub sockets {
    my %found;

    for (rows('/proc/net/unix')) {
        my ($path) = (split ' ')[7] // '';
        $found{"socket $path"} = 1 if $path =~ /retort|front|broker/;
    }

    # listening on a TCP port
    for (map { rows($_) } '/proc/net/tcp', '/proc/net/tcp6') {
        my (undef, $local, undef, $state) = split;
        next unless defined $state && $state eq '0A';

        my ($host, $port) = split /:/, $local;
        $found{"listening TCP port " . hex $port} = 1;
    }

    return %found;
}


# Others may write there as well: what is ours has the name in it.

sub temporary {
    my %found;

    for my $dir (qw(/tmp /run /dev/shm)) {
        opendir(my $handle, $dir) or next;
        $found{"file $dir/$_"} = 1
            for grep {/retort/} readdir $handle;
    }

    return %found;
}


sub look {
    return { processes(), mounts(), cgroups(), sockets(), temporary() };
}


# Names of what is there now and was not in "$before"; what is on its way out
# gets some seconds to go.

sub leftovers {
    my ($before, $grace) = @_;

    my $until = time + $grace;
    my @left;

    for ( ;; ) {
        my $now = look();
        @left = sort grep { !$before->{$_} } keys %$now;

        return @left if !@left || time >= $until;
        sleep 0.1;
    }
}


1;
