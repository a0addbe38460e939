package Retort::Bench::Many;

# Many clients, more than can be served, and many sessions.

use strict;
use warnings;

use Time::HiRes qw(sleep);

use Retort::Bench;
use Retort::Bench::Loop;
use Retort::Bench::Peers;
use Retort::Bench::Service;


sub throughput {
    my ($b, %o) = @_;
    my @clients = $o{quick} ? (2, 4) : (1, 2, 8, 32, 128);
    my $s = Retort::Bench::Service->begin(sessions => 200);
    my @boxes = map { $s->session } 1 .. $clients[-1];
    my $best = 0;

    for my $n (@clients) {
        my $fresh = $b->load($s, conns => $n, body => { code => 'print(2+2)' });
        my $warm = $b->load($s, conns => $n, bodies => [
            map { { code => 'x=1', sandbox_id => $_ } } @boxes[0 .. $n - 1]]);

        $b->point('fresh sandboxes/s', clients => $n, $fresh->{rate});
        $b->point('fresh sandboxes, p99 us', clients => $n, $fresh->{p99});
        $b->point('warm cells/s', clients => $n, $warm->{rate});
        $b->point('warm cells, p99 us', clients => $n, $warm->{p99});
        $best = $fresh->{rate} if $fresh->{rate} > $best;
    }

    $s->done;

    my $one = Retort::Bench::Loop::rate($b, 1);
    my $each = Retort::Bench::Loop::rate($b, Retort::Bench::cores());

    $b->figure('fork, seal and reap alone, one template, a second', $one);
    $b->figure('the same, a template for each core', $each);
    $b->row(3, 'fresh sandboxes/s / a loop that only forks, seals, reaps',
            $best, $one > $each ? $one : $each,
            must => 0.5, goal => 0.8, more => 1);
    return;
}


# Capacity by clients that wait for their answer; then five times as many
# requests, paced, whatever is answered.  Both in turn, as is what follows.
sub overload {
    my ($b, %o) = @_;
    my $s = Retort::Bench::Service->begin;
    my %fresh = (path => '/limited/execute', body => { code => 'print(2+2)' },
                 $o{quick} ? () : (seconds => 2));
    my $conns = 400;
    my (@at, @over, $every);

    for (1 .. ($o{quick} ? 1 : 5)) {
        push @at, $b->load($s, %fresh, conns => 8);
        $every = 1000 * $conns / (5 * ($at[-1]{rate} || 1));
        push @over, $b->load($s, %fresh, conns => $conns, every => $every);
    }

    my $at = middle('rate', @at);
    my $over = middle('rate', @over);

    $b->figure('goodput/s at capacity', $at);
    $b->figure('asked/s at five times that', middle('asked', @over));
    $b->figure('goodput/s at five times that', $over);
    $b->figure('p99 us of all answers then', middle('p99', @over));
    $b->figure('cores that the asking took then', middle('client', @over));
    $b->row(3, 'goodput at 5x capacity / at capacity', $over, $at,
            must => 0.9, goal => 0.98, more => 1);

    noisy($b, $s, $every * 32 / $conns, %o);
    $s->done;
    return;
}


sub middle {
    my ($what, @of) = @_;

    return Retort::Bench::median(map { $_->{$what} } @of);
}


# A workspace may use half of the cores, and one asks for more than that.  A
# quiet one asks fifty times a second; one that asks again as soon as it is
# answered would take all of the machine, and has half of it beside another.
sub noisy {
    my ($b, $s, $every, %o) = @_;
    my %fresh = (path => '/half/execute', body => { code => 'print(2+2)' },
                 $o{quick} ? () : (seconds => 2));
    # of a hundred answers the 99th percentile would be the slowest one
    my %how = ('quiet workspace' => { every => 20, $o{quick} ? () : (seconds => 6) },
               'workspace that asks without a pause' => {});
    my (%alone, %beside, @noisy);

    for my $who (map { sort keys %how } 1 .. ($o{quick} ? 1 : 5)) {
        push @{ $alone{$who} }, $b->load($s, %fresh, %{ $how{$who} });

        my $noise = $b->beside($s, %fresh, conns => 32, key => $s->{other},
                               every => $every,
            seconds => 2 + ($how{$who}{seconds} // 2));

        sleep 1;
        push @{ $beside{$who} }, $b->load($s, %fresh, %{ $how{$who} });
        push @noisy, $b->finish($noise);
    }

    $b->figure('noisy workspace, goodput/s', middle('rate', @noisy));
    $b->figure('noisy workspace, asked/s', middle('asked', @noisy));

    for my $who (sort keys %how) {
        for my $q (qw(p50 p99)) {
            $b->figure("$who, $q us, alone", middle($q, @{ $alone{$who} }));
            $b->figure("$who, $q us, beside a noisy one",
                       middle($q, @{ $beside{$who} }));
        }
    }

    $b->row(3, 'p99 of a quiet workspace beside a noisy one / alone',
            map({ middle('p99', @{ $_->{'quiet workspace'} }) }
                \%beside, \%alone),
            must => 1.25, goal => 1.1);
    return;
}


# a thousand sessions in 4 GiB, and what a new one costs beside them
sub density {
    my ($b, %o) = @_;
    my $n = $o{quick} ? 30 : 1000;
    my $s = Retort::Bench::Service->begin(sessions => $n + 40,
        processes => '48 128', ready => 4, memory => '256m 1g',
        ttl => '10m 10m');
    my $limited = limit($s, 4 << 30);
    my %fresh = (body => { code => 'print(2+2)' });
    my @boxes = map { $s->session } 1 .. 10;
    my $kernel = Retort::Bench::Peers::ipykernel($b, 1, 1)->{private};

    $s->run('print(1)', sandbox_id => $_) for @boxes;
    $b->load($s, %fresh, seconds => 1);
    my @few = $b->load($s, %fresh);
    my $before = memory($b, $s);
    push @boxes, map { $s->session } 11 .. $n;
    $s->run('print(1)', sandbox_id => $_) for @boxes[10 .. $#boxes];
    my $many = $b->load($s, %fresh);
    my $idle = (memory($b, $s) - $before) / ($n - 10);
    my $alive = grep { ($s->run('print(1)', sandbox_id => $_)->{stdout} // '')
                       eq "1\n" } @boxes;
    my $drawn = drawn($b, $s);

    # a minute has passed: what the machine has time for is another thing now
    $s->request('DELETE', "/v1/sandboxes/$_")->{success}
        or die "no end of a session\n" for splice @boxes, 10;
    memory($b, $s);
    push @few, $b->load($s, %fresh);
    my $few = ($few[0]{p50} + $few[1]{p50}) / 2;

    $b->figure("sessions that answer, of $n", $alive);
    $b->figure('limit of memory of the service, bytes', $limited // 'none');
    $b->figure('fresh sandbox, p50 us, 10 alive', $few);
    $b->figure("fresh sandbox, p50 us, $n alive", $many->{p50});
    $b->figure('bytes that an idle session takes', int $idle);
    $b->figure('bytes that one takes after a plot', int $drawn);
    $b->figure('bytes that an idle ipykernel takes', $kernel);
    $b->row(4, 'memory that an idle session takes / ipykernel', $idle,
            $kernel, must => 1 / 12, goal => 1 / 25);
    $b->row(4, "fresh p50 with $n sessions alive / with 10", $many->{p50},
            $few, must => 1.5, goal => 1.1);
    $s->done;
    die "only $alive of $n sessions live\n" if $alive != $n;
    return;
}


# Of sandboxes and the templates that they are forks of, all together: what a
# session and its own copy share is in it once.
sub memory {
    my ($b, $s) = @_;
    my $last = -1;

    $s->until_true(sub {
        my $now = () = $s->inside;
        (my $was, $last) = ($last, $now);
        sleep 0.3;
        $was == $now });

    my %all = map { $_ => 1 } $s->inside, grep {
        Retort::Service::slurp("/proc/$_/cmdline") =~ /^retort-kernel\0/ }
        $s->children($s->{broker});

    return $b->pss(keys %all);
}


sub drawn {
    my ($b, $s) = @_;
    my $n = 5;
    my $before = memory($b, $s);

    $s->run($Retort::Bench::Service::PLOT, sandbox_id => $s->session)
        for 1 .. $n;
    return (memory($b, $s) - $before) / $n;
}


# all of the service together: its groups are below this one
sub limit {
    my ($s, $bytes) = @_;
    my $done;

    for my $dir ($s->cgroups) {
        for my $file (qw(memory.limit_in_bytes memory.max)) {
            next unless -e "$dir/$file";
            open my $f, '>', "$dir/$file" or die "$dir/$file: $!";
            print $f $bytes;
            close $f or die "$dir/$file: $!";
            $done = $bytes;
        }
    }

    return $done;
}


1;
