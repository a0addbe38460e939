#!/usr/bin/perl

# Requests that mean one thing to one reader and another to the next, that are
# too big, too deep or not as long as they say: none becomes a run that nobody
# was allowed, and none costs memory or anybody else's service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use IO::Select;
use IO::Socket::INET;
use Retort::Audit qw(audit_lines audit_verify);
use Retort::Service;
use Test::More;
use Time::HiRes qw(time);

my $s = Retort::Service->new(lean => 1, profiles => { default => {
    import => '', ready => '1', request => '4m 4m' } });
my $log = "$s->{dir}/audit";


# what comes until the server closes

sub raw {
    my ($bytes) = @_;
    my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                  PeerPort => $s->{port}) or die "$!";
    my $got = '';

    $c->blocking(0);
    local $SIG{PIPE} = 'IGNORE';
    my $end = time + 100;
    my $select = IO::Select->new($c);

    while (time < $end) {
        if (length $bytes) {
            my $n = syswrite $c, $bytes, 65536;
            substr $bytes, 0, $n, '' if $n;
            last if !defined $n && !$!{EAGAIN};
        }

        next if !$select->can_read(length $bytes ? 0.001 : 1);
        my $n = sysread $c, $got, 65536, length $got;
        return $got if defined $n ? !$n : !$!{EAGAIN};
    }

    fail('the server closes') if !length $bytes;
    return $got;
}


sub answers { return $_[0] =~ m{^HTTP/1\.[01] (\d+)}mg }

sub runs {
    return scalar grep { $_->{event} eq 'begin'
                         && $_->{code_sha256} eq sha256_hex($_[0]) }
           audit_lines($log);
}


sub rss {
    my ($pid) = @_;
    my ($kb) = Retort::Service::slurp("/proc/$pid/status") =~ /VmRSS:\s+(\d+)/;
    return $kb;
}

sub workers { return $s->children($s->nginx_pid) }

my $host = "Host: 127.0.0.1\r\nAuthorization: Bearer $s->{key}\r\n"
         . "Content-Type: application/json\r\n";
my $secret = 'print("smuggled")';
my $inner = "POST /v1/execute HTTP/1.1\r\n${host}Connection: close\r\n"
          . 'Content-Length: ' . length('{"code":"print(\"smuggled\")"}')
          . "\r\n\r\n" . '{"code":"print(\"smuggled\")"}';
my $ok = '{"code":"1"}';
my $n = length $ok;

is(raw("POST /v1/execute HTTP/1.1\r\n${host}Connection: close\r\n"
       . "Content-Length: $n\r\n\r\n$ok") =~ /"status": ?"ok"/, 1,
   'a request as it should be is answered');
is(raw($inner) =~ /smuggled/, 1, 'and the hidden one would be, alone');
is(runs($secret), 1, 'the log of runs has it once');

my %before = map { $_ => rss($_) } workers(), $s->process('retort-front');


# ---- two readings of where a request ends ----

my $cl0 = "Content-Length: 0\r\n";
my $te = "Transfer-Encoding: chunked\r\n";
my $chunk = sprintf "%x\r\n%s\r\n", $n, $ok;

my @shapes = (
    ['both lengths, chunked first', "$te$cl0", "0\r\n\r\n$inner"],
    ['both lengths, length first', "Content-Length: 4\r\n$te", "0\r\n\r\n$inner"],
    ['two lengths', "Content-Length: $n\r\n$cl0", "$ok$inner"],
    ['a list of lengths', "Content-Length: $n, 0\r\n", "$ok$inner"],
    ['a length with a sign', "Content-Length: +$n\r\n", "$ok$inner"],
    ['a negative length', "Content-Length: -1\r\n", $inner],
    ['a length in hex', "Content-Length: 0x10\r\n", $inner],
    ['a length beyond 64 bits', "Content-Length: 18446744073709551616\r\n", $inner],
    ['an empty length', "Content-Length: \r\n", $inner],
    ['chunked in a list', "Transfer-Encoding: identity, chunked\r\n",
     "0\r\n\r\n$inner"],
    ['chunked twice', "$te$te", "0\r\n\r\n$inner"],
    ['chunked with a letter', "Transfer-Encoding: xchunked\r\n$cl0", $inner],
    ['chunked behind a tab', "Transfer-Encoding:\tchunked\r\n$cl0", $inner],
    ['chunked behind a form feed', "Transfer-Encoding: \fchunked\r\n$cl0", $inner],
    ['a space before the colon', "Transfer-Encoding : chunked\r\n$cl0", $inner],
    ['a folded line', "X: a\r\n Transfer-Encoding: chunked\r\n$cl0", $inner],
    ['a bare line feed', "X: a\nContent-Length: 5\r\n", "$ok$inner"],
    ['a bare carriage return', "X: a\rTransfer-Encoding: chunked\r\n$cl0", $inner],
    ['a NUL in a line', "X: a\0b\r\n$cl0", $inner],
    ['a NUL in a name', "Content-Length\0: 5\r\n$cl0", $inner],
    ['a chunk with a sign', $te, "+0\r\n\r\n$inner"],
    ['a chunk beyond 64 bits', $te, "10000000000000000\r\n$inner"],
    ['a chunk that is shorter', $te, "2\r\n$ok\r\n0\r\n\r\n$inner"],
    ['a chunk without its end', $te, "$n\r\n$ok$inner"],
    ['an upgrade', "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
     . "HTTP2-Settings: AAAA\r\n$cl0", $inner],
    ['headers that are params', "RETORT_WORKSPACE: root\r\nRETORT-API: control\r\n"
     . "X-Retort-Workspace: root\r\nProxy: x\r\n$cl0", $inner],
);

# hidden behind a request without a key: it would be found by its own
for (@shapes) {
    my ($what, $lines, $body) = @$_;
    my $was = runs($secret);
    my $got = raw("POST /v1/execute HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                  . "$lines\r\n$body");
    my @codes = answers($got);

    # what stands behind a request that is over is the next one, in the open
    my $open = @codes == 2 && $codes[1] == 200;

    ok(@codes <= 2 && !grep({ !/^(?:4\d\d|501)$/ } @codes[0 .. $#codes - $open])
       && runs($secret) - $was == ($open ? 1 : 0),
       "one reading of it: $what") or diag "@codes";
}


# ---- too much ----

my $key = "Authorization: Bearer $s->{key}\r\n";
my $long = 'a' x 100_000;
my @big = (
    ['a line of headers', "GET /v1/sandboxes HTTP/1.1\r\n${host}X: $long\r\n\r\n"],
    ['many headers', "GET /v1/sandboxes HTTP/1.1\r\n$host"
     . join('', map { "X-$_: $long\r\n" } 1 .. 40) . "\r\n"],
    ['a path', "GET /v1/$long HTTP/1.1\r\n$host\r\n"],
    ['a query', "GET /v1/sandboxes?$long HTTP/1.1\r\n$host\r\n"],
    ['a method', "$long /v1/sandboxes HTTP/1.1\r\n$host\r\n"],
    ['a key', "GET /v1/sandboxes HTTP/1.1\r\nHost: x\r\n"
     . "Authorization: Bearer $long\r\n\r\n"],
    ['a host', "GET /v1/sandboxes HTTP/1.1\r\nHost: $long\r\n$key\r\n"],
);

for (@big) {
    like((answers(raw($_->[1] =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r)))[0]
         // 'closed', qr/^(?:4\d\d|closed)$/, "too long is refused: $_->[0]");
}

# nginx' buffers hold a few KiB of headers: as params they are the front's
is((answers(raw("GET /v1/sandboxes HTTP/1.1\r\n${host}Connection: close\r\n"
                . join('', map { "X-$_: " . 'b' x 3000 . "\r\n" } 1 .. 7)
                . "\r\n")))[0], 200, 'what nginx lets in, the front bears');

my %json = (
    'deep arrays' => '[' x 1_000_000,
    'deep objects' => '{"a":' x 200_000,
    'deep inside' => '{"code":"1","env":' . '{"a":' x 100_000,
    'wide' => '{' . join(',', map { "\"k$_\":1" } 1 .. 200_000) . '}',
    'a long number' => '{"timeout":' . '9' x 1_000_000 . '}',
    'many names' => '{"code":"1","env":{' . join(',', map { "\"K$_\":\"\"" }
        1 .. 100_000) . '}}',
    'a name twice' => '{"code":"1","code":"print(\"smuggled\")"}',
    'half a character' => "{\"code\":\"\xc3\"}",
    'a half surrogate' => '{"code":"\ud800"}',
    'NUL' => "{\"code\":\"a\0b\"}",
    'no end' => '{"code":"' . 'x' x 3_000_000,
    'a body beyond its limit' => '{"code":"' . 'x' x 5_000_000 . '"}',
);

for my $what (sort keys %json) {
    my $body = $json{$what};

    like((answers(raw("POST /v1/execute HTTP/1.1\r\n${host}Connection: close\r\n"
                      . 'Content-Length: ' . length($body) . "\r\n\r\n$body")))[0]
         // '', qr/^4(?:00|13)$/, "JSON is refused: $what");
}


# ---- not as long as it says ----

my $was = runs('1');
my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $s->{port});
print $c "POST /v1/execute HTTP/1.1\r\n${host}Content-Length: 4000\r\n\r\n$ok";
close $c;
like(raw("POST /v1/execute HTTP/1.1\r\n${host}Connection: close\r\n"
         . "Content-Length: 5\r\n\r\n$ok"), qr{^HTTP/1.1 400},
     'a body that is longer than it says is cut where it says');
like(raw("POST /v1/execute HTTP/1.1\r\n${host}Connection: close\r\n$te\r\n$chunk"
         . "0\r\n\r\n"), qr/"status": ?"ok"/, 'chunks are a body');
is(runs('1') - $was, 1, 'what broke off never ran');


# ---- and then ----

is($s->run('print(6 * 7)')->{stdout}, "42\n", 'others are served');

for my $pid (sort keys %before) {
    cmp_ok(rss($pid) - $before{$pid}, '<', 65536,
           'a process has not grown by it') or diag rss($pid);
}

is(join(' ', sort(workers(), $s->process('retort-front'))),
   join(' ', sort keys %before), 'and none died');
is((audit_verify($log))[0], 0, 'the log of runs is whole');
$s->end;
done_testing;
