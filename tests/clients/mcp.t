#!/usr/bin/perl

# MCP, as its official clients speak it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::UNIX;
use Retort::Clients;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1,
    nginx => 'retort_zone runs 1m;');

$s->{location} = <<"CONF";
location = /mcp {
    retort_api mcp;
    retort_tools python bash write_file read_file list_files;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_static_url http://127.0.0.1:$s->{port}/static;
}
CONF
$s->{location} .= join '', map { <<"CONF" } ['prisme', 'front', 'p', ''],
location = /$_->[0]/mcp {
    retort_api prisme;
    retort_pass unix:$s->{dir}/run/$_->[1].sock;
    retort_workspace $_->[2];
    client_body_buffer_size 1m;
    $_->[3]
}
CONF
    ['away', 'none', 'p', ''],
    ['limited', 'none', 'limited', 'retort_limits zone=runs rate=1r/m;'];
$s->configure;
$s->start;

my @env = (RETORT_URL => "http://127.0.0.1:$s->{port}",
           RETORT_KEY => $s->{key});

clients_run('mcp_sdk.mjs', @env);
clients_run('mcp_client.mjs', @env);
clients_run('mcp_ai.mjs', @env);

# a socket behind which nobody is
IO::Socket::UNIX->new(Local => "$s->{dir}/run/none.sock", Listen => 1)
    or die "socket: $!";
chmod 0666, "$s->{dir}/run/none.sock" or die "chmod: $!";
clients_run('mcp_prisme.mjs', @env);
unlink "$s->{dir}/run/none.sock";

# the Inspector, in both eras

sub inspect {
    my ($era, @args) = @_;

    return clients_program([ clients_dir() . '/node_modules/'
        . '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
        '--cli', "http://127.0.0.1:$s->{port}/mcp", '--transport', 'http',
        '--header', "Authorization: Bearer $s->{key}", '--protocol-era', $era,
        '--method', @args ]);
}

for my $era ('legacy', 'modern') {
    my ($code, $said) = inspect($era, 'tools/list', '--strict');
    is($code, 0, "Inspector, $era: it finds no fault with the schemas")
        or diag($said);
    like($said, qr/"write_file"/, 'and all tools');

    ($code, $said) = inspect($era, 'tools/call', '--tool-name', 'python',
                             '--tool-arg', 'code=print(6 * 7)');
    is($code, 0, "Inspector, $era: a call") or diag($said);
    like($said, qr/"stdout": "42\\n"/, 'gives what it prints');
    ($code) = inspect($era, 'tools/call', '--tool-name', 'python',
                      '--tool-arg', 'code=1/0');
    is($code, 5, "Inspector, $era: a failure is an error");
    ($code, $said) = inspect($era, 'prompts/list');
    like($said, qr/"run_code"/, "Inspector, $era: prompts");
}

$s->end;
done_testing;
