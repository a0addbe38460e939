#!/usr/bin/perl

# Who asks, by a certificate of a CA that nginx trusts: its fingerprint, or its
# name by a map.

use strict;
use warnings;

use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new;
my $dir = $ng->dir;

# a CA, two clients of it, and one of another CA with the same name

sub run { system("openssl @_ > '$dir/openssl.log' 2>&1") == 0 or die "@_" }

sub ca {
    my $name = shift;
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        . " -subj /CN=$name -keyout $dir/$name.key -out $dir/$name.pem");
}

sub cert {
    my ($ca, $name, $subject) = @_;
    run("req -newkey ed25519 -nodes -subj $subject -keyout $dir/$name.key -out $dir/$name.csr");
    run("x509 -req -in $dir/$name.csr -CA $dir/$ca.pem -CAkey $dir/$ca.key"
        . " -CAcreateserial -days 2 -out $dir/$name.pem");
}

ca($_) for qw(ca evil);
cert('ca', 'server', '/CN=localhost');
cert('ca', 'agent', '/O=Acme/CN=agent-1');
cert('ca', 'guest', '/O=Acme/CN=guest');
cert('evil', 'fake', '/O=Acme/CN=agent-1');

$ng->conf(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    map $ssl_client_s_dn $agent {
        "CN=agent-1,O=Acme" acme-1;
    }
    server {
        listen 127.0.0.1:%%PORT%% ssl;
        ssl_certificate server.pem;
        ssl_certificate_key server.key;
        ssl_client_certificate ca.pem;
        ssl_verify_client optional;

        location /print/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $ssl_client_fingerprint;
        }
        location /name/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $agent;
        }
        location = /prisme/mcp {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api prisme;
            retort_workspace $agent;
        }
    }
}
EOC

my $front = Retort::FakeFront->new("$dir/front.sock", sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', $req->{params}{RETORT_WORKSPACE});
});

$ng->start;


sub tls {
    my ($path, $client) = @_;
    my $with = $client ? "--cert $dir/$client.pem --key $dir/$client.key" : '';
    return `curl -s --noproxy '*' --cacert $dir/ca.pem $with -d '{}' -w '|%{http_code}' https://localhost:${\$ng->port}$path`;
}

my ($print) = `openssl x509 -in $dir/agent.pem -noout -fingerprint -sha1`
    =~ /=(.*)/;
$print = lc $print =~ s/://gr;

is tls('/print/x', 'agent'), "$print|200", 'a certificate, by its fingerprint';
is tls('/name/x', 'agent'), 'acme-1|200', 'or by its name';
like tls('/name/x', 'guest'), qr/\|401$/, 'a name that is on no list';
like tls($_, 'fake'), qr/\|400$/, 'the same name by another CA'
    for '/name/x', '/print/x';
like tls($_), qr/\|401$/, 'no certificate' for '/name/x', '/print/x';

is tls('/prisme/mcp', 'agent'), 'acme-1|200',
    "Prisme's tool needs nothing else";
like tls('/prisme/mcp', $_), qr/^\{"jsonrpc":"2\.0",.*-32001.*\|401$/s,
    'and is refused in its own words' for undef, 'guest';

$front->stop;
$ng->finish;
done_testing;
