#!/usr/bin/perl

# Many at once: everybody gets an answer of their own, nothing grows.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { CLIENTS => 32, EACH => 15 };

my $f = Retort::Front->start(threads => 48, ready => 4, nslots => 128,
                             sessions => 128);
my ($good, %n);

sub fds {
    opendir my $d, "/proc/$f->{pid}/fd" or return 0;
    return scalar grep { !/^\./ } readdir $d;
}

# each client in a process of its own; how many got what they asked for

sub crowd {
    my ($what) = @_;
    my @pids;

    for my $i (1 .. CLIENTS) {
        my $pid = fork // die "fork: $!";

        if ($pid == 0) {
            my $bad = grep { !eval { $what->("$i-$_") } } 1 .. EACH;
            POSIX::_exit($bad);
        }

        push @pids, $pid;
    }

    return scalar grep { waitpid($_, 0) == $_ && $? == 0 } @pids;
}

$f->execute({ code => '1' });

$good = crowd(sub {
    my $r = $f->execute({ code => "out('$_[0]')" });
    $r->{json}{stdout} eq $_[0] && $r->{json}{status} eq 'ok';
});
is($good, CLIENTS, 'each of many fresh cells gets its own answer');

ok(wait_for(sub { %n = $f->{broker}->counts(); $n{boxes} == 4 }),
   'no sandbox is left but those that wait');
cmp_ok($n{spawn}, '>=', CLIENTS * EACH, 'every cell had its own');

# one sandbox, many clients

my $r = $f->execute({ code => '$v{n} = 0', keep => JSON::PP::true });
my $id = $r->{json}{sandbox_id};
my $tries = 0;

$good = crowd(sub {
    my $last;
    do {
        $last = $f->execute({ code => 'my $x = $v{n}; nap(0.0005);
                                       $v{n} = $x + 1', sandbox_id => $id });
    } while ($last->{status} == 429);
    $last->{json}{state} eq 'kept';
});
is($good, CLIENTS, 'all who share one sandbox get their turn');
is($f->execute({ code => 'out($v{n})', sandbox_id => $id })->{json}{stdout},
   CLIENTS * EACH, 'and no two cells of it ever ran at once');

# making, using, ending

my $before = fds();

$good = crowd(sub {
    my $made = $f->get('POST', '/sandboxes')->{json}{sandbox_id};
    my $run = $f->execute({ code => "out('$_[0]')", sandbox_id => $made });
    my $gone = $f->get('DELETE', "/sandboxes/$made")->{status};
    $run->{json}{stdout} eq $_[0] && $gone == 204;
});
is($good, CLIENTS, 'sandboxes are made, used and ended side by side');

# clients that leave in the middle

$good = crowd(sub {
    my $c = $f->client;
    $c->send_request($f->params('POST', '/execute',
                                CONTENT_TYPE => 'application/json'),
                     '{"code":"nap(60)"}');
    select undef, undef, undef, rand 0.01;
    $c->close;
    1;
});

ok(wait_for(sub { %n = $f->{broker}->counts(); $n{boxes} == 5 }, 30),
   'what they began is ended');
is($f->execute({ code => 'out($v{n})', sandbox_id => $id })->{json}{state},
   'kept', 'others go on');

SKIP: {
    skip 'descriptors of the front cannot be seen', 1 unless $before;
    ok(wait_for(sub { fds() <= $before + 2 }), 'no descriptor is left open');
}

done_front($f);
