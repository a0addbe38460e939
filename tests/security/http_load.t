#!/usr/bin/perl

# Clients that hold what they have: ten thousand connections that say nothing,
# bodies that never end, answers that nobody reads, connections that break at
# every byte.  Others are served meanwhile, and nothing is left of it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::INET;
use Retort::Audit qw(audit_verify);
use Retort::Service;
use Socket qw(SOL_SOCKET SO_LINGER);
use Test::More;

# a shell raises the limit of descriptors, where it can be raised
if (!$ENV{HTTP_LOAD_FILES}) {
    chomp(my $hard = `bash -c 'ulimit -Hn'`);
    $hard = 30_000 if $hard eq 'unlimited' || $hard > 30_000;
    $ENV{HTTP_LOAD_FILES} = $hard;
    exec 'bash', '-c', "ulimit -n $hard; exec \"\$@\"", 'load', $^X, $0;
}

my $files = $ENV{HTTP_LOAD_FILES};
my $idle = $files - 1000 < 10_000 ? $files - 1000 : 10_000;

my $s = Retort::Service->new(lean => 1, connections => $files - 600, location => <<'CONF',
location = /front-status { retort_pass unix:%RUN%/front.sock; retort_api status; }
CONF
    nginx => 'retort_zone runs 1m; retort_limits zone=runs running=8 waiting=8;',
    profiles => { default => { import => '', ready => '2' } });
my ($worker) = $s->children($s->nginx_pid);
my $front = $s->process('retort-front');
my $body = '{"code":"print(6*7)"}';
my $head = "POST /v1/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $s->{key}"
         . "\r\nContent-Type: application/json\r\nContent-Length: ";
my $good = $head . length($body) . "\r\nConnection: close\r\n\r\n$body";


sub connection {
    my ($bytes) = @_;
    my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                  PeerPort => $s->{port}) or return;

    local $SIG{PIPE} = 'IGNORE';
    syswrite $c, $bytes if $bytes ne '';
    return $c;
}

sub reset_ { setsockopt $_[0], SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0; close $_[0] }

sub rss {
    my ($kb) = Retort::Service::slurp("/proc/$_[0]/status") =~ /VmRSS:\s+(\d+)/;
    return $kb;
}

sub descriptors { my @all = glob "/proc/$_[0]/fd/*"; return scalar @all }

# by another workspace, with its own key

sub served {
    my ($why) = @_;
    my $r = $s->request('POST', '/v1/execute', $body,
                        authorization => "Bearer $s->{other}");

    like($r->{content}, qr/42/, "another tenant is served $why")
        or diag "$r->{status} $r->{content}";
}

sub silent {
    my (@all) = @_;
    my $bits = '';

    vec($bits, fileno $_, 1) = 1 for @all;
    my $n = select $bits, undef, undef, 0;
    return @all - $n;
}

served('before');
my $files_of = descriptors($worker);
my %rss = map { $_ => rss($_) } $worker, $front;


# ---- idle ----

my @held = grep { defined } map {
    connection($_ % 2 ? '' : "GET /v1/sandboxes HTTP/1.1\r\nHost: x\r\nX-Half")
} 1 .. $idle;

is(scalar @held, $idle, "$idle connections are taken");
ok($s->until_true(sub { descriptors($worker) >= $idle }), 'by one worker');
served('beside them') for 1 .. 3;
cmp_ok((rss($worker) - $rss{$worker}) / $idle, '<', 16,
       'each costs the worker some KiB');
cmp_ok(rss($front) - $rss{$front}, '<', 32768, 'and the front nothing');
reset_($_) for @held;
@held = ();
ok($s->until_true(sub { descriptors($worker) <= $files_of + 20 }),
   'they are gone when they are closed');


# ---- slow ----

@held = map { connection("${head}1000\r\n\r\n{") } 1 .. 200;
served('beside 200 bodies that do not come');
cmp_ok(silent(@held), '>', 0, 'while some of those are waited for');
reset_($_) for splice @held;

my $much = '{"code":"print(\"x\" * 200000)"}';

@held = map { connection($head . length($much) . "\r\n\r\n$much") } 1 .. 30;
served('beside 30 answers that nobody reads');
reset_($_) for splice @held;


# ---- broken off ----

for my $n (0 .. length $good) {
    my $c = connection(substr $good, 0, $n);
    $n % 2 ? reset_($c) : close $c;
}

served('after connections that broke at every byte of a request');

my $whole = do { my $c = connection($good); local $/; <$c> };

for my $n (map { $_ * 17 } 0 .. length($whole) / 17) {
    my $c = connection($good);
    my $got = '';

    while (length $got < $n) {
        sysread $c, $got, $n - length $got, length $got or last;
    }

    reset_($c);
}

served('after some that broke in an answer');


# ---- and then ----

my $said;

ok($s->until_true(sub {
    (undef, $said) = audit_verify("$s->{dir}/audit");
    $said =~ /^good.*; 0 began without an end/s;
}), 'every run that began has ended') or diag $said;
ok($s->until_true(sub {
    $s->get('/front-status')->{content} =~ /"threads_busy":\s*[01]\b/
}), 'no thread of the front is held') or diag $s->get('/front-status')->{content};
is($s->process('retort-front'), $front, 'the front lives');
is(($s->children($s->nginx_pid))[0], $worker, 'and the worker');
cmp_ok(rss($_) - $rss{$_}, '<', 131072, 'neither has grown for good')
    for $worker, $front;
$s->end;
done_testing;
