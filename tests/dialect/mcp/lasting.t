#!/usr/bin/perl

# Runs of MCP sessions go on without their clients, but not so many that the
# front is held by clients who left.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant LASTING => 32;

my $f = Retort::Front->start(threads => LASTING + 8);
my %mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           CONTENT_TYPE => 'application/json');
my @conns;


sub id { sprintf 'exec_n1_%032x', $_[0] }

sub status { $f->get('GET', '/executions/' . id($_[0]), '')->{json}{status} // '' }

for my $n (1 .. LASTING + 1) {
    my $session = $f->get('POST', '', { jsonrpc => '2.0', id => 1,
        method => 'initialize' }, %mcp)->{header}{'mcp-session-id'};
    my $c = $f->client;

    $c->send_request($f->params('POST', '', %mcp, RETORT_EXECUTION => id($n),
        HTTP_MCP_SESSION_ID => $session), encode_json({ jsonrpc => '2.0',
        id => 1, method => 'tools/call', params => { name => 'python',
        arguments => { code => 'nap(60)' } } }));
    push @conns, $c;
    wait_for(sub { status($n) eq 'running' });
}

is(scalar(grep { status($_) eq 'running' } 1 .. LASTING + 1), LASTING + 1,
   'all of them run');
$_->close for @conns;
ok(wait_for(sub { status(LASTING + 1) eq 'cancelled' }),
   'one too many ends with its client');
is(scalar(grep { status($_) eq 'running' } 1 .. LASTING), LASTING,
   'the others go on');

done_front($f);
