#!/usr/bin/perl

# What MCP's clients hear of code that says nothing for long: a sign of life
# every ten seconds, and from Prisme's tool its end after twenty; with the
# front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 60_000, timeout_max => 60_000);
my $json = JSON::PP->new->utf8->canonical;


sub start {
    my ($api, $tool, $args, %more) = @_;
    my $c = $f->client;

    $c->send_request($f->params('POST', '', RETORT_API => $api, SCRIPT_NAME =>
        "/$api", CONTENT_TYPE => 'application/json', HTTP_ACCEPT =>
        'application/json, text/event-stream', %more), $json->encode({
        jsonrpc => '2.0', id => 7, method => 'tools/call', params => {
        name => $tool, arguments => $args, _meta => { progressToken => 't' }
        } }));
    return $c;
}


my $begun = time;
my $prisme = start('prisme', 'execute_python', { code => 'nap(600)' });
my $mcp = start('mcp', 'python', { code => 'nap(12); out("end")' });

my $r = $mcp->read_answer;
my @said = map { $json->decode($_) } $r->{body} =~ /^data: (\{.*)$/mg;
my @life = grep { $_->{method} && !exists $_->{params}{message} } @said;

cmp_ok(scalar(@life), '>=', 1, 'ten seconds without a word have a sign of life');
is_deeply([$life[0]{method}, $life[0]{params}{progressToken}],
          ['notifications/progress', 't'], 'which is progress without a message');
is($said[-1]{result}{structuredContent}{stdout}, 'end', 'then comes the answer');

$r = Retort::Front::decode($prisme->read_answer)->{json}{result};
cmp_ok(time - $begun, '>=', 19, 'a script of Prisme\'s runs for long');
cmp_ok(time - $begun, '<', 55, 'but not as long as the profile would let it');
is_deeply([$r->{isError}, $r->{structuredContent}{error}{code}],
          [JSON::PP::true, 'Timeout'], 'and its end is told as such');

done_front($f);
