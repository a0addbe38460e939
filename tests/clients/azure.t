#!/usr/bin/perl

# Azure's dynamic sessions, as clients speak to them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Clients;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys;";

$s->{location} = <<"CONF";
location /azure/ { retort_api azure; $pass }
location = /azure/mcp { retort_api azure_mcp; $pass }
CONF
$s->configure;
$s->start;

my @env = (RETORT_URL => "http://127.0.0.1:$s->{port}",
           RETORT_KEY => $s->{key});

clients_run('azure_llamaindex.mjs', @env);
clients_run('azure_mcp.mjs', @env);

$s->end;
done_testing;
