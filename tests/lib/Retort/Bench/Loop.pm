package Retort::Bench::Loop;

# What is left of throughput when sandboxes are only forked, sealed and reaped:
# retortd with objs/bench/loop in the broker's place.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

use Retort::Bench;
use Retort::Service;


# sandboxes a second, made from so many templates
sub rate {
    my ($b, $templates) = @_;
    my $cores = Retort::Bench::cores();
    my $each = int(4 * $cores / $templates);
    my %profile = (ready => $each, sessions => 64,
                   timeout => $b->{quick} ? '1s 60s' : '8s 60s');
    my $s = Retort::Service->new(stopped => 1, profiles => {
        map { ("loop$_" => \%profile) } 1 .. $templates });
    my $programs = "$s->{dir}/programs";

    make_path($programs);
    symlink "$Retort::Bench::TOP/objs/retort-$_", "$programs/retort-$_"
        for qw(mapd launch front fetch docker kernel);
    symlink "$Retort::Bench::TOP/objs/bench/loop", "$programs/retort-broker";
    $s->{conf}{programs} = $programs;
    $s->configure;
    $s->start_retortd;
    waitpid delete $s->{broker}, 0;

    my ($n, $ms) = $s->log =~ /^loop: (\d+) sandboxes in (\d+) msec$/m
        or die 'the loop failed: ' . $s->log;

    $s->sweep;
    remove_tree($s->{dir});
    $s->{ended} = 1;

    return 1000 * $n / $ms;
}


1;
