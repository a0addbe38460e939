#!/usr/bin/perl

# Files go into a real session and come out of it, and only its own ones.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA;
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep);

use constant MIB => 1 << 20;

my $s = Retort::Service->new(
    profiles => { default => { memory => '900m 1g', disk => '300m 300m',
                               fsize => '260m 260m', timeout => '30s 60s' } },
    location => 'client_max_body_size 400m;');
my $box = $s->session;
my $at = "/v1/sandboxes/$box/files";
my $r;


sub here { $s->run($_[0], sandbox_id => $box) }
sub put { $s->request('PUT', "$at/$_[0]", $_[1]) }
sub fetch { $s->get("$at/$_[0]") }


sub code {
    return (eval { decode_json($_[0]{content}) } // {})->{error}{code} // '';
}


sub peak {
    my ($pid) = @_;
    return Retort::Service::slurp("/proc/$pid/status") =~ /^VmHWM:\s+(\d+)/m
        ? $1 : 0;
}


# the head of a request, and not all of its body

sub begin {
    my ($method, $name, $some, $size) = @_;
    my $sock = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$s->{port}")
        or die "connect: $!";

    print $sock "$method $at/$name HTTP/1.1\r\nHost: x\r\n"
        . "Connection: close\r\nAuthorization: Bearer $s->{key}\r\n"
        . (defined $size ? "Content-Length: $size\r\n" : '') . "\r\n$some";
    $sock->flush;

    return $sock;
}


sub names { [map { $_->{name} } @{ ($s->json('GET', "$at$_[0]"))[1]{files} }] }


# ---- in, used, out ----

is(put('in/data.csv', "a,b\n1,2\n")->{status}, 201, 'a file is put');
is(here("import pandas\nprint(pandas.read_csv('in/data.csv').a.sum())")
    ->{stdout}, "1\n", 'code reads it');
here("open('out.txt', 'w').write('r\\xe9sultat')");
$r = fetch('out.txt');
is_deeply([@$r{qw(status content)}], [200, "r\xc3\xa9sultat"],
    'what code wrote is fetched');
is($r->{headers}{'content-disposition'},
    'attachment; filename="out.txt"; filename*=UTF-8\'\'out.txt',
    'to be saved, not shown');
$r = $s->request('HEAD', "$at/out.txt");
is_deeply([$r->{status}, $r->{content} // '', $r->{headers}{'content-length'}],
    [200, '', 9], 'HEAD tells its length');
is_deeply(names('?recursive=true'), ['in', 'in/data.csv', 'out.txt'],
    'both are listed');
is_deeply(names('?path=in'), ['in/data.csv'], 'by folder, too');
is($s->request('DELETE', "$at/in")->{status}, 409, 'a full folder stays');
is($s->request('DELETE', "$at/in?recursive=true")->{status}, 204,
    'unless all of it is meant');
$r = $s->request('POST', $at, "--b\r\nContent-Disposition: form-data; "
    . "name=\"file\"; filename=\"f.txt\"\r\n\r\nx\r\n--b--\r\n",
    'content-type' => 'multipart/form-data; boundary=b');
is($r->{status}, 201, 'a form is taken') or diag($r->{content});

my $name = "\xe4\xbb\xb7\xe6\xa0\xbc %25 &.csv";
is(put("%E4%BB%B7%E6%A0%BC%20%2525%20&.csv", 'q')->{status}, 201,
    'a name in Chinese, with a percent sign');
is(here("import os\nprint([f for f in os.listdir() if '%' in f])")->{stdout},
    "['\x{4ef7}\x{683c} %25 &.csv']\n", 'is that name inside');

# ---- what leads elsewhere ----

here(<<'PY');
import os
os.symlink('/etc/passwd', 'passwd'); os.symlink('../..', 'root')
os.symlink('/', 'slash'); os.mkdir('dir')
import socket
socket.socket(socket.AF_UNIX).bind('sock')
open('bad\nname', 'w'); open(b'\xff\xfe', 'w'); open('.hidden', 'w')
print(open('passwd').read()[:4], len(os.listdir('root/etc')) > 0)
PY
is(code(fetch($_->[0])), $_->[1], "$_->[0]: $_->[1]")
    for ['passwd', 'conflict'], ['root/etc/passwd', 'conflict'],
        ['slash/etc/passwd', 'conflict'], ['sock', 'conflict'],
        ['dir', 'conflict'], ['nothing', 'file_not_found'],
        ['bad%0Aname', 'bad_name'], ['%FF%FE', 'not_found'];
is(put('root/tmp/x', 'x')->{status}, 409, 'nothing is put behind a link');
is(put('passwd', 'mine')->{status}, 200, 'a link itself is replaced');
is(fetch('passwd')->{content}, 'mine', 'by a file of its own');
is(here("print(open('/etc/passwd').read()[:4])")->{stdout}, "root\n",
    'what it led to is as it was');
is(put('sock', 'x')->{status}, 200, 'so is a socket');
is_deeply([grep {/bad|passwd|hidden/} @{ names('') }], ['.hidden', 'passwd'],
    'names that could not be asked for are not listed');

# ---- large, with flat memory ----

my $front = $s->process('retort-front');
my ($worker) = $s->children($s->nginx_pid);
my @before = map { peak($_) } $front, $worker;
my ($left, $block, $sha) = (200, join('', map { chr(rand 256) } 1 .. 65536)
    x 16, Digest::SHA->new(256));
my $http = HTTP::Tiny->new(timeout => 120);
my %auth = (authorization => "Bearer $s->{key}");

$r = $http->request('PUT', $s->url("$at/large"), { headers => { %auth,
    'content-length' => 200 * MIB }, content => sub {
        return '' if $left-- == 0;
        $sha->add($block);
        return $block;
    } });
my $digest = $sha->hexdigest;
is($r->{status}, 201, '200 MiB go in') or diag($r->{content});
is(eval { decode_json($r->{content})->{sha256} }, $digest, 'whole');

my ($size, $back) = (0, Digest::SHA->new(256));
$r = $http->request('GET', $s->url("$at/large"), { headers => \%auth,
    data_callback => sub { $back->add($_[0]); $size += length $_[0] } });
is_deeply([$r->{status}, $size, $back->hexdigest], [200, 200 * MIB, $digest],
    'and come out');
my @grown = map { peak($_) - shift @before } $front, $worker;
cmp_ok($grown[0], '<', 2048, "the front grew by $grown[0] KiB");
cmp_ok($grown[1], '<', 2048, "the worker by $grown[1] KiB");

$r = begin('GET', 'large', '');
read $r, my $some, 100_000;
close $r;
is(here('print(1)')->{stdout}, "1\n",
    'a reader that goes away in the middle leaves the session to others');

# ---- limits ----

$r = here(<<'PY');
try:
    with open('sparse', 'wb') as f: f.truncate(1 << 30)
except OSError as e: print(e.strerror)
with open('sparse', 'wb') as f: f.truncate(250 << 20)
PY
is($r->{stdout}, "File too large\n", 'a sparse file has the same limit');
my $sock = begin('PUT', 'huge', 'x', 270 * MIB);
like(join('', <$sock>), qr/ 413 .*"too_large"/s,
    'a file above the limit is refused');
$left = 150;
$r = $http->request('PUT', $s->url("$at/more"), { headers => \%auth,
    content => sub { $left-- > 0 ? $block : '' } });
is_deeply([$r->{status}, code($r)], [507, 'disk_full'], 'a full disk is told')
    or diag(explain $r);
is_deeply([grep {/more|part/} @{ names('') }], [], 'and nothing of it stays');
$s->request('DELETE', "$at/$_") for qw(large sparse);

# ---- an interpreter that dies in the middle of one ----

here("import os; open('.retort-part-1-1', 'w'); os._exit(1)");
here('1');
is_deeply([grep {/part/} @{ names('') }], [],
    'what a dead interpreter left of an upload is removed');

# ---- a client that goes away, a session that is busy ----

$sock = begin('PUT', 'gone', 'x' x 300_000, 1_000_000);
$s->until_true(sub {
    ($s->json('GET', "/v1/sandboxes/$box"))[1]{status} eq 'running'
});
close $sock;
is(fetch('gone')->{status}, 404, 'who goes away in the middle leaves nothing');
is_deeply([grep {/gone|part/} @{ names('') }], [], 'no part either');

my $pid = fork // die;
if ($pid == 0) {
    here("import time; time.sleep(1); open('late', 'w').write('done')");
    POSIX::_exit(0);
}
$s->until_true(sub {
    ($s->json('GET', "/v1/sandboxes/$box"))[1]{status} eq 'running'
});
is(fetch('late')->{content}, 'done', 'a download waits for the cell');
waitpid $pid, 0;

my $keep = here('x = 7; print(x)');
is($keep->{stdout}, "7\n", 'variables were never touched');
is($s->request('GET', $at, undef, authorization => "Bearer $s->{other}")
    ->{status}, 404, 'another workspace sees nothing');

$s->end;
done_testing;
