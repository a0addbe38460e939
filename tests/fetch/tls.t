#!/usr/bin/perl

# https: the certificate of a server must be of an authority that is trusted,
# of its name, and in its time; for files by URL and for endpoints.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Net;

use File::Temp qw(tempdir);

use IO::Socket::IP;
use POSIX ();
use Retort::Fetch qw(OK FAILED wait_for);
use Test::More;

my $dir = tempdir(CLEANUP => 1);
my @servers;

my $PYTHON = <<'PY';
import http.server, ssl, sys

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b"secret page")

    do_POST = do_GET

class Server(http.server.ThreadingHTTPServer):
    def get_request(self):
        sock, peer = super().get_request()
        return tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), peer

tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[2], sys.argv[3])
Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
PY

chmod 0755, $dir;
Retort::Net::setup();


sub openssl {
    open my $p, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'openssl', @_ or die $!;
    my $said = join '', <$p>;
    close $p or die "openssl @_: $said";

    return;
}


sub authority {
    my ($name) = @_;

    openssl(qw(req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority), '-keyout', "$dir/$name.key", '-out', "$dir/$name.pem");
    chmod 0644, "$dir/$name.pem";

    return;
}


# a certificate, and a server that has it
sub server {
    my ($name, $by, $san, @days) = @_;
    my $probe = IO::Socket::IP->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0) or die $!;
    my $port = $probe->sockport;

    open my $ext, '>', "$dir/$name.ext" or die $!;
    print $ext "subjectAltName=$san\n";
    close $ext;
    openssl(qw(req -newkey rsa:2048 -nodes -subj /CN=x), '-keyout', "$dir/$name.key", '-out', "$dir/$name.csr");
    openssl(qw(x509 -req -CAcreateserial), '-in', "$dir/$name.csr", '-CA', "$dir/$by.pem", '-CAkey', "$dir/$by.key",
        '-extfile', "$dir/$name.ext", '-out', "$dir/$name.pem", @days);

    close $probe;

    my $pid = fork // die $!;

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "$dir/$name.log";
        exec qw(/usr/bin/python3 -c), $PYTHON, $port, "$dir/$name.pem", "$dir/$name.key" or POSIX::_exit(127);
    }

    push @servers, $pid;
    wait_for(sub { IO::Socket::IP->new(PeerAddr => '127.0.0.1', PeerPort => $port) }) or die 'no server';

    return $port;
}


END {
    local $?;
    kill 'KILL', @servers;
    waitpid $_, 0 for @servers;
}

authority('ours');
authority('other');

my $good = server('good', 'ours', 'DNS:localhost', '-days', 2);
my $name = server('name', 'ours', 'DNS:elsewhere.example', '-days', 2);
my $old = server('old', 'ours', 'DNS:localhost', '-days', '-1');
my $other = server('other-server', 'other', 'DNS:localhost', '-days', 2);

my $allow = 'fetch_allow ' . join ' ', map {"localhost:$_"} $good, $name, $old, $other;
my $f = Retort::Fetch->start($allow, "fetch ca=$dir/ours.pem",
    "endpoint good https://localhost:$good/page ca=$dir/ours.pem",
    "endpoint other https://localhost:$other/page ca=$dir/ours.pem",
    "endpoint system https://localhost:$good/page");

my $r = $f->get("https://localhost:$good/page");
is("$r->{code} " . ($r->{data} // ''), OK . ' secret page', 'a server that is trusted is read') or diag $r->{text} . $f->log;

for my $row (["localhost:$name", 'of another name'], ["localhost:$old", 'of the past'], ["localhost:$other", 'of another authority']) {
    $r = $f->get("https://$row->[0]/page");
    is($r->{code}, FAILED, "a certificate $row->[1] is not taken");
    like($r->{text}, qr/certificate/, '... and that is said');
    is($r->{data}, '', '... and nothing comes of it');
}

$r = Retort::Fetch->start($allow)->get("https://localhost:$good/page");
is($r->{code}, FAILED, "the system's authorities are others");
like($r->{text}, qr/certificate/, '... and that is said');

is($f->call('good', '{}')->{data}, 'secret page', 'an endpoint that is trusted is called');
like($f->call('other', '{}')->{text}, qr/certificate/, '... another is not');
like($f->call('system', '{}')->{text}, qr/certificate/, "... nor by the system's authorities");
like($f->get("http://localhost:$good/page")->{text}, qr/ended|understood|answered/, 'http is no way to it');
is($f->stop, 0, 'it ends');
done_testing;
