#!/usr/bin/perl

# What is written about the native API agrees with itself: the document, the
# table of errors, the sources.  And what checks answers does find faults.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::OpenApi;
use Test::More;

my $top = "$FindBin::Bin/../../..";


sub slurp {
    open my $f, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return scalar <$f>;
}


my $doc = JSON::PP->new->utf8->decode(
    slurp("$top/helper/front/dialect/openapi.json"));
my $api = Retort::OpenApi->new($doc);

# the table: "status code"

my %table;
my ($errors) = slurp("$top/docs/api.md") =~ /^## Errors\n(.*?)^## /ms;

for ($errors =~ /^\| (\d[\d, ]+ \| `[^|]+) \|/mg) {
    my ($statuses, $codes) = split / \| /;

    for my $code ($codes =~ /`(\w+)`/g) {
        $table{"$_ $code"} = $code for split /, /, $statuses;
    }
}

cmp_ok(scalar keys %table, '>', 30, 'there is a table of errors');

# the document's codes, by the statuses that they are for

my (%coded, %ids, @refs);

$api->operations(sub {
    my ($method, $path, $op) = @_;

    $ids{$op->{operationId}}++;

    for my $status (grep { $_ =~ /^[45]/ } keys %{ $op->{responses} }) {
        my $r = $api->deref($op->{responses}{$status});
        my $s = $r->{content}{'application/json'}{schema};
        my $codes = $s->{properties}{error}{properties}{code}{enum};

        ok($codes, "$method $path names the codes of $status");
        $coded{"$status $_"} = 1 for @$codes;
    }
});

is_deeply([grep { $_ > 1 } values %ids], [], 'each operation has its own name');

sub every {
    my ($o) = @_;

    push @refs, $o->{'$ref'} if ref $o eq 'HASH' && $o->{'$ref'};
    every($_) for ref $o eq 'HASH' ? values %$o : ref $o eq 'ARRAY' ? @$o : ();
}

every($doc);
is_deeply([grep { !eval { $api->deref({ '$ref' => $_ }) } } @refs], [],
          'all that it refers to is there');
my %used = map { $_ => 1 } @refs;
is_deeply([grep { !$used{$_} } map { my $k = $_; map { "#/components/$k/$_" }
          sort keys %{ $doc->{components}{$k} } } qw(responses parameters
          schemas)], [], 'and all that is there is used');

# a code of a file's URL is in one row with both of its statuses, and so on:
# not each pair of a row has to be somebody's

my %known = map { $_ => 1 } values %table;
my %documented = map { (split)[1] => 1 } keys %coded;

is_deeply([grep { !$table{$_} } sort keys %coded], [],
          'the table has all codes of the document, with their statuses');

# the sources' codes; those that other dialects alone bring about

my %others = map { $_ => 1 } qw(cancelled too_many_runs session_not_found
    no_model storage_full storage_quota_exceeded store_failed file_expired
    execution_exists run_lost sandbox_gone endpoint_failed endpoint_unknown
    endpoint_timeout endpoint_enough planner_failed
    not_implemented);
my %source;

for my $path (map { glob "$top/helper/front/$_.c" } '*', 'dialect/native*')
{
    next if $path =~ m{/(?:plan|turn|shelf|endpoint|routes_(?!exec|files))\w*\.c$};

    my $text = slurp($path);

    $source{$1} = $path
        while $text =~ /err_set\([^"]*?\b\d{3},\s*"(\w+)"/g;
    $source{$1} = $path
        while $path =~ /file_op/ && $text =~ /\{ E\w+, \d+, "(\w+)"/g;
}

is_deeply([map { "$_: $source{$_}" } grep { !$known{$_} && !$others{$_} }
           sort keys %source], [], 'the table has all codes of the front');

my $module = join '', map { slurp($_) } glob("$top/ngx_module/*.c");
my $front = join '', map { slurp($_) } glob("$top/helper/front/*.c"),
    glob("$top/helper/front/dialect/*.c");

my @worker = $module =~ /\{ (?:\d{3}|NGX_HTTP_\w+),\s*"([a-z_]+)",\s*"/g;

cmp_ok(scalar @worker, '>', 15, 'the worker has codes');
is_deeply([grep { !$known{$_} } @worker], [], 'which are in the table');
is_deeply([grep { "$module$front" !~ /"$_"/ } sort keys %known], [],
          'and none that nothing gives');

# what checks answers

sub res {
    my ($status, $body, %h) = @_;
    return { status => $status, content => $body,
             headers => { 'content-type' => 'application/json', %h } };
}

my $error = '{"error":{"code":"%s","message":"x"%s}}';
my @path = ('get', '/sandboxes/{sandbox_id}');

is_deeply([$api->answer(@path, res(404, sprintf $error, 'sandbox_not_found',
          ''))], [], 'an answer that is as documented has no fault');

like(join("\n", $api->answer(@path, $_->[0])), $_->[1], "$_->[2] is a fault")
    for [res(404, sprintf $error, 'unheard', ''), qr/code is "unheard"/,
         'an unknown code'],
        [res(404, sprintf $error, 'not_found', ',"more":1'), qr/has more/,
         'a key that is not documented'],
        [res(404, '{"error":{"code":"not_found"}}'), qr/lacks message/,
         'a key that is not there'],
        [res(404, '{"error":{"code":"not_found","message":1}}'),
         qr/message is integer/, 'another type'],
        [res(404, '{"error":{"code":"not_found","message":""}}'),
         qr/is too short/, 'a message that says nothing'],
        [res(418, ''), qr/418 is not documented/, 'another status'],
        [res(404, 'x', 'content-type' => 'text/html'), qr/of type text/,
         'a page'],
        [res(429, sprintf $error, 'no_capacity', ''), qr/no Retry-After/,
         'a header that is not there'];

sub request { $api->request_faults('post', '/execute', 'application/json', @_) }

is_deeply([request({ code => '1', files => ['https://h/a'] })], [],
          'a request may be as documented');
ok(scalar(() = request($_->[0])), "$_->[1] is not") for [{}, 'one without code'],
    [{ code => 1 }, 'code that is a number'],
    [{ code => '1', none => 1 }, 'an unknown key'],
    [{ code => '1', language => 'perl' }, 'another language'],
    [{ code => '1', timeout => 0 }, 'no time at all'],
    [{ code => '1', env => { '1' => 'x' } }, 'no name of a variable'],
    [{ code => '1', env => { A => 1 } }, 'no string in a variable'],
    [{ code => '1', files => [{ name => 'x' }] }, 'a file without a content'],
    [{ code => '1', files => [('https://h/a') x 65] }, 'a file too many'];

done_testing;
