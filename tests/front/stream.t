#!/usr/bin/perl

# Events while the code runs: numbered, complete, to be resumed anywhere.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, output => 200_000, threads => 16);
my $json = JSON::PP->new->utf8;
my $n = 0;

use constant { SSE => 'text/event-stream', NDJSON => 'application/x-ndjson' };


sub new_id { return sprintf 'exec_n1_%032x', ++$n }


# a request whose answer is read piece by piece

sub begin {
    my ($method, $path, $body, %params) = @_;

    my $c = $f->client;
    $c->send_request($f->params($method, $path, CONTENT_TYPE =>
        'application/json', %params), defined $body ? encode_json($body) : '');
    return $c;
}


sub body { my ($c) = @_; my $r = $c->read_answer; return $r }


sub lines { return map { $json->decode($_) } grep { /\S/ } split /\n/, shift }


sub sse {
    my @events;

    for my $block (split /\n\n/, shift) {
        my %e = map { /^(\w*): ?(.*)$/s } split /\n/, $block;
        push @events, \%e if exists $e{data};
    }

    return @events;
}


# texts of a list of events, joined

sub text { my ($type, @e) = @_;
           return join '', map { $_->{text} } grep { $_->{type} eq $type } @e }


# the first bytes come before the end

my $c = begin(POST => '/execute', { code => 'out("one\n"); nap(1.5);
              out("two\n"); show(1, "text/plain", 5)' }, HTTP_ACCEPT => NDJSON);
my $head = '';

while ($head !~ /one/) {
    my $rec = $c->read_record or last;
    $head .= $rec->[2];
}

unlike($head, qr/two/, 'the first line is there before the second is written');
like($head, qr/^X-Retort-Form: ndjson/m, 'the worker learns the form');
like($head, qr/^X-Retort-Execution: exec_n1_/m, 'and the id');
unlike($head, qr/^Content-Length/m, 'no length is promised');

my @rest = lines(body($c)->{out});
is_deeply([map { $_->{type} } @rest], [qw(stdout result status)],
          'the rest comes in its order');
is($rest[-1]{status}, 'ok', 'the last event has the verdict');
is($rest[-1]{result}, '5', 'and what else is known at the end');

# server-sent events

my $id = new_id();
$c = begin(POST => '/execute', { code => 'out("\xe2\x82\xac\n"); err("e\n");
           show(0, "text/plain", "d"); die "no\n"' }, HTTP_ACCEPT => SSE,
           RETORT_EXECUTION => $id);
my $r = body($c);
my @e = sse($r->{body});
is($r->{header}{'content-type'}, SSE, 'events have their type');
is_deeply([map { $_->{event} } @e],
          [qw(status stdout stderr display error status)],
          'each kind of output is an event');
ok(!(grep { $e[$_]{id} <= $e[$_ - 1]{id} } 1 .. $#e), 'ids only grow');
is_deeply([map { $json->decode($_->{data})->{id} } @e], [map { $_->{id} } @e],
          'the id stands in the data, too');
is($json->decode($e[0]{data})->{execution_id}, $id, 'the first names the run');
is($json->decode($e[-1]{data})->{status}, 'error', 'the last its verdict');

# the same again, from any position

my $all = $r->{body};

for my $i (0 .. $#e) {
    my $after = $e[$i]{id};
    $r = $f->client->request($f->params(GET => "/executions/$id/events",
        HTTP_ACCEPT => SSE, HTTP_LAST_EVENT_ID => $after));
    my @want = @e[$i + 1 .. $#e];
    my @got = sse($r->{body});

    # render times differ
    delete $_->[-1]{data} for grep { @$_ } \@want, \@got;
    is_deeply(\@got, \@want, "what follows event $after can be had again");
    is($r->{status}, $i == $#e ? 204 : 200, 'and nothing after the last');
    $e[-1]{data} = $1 if $all =~ /.*data: (.*)\n/s;
}

# a text is cut anywhere, and nothing is lost or doubled

my $long = join '', map { sprintf "%05d \xe2\x82\xac\n", $_ } 1 .. 5000;
$id = new_id();
$c = begin(POST => '/execute', { code => 'for (1 .. 5000) {
           out(sprintf "%05d \xe2\x82\xac\n", $_) }' }, HTTP_ACCEPT => NDJSON,
           RETORT_EXECUTION => $id);
@e = lines(body($c)->{body});
my $whole = $json->decode("[\"" . $long =~ s/\n/\\n/gr . "\"]")->[0];
is(text('stdout', @e), $whole, 'a long text arrives in pieces, complete');

my $last = $e[-1]{id};
my @bad;

for my $cut (map { int rand $last } 1 .. 40) {
    $r = $f->client->request($f->params(GET => "/executions/$id/events",
        HTTP_ACCEPT => NDJSON, QUERY_STRING => "after=$cut"));
    my $got = text('stdout', lines($r->{body}));
    my $tail = $cut == 0 ? $whole : do {
        use bytes;
        my $bytes = substr $long, $cut - 1;
        $json->decode("[\"" . (utf8($bytes) =~ s/\n/\\n/gr) . "\"]")->[0] };
    push @bad, $cut if $got ne $tail;
}

# a position inside of a character: what is left of it is no character

sub utf8 {
    my ($bytes) = @_;

    $bytes =~ s/^([\x80-\xbf]+)/"\xef\xbf\xbd" x length $1/e;
    return $bytes;
}

is("@bad", '', 'resumed at any byte, the texts join');

# several readers, while it runs

$id = new_id();
$c = begin(POST => '/execute', { code => 'for (1 .. 20) { out("$_\n");
           nap(0.05) }' }, HTTP_ACCEPT => NDJSON, RETORT_EXECUTION => $id);
$c->read_record;
my @readers = map { begin(GET => "/executions/$id/events", undef,
                          HTTP_ACCEPT => NDJSON) } 1 .. 3;
my $want = join '', map { "$_\n" } 1 .. 20;
is(text('stdout', lines(body($_)->{body})), $want, 'each reader has it all')
    for @readers;
is(text('stdout', lines(body($c)->{out})), $want, 'the client, too');

# one that reads nothing does not hold the code

$id = new_id();
$c = begin(POST => '/execute', { code => 'out("x" x 30000) for 1 .. 100;' },
           HTTP_ACCEPT => NDJSON, RETORT_EXECUTION => $id);
ok(wait_for(sub {
    my $r = $f->client->request($f->params(GET => "/executions/$id"));
    ($r->{body} =~ /"status":"ok"/) }), 'a client that does not read holds '
    . 'no run');
@e = lines(body($c)->{body});
like(text('stdout', @e), qr/^(?:x{50000}){3}\n\[[^\n]+\]\nx{50000}$/,
     'and finds all that was kept later');
is_deeply($e[-1]{truncated}, { kept_bytes => 200_000, total_bytes => 3_000_000,
          not_stored => 'it has more than 100000 bytes' },
          'how much was cut is data');

# silence

my @quiet = map { begin(POST => '/execute', { code => 'nap(11)' },
                        HTTP_ACCEPT => $_) } NDJSON, SSE;
like(body($quiet[0])->{body}, qr/"running"\}\n\n\{/,
     'silence is an empty line now and then');
like(body($quiet[1])->{body}, qr/"running"\}\n\n:\n\nid: /,
     'or a comment, between two events');

# refusals come as ordinary answers

$r = $f->client->request($f->params(POST => '/execute', HTTP_ACCEPT => SSE,
     CONTENT_TYPE => 'application/json'), '{"code":"1","sandbox_id":"sbx_n1_'
     . 'f' x 32 . '"}');
is($r->{status}, 404, 'an unknown sandbox is 404 before a stream begins');
$r = $f->client->request($f->params(GET => '/executions/' . new_id()
                                    . '/events'));
is($r->{status}, 404, 'an unknown execution, too');
$r = $f->client->request($f->params(GET => "/executions/$id/events",
                                    RETORT_WORKSPACE => 'other'));
is($r->{status}, 404, 'and one of another workspace');

for my $bad ('x', '-1', '1x', '99999999999999999999999') {
    $r = $f->client->request($f->params(GET => "/executions/$id/events",
                                        QUERY_STRING => "after=$bad"));
    is($r->{status}, 400, "after=$bad is refused");
}

done_front($f);
