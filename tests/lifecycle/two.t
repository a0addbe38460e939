#!/usr/bin/perl

# Two whole helpers behind one nginx, of which one dies in the middle of a run:
# that run is lost, all others are the other one's, and nobody has to be told.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my %plain = (profiles => { default => { import => '', ready => 0 } });
my $other = Retort::Service->new(stopped => 1, %plain);
my $s = Retort::Service->new(stopped => 1, %plain,
    alerts => qr/connect\(\) to unix:/);
my %helper = (a => $s, b => $other);
my $log = "$s->{dir}/access.log";

$s->{nginx} = "upstream both {\n" . join('', map {
        "server unix:$helper{$_}{dir}/run/front.sock max_fails=1 fail_timeout=2s;\n"
    } sort keys %helper) . "keepalive 4; }\n"
    . "log_format upstream '\$upstream_addr'; access_log $log upstream;\n";
$s->{location} = <<"EOC";
    location /both/ {
        retort_pass both;
        retort_auth_key_file $s->{dir}/keys;
    }
EOC
$s->configure;
Retort::Service::write_file("$s->{dir}/nginx.conf",
    Retort::Service::slurp("$s->{dir}/nginx.conf") =~ s/access_log off;//r);
$other->start_retortd;
$s->start;
ok($s->until_true(sub { $other->log =~ /: ready/ && -S "$other->{dir}/run/front.sock" }, 60),
    'there are two helpers');


# a run at either; whose it was is in the log of nginx
sub run {
    my ($status, $r) = $s->json('POST', '/both/execute', { code => 'print(6 * 7)' });

    return "$status " . ($r->{stdout} // $r->{status} // '');
}


# whose requests these were that came since
my $seen = 0;

sub served {
    my ($n) = @_;
    my @lines;

    $s->until_true(sub {
        @lines = split /\n/, substr Retort::Service::slurp($log), $seen;
        return @lines >= $n;
    }) or die 'nginx writes no log';
    $seen = -s $log;

    return map { my $line = $_; grep { $line =~ /\Q$helper{$_}{dir}\E\S*$/ } qw(a b) } @lines;
}


my @said = map { run() } 1 .. 10;
my %by = map { $_ => 1 } served(10);

is_deeply(\@said, [("200 42\n") x 10], 'both run code');
is_deeply([sort keys %by], ['a', 'b'], '... each some of it');

# the one that has the run dies, with all that is its own

sub nobody { return !grep { $_->inside } values %helper }

sub die_of {
    my ($h) = @_;

    kill 'KILL', $h->{broker};
    waitpid delete $h->{broker}, 0;
}

ok($s->until_true(\&nobody), 'nothing runs');

my ($dead, $end);
my ($status) = $s->stream('POST', '/both/execute',
    { code => "print('in', flush=True)\nimport time\ntime.sleep(50)", timeout => 55 },
    sub {
        $end = $_[0]{status} if defined $_[0]{status};

        if (($_[0]{text} // '') =~ /^in/ && !$dead) {
            ($dead) = grep { $helper{$_}->inside } qw(a b);
            die_of($helper{$dead});
        }

        return 1;
    });
my ($lives) = grep { $_ ne $dead } qw(a b);

is("$status $end", '200 lost', 'a run on the one that dies is lost');
ok($s->until_true(\&nobody), '... and is done again by nobody');
served(1);
@said = map { run() } 1 .. 10;
is_deeply(\@said, [("200 42\n") x 10], '... nobody else is told of it');
is_deeply([grep { !/$lives/ } served(10)], [], '... the other one does all');

# it is there again

unlink glob "$helper{$dead}{dir}/run/*";
$helper{$dead}->start_retortd;
ok($s->until_true(sub { run() eq "200 42\n" && grep { $_ eq $dead } served(1) }, 60),
    'one that is started again has work again');

# both; a broker that is killed while it removes a cgroup leaves that to its next start

ok($s->until_true(sub { !grep { $_->boxes } values %helper }), 'nothing runs');
die_of($_) for values %helper;
# what was on its way to one is lost, and no more
ok($s->until_true(sub { run() =~ /^503 / }), 'when both are gone it is said');

for my $h (values %helper) {
    $s->until_true(sub { !$h->inside });
    unlink glob "$h->{dir}/run/*";
}

$s->end;
$other->end;
done_testing;
