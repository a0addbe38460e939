#!/usr/bin/perl

# Calls of endpoints: the operator names them, and nothing else is called; the
# key goes there and nowhere else; answers come as they are made, and end.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Fetch qw(OK REFUSED FAILED SIZE TIME NAME wait_for web answer);
use Test::More;
use Time::HiRes qw(sleep);

my $dir = tempdir(CLEANUP => 1);
chmod 0755, $dir;


sub put {
    my ($name, $text, $mode) = @_;

    open my $f, '>', "$dir/$name" or die $!;
    print $f $text;
    close $f;
    chmod $mode, "$dir/$name";
    chown 0, 65534, "$dir/$name";

    return "$dir/$name";
}


my $web = web(sub {
    my ($sock, $head, $body) = @_;

    if ($head =~ m{^POST /echo}) {
        answer($sock, 200, "$head\n\n$body", 'Content-Type: text/plain; a=b');

    } elsif ($head =~ m{^POST /refuse}) {
        answer($sock, 429, '{"error":1}', 'Content-Type: application/json');

    } elsif ($head =~ m{^POST /away}) {
        answer($sock, 302, '', 'Location: /echo');

    } elsif ($head =~ m{^POST /none}) {
        answer($sock, 204, '');

    } elsif ($head =~ m{^POST /endless}) {
        print $sock "HTTP/1.1 200 OK\r\n\r\n";
        print $sock 'x' x 65536 while 1;

    } elsif ($head =~ m{^POST /cut}) {
        print $sock "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";

    } elsif ($head =~ m{^POST /slow}) {
        print $sock "HTTP/1.1 200 OK\r\n\r\nfirst";
        $sock->flush;
        sleep 600;
    }
});

my $at = "http://127.0.0.1:$web->{port}";
my $key = put('key', "sk-test-0123456789\n", 0640);
my $f = Retort::Fetch->start(
    "endpoint planner $at/echo key_file=$key model=little-1",
    "endpoint other $at/echo key_file=$key key_header=x-api-key",
    "endpoint plain $at/echo", "endpoint refuse $at/refuse",
    "endpoint away $at/away", "endpoint none $at/none",
    "endpoint endless $at/endless size=100k", "endpoint cut $at/cut",
    "endpoint slow $at/slow timeout=5s", "endpoint long $at/slow",
    'endpoint closed http://127.0.0.1:1/', 'endpoint nowhere http://x.invalid/');

is($f->{ready}, 1, 'it starts') or diag $f->log;

my $r = $f->call('planner', '{"a":1}', "x-trace: 77\naccept: text/event-stream\n");

is($r->{code}, OK, 'an endpoint is called by its name');
is($r->{status}, 200, '... its status is told');
is($r->{type}, 'text/plain', '... and its type, without parameters');
like($r->{data}, qr/^POST \/echo HTTP\/1\.1\r\n/, '... at the URL of the operator');
like($r->{data}, qr/\n\n\{"a":1\}$/, '... the body arrives as it is');
like($r->{data}, qr/^content-type: application\/json\r$/mi, '... as JSON');
like($r->{data}, qr/^authorization: Bearer sk-test-0123456789\r$/mi, '... with its key');
like($r->{data}, qr/^x-trace: 77\r\n.*^accept: text\/event-stream\r$/msi, '... and the lines that were asked for');
is($f->model('planner')->{text}, 'little-1', 'its model is told');
is($f->model('plain')->{text}, '', '... or that there is none');
is($f->model('nobody')->{code}, NAME, '... or that there is no such endpoint');

$r = $f->call('other', '{}');
like($r->{data}, qr/^x-api-key: sk-test-0123456789\r$/mi, 'a key may have a header of its own');
unlike($r->{data}, qr/^authorization:/mi, '... and is in no other then');

$r = $f->call('plain', '{}');
unlike($r->{data}, qr/sk-test/, 'an endpoint without a key gets none');

my $big = 'x' x 3_000_000;
$r = $f->call('plain', $big);
is($r->{code}, OK, 'a body of megabytes is sent');
ok($r->{data} =~ /\n\n(x+)$/ && length $1 == length $big, '... as a whole');

for my $line ("authorization: Bearer mine\n", "X-API-Key: mine\n", "host: h\n", "content-length: 0\n",
    "Transfer-Encoding: chunked\n", "connection: close\n", "cookie: a=b\n", "no colon\n", ": x\n", "a b: x\n",
    "x: a\r\n", "x: unended", "x: \x01\n", "proxy-authorization: x\n")
{
    $r = $f->call('plain', '{}', $line);
    (my $text = $line) =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ge;
    is($r->{code}, REFUSED, "the line \"$text\" is not sent");
}

is($f->call('refuse', '{}')->{status}, 429, 'whatever the status is, it is told');
is($f->call('refuse', '{}')->{data}, '{"error":1}', '... with what it says');

$r = $f->call('away', '{}');
is("$r->{code} $r->{status} $r->{data}", OK . ' 302 ', 'no redirect is followed');
is($f->call('none', '{}')->{status}, 204, 'an answer may be empty');

is($f->call('nobody', '{}')->{code}, NAME, 'a name that the operator did not write is refused');
is($f->call('x' x 31, '{}')->{code}, NAME, '... however long it is');
is($f->call("$at/echo", '{}')->{code}, NAME, '... and a URL is no name');

$r = $f->call('endless', '{}');
is($r->{code}, SIZE, 'an endless answer ends at the limit');
cmp_ok(length $r->{data}, '<=', 102400, '... with no more than that');
$r = $f->call('cut', '{}');
is("$r->{code} $r->{data}", FAILED . ' half', 'an answer that is cut is not taken for whole');
$r = $f->call('slow', '{}');
is("$r->{code} $r->{data}", TIME . ' first', 'one that does not end has a time, and comes as it is made');
like($f->call('closed', '{}')->{text}, qr/cannot be reached/, 'nobody there: it says so');
like($f->call('nowhere', '{}')->{text}, qr/host is not known/, '... no such host, too');

my $conv = $f->ask(4, name => 'long', body => '{}');
is(Retort::Fetch::hear($conv)->{op}, 101, 'a call is under way');
ok(wait_for(sub { $f->children == 1 }), '... in a child of its own');
close $conv;
ok(wait_for(sub { !$f->children }), '... that ends when the front wants no more');

kill 'KILL', map { $f->ask(4, name => 'long', body => '{}'); wait_for(sub { $f->children }) ? $f->children : () } 1;
is($f->call('plain', '{}')->{code}, OK, 'a child that dies takes only its own request with it');

for my $bad ('endpoint x ftp://h/', 'endpoint X http://h/', 'endpoint x http://h/ timeout=0', 'endpoint x http://h/ size=-1',
    'endpoint x http://h/ colour=red', "endpoint x http://h/ key_file=$dir/none", 'endpoint x', 'endpoint x http://h/ key_file=key',
    'endpoint x http://h/ key_file=' . put('open', "k\n", 0644), 'endpoint x http://h/ key_file=' . put('two', "a b\n", 0640),
    'endpoint x http://h/ key_file=' . put('empty', '', 0640), 'fetch size=1x', 'fetch colour=red', 'fetch_ports 0', 'fetch_ports 70000',
    'fetch_allow 10.0.0.0/33', 'fetch_allow http://h/', 'fetch_allow [::1', 'fetch_allow h:x', 'fetch_hosts a/b', 'fetch ca=relative')
{
    my $g = Retort::Fetch->start($bad);
    is($g->{ready}, 0, 'it does not start with ' . ($bad =~ s{\Q$dir\E/}{}r));
}

is(Retort::Fetch->start({ uid => 0 })->{ready}, 0, 'it does not run as root');
is($f->stop, 0, 'it ends when the channel does');
done_testing;
