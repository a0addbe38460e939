#!/usr/bin/perl

# The protocol's own conformance suite, for the three revisions that it
# knows; its tools are there because the location says so.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Clients;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    timeout => '20s 120s' } });
my $suite = clients_dir()
    . '/node_modules/@modelcontextprotocol/conformance/dist/index.js';

# the suite has no credentials
$s->{location} = <<"CONF";
location = /mcp {
    retort_api mcp;
    retort_mcp_fixtures on;
    retort_workspace conformance;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_static_url http://127.0.0.1:$s->{port}/static;
}
CONF
$s->configure;
$s->start;

for (['2025-06-18', 50, '--suite', 'active', '--spec-version', '2025-06-18'],
     ['2025-11-25', 75, '--requirements', '2025-11-25'],
     ['2026-07-28', 180, '--requirements', '2026-07-28'])
{
    my ($revision, $least, @args) = @$_;
    my ($code, $said) = clients_program([ $suite, 'server', '--url',
        "http://127.0.0.1:$s->{port}/mcp", @args ]);
    my ($passed) = $said =~ /^Total: (\d+) passed/m;
    my @not = $said =~ /^ *✗ (.*)$/mg;

    is($code, 0, "$revision: nothing that is required fails")
        or diag(substr($said, -3000));
    is_deeply(\@not, [], 'nor what is optional or not yet required');
    cmp_ok($passed // 0, '>=', $least, 'and it was all tried');
}

$s->end;
done_testing;
