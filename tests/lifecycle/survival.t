#!/usr/bin/perl

# A hundred reloads, upgrades and deaths under load, twenty with containers: no
# session is lost, each run has its verdict, and nothing piles up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep time);

my $CLIENTS = 4;

# a container takes its time, and does its own imports
my ($EVENTS, @light) = Retort::Service::docker() ? (20, import => '') : 100;

my $s = Retort::Service->new(alerts => qr/exited on signal 9/, profiles => { default => {
    ready => '2', ttl => '10m 10m', @light } });
my @boxes = map { $s->session } 1 .. $CLIENTS;

$s->run('n = 0', sandbox_id => $_) for @boxes;


sub fds { my @f = glob "/proc/$_[0]/fd/*"; return scalar @f }

sub shm { my @f = (glob('/dev/shm/*'), glob('/dev/shm/.*')); return scalar @f }


# counts in a session; a line for each run: what was printed, or what was said

sub client {
    my ($box) = @_;

    open my $out, '>', "$s->{dir}/said-$box" or die "$!";

    until (-e "$s->{dir}/enough") {
        my $r = eval { $s->run('n += 1; print(n)', sandbox_id => $box) };

        # no answer at all: its worker was killed
        if (!$r || !$r->{http} || $r->{http} == 599 || $r->{bad}) {
            print $out "$box none\n";

        } elsif ($r->{http} != 200) {
            print $out "$box http_$r->{http}\n";
            sleep 0.05;

        } else {
            my $n = $r->{status} eq 'ok' ? $r->{stdout} + 0 : $r->{status};
            print $out "$box $n ", $r->{state} // 'untold', ' ',
                $r->{state_reason} // '', "\n";
        }
    }
}


my @clients;

for my $box (@boxes) {
    my $pid = fork // die;

    if ($pid == 0) {
        client($box);
        POSIX::_exit(0);
    }

    push @clients, $pid;
}


sub another {
    my ($what, $old) = @_;

    return $s->until_true(sub {
        my $now = $what->();
        return $now && $now != $old && kill 0, $now;
    });
}


sub worker { return ($s->children($s->nginx_pid))[0] }


my %event = (
    reload => sub { kill 'HUP', $s->nginx_pid },
    worker => sub {
        my $old = worker() or return 1;
        kill 'KILL', $old;
        return another(\&worker, $old);
    },
    upgrade => sub {
        my $old = $s->nginx_pid;
        kill 'USR2', $old;
        another(sub { -s "$s->{dir}/nginx.pid" ? $s->nginx_pid : 0 }, $old)
            or return 0;
        $s->until_true(sub { worker() });
        kill 'QUIT', $old;
        return $s->until_true(sub { !kill 0, $old });
    },
    front => sub {
        my $old = $s->process('retort-front') or return 0;
        kill 'KILL', $old;
        another(sub { $s->process('retort-front') }, $old) or return 0;
        $s->wait_ready;
        return 1;
    },
);

my ($fds, $shm) = (fds($s->{broker}), shm());
my @failed;

for my $n (1 .. $EVENTS) {
    my $what = $n % 10 == 0 ? 'upgrade' : (qw(reload worker front))[$n % 3];

    push @failed, "$what $n" unless $event{$what}->();
    sleep 0.05 + rand 0.1;
}

is("@failed", '', "$EVENTS times nginx or the front came back");
Retort::Service::write_file("$s->{dir}/enough", '');
waitpid $_, 0 for @clients;

my (%last, %misses, %undone, %said, @wrong);

for my $line (map { split /\n/, Retort::Service::slurp("$s->{dir}/said-$_") }
    @boxes)
{
    my ($box, $n, $state, $why) = split ' ', $line, 4;

    $said{$n =~ /^\d+$/ ? 'ok' : $n}++;
    $said{behind}++ if $why;

    # cells without a pause: the copy may be some cells older, and that is told
    $undone{$box} = 1000 if ($state // '') eq 'restored' && $why;

    if ($n !~ /^\d+$/) {
        $misses{$box}++;
        push @wrong, $line if ($state // '') =~ /^(?:lost|gone)$/;
        next;
    }

    my $was = $last{$box} // 0;
    push @wrong, "$box: $n after $was, $state"
        if $n <= $was - ($undone{$box} // 0) || $n > $was + 1 + ($misses{$box} // 0) || $state !~ /^(?:kept|restored)$/;
    $last{$box} = $n;
    $misses{$box} = $undone{$box} = 0;
}

diag(join ', ', map { "$_ $said{$_}" } sort keys %said);
is("@wrong", '', 'no session lost its variables');
is(join(' ', grep { !/^(?:ok|none|lost|behind|cancelled|http_50[23])$/ } sort keys %said),
    '', 'no run ended in a way that nobody can explain');
cmp_ok($said{ok}, '>', 100, 'most of them just ran');

for my $box (@boxes) {
    my $r = $s->run('print(n)', sandbox_id => $box);
    cmp_ok($r->{stdout}, '>=', $last{$box} // 0, 'a session lives at the end');
}

# ---- nothing piles up ----

$s->wait_ready;
$s->json('DELETE', "/v1/sandboxes/$_") for @boxes;
$s->session for @boxes;
ok($s->until_true(sub { fds($s->{broker}) <= $fds + 6 }),
    'the broker has no more descriptors than before')
    or diag(fds($s->{broker}) . ", not $fds");
is(shm(), $shm, 'no shared memory is left');

# map writer, two launchers, front, fetch, template, of containers a remover;
# sandboxes in use and ready
my $service = $s->docker ? 7 : 6;

ok($s->until_true(sub {
    $s->children($s->{broker}) == $service + $CLIENTS + 2
}), 'there are as many processes as there have to be')
    or diag(`ps -o pid,ppid,args --ppid $s->{broker}`);

$s->end;
done_testing;
