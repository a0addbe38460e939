#!/usr/bin/perl

# What the front is told of "Host" where MCP is spoken: that it is no name of
# this server's, if that says anything.

use strict;
use warnings;

use IO::Socket::IP;
use IO::Socket::UNIX;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC' =~ s/%%PASS%%/retort_pass unix:%%DIR%%\/front.sock;/gr);
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    retort_api mcp;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen unix:%%DIR%%/nginx.sock;
        location /mcp { %%PASS%% }
        location /prisme { %%PASS%% retort_api prisme; }
        location /azure { %%PASS%% retort_api azure_mcp; }
        location /native { %%PASS%% retort_api native; retort_static_url http://$host; }
        location /host { %%PASS%% retort_static_url http://$host/static; }
        location /said { %%PASS%% retort_static_url http://$http_host/static; }
        location /fixed { %%PASS%% retort_static_url http://h/static; }
    }
    server {
        listen 127.0.0.1:%%PORT%%;
        server_name other.example *.wild.example ~^re[0-9]$;
        location / { %%PASS%% retort_static_url http://$host/static; }
    }
    server {
        listen 127.0.0.1:%%PORT2%% default_server;
        server_name one.example two.example *.wild.example .dot.example "";
        location / { %%PASS%% retort_static_url http://$host/static; }
    }
    server {
        listen [::1]:%%PORT2%%;
        location / { %%PASS%% }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    $_[0]->stdin;
    $_[0]->answer('Content-Type: application/json', '{}');
});

$ng->start;


sub told {
    my ($s, $path, $host) = @_;

    print $s join "\r\n", "POST $path HTTP/1.1", "Host: $host",
        'Connection: close', 'Content-Length: 2', '', '{}';
    is $ng->response($s)->{status}, 200, "$path at $host is answered";

    my $p = $front->last_request->{params};
    return join ' ', map { $p->{"RETORT_$_"} // '-' }
        qw(HOST_STRANGE SITE_UNKNOWN);
}

sub at { my ($n, @more) = @_; return told($ng->connect($n), @more) }


is at('', '/mcp', 'evil.example'), 'on -', 'a name that it has not';
is at('', '/mcp', 'evil.example:80'), 'on -', 'with a port, too';
is at('', $_, 'evil.example'), 'on -', "and at $_"
    for '/prisme', '/azure', '/fixed';
is at('', $_, 'evil.example'), 'on on', "$_: it says where links lead"
    for '/host', '/said';
is at('', '/native', 'evil.example'), '- -', 'who is not MCP is not told';

is at('', '/x', $_), '- -', "$_ has chosen its server"
    for 'other.example', 'OTHER.example', 'a.wild.example', 're7';

is at(2, '/x', $_), '- -', "$_ is a name of the default one"
    for 'one.example', 'two.example', 'TWO.example:80', 'a.wild.example',
        'a.b.wild.example', 'dot.example', 'x.dot.example';
is at(2, '/x', $_), 'on on', "$_ is none"
    for 'localhost', 'three.example', 'wild.example', 'xwild.example',
        'xdot.example', 'example', 'one.example.evil', 'xone.example';

my $unix = IO::Socket::UNIX->new($ng->dir . '/nginx.sock') or die $!;
is told($unix, '/mcp', 'evil.example'), '- -',
    'a Unix socket has no name to resolve to';
$unix = IO::Socket::UNIX->new($ng->dir . '/nginx.sock') or die $!;
is told($unix, '/host', 'evil.example'), '- on', 'though links lead there';

my $s = $ng->connect;
print $s "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
    . "Retort-Host-Strange: off\r\nContent-Length: 2\r\n\r\n{}";
is $ng->response($s)->{status}, 200, 'a client that says it itself';
is $front->last_request->{params}{RETORT_HOST_STRANGE}, 'on', 'says nothing';

$s = $ng->connect;
print $s "GET /mcp HTTP/1.0\r\n\r\n";
is $ng->response($s)->{status}, 200, 'who names no host';
is $front->last_request->{params}{RETORT_HOST_STRANGE}, undef,
    'names no strange one';

my $six = IO::Socket::IP->new(PeerAddr => '::1', PeerPort => $ng->port(2));
is told($six, '/x', 'evil.example'), 'on -', 'the loopback of IPv6 is one'
    if ok $six, 'IPv6 is there';

$front->stop;
$ng->finish;
done_testing;
