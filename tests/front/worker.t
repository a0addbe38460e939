#!/usr/bin/perl

# A worker of the web server that has been taken over can name its profiles and
# lower limits, and nothing else: each param that says more is refused before
# a sandbox is touched, or has no effect.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::FastCGI;
use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 4);
my %cell = (code => 'out("ran")');

sub is_refused {
    my ($what, %params) = @_;
    my $r = $f->execute({%cell}, %params);

    ok($r->{status} >= 400 && ($r->{body} // '') !~ /ran"/,
        "$what is refused: $r->{status}") or diag($r->{body});
    is(ref $r->{json}{error}, 'HASH', '... by a clear answer');
}


is($f->execute({%cell})->{json}{stdout}, 'ran', 'a correct worker is served');

# names

is_refused("profile \"" . ($_ =~ s/[^ -~]/?/gr) . '"', RETORT_PROFILE => $_)
    for '../default', '/etc/passwd', 'default/', 'DEFAULT', "default\n", '%s%n',
        'x' x 300, 'default.conf', '';

is_refused('workspace "' . substr($_ =~ s/[^ -~]/?/gr, 0, 20) . '"', RETORT_WORKSPACE => $_)
    for '', '../other', 'a/b', "demo\n", "demo\r\nx: y", 'x' x 300, "d\xc3\xa9mo",
        'a b', '%2e%2e';

# limits go down only

is_refused("a time limit of \"$_\"", RETORT_LIMIT_TIMEOUT => $_)
    for '-1', '0', '', 'NaN', 'inf', '1e3', '0x10', ' 1', '1 ', '99999999999999999999';
is_refused("memory of \"$_\"", RETORT_LIMIT_MEMORY => $_) for '-1', '1g', '+5';

my $r = $f->execute({ code => 'out("ran")', timeout => 3600 },
    RETORT_LIMIT_TIMEOUT => '18446744073709551615');

is($r->{status}, 400, 'the largest number raises no ceiling');

# links

is_refused("a static URL with " . sprintf('%02x', ord $_), RETORT_STATIC_URL => "http://h/$_")
    for "\r", "\n", '"', ' ', ')', "\x7f", "\xff";
is_refused('a static URL of 3,000 bytes', RETORT_STATIC_URL => 'http://' . 'h' x 3000);
is($f->execute({%cell}, RETORT_STATIC_URL => 'http://' . 'h' x 70_000)->{status}, 0,
    'params beyond the bound end the connection');
is_refused("an execution id \"$_\"", RETORT_EXECUTION => $_)
    for '../x', 'sbx_n1_' . 'a' x 32, 'exec_' . 'x' x 500, "exec_n1_\n";

# apis of others

is_refused("api \"$_\"", RETORT_API => $_) for 'control', 'CONTROL', 'native2', '../native', '';

# twice, and hidden in other params

sub raw_answer {
    my ($pairs) = @_;
    my $c = $f->client;
    my $body = '{"code":"out(1)"}';

    $c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::record(4, 1, $pairs)
        . Retort::FastCGI::record(4, 1, '') . Retort::FastCGI::stdin(1, $body));

    return $c->read_answer;
}

sub pair { my ($n, $v) = @_; pack('NN', 0x80000000 | length $n, 0x80000000 | length $v) . "$n$v" }

my %good = %{ $f->params('POST', '/execute', CONTENT_TYPE => 'application/json') };
my $good = join '', map { pair($_, $good{$_}) } sort keys %good;

is(raw_answer($good)->{status}, 200, 'params one by one are read');
cmp_ok(raw_answer($good . pair('RETORT_WORKSPACE', 'other'))->{status} // 500, '>=', 400,
    'a workspace that is named twice is nobody');
cmp_ok(raw_answer($good . pair('RETORT_PROFILE', 'default') x 2)->{status} // 500, '>=', 400,
    'a profile that is named twice is none');
$r = raw_answer($good . join '', map { pair("HTTP_$_", 'evil') } 'RETORT_WORKSPACE',
    'RETORT_PROFILE', 'RETORT_LIMIT_TIMEOUT', 'PROXY', 'RETORT_API');
is($r->{status}, 200, 'headers of such names are a client\'s, and mean nothing');
$r = raw_answer($good . pair('X=RETORT_WORKSPACE', 'other') . pair('', 'y') . pair("Z\0W", 'v'));
ok(defined $r, 'names with "=", none, and NUL end nothing');

# many, large, and never done

$r = raw_answer($good . join '', map { pair("HTTP_X$_", 'v') } 1 .. 500);
ok(defined $r, '500 params are answered or closed');

my @slow = map { my $c = $f->client; $c->raw(Retort::FastCGI::begin(1, 1)); $c } 1 .. 50;

is($f->execute({%cell})->{json}{stdout}, 'ran', '50 that never go on hold nobody up');

# another's sandbox, by its right id

$r = $f->get('POST', '/sandboxes', {});
my $id = $r->{json}{sandbox_id};

ok($id, 'a session of one workspace');

for my $way (['GET', ''], ['DELETE', ''], ['POST', '/interrupt'], ['POST', '/restart'],
    ['GET', '/files'], ['GET', '/files/x'])
{
    is($f->get($way->[0], "/sandboxes/$id$way->[1]", $way->[0] eq 'POST' ? {} : undef,
        RETORT_WORKSPACE => 'other')->{status}, 404,
        "$way->[0] $way->[1] is 404 for another workspace");
}

is($f->execute({ %cell, sandbox_id => $id }, RETORT_WORKSPACE => 'other')->{status}, 404,
    'and so is a run in it');
is($f->get('GET', "/sandboxes/$_")->{status}, 404, 'an id that is none is 404: '
    . substr($_, 0, 30)) for '..%2f', uc $id, substr($id, 0, -1), $id . '0',
    'sbx_n1_' . '0' x 32, '%00', 'x' x 500;
is($f->execute({ %cell, sandbox_id => $id })->{json}{stdout}, 'ran', 'its own is served');

done_front($f);
