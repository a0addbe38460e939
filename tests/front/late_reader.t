#!/usr/bin/perl

# More than a socket holds, read when all of it was said long ago.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, output => 40_000_000);
my $id = sprintf 'exec_n1_%032x', 1;
my ($pieces, $size) = (1000, 30_000);


sub begin {
    my ($method, $path, $body, %params) = @_;

    my $c = $f->client;
    $c->send_request($f->params($method, $path, %params, HTTP_ACCEPT =>
        'application/x-ndjson', CONTENT_TYPE => 'application/json'), $body);
    return $c;
}


# What is left of the answer.  A pause ends with the front's next sign of life,
# after ten seconds; so long an answer with some of them takes minutes.

sub rest {
    my ($c) = @_;
    my ($text, $end) = ('', time + 60);

    while ($end > time && (my $rec = $c->read_record($end - time))) {
        return $text if $rec->[0] == Retort::FastCGI::END_REQUEST;
        $text .= $rec->[2];
    }

    return "$text, cut";
}


my $c = begin(POST => '/execute', qq({"code":"out('x' x $size) for 1 .. )
              . qq($pieces;"}), RETORT_EXECUTION => $id);

ok(wait_for(sub {
    my $r = $f->client->request($f->params(GET => "/executions/$id"));
    $r->{body} =~ /"status":"ok"/ }), 'the run ends before its client reads');

my $later = begin(GET => "/executions/$id/events", '');

for my $who (['the client', $c], ['who asks later', $later]) {
    my $text = rest($who->[1]);

    ok($text =~ /"status":"ok"\}\s*\z/, "$who->[0] gets it without a pause");
    is(length(join '', $text =~ /"text":"(x*)"/g), $pieces * $size,
       'every byte of it');
}

done_front($f);
