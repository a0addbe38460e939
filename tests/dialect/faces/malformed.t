#!/usr/bin/perl

# What is no request, in every dialect: its own error, byte by byte
# (malformed.txt), never a failure of ours, never a run, never silence.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Faces;
use Test::More;

my $t = Retort::Faces->new("$FindBin::Bin/malformed.txt");
my $json = JSON::PP->new->utf8->canonical;

$t->{each} = sub {
    my ($name, $event, $r) = @_;
    cmp_ok($r->{status}, '<', 500, "$name, $event: it is no failure of ours")
        unless $event =~ /sandbox/;
};


# files are sent as a form, to which not everything can happen

my %form = map { $_ => 1 } ('no body', 'half of an object', 'half of the body',
    'a NUL', 'ten thousand brackets', 'too much', 'another type', 'a form',
    'the method PUT', 'another path');

sub event {
    my ($event, $do) = @_;
    $t->event($event, $do, Retort::Faces::names(),
              $form{$event} ? 'files' : ());
}


# a body of the face with its code, or the object around it, changed

sub changed {
    my ($name, $do) = @_;
    my $body = Retort::Faces::body($name, 'print("it ran")');
    return $body if !ref $body;

    my @path = @{ Retort::Faces::face($name)->[4] };
    my $last = pop @path;
    my $o = $body;

    $o = ref $o eq 'ARRAY' ? $o->[$_] : $o->{$_} for @path;
    $do->($o, $last, $body);

    return $json->encode($body);
}

sub post {
    my ($name, $body, %o) = @_;
    return $t->send($name, 'POST', Retort::Faces::face($name)->[2], $body, %o);
}

sub good { changed($_[0], sub {}) }

# the bytes, from a good body or for all alike

my @bodies = (
    ['no body', sub { '' }],
    ['half of an object', sub { '{' }],
    ['half of the body', sub { substr good($_[0]), 0, -2 }],
    ['something behind it', sub { good($_[0]) . ' x' }],
    ['a list', sub { '[]' }],
    ['null', sub { 'null' }],
    ['null and a blank', sub { 'null ' }],
    ['a number', sub { '5' }],
    ['a string', sub { '"print(1)"' }],
    ['an empty object', sub { '{}' }],
    ['NaN', sub { '{"a":NaN}' }],
    ['a comment', sub { '/* a */' . good($_[0]) }],
    ['a mark of byte order', sub { "\xef\xbb\xbf" . good($_[0]) }],
    ['bytes that are no UTF-8', sub { good($_[0]) =~ s/it ran/\xff/r }],
    ['an overlong sequence', sub { good($_[0]) =~ s/it ran/\xc0\xaf/r }],
    ['half of a pair', sub { good($_[0]) =~ s/it ran/\\ud800/r }],
    ['a NUL', sub { "\0" }],
    ['a line within a string', sub { good($_[0]) =~ s/it ran/a\nb/r }],
    ['a key twice', sub { my $b = good($_[0]);
        my ($key) = $b =~ /^\{("\w+":)/; $b =~ s/^\{/{${key}1,/r }],
    ['a hundred levels', sub { '{"a":' x 100 . '1' . '}' x 100 }],
    ['ten thousand brackets', sub { '[' x 10_000 }],
    ['too much', sub { '{"a":"' . 'x' x 200_000 . '"}' }],
);

for my $row (@bodies) {
    my ($event, $make) = @$row;
    event($event, sub { post($_[0], $make->($_[0])) });
}

# members of it

my @members = (
    ['the code is not there', sub { delete $_[0]{$_[1]} }],
    ['the code is empty', sub { $_[0]{$_[1]} = '' }],
    ['the code is null', sub { $_[0]{$_[1]} = undef }],
    ['the code is a number', sub { $_[0]{$_[1]} = 5 }],
    ['the code is a list', sub { $_[0]{$_[1]} = ['print(1)'] }],
    ['the code is an object', sub { $_[0]{$_[1]} = { a => 1 } }],
    ['a key too many beside it', sub { $_[0]{none} = 1 }],
    ['a key too many at the top', sub { $_[2]{none} = 1 }],
    ['a list instead of what is around it', sub {
        my ($o, $last, $body) = @_;
        my ($key) = grep { ref $body->{$_} } sort keys %$body;
        $body->{$key // $last} = [1];
    }],
);

for my $row (@members) {
    my ($event, $do) = @$row;
    $t->event($event, sub { post($_[0], changed($_[0], $do)) });
}

# around it

event('another type', sub { post($_[0], good($_[0]), headers => {
    'content-type' => 'text/html' }) });
event('a form', sub { post($_[0], 'code=1', headers => {
    'content-type' => 'application/x-www-form-urlencoded' }) });
event('the method PUT', sub { my $f = Retort::Faces::face($_[0]);
    $t->send($_[0], 'PUT', $f->[2], good($_[0])) });
$t->event('the method GET', sub { my $f = Retort::Faces::face($_[0]);
    $t->send($_[0], 'GET', $f->[2]) });
event('another path', sub { $t->send($_[0], 'POST', '/none/at/all',
    good($_[0])) });

# names of tools

$t->event('an unknown tool', sub { post($_[0], good($_[0]) =~
    s/"name":"\w+"/"name":"rm"/r, headers => { 'mcp-name' =>
    $_[0] eq 'mcp_2026' ? 'rm' : undef }) },
    qw(mcp mcp_2026 prisme azure_mcp anthropic));
$t->event('a name that is a number', sub { post($_[0], good($_[0]) =~
    s/"name":"\w+"/"name":5/r) }, qw(mcp mcp_2026 prisme azure_mcp anthropic));
$t->event('an unknown method', sub { post($_[0], good($_[0]) =~
    s{tools/call}{tools/rm}r, headers => { 'mcp-method' =>
    $_[0] eq 'mcp_2026' ? 'tools/rm' : undef }) },
    qw(mcp mcp_2026 prisme azure_mcp));
$t->event('an id that is an object', sub { post($_[0], good($_[0]) =~
    s/"id":7/"id":{}/r) }, qw(mcp mcp_2026 prisme azure_mcp));

$t->end;
