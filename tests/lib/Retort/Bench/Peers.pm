package Retort::Bench::Peers;

# What people would use instead, to be run in turn: once a round, so that a
# busy moment of the machine meets all of them.

use strict;
use warnings;

use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use JSON::PP;

use Retort::Bench;
use Retort::Bench::Service;

my $KERNEL = "$Retort::Bench::TOP/tests/bench/kernel.py";
my $PLOT = $Retort::Bench::Service::PLOT . 'plt.savefig("/tmp/a.png")';


# name => command that prints 4, or draws
sub all {
    my ($class) = @_;
    my $image = Retort::Service::image();
    my @bwrap = (qw(bwrap --unshare-all --ro-bind), $image, qw(/ --proc /proc
        --dev /dev --tmpfs /tmp --clearenv --setenv PATH /usr/bin:/bin --setenv
        HOME /tmp python3 -c));
    my $dir = tempdir('bench-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    return bless { dir => $dir, us => {}, order => [], commands => [
        ['python3 -c print(4)' => 'python3', '-c', 'print(4)'],
        ['bubblewrap + python3' => @bwrap, 'print(4)'],
        ['crun + python3' => crun($dir, $image, 'print(4)')],
        ['docker run python3, same imports' => docker()],
        ['python3, pandas + plot' => 'env', "HOME=$dir", 'MPLBACKEND=agg',
         'python3', '-c', $PLOT =~ s{/tmp/}{$dir/}r],
        ['bubblewrap + python3, pandas + plot' => @bwrap, $PLOT],
    ] }, $class;
}


# this crun refuses a machine with both kinds of cgroups: it gets to see one
sub crun {
    my ($dir, $image, $code) = @_;

    system('cd ' . quotemeta($dir) . ' && crun spec') == 0 or die "crun\n";
    my $c = decode_json(Retort::Service::slurp("$dir/config.json"));

    $c->{root} = { path => $image, readonly => JSON::PP::true };
    @{ $c->{process} }{qw(terminal args env)} = (JSON::PP::false,
        ['python3', '-c', $code], ['PATH=/usr/bin:/bin', 'HOME=/tmp']);
    $c->{mounts} = [grep { $_->{destination} ne '/sys/fs/cgroup' }
                    @{ $c->{mounts} }];
    Retort::Service::write_file("$dir/config.json", encode_json($c));
    return qw(crun --cgroup-manager=cgroupfs run --bundle), $dir,
        "retort-bench-$$";
}


# only where an engine answers that holds our image
sub docker {
    return if system('docker image inspect retort-bench >/dev/null 2>&1') != 0;
    return (qw(docker run --rm --network none retort-bench python3 -c),
            $Retort::Bench::Service::IMPORTS . 'print(2+2)');
}


sub round {
    my ($self, $b) = @_;

    for my $c (@{ $self->{commands} }) {
        my ($name, @command) = @$c;
        next unless @command;
        my @in = $command[0] ne 'crun' ? () : ('unshare', '-m', 'sh', '-c',
            'umount /sys/fs/cgroup/unified 2> /dev/null; exec "$@"', 'sh');

        push @{ $self->{us}{$name} }, $b->spawn_in(\@in, 1, @command);
    }

    my $k = ipykernel($b, 1, 1);

    push @{ $self->{us}{'ipykernel, start to first answer'} }, @{ $k->{fresh} };
    return;
}


sub add {
    my ($self, $name, @us) = @_;
    push @{ $self->{us}{$name} }, @us;
    return;
}


# medians, as figures
sub p50 {
    my ($self, $b) = @_;
    my %p50;

    for my $name (sort keys %{ $self->{us} }) {
        $p50{$name} = $b->figure("$name, p50 us",
            Retort::Bench::median(@{ $self->{us}{$name} }));
    }

    return \%p50;
}


# starts and warm cells through jupyter-client, private bytes of an idle one
sub ipykernel {
    my ($b, $starts, $cells) = @_;
    my $text = `python3 \Q$KERNEL\E $starts $cells 2>/dev/null`;

    die "ipykernel failed\n" if $?;
    return decode_json($text);
}


1;
