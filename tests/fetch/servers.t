#!/usr/bin/perl

# Servers that stall, lie, never end, drop and pack, and fronts that talk
# nonsense: each costs its own request, in bounded time and memory, and
# retort-fetch goes on.

use strict;
use warnings;

use Compress::Zlib;
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Fetch qw(OK REFUSED FAILED SIZE TIME BUSY wait_for web answer);
use Test::More;
use Time::HiRes qw(sleep time);

my $bomb = Compress::Zlib::memGzip("\0" x 20_000_000);
my $ok = "HTTP/1.1 200 OK\r\n";

pipe my $asked, my $asks or die $!;

my %say = (
    file => sub { answer($_[0], 200, 'content', 'Content-Type: text/csv; charset=x') },
    typed => sub { answer($_[0], 200, 'x', "Content-Type: text/html\x01\"><script>") },
    none => sub { answer($_[0], 404, 'no such thing') },
    error => sub { answer($_[0], 500, 'x' x 1000) },
    nobody => sub { answer($_[0], 204, '') },
    part => sub { answer($_[0], 206, 'x') },
    empty => sub { answer($_[0], 200, '') },
    loop => sub { answer($_[0], 302, '', 'Location: /loop') },
    five => sub { answer($_[0], 307, '', 'Location: ' . ($_[1] < 4 ? '/five?' . ($_[1] + 1) : '/file')) },
    six => sub { answer($_[0], 307, '', 'Location: ' . ($_[1] < 5 ? '/six?' . ($_[1] + 1) : '/file')) },
    slow => sub { sleep 1; answer($_[0], 307, '', 'Location: /slow?' . ($_[1] + 1)) },
    lost => sub { answer($_[0], 302, 'no place') },
    fat => sub { answer($_[0], 302, 'x' x 300_000, 'Location: /file') },
    stall => sub { print { $_[0] } "$ok\r\nhalf"; $_[0]->flush; sleep 600 },
    silent => sub { sleep 600 },
    held => sub { syswrite $asks, '.'; sleep 600 },
    drip => sub { print { $_[0] } $ok; while (1) { print { $_[0] } "X: y\r\n"; $_[0]->flush; sleep 0.05 } },
    more => sub { print { $_[0] } "${ok}Content-Length: 3\r\n\r\nabcdef" },
    less => sub { print { $_[0] } "${ok}Content-Length: 30\r\n\r\nabcdef" },
    huge => sub { print { $_[0] } "${ok}Content-Length: 99999999999999\r\n\r\n"; sleep 600 },
    negative => sub { print { $_[0] } "${ok}Content-Length: -5\r\n\r\nabc" },
    endless => sub { print { $_[0] } "$ok\r\n"; print { $_[0] } 'x' x 65536 while 1 },
    chunks => sub { print { $_[0] } "${ok}Transfer-Encoding: chunked\r\n\r\n"; print { $_[0] } "1000\r\n", 'x' x 4096, "\r\n" while 1 },
    chunk => sub { print { $_[0] } "${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx" },
    headers => sub { print { $_[0] } $ok; print { $_[0] } 'X: ', 'x' x 9000, "\r\n" while 1 },
    line => sub { print { $_[0] } $ok, 'X: '; print { $_[0] } 'x' x 9000 while 1 },
    bomb => sub { answer($_[0], 200, $bomb, 'Content-Encoding: gzip') },
    garbage => sub { print { $_[0] } "\x00\x01\x02 what?\r\n\r\n" },
    old => sub { print { $_[0] } 'no head at all, as in 1991' },
    drop => sub { },
    hundred => sub { print { $_[0] } "HTTP/1.1 100 Continue\r\n\r\n" while 1 },
    upgrade => sub { print { $_[0] } "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nabc" },
    cookie => sub { answer($_[0], 302, '', 'Set-Cookie: a=b', 'Location: /show') },
    show => sub { answer($_[0], 200, $_[2]) },
);

my $web = web(sub {
    my ($sock, $head) = @_;
    my ($what, $n) = $head =~ m{^\w+ /(\w+)(?:\?(\d+))?};

    # a reset would take away what was sent
    $say{$what}->($sock, $n // 0, $head);
    $sock->flush;
    shutdown $sock, 1;
});

my $at = "http://127.0.0.1:$web->{port}";
my @limits = ("fetch_allow 127.0.0.1:$web->{port}", 'fetch size=200k total=500k count=40');
my $dir = tempdir(CLEANUP => 1);
my $secret = 'sk-' . join '', map { chr 97 + rand 26 } 1 .. 40;

chmod 0755, $dir;
open my $key, '>', "$dir/key" or die $!;
print $key $secret;
close $key;
chmod 0640, "$dir/key";
chown 0, 65534, "$dir/key";

my $f = Retort::Fetch->start(@limits, "endpoint model $at/held key_file=$dir/key");
my $hasty = Retort::Fetch->start(@limits, 'fetch time=2s');
my $r = $f->get("$at/file");

is("$r->{code} $r->{status} $r->{type} $r->{data}", OK . ' 200 text/csv content', 'a file is fetched');
is($r->{keep}, 60, '... and may be used for a minute');
is($f->get("$at/typed")->{type}, 'text/html', 'a type has nothing in it that is none');
is($f->get("$at/empty")->{data}, '', 'an empty file is one');
is($f->get("$at/more")->{data}, 'abc', 'what is behind an answer is not part of it');

for my $row ([none => FAILED, qr/answered 404/], [error => FAILED, qr/answered 500/], [nobody => FAILED, qr/answered 204/], [part => FAILED, qr/206/],
    [loop => REFUSED, qr/redirected too often/], [six => REFUSED, qr/too often/], [lost => FAILED, qr/answered 302/], [fat => SIZE, qr/longer/],
    [slow => TIME, qr/too long/], [stall => TIME, qr/too long/], [silent => TIME, qr/too long/], [drip => TIME, qr/too long/], [less => FAILED, qr/ended before/],
    [huge => SIZE, qr/longer/], [negative => FAILED, qr/not understood/], [endless => SIZE, qr/longer/], [chunks => SIZE, qr/longer/],
    [chunk => FAILED, qr/not understood|ended/], [garbage => FAILED, qr/not understood/], [old => FAILED, qr/not understood/], [drop => FAILED, qr/ended/],
    [upgrade => FAILED, qr/answered 101|not understood|ended/])
{
    my $began = time;

    $r = ($row->[1] == TIME ? $hasty : $f)->get("$at/$row->[0]");
    is($r->{code}, $row->[1], "$row->[0]: it ends") or diag explain $r;
    like($r->{text}, $row->[2], '... with the reason');
    cmp_ok(length $r->{data}, '<=', 200 * 1024, '... with no more than is allowed');
    cmp_ok(time - $began, '<', 30, '... and in time');
}

for my $name (qw(headers line hundred)) {
    $r = $hasty->get("$at/$name");
    isnt($r->{code} // 99, OK, "$name: a head without an end is no file");
}

is($f->get("$at/five")->{data}, 'content', 'five redirects are followed');
$r = $f->get("$at/bomb");
is("$r->{code} " . ($r->{data} eq $bomb), OK . ' 1', 'what a server packs is not unpacked');
unlike($f->get("$at/cookie")->{data}, qr/Cookie|Referer|Authorization/i, 'nothing of one answer goes into the next request');
like($f->get("$at/show")->{data}, qr{^GET /show HTTP/1\.1\r\nHost: 127\.0\.0\.1:$web->{port}\r\nUser-Agent: Mozilla/5\.0 \(compatible; retort-fetch\)\r\nAccept: \*/\*$},
    'this is all that a server is told');

# ---- many at once ----

my $began = time;
my @all = Retort::Fetch->start(@limits, 'fetch time=10s')->get(map { "$at/$_" } qw(stall file silent none file?1 less file?2));

is(join(' ', map { $_->{code} } @all), join(' ', TIME, OK, TIME, FAILED, OK, FAILED, OK), 'each file has an end of its own');
cmp_ok(time - $began, '<', 20, '... all at the same time');
@all = $f->get(map {"$at/endless?$_"} 1 .. 8);
cmp_ok(length join('', map { $_->{data} } @all), '<=', 500 * 1024, 'together they have a limit');
@all = $f->get({ limit => 10 }, map {"$at/file?$_"} 1 .. 3);
is(scalar(grep { $_->{code} == OK } @all), 1, '... which the front may lower');
@all = $f->get(map {"$at/file?$_"} 1 .. 41);
is(join(' ', map { $_->{code} } @all[38 .. 40]), join(' ', OK, OK, SIZE), 'and a number');

wait_for(sub { !$f->children });
my @conv = map { $f->ask(2, count => 1, body => "$at/silent?$_\0") } 1 .. 64;
ok(wait_for(sub { $f->children == 64 }), 'there are up to 64 requests');
is($f->get("$at/file")->{code}, BUSY, '... one more is told to wait');
undef @conv;
ok(wait_for(sub { !$f->children }), '... none stays behind');
is($f->get("$at/file")->{code}, OK, '... and it goes on');

# ---- a front that talks nonsense ----

my $req = pack 'SSLLLQa32', 2, 0, 1, 0, 4, 0, '';

for my $row (['a short request', substr $req, 0, 55], ['a long one', $req . 'x'], ['no bytes', ''], ['an unknown operation', pack('SSLLLQa32', 99, 0, 0, 0, 0, 0, '')],
    ['too many URLs', pack('SSLLLQa32', 2, 0, 65, 0, 4, 0, '')], ['too much body', pack('SSLLLQa32', 4, 0, 0, 0, 0xffffffff, 0, '')],
    ['too many header lines', pack('SSLLLQa32', 4, 0, 0, 8193, 0, 0, '')], ['a name without an end', pack('SSLLLQ', 4, 0, 0, 0, 0, 0) . 'x' x 32])
{
    my $conv = $f->ask(2, raw => $row->[1]);
    shutdown $conv, 1;
    is(Retort::Fetch::hear($conv), undef, "$row->[0]: it is not answered");
}

@all = Retort::Fetch::answers($f->ask(2, count => 3, body => "$at/file\0$at/none\0"), 3);
is(join(' ', map { $_->{code} } @all), join(' ', OK, FAILED, REFUSED), 'a URL that is missing is refused');
Retort::FakeBroker::fd_send($f->{channel}, pack('S4', 2, 0, 0, 0));
Retort::FakeBroker::fd_send($f->{channel}, 'x' x 500, fileno STDERR);
is($f->get("$at/file")->{code}, OK, 'nonsense on the channel is passed over');
is(Retort::Fetch->start({ front => 4711 }, @limits)->get("$at/file")->{code}, undef, 'only the front is answered');

# ---- what the processes hold ----

sub holds {
    my ($pid, $text) = @_;
    no warnings 'portable';

    open my $maps, '<', "/proc/$pid/maps" or return;
    open my $mem, '<:raw', "/proc/$pid/mem" or return;

    while (<$maps>) {
        my ($from, $to) = /^(\w+)-(\w+) rw/ or next;
        next if hex($to) - hex($from) > 1e8;      # a sanitizer's
        sysseek $mem, hex $from, 0 or next;
        sysread $mem, my $bytes, hex($to) - hex $from;
        return 1 if index($bytes // '', $text) >= 0;
    }

    return 0;
}


for my $row ([1, 4, name => 'model', body => '{}'], [0, 2, count => 1, body => "$at/held\0"]) {
    my ($has, $op, @more) = @$row;

    wait_for(sub { !$f->children });
    my $conv = $f->ask($op, @more);
    sysread $asked, my $dot, 1;
    my ($pid) = $f->children;

    is(holds($pid, $secret), $has, $has ? 'a child that calls an endpoint has its key' : '... one that fetches for a client has none');
    open my $status, '<', "/proc/$pid/status" or die $!;
    my %is = map { /^(\w+):\s*(.*)/ } <$status>;
    # a sanitizer needs more than the filter allows, and says so
    my $filter = $f->log =~ /sanitizer's build/ ? 0 : 2;
    is(join(' ', @is{qw(NoNewPrivs Seccomp CapEff CapPrm)}), "1 $filter 0000000000000000 0000000000000000", '... no rights, and a filter');
    close $conv;
    wait_for(sub { !$f->children });
}

is($f->stop, 0, 'it ends with its channel');
unlike($f->log, qr/\Q$secret\E|Sanitizer|runtime error/, 'no key is in its log');
done_testing;
