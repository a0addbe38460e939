package Retort::Bench::Service;

# A service to be measured, with what it is compared with in front of the same
# nginx: /empty (the least of a FastCGI responder), /plain/ (nginx's own files).
#
#   my $s = Retort::Bench::Service->begin(sessions => 200);   # a profile's
#   ...
#   $s->done;

use strict;
use warnings;

use File::Path qw(make_path);
use POSIX ();
use Test::More ();

use Retort::Bench;

use parent -norequire, 'Retort::Service';

our $IMPORTS = "import numpy, pandas, matplotlib.pyplot\n";
our $PLOT = 'import pandas as pd, matplotlib.pyplot as plt
df = pd.DataFrame({"x": range(50), "y": [i * i for i in range(50)]})
df.plot(x="x", y="y")
';

my $LOCATIONS = '
    location /limited/ {
        retort_api native;
        retort_pass retort;
        retort_auth_key_file %DIR%/keys;
        retort_limits zone=bench running=%CORES% waiting=16 wait=1s;
    }
    location /half/ {
        retort_api native;
        retort_pass retort;
        retort_auth_key_file %DIR%/keys;
        retort_limits zone=half running=%HALF% waiting=16 wait=1s;
    }
    location /empty {
        include /etc/nginx/fastcgi_params;
        fastcgi_pass empty; fastcgi_keep_conn on;
        fastcgi_buffering off;
    }
    location /plain/ { alias %DIR%/plain/; dav_methods PUT; }';


sub begin {
    my ($class, %profile) = @_;

    my $slots = ($profile{sessions} // 64) + 32;
    my $s = $class->new(
        stopped => 1, connections => 2048, keepalive => 16,
        profiles => { default => { ready => 8, sessions => 64, %profile } },
        conf => { artifacts_keep => '5s', slots => $slots < 64 ? 64 : $slots },
        nginx => 'retort_zone bench 64k running=8 waiting=64;
            retort_zone half 64k running=8 waiting=64;
            upstream empty { server unix:%DIR%/empty.sock; keepalive 8; }',
        location => $LOCATIONS);

    my $cores = Retort::Bench::cores();
    my %set = (DIR => $s->{dir}, CORES => 2 * $cores,
               HALF => $cores > 1 ? int($cores / 2) : 1);
    my $conf = Retort::Service::slurp("$s->{dir}/nginx.conf");

    $conf =~ s/%(DIR|CORES|HALF)%/$set{$1}/g;
    Retort::Service::write_file("$s->{dir}/nginx.conf", $conf);
    make_path("$s->{dir}/plain");
    chmod 0777, "$s->{dir}/plain";
    $s->{empty} = fork // die;

    if (!$s->{empty}) {
        exec "$Retort::Bench::TOP/objs/bench/empty", "$s->{dir}/empty.sock"
            or POSIX::_exit(127);
    }

    return $s->start;
}


sub end_empty {
    my ($self) = @_;
    my $pid = delete $self->{empty} or return;

    kill 'TERM', $pid;
    waitpid $pid, 0;
    return;
}


# one that leaves something behind is no measure
sub done {
    my ($self) = @_;

    $self->end_empty;
    $self->end;
    Test::More->builder->is_passing or die "the service left something\n";
    return;
}


sub DESTROY {
    my ($self) = @_;

    return if $self->{owner} != $$;
    { local ($?, $!); $self->end_empty; }
    $self->SUPER::DESTROY;
    return;
}


1;
