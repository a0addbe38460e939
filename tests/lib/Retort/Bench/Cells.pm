package Retort::Bench::Cells;

# One sandbox, one cell at a time.

use strict;
use warnings;

use Retort::Bench;
use Retort::Bench::Peers;
use Retort::Bench::Service;

my $IMPORTS = $Retort::Bench::Service::IMPORTS;
my $PLOT = $Retort::Bench::Service::PLOT;


# ours and all peers in turn; ours for a second of each round
sub fresh {
    my ($b, %o) = @_;
    my $s = Retort::Bench::Service->begin;
    my $peers = Retort::Bench::Peers->all;
    my %us;

    for my $round (1 .. ($o{quick} ? 1 : 15)) {
        my $print = $b->load($s, seconds => 1,
                             body => { code => $IMPORTS . 'print(2+2)' });
        my $drawn = $b->load($s, seconds => 1, body => { code => $PLOT });

        die 'runs failed' if $print->{bad} || $drawn->{bad};
        push @{ $us{p50} }, $print->{p50};
        push @{ $us{p99} }, $print->{p99};
        push @{ $us{plot} }, $drawn->{p50};
        $peers->round($b);
    }

    my ($p50, $p99, $plot) = map { Retort::Bench::median(@{ $us{$_} }) }
        qw(p50 p99 plot);

    $b->figure('fresh sandbox, p50 us', $p50);
    $b->figure('fresh sandbox, p99 us', $p99);
    $b->figure('fresh sandbox, pandas + plot, p50 us', $plot);

    my $peer = $peers->p50($b);
    my $bare = $peer->{'python3 -c print(4)'};

    $b->row(1, 'fresh sealed p50 / python3 -c', $p50, $bare,
            must => 0.35, goal => 0.08);
    $b->row(1, 'fresh sealed p99 / python3 -c p50', $p99, $bare,
            must => 1, goal => 0.3);
    $b->row(1, 'fresh sealed p50 / docker run', $p50,
            $peer->{'docker run python3, same imports'},
            must => 1 / 150, goal => 1 / 600);
    $b->row(1, 'pandas + plot -> PNG link / python3 doing it', $plot,
            $peer->{'python3, pandas + plot'}, must => 0.12, goal => 0.06);
    $s->done;
    return;
}


sub warm {
    my ($b, %o) = @_;
    my $s = Retort::Bench::Service->begin;
    my %cell = (code => 'x=1', sandbox_id => $s->session);
    my %us;

    for my $round (1 .. ($o{quick} ? 1 : 5)) {
        my $ours = $b->load($s, body => \%cell, seconds => 1);
        my $bare = $b->wrk($s->url('/empty'), body => '{}', seconds => 1);
        my $k = Retort::Bench::Peers::ipykernel($b, 1, $o{quick} ? 20 : 200);

        die 'cells failed' if $ours->{bad} || $bare->{bad};
        push @{ $us{p50} }, $ours->{p50};
        push @{ $us{p99} }, $ours->{p99};
        push @{ $us{bare} }, $bare->{p50};
        push @{ $us{kernel} }, Retort::Bench::median(@{ $k->{warm} });
    }

    my ($p50, $p99, $bare, $kernel) = map { Retort::Bench::median(@{ $us{$_} }) }
        qw(p50 p99 bare kernel);

    $b->figure('warm cell, p50 us', $p50);
    $b->figure('warm cell, p99 us', $p99);
    $b->figure('empty libfcgi responder, p50 us', $bare);
    $b->figure('ipykernel, warm cell, p50 us', $kernel);
    $b->row(2, 'warm x=1 / ipykernel', $p50, $kernel,
            must => 0.2, goal => 0.06);
    $b->row(2, 'warm x=1 / empty libfcgi responder', $p50, $bare,
            must => 4, goal => 2);
    $s->done;
    without_snapshot($b);
    return;
}


# the same without a copy that stands by to undo a cell
sub without_snapshot {
    my ($b) = @_;
    my $s = Retort::Bench::Service->begin(snapshot => 'off');

    $b->figure('warm cell, snapshot off, p50 us', $b->load($s,
        body => { code => 'x=1', sandbox_id => $s->session })->{p50});
    $s->done;
    return;
}


1;
