package Retort::Weaker;

# What a container does not hold though a namespace sandbox does, each with its
# reason: all that there is.  A test that meets one of these looks whether it is
# still so, and docs/security.md has the same table.
#
#   if (my $why = Retort::Weaker::why('own user namespace')) { ... }

use strict;
use warnings;

my $USERS = 'an engine makes none, or one for all (`userns-remap`)';

my %WHY = (
    fs23_touch_devices => 'its device nodes are its own, so nobody else sees it',
    fs25_mounts_with_suid => 'the root file system is mounted so; `no_new_privs` holds what is set-uid',
    ns05_initial_namespaces => "the user namespace is the host's: $USERS",
    ns06_uid_map => "the same: $USERS",
    nw06_proc_net => "`/proc/net` is there: of its own network, in which nobody is",
    'own user namespace' => $USERS,
    p23_free_space => 'the same disk as that of `xt07_disk_of_the_host`',
    p25_same_namespace => "the user namespace: $USERS",
    pr14_peer_pidfd => 'the other end is its own pid 1, which it sees anyhow',
    xt07_disk_of_the_host => 'the root file system lies on the disk of the engine, which tells how full it is',
    zy05_blocks_of_exec => 'what is there is the same in each container: its command, and the `PATH`, `HOSTNAME` and `HOME` of an engine',
);

# what namespace sandboxes have in common and containers do not
my %CLOSED = map { $_ => 1 } qw(p28_locks_of_devices layout);


sub closed { return docker() && $CLOSED{$_[0]} }

sub docker { return ($ENV{RETORT_BACKEND} // '') eq 'docker' }


sub why {
    my ($what) = @_;

    return docker() ? $WHY{$what} : undef;
}


# as docs/security.md has it
sub rows { return map {"| `$_` | $WHY{$_} |"} sort keys %WHY }


1;
