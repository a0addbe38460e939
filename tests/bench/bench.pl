#!/usr/bin/perl

# The benchmarks; called by auto/bench, which installs the peers.
#
#   bench.pl [--quick] [--seconds N] [--out FILE] [PART]...

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Test::More ();

use Retort::Bench;
use Retort::Bench::Bulk;
use Retort::Bench::Cells;
use Retort::Bench::Many;
use Retort::Bench::Soak;

my (%o, @parts);

while (@ARGV) {
    my $arg = shift;
    if ($arg eq '--quick') { $o{quick} = 1 }
    elsif ($arg eq '--out') { $o{out} = shift }
    elsif ($arg eq '--seconds') { $o{seconds} = shift }
    else { push @parts, $arg }
}

# what a service that ends checks is no line of ours, but has to hold
Test::More->builder->output('/dev/null');

my $b = Retort::Bench->new(%o);
my @all = (
    [fresh => \&Retort::Bench::Cells::fresh],
    [warm => \&Retort::Bench::Cells::warm],
    [throughput => \&Retort::Bench::Many::throughput],
    [overload => \&Retort::Bench::Many::overload],
    [density => \&Retort::Bench::Many::density],
    [stream => \&Retort::Bench::Bulk::stream],
    [files => \&Retort::Bench::Bulk::files],
    [growth => \&Retort::Bench::Bulk::growth],
);
my %known = (soak => \&Retort::Bench::Soak::soak, map { @$_ } @all);

@parts = map { $_->[0] } @all unless @parts;

for my $part (@parts) {
    my $run = $known{$part} or die "no part \"$part\": @{[sort keys %known]}\n";
    print "\n== $part\n";
    $run->($b, %o);
    $b->save($o{out}, $part, about()) if $o{out};
}

Test::More::done_testing();


sub about {
    my ($model) = Retort::Service::slurp('/proc/cpuinfo')
        =~ /^model name\s*:\s*(.*)/m;

    return (when => POSIX::strftime('%F', gmtime), cores => Retort::Bench::cores(),
            processor => $model // 'unknown', kernel => (POSIX::uname())[2],
            load => (split ' ', Retort::Service::slurp('/proc/loadavg'))[0],
            quick => $o{quick} ? JSON::PP::true : JSON::PP::false);
}
