#!/usr/bin/perl

# What is asked of a sandbox in which code runs: calls wait for it, unless they
# are cancelled; resources, too, and who is one too many in the line hears that,
# and not that there are none.  With the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use IO::Select;
use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant WAITERS => 16;

my $f = Retort::Front->start(threads => WAITERS + 8, timeout_max => 60_000);
my $run = 'exec_n1_' . 'b' x 32;
my %mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           CONTENT_TYPE => 'application/json');

$mcp{HTTP_MCP_SESSION_ID} = $f->get('POST', '', { jsonrpc => '2.0', id => 1,
    method => 'initialize' }, %mcp)->{header}{'mcp-session-id'};


sub start {
    my ($method, $params, %more) = @_;
    my $c = $f->client;
    my $id = delete $more{id} // 1;

    $c->send_request($f->params('POST', '', %mcp, %more), encode_json({
        jsonrpc => '2.0', id => $id, method => $method, params => $params }));
    return $c;
}

sub cancel {
    $f->get('POST', '', { jsonrpc => '2.0', method => 'notifications/cancelled',
        params => { requestId => $_[0] } }, %mcp);
}

sub rpc { return Retort::Front::decode(start(@_)->read_answer)->{json} }

sub python {
    my ($execution, %args) = @_;
    return start('tools/call', { name => 'python', arguments => { %args } },
                 RETORT_EXECUTION => $execution);
}


my $box = Retort::Front::decode(python('exec_n1_' . 'a' x 32,
    code => '$files{"a"} = "b"')
    ->read_answer)->{json}{result}{structuredContent}{sandbox_id};
my $uri = "retort://sandboxes/$box/files/a";

my $busy = python($run, code => 'nap(600)', timeout => 50);
ok(wait_for(sub { ($f->get('GET', "/executions/$run", '')->{json}{status} // '')
                  eq 'running' }), 'code runs in the sandbox');

# a call behind it; it may not have come so far when it is first cancelled

my $c = start('tools/call', { name => 'python', arguments => {
    code => '$files{"a"} = "never"' } }, id => 'second');
my $answered = IO::Select->new($c->{sock});
ok(wait_for(sub { cancel('second'); $answered->can_read(0.1) }),
   'a call that waits is cancelled');
my $none = $c->read_answer;
is("$none->{status} $none->{body}", '202 ', 'without an answer');

# the last of these finds the line full, whichever it is

my @line = map { start('resources/read', { uri => $uri }) } 1 .. WAITERS + 1;
my $ready = IO::Select->new(map { $_->{sock} } @line);
my ($sock) = $ready->can_read(30);
my ($first) = grep { $sock && $_->{sock} == $sock } @line;
my $e = $first && Retort::Front::decode($first->read_answer)->{json}{error};

is($e->{code}, -32603, 'who is one too many is told');
like($e->{message}, qr/busy/, 'that it is busy, and not that it is none');
$e = rpc('resources/list', {})->{error};
is_deeply([$e->{code}, $e->{message} =~ /busy/ ? 1 : 0], [-32603, 1],
          'of a list as well');

cancel(1);
my @said = map { Retort::Front::decode($_->read_answer)->{json}{result}
                 {contents}[0]{text} // '' } grep { $_ != $first } @line;
is_deeply(\@said, [('b') x WAITERS], 'who waits has it when the code has ended');

done_front($f);
