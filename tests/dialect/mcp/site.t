#!/usr/bin/perl

# Who may speak MCP at all: pages of other sites may not, by whatever name they
# come, and what is no message has its version looked at, too; with the front
# alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start();
my %ping = (jsonrpc => '2.0', id => 1, method => 'ping');
my @apis = qw(mcp prisme azure_mcp);


sub ask {
    my ($method, %params) = @_;
    return $f->get($method, '', $method eq 'POST' ? { %ping } : '',
        RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
        CONTENT_TYPE => 'application/json', %params);
}

sub said { [$_[0]{status}, $_[0]{json}{error}{code}] }


# on the loopback, where the web server has no such name

my @strange = (RETORT_HOST_STRANGE => 'on');

for (['localhost', 200], ['LocalHost:8080', 200], ['127.0.0.1', 200],
     ['127.0.0.1:80', 200], ['[::1]', 200], ['[::1]:80', 200],
     ['127.8.9.10:1', 200], ['192.168.1.1', 200], ['[fd00::1]:8080', 200],
     ['h', 200], ['h:81', 200], ['H', 200], [undef, 200],
     ['evil.example', 403], ['evil.example:80', 403], ['localhost.', 403],
     ['localhost.evil.example', 403], ['127.0.0.1.evil.example', 403],
     ['localhost:80@evil.example', 403], ['hh', 403], ['h.evil.example', 403],
     ['evil', 403], ['1.2.3.4x', 403])
{
    my ($host, $status) = @$_;
    my $name = defined $host ? "the host \"$host\"" : 'no host';

    is(ask('POST', @strange, defined $host ? (HTTP_HOST => $host) : ())
       ->{status}, $status, "$name gets $status");
}

for my $method (qw(POST GET DELETE)) {
    is_deeply(said(ask($method, @strange, HTTP_HOST => 'evil')), [403, -32001],
              "a foreign host may not even $method");
}

is_deeply(said(ask('POST', @strange, HTTP_HOST => 'evil', RETORT_API => $_)),
          [403, -32001], "nor speak to $_") for @apis;
is(ask('POST', HTTP_HOST => 'evil')->{status}, 200,
   'elsewhere the web server has chosen by it');

# where links lead to what the request itself says

my @open = (RETORT_SITE_UNKNOWN => 'on');

is(ask('POST', HTTP_ORIGIN => 'http://h')->{status}, 200,
   'a page of the site of our links may speak to us');
is_deeply(said(ask('POST', @open, HTTP_ORIGIN => 'http://h', RETORT_API => $_)),
          [403, -32001], "$_: unless the request says which site that is")
    for @apis;
is(ask('POST', @open, HTTP_ORIGIN => 'http://localhost:1')->{status}, 200,
   'a local one may');
is(ask('POST', @open)->{status}, 200, 'and whoever is no page');
is(ask('POST', @open, @strange, HTTP_HOST => 'h')->{status}, 403,
   'nor is a host ours by that');
is(ask('POST', HTTP_ORIGIN => 'http://h', RETORT_STATIC_URL => 'h/static')
   ->{status}, 403, 'a prefix of links that names no site names none');

# versions of what is no message

for my $method (qw(GET DELETE)) {
    is_deeply(said(ask($method, HTTP_MCP_PROTOCOL_VERSION => $_)),
              [400, -32600], "$method in the version \"$_\" is not spoken")
        for '2024-11-05', '2099-01-01', 'x', '';
    isnt(ask($method, HTTP_MCP_PROTOCOL_VERSION => $_)->{json}{error}{message},
         'unsupported protocol version', "$method in the version $_ may be")
        for '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28';
}

done_front($f);
