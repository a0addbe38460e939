#!/usr/bin/perl

# A web server without our module: who asks is signed by somebody whom the front
# shares a secret with, and is nobody otherwise.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(hmac_sha256_hex);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my ($new, $old) = ('n' x 32, 'o' x 64);
my $f = Retort::Front->new(threads => 2, ready => 1);
my $file = "$f->{dir}/store/.identity";


sub secrets {
    my ($text, $mode, $uid) = @_;

    open my $fh, '>', $file or die "$file: $!";
    print $fh $text;
    close $fh;
    chmod $mode // 0400, $file;
    chown $uid // Retort::Front::NOBODY, -1, $file;
}


sub sign {
    my ($said, $line, $secret) = @_;

    return "$said:" . hmac_sha256_hex("retort-identity $said $line",
                                      $secret // $new);
}


# what the front makes of an identity: the workspace's executions, or an error

sub asks {
    my ($identity, $expect, $name, %more) = @_;

    my $p = $f->params('POST', '/execute', CONTENT_TYPE => 'application/json',
        REQUEST_URI => '/v1/execute?a=1', RETORT_IDENTITY => $identity, %more);

    delete $p->{RETORT_WORKSPACE} unless $more{RETORT_WORKSPACE};
    delete $p->{RETORT_IDENTITY} unless defined $identity;

    my $r = Retort::Front::decode($f->client->request($p, '{"code":"out(1)"}'));

    is($r->{status} == 200 ? $r->{json}{status} : $r->{status}, $expect, $name);
    return $r;
}


sub look {
    my ($path, $who) = @_;

    my $p = $f->params('GET', $path, REQUEST_URI => "/v1$path", RETORT_IDENTITY
                       => sign(time . ":$who", "GET /v1$path"));

    delete $p->{RETORT_WORKSPACE};
    return $f->client->request($p, '')->{status};
}


# without a secret

$f->run;
my $now = time;
my $line = 'POST /v1/execute?a=1';
my $good = sign("$now:alice:", $line);

asks($good, 401, 'where there is no secret, nobody can sign');
asks(undef, 'ok', 'a web server with the module knows who it is',
     RETORT_WORKSPACE => 'demo');
kill 'TERM', $f->{pid};
$f->ended;

# with two

secrets("# gateways\n$new\n$old\n");
$f->run;

my $r = asks($good, 'ok', 'a signed identity');
asks(sign("$now:alice:", $line, $old), 'ok', 'signed by the other secret');
asks(sign("$now:alice:execute,admin", $line), 'ok', 'with scopes');
asks(sign("$now:alice:files", $line), 403, 'with others');
asks(sign("$_:alice:", $line), 'ok', 'the clock may differ a little')
    for $now - 30, $now + 30;
asks(sign("$_:alice:", $line), 401, 'but by no more')
    for $now - 120, $now + 120, 0, '9' x 12, '9' x 13, '', '-1', "+$now", '1e9';
asks(sign("$now:alice:", $line, 'x' x 32), 401, 'by another secret');
asks(sign("$now:alice:", $line, ''), 401, 'by none');
asks(sign("$now:alice:", 'GET /v1/execute?a=1'), 401, 'for another method');
asks($good, 401, 'for another URL', REQUEST_URI => '/v1/execute');
asks($good, 401, 'for none', REQUEST_URI => '');
asks($good =~ s/alice/bob/r, 401, 'for another workspace');
asks($good =~ s/:alice:/:alice:admin/r, 401, 'with a scope put in');
asks(sign("$now:alice:$_", $line), 401, 'with scopes that nobody knows')
    for 'root', 'execute,', ',', 'execute,,files', 'EXECUTE';
asks(sign("$now:$_:", $line), 401, 'of a name that is none')
    for '', 'a b', 'a/b', 'w' x 65, "a\xff";
asks($_, 401, 'malformed') for '', ':', ':::', 'x', substr($good, 0, -1),
    "$good ", uc $good, "$good:", 'a' x 40000;
asks($good, 400, 'and a bare workspace beside it', RETORT_WORKSPACE => 'demo');
asks($good, 'ok', 'what a client calls so counts for nothing',
     HTTP_RETORT_IDENTITY => 'x', HTTP_X_RETORT_IDENTITY => 'x');
asks(undef, 403, 'so it does alone', HTTP_X_RETORT_IDENTITY => $good,
     HTTP_RETORT_WORKSPACE => 'demo');
asks(undef, 'ok', 'the module needs no signature', RETORT_WORKSPACE => 'demo');

# scopes by what is asked for

for (['/sandboxes/x/files/a', 'execute', 403], ['/sandboxes/x/files/a', 'files', 404],
     ['/sandboxes/x/filesystem', 'files', 403], ['/executions/x', 'files', 403],
     ['/executions/x', 'execute', 404])
{
    my ($path, $scope, $status) = @$_;
    is(look($path, "alice:$scope"), $status, "$path, for $scope");
}

# whose it is

my $id = $r->{json}{execution_id};

is(look("/executions/$id", 'alice:'), 200, 'an execution belongs to who was signed');
is(look("/executions/$id", 'bob:'), 404, 'and to nobody else');
kill 'TERM', $f->{pid};
$f->ended;

# required

secrets("required\n$new\n");
$f->run;
asks(undef, 401, 'where it is required, a bare workspace is nobody',
     RETORT_WORKSPACE => 'demo');
asks(sign("$now:alice:", $line), 'ok', 'and a signed one is somebody');
kill 'TERM', $f->{pid};
$f->ended;

# files that are none

for (["$new\n", 0440], ["$new\n", 0400, 0], ["short\n"], [''], ["required\n"],
     ["$new\n" x 5], ['x' x 257], ["a b$new"], ["$new\n" . '#' x 3000])
{
    secrets(@$_);
    $f->run;
    my $code = $f->ended;
    is(defined $code ? $code >> 8 : 'lives', 1, 'a bad file keeps it from starting');
}

like($f->log, qr/\.identity must be the front's alone/, 'and it says why');
unlink $file;
$f->run;
done_front($f);
