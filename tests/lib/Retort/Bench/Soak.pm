package Retort::Bench::Soak;

# Mixed load for half an hour, in rounds.  After each round, at rest, all that
# could leak is counted; what grows from the first rounds to the last ones, or
# a run without its verdict, is a failure.
#
# All of it is paced: results that are kept are not of one size, so if what is
# small came faster or slower than what is large, as a host has time, the front
# would hold another mixture of them in each round.

use strict;
use warnings;

use JSON::PP;
use Time::HiRes qw(sleep time);

use Retort::Bench;
use Retort::Bench::Service;

use constant ROUNDS => 12;

# results that the front keeps, which have to be there before memory is flat
use constant KEPT => 8192;

# seconds from one time that all that is odd is done to the next
use constant TURN => 6;

# such times until the holes between results of many sizes are as many as they
# ever are: the front's heap grows until then, whatever else happens
use constant SETTLED => 150;

my @ODD = (
    # code, options, the verdict
    ['print(2+2)', {}, 'ok'],
    ['1/0', {}, 'error'],
    ['while True: pass', { timeout => 1 }, 'timeout'],
    ['import os; os._exit(3)', {}, 'killed'],
    ['x = bytearray(2 << 30)', {}, 'oom|error'],
    ['echo $((2 + 2))', { language => 'bash' }, 'ok'],
    [$Retort::Bench::Service::PLOT, {}, 'ok'],
    ["open('out.txt', 'w').write('x' * 100000)", {}, 'ok'],
);


sub soak {
    my ($b, %o) = @_;
    my $seconds = $o{seconds} // 1800;
    my $s = Retort::Bench::Service->begin(ready => 4);
    my $soak = bless { b => $b, s => $s, samples => [], runs => 0,
                       unsaid => 0, bad => {} };

    $soak->fill;
    $soak->settle;

    for my $round (1 .. ROUNDS) {
        $soak->mixed($seconds / ROUNDS);
        push @{ $soak->{samples} }, $soak->sample;
        printf "    round %d of %d: %d runs\n", $round, ROUNDS, $soak->{runs};
    }

    my @grown = $soak->grown;

    $b->figure('runs', $soak->{runs});
    $b->figure('runs without a verdict', $soak->{unsaid});
    $s->done;
    die join "\n", 'the soak failed:', @grown, %{ $soak->{bad} }, ''
        if @grown || $soak->{unsaid} || %{ $soak->{bad} };
    return;
}


# as many results as are kept
sub fill {
    my ($self) = @_;
    my $box = $self->{s}->session;
    my $end = time + 300;

    while ($self->{runs} < KEPT && time < $end) {
        my $r = $self->{b}->load($self->{s}, seconds => 5, conns => 2,
            says => '"status":"ok"', body => { code => 'x=1',
                                               sandbox_id => $box });
        $self->count($r);
    }

    $self->{s}->json('DELETE', "/v1/sandboxes/$box");
    return;
}


# what is odd without a pause, but for what takes its time or memory
sub settle {
    my ($self) = @_;
    my ($b, $s) = @$self{qw(b s)};
    my ($box, $other) = map { $s->session } 1 .. 2;
    my @quick = grep { $_->[2] =~ /^(?:ok|error)$/ } @ODD;
    my $load = $b->beside($s, seconds => 60, conns => 2, every => 4,
        says => '"status":"ok"', body => { code => 'x=1', sandbox_id => $other });

    for (1 .. SETTLED) {
        $self->odd($_, $box) for @quick;
        $self->traffic($box);
    }

    $self->count($b->finish($load));
    $s->json('DELETE', "/v1/sandboxes/$_") for $box, $other;
    return;
}


sub count {
    my ($self, $r) = @_;

    $self->{runs} += $r->{n};
    $self->{unsaid} += $r->{unsaid} + $r->{errors};
    return;
}


# fresh ones, cells in sessions, and beside them all that is odd
sub mixed {
    my ($self, $seconds) = @_;
    my ($b, $s) = @$self{qw(b s)};
    my $end = time + $seconds;
    my @boxes = map { $s->session } 1 .. 8;
    my @loads = map { $b->beside($s, seconds => int $seconds || 1, %$_,
                                 says => '"status":"ok"') }
        { conns => 2, every => 40, body => { code => 'print(2+2)' } },
        { conns => 2, every => 8, bodies => [map { { code => 'x=1', sandbox_id => $_ } }
                                 @boxes[1 .. 7]] };

    while (time < $end) {
        my $next = time + TURN;

        $self->odd($_, $boxes[0]) for @ODD;
        $self->traffic($boxes[0]);
        sleep $next - time if time < $next;
    }

    for my $load (@loads) {
        my $r = $b->finish($load);
        $self->{bad}{'a load failed'}++ unless $r->{n};
        $self->count($r) if $r->{n};
    }

    $s->json('DELETE', "/v1/sandboxes/$_") for @boxes;
    return;
}


sub odd {
    my ($self, $odd, $box) = @_;
    my ($code, $options, $verdict) = @$odd;

    for my $where ({}, { sandbox_id => $box }) {
        my $r = $self->{s}->run($code, %$options, %$where);
        my $status = $r->{status} // $r->{error}{code} // '';

        $self->{runs}++;
        $self->{unsaid}++ if $status eq '';
        $self->{bad}{"$code: $status"}++ if $status !~ /^(?:$verdict)$/;
    }

    return;
}


# a stream, files in and out, a session that comes and goes
sub traffic {
    my ($self, $box) = @_;
    my $s = $self->{s};
    my ($status, @events) = $s->stream('POST', '/v1/execute',
        { code => "for i in range(500): print('x' * 1000)" });
    my $file = "/v1/sandboxes/$box/files/soak.bin";
    my $more = $s->session;

    $self->{runs}++;
    $self->{unsaid}++ if ($events[-1]{status} // '') ne 'ok';
    $s->request('PUT', $file, 'x' x 1_000_000,
                'content-type' => 'application/octet-stream');
    $self->{bad}{'a file is another one'}++
        if length $s->get($file)->{content} != 1_000_000;
    $s->json('DELETE', "/v1/sandboxes/$more");
    return;
}


# ---- what could leak ----

# at rest: nothing inside but what stands ready
sub sample {
    my ($self) = @_;
    my $s = $self->{s};
    my %n;

    $s->until_true(sub { (() = $s->boxes) <= 4 * @{[$s->cgroups]} }, 60)
        or $self->{bad}{'it does not come to rest'}++;
    $s->until_true(sub { !glob "$s->{dir}/artifacts/*/*" }, 30);

    for my $pid ($self->processes) {
        my $name = Retort::Service::slurp("/proc/$pid/cmdline");
        my $status = Retort::Service::slurp("/proc/$pid/status");

        $name =~ s/\0.*//s if $name !~ /^retort-launch/;
        $name =~ s/\0+/ /g;
        $n{"$name, descriptors"} += () = glob "/proc/$pid/fd/*";
        $n{"$name, mounts"} += () =
            Retort::Service::slurp("/proc/$pid/mounts") =~ /\n/g
            if $name =~ /^retort/;
        $n{"$name, threads"} += $status =~ /^Threads:\s+(\d+)/m ? $1 : 0;
        # files of the image are shared with whoever else runs it just then
        $n{"$name, PSS"} += 1024 * $_ for Retort::Service::slurp(
            "/proc/$pid/smaps_rollup") =~ /^Pss_(?:Anon|Shmem):\s+(\d+)/mg;
    }

    $n{'cgroups'} = () = $s->boxes;
    $n{'artifacts'} = () = glob "$s->{dir}/artifacts/*";
    $n{'processes inside'} = () = $s->inside;
    return \%n;
}


sub processes {
    my ($self) = @_;
    my $s = $self->{s};
    my %inside = map { $_ => 1 } $s->inside;
    my $nginx = $s->nginx_pid;

    return $s->{broker}, $nginx, $s->children($nginx),
        grep { !$inside{$_} } $s->children($s->{broker});
}


# the last third against the first one
sub grown {
    my ($self) = @_;
    my @all = @{ $self->{samples} };
    my $third = int(@all / 3);
    my @grown;

    for my $what (sort keys %{ $all[0] }) {
        my ($first, $last) = map { Retort::Bench::median(map {
            $_->{$what} // 0 } @$_) } [@all[0 .. $third - 1]],
            [@all[-$third .. -1]];
        my $may = $what =~ /PSS/ ? 1.1 * $first + (2 << 20) : $first + 4;

        $self->{b}->point($what, round => $_ + 1, $all[$_]{$what} // 0)
            for 0 .. $#all;
        push @grown, "$what: from $first to $last" if $last > $may;
    }

    return @grown;
}


1;
