#!/usr/bin/perl

# Links to artifacts are signed: an altered, expired or foreign one is 403.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 hmac_sha256_hex);
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(undef, alarm => qr{secret});
my $dir = $ng->dir;
my $conf = <<'EOC';
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace $http_x_who;
    server {
        listen 127.0.0.1:%%PORT%%;
        retort_artifacts_secret secret;
        retort_artifacts_expires 2h;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /static/ { retort_artifacts %%DIR%%/store; }
    }
}
EOC

my $secret = '0123456789abcdef0123456789abcdef';
my $name = '00112233445566778899aabbccddeeff.png';

mkdir "$dir/store";
$ng->write("store/$name", 'picture');
$ng->conf($conf);

for (["\n# none\n", 0600, 'no secret in'], ['x' x 31, 0600, 'must be 32'],
     ['x' x 257, 0600, 'must be 32'], ['x' x 32 . ' y', 0600, 'printable'],
     [$secret, 0644, "no other's"], [$secret, 0620, "no other's"])
{
    my ($text, $mode, $says) = @$_;
    $ng->write('secret', $text);
    chmod $mode, "$dir/secret";
    my ($code, $said) = $ng->check;
    ok $code && $said =~ /\[emerg\].*$says/, "a bad secret: $says" or diag $said;
}

$ng->write('secret', "$secret\r\n" . 'o' x 64 . "\n");
chmod 0600, "$dir/secret";

my $front = Retort::FakeFront->new("$dir/front.sock", sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', '');
});

$ng->start;


sub sign {
    my ($key, $tag, $name, $e) = @_;
    my $link = "$name?e=$e&w=$tag";
    return "/static/$link&s=" . substr hmac_sha256_hex($link, $key), 0, 32;
}

sub made {
    my ($secret, $who, $e) = @_;
    my $tag = substr hmac_sha256_hex("retort-tag $who", $secret), 0, 16;
    return sign(hmac_sha256("retort-key $tag", $secret), $tag, $name, $e);
}

sub status { $ng->get(shift)->{status} }


$ng->post('/v1/execute', '{}', 'X-Who' => 'demo', 'RETORT_LINK_KEY' => 'x');
my $p = $front->last_request->{params};
is $p->{RETORT_LINK_EXPIRES}, 7200, 'the front is told how long a link lives';
unlike join(' ', %$p), qr/$secret/, 'and no secret';

my $soon = time + 100;
my $good = sign(pack('H*', $p->{RETORT_LINK_KEY}), $p->{RETORT_LINK_TAG}, $name,
                $soon);
is $good, made($secret, 'demo', $soon), 'what it is told makes the link';
my $res = $ng->get($good);
is $res->{body}, 'picture', 'which is good';
my ($age) = $res->{header}{'cache-control'} =~ /max-age=(\d+),/;
ok $age <= 100 && $age > 0, 'and kept by nobody for longer than that';

open my $fh, '<', "$Retort::Nginx::TOP/ngx_module/README.md" or die;
my $readme = join '', <$fh>;
my ($sig) = made($secret, 'demo', 2000000000) =~ /s=(.*)/;
like $readme, qr/^    SIG +$sig$/m, 'the sample in the reference is right';
like $readme, qr/^    RETORT_LINK_KEY +$p->{RETORT_LINK_KEY}$/m, 'and its key';

is status(made('o' x 64, 'demo', $soon)), 200, 'an older secret verifies';
is status(made('p' x 64, 'demo', $soon)), 403, 'another one does not';
is status(made($secret, 'demo', time - 1)), 403, 'an expired link is refused';
is status("/static/$name"), 403, 'so is one without a signature';
is status('/static/' . 'f' x 32 . '.png'), 403, 'of a file that is not there';

my $other = substr hmac_sha256_hex('retort-tag other', $secret), 0, 16;
(my $foreign = $good) =~ s/w=\w+/w=$other/;
is status($foreign), 403, 'and one with another workspace\'s tag';
is status(sign(pack('H*', $p->{RETORT_LINK_KEY}), $other, $name, $soon)), 403,
    'even if it is signed with the own key';

my @taken;

for my $at (length('/static/') .. length($good) - 1) {
    my $bad = $good;
    my $ch = substr $bad, $at, 1;
    substr $bad, $at, 1, $ch eq '0' ? '1' : '0';
    push @taken, $at if status($bad) !~ /^40[34]$/;
}

is "@taken", '', 'one altered character, wherever it is, is enough';

for my $bad ("$good&", "$good&x=1", "$good\0", substr($good, 0, -1),
             $good =~ s/\?/?x=1&/r, $good =~ s/e=/e=0/r, $good =~ s/e=/e=-/r,
             $good =~ s/e=\d+/e=/r, $good =~ s/e=\d+/e=9999999999999/r)
{
    unlike status($bad), qr/^2/, 'another form is refused';
}

$front->stop;
$ng->finish;
done_testing;
