#!/usr/bin/perl

# MCP, as its official clients speak it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Clients;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);

$s->{location} = <<"CONF";
location = /mcp {
    retort_api mcp;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_static_url http://127.0.0.1:$s->{port}/static;
}
CONF
$s->configure;
$s->start;

my @env = (RETORT_URL => "http://127.0.0.1:$s->{port}",
           RETORT_KEY => $s->{key});

clients_run('mcp_sdk.mjs', @env);

$s->end;
done_testing;
