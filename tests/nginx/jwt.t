#!/usr/bin/perl

# Tokens: what an issuer of ours has signed, for us and for now, says who asks;
# nothing else does.

use strict;
use warnings;

use MIME::Base64 qw(encode_base64url);
use Test::More;

use Retort::FakeFront;
use Retort::Jwt;
use Retort::Nginx;

my $ng = Retort::Nginx->new;
my $dir = $ng->dir;

my %key = map { $_ => Retort::Jwt->key($_, "$dir/$_.key") }
    qw(RS256 ES256 EdDSA);
my $other = Retort::Jwt->key('RS256', "$dir/other.key");

$key{HS256} = Retort::Jwt->secret('s' x 32);

sub secretly {
    my ($name, $text) = @_;
    $ng->write($name, $text);
    chmod 0600, "$dir/$name";
}

$ng->write('pem', join '', map { $key{$_}->pem } qw(RS256 ES256 EdDSA));
$ng->write('rsa.pem', $key{RS256}->pem);
secretly('jwks', Retort::Jwt->set(
    $key{RS256}->jwk(kid => 'r1', alg => 'RS256', use => 'sig'),
    $key{ES256}->jwk(kid => 'e1'), $key{EdDSA}->jwk(kid => 'd1'),
    $key{HS256}->jwk(kid => 'h1'), $other->jwk(use => 'enc'),
    { kty => 'EC', crv => 'P-521', x => 'AA', y => 'AA' }));

$ng->conf(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    server {
        listen 127.0.0.1:%%PORT%%;
        large_client_header_buffers 4 64k;
        location /set/ { retort_auth_jwt jwks; %%PASS%% }
        location /pem/ { retort_auth_jwt pem; %%PASS%% }
        location /rsa/ { retort_auth_jwt rsa.pem; %%PASS%% }
        location /strict/ {
            retort_auth_jwt jwks iss=https://issuer.example aud=retort
                            aud=other leeway=30s;
            %%PASS%%
        }
        location /team/ {
            retort_auth_jwt jwks workspace=org workspace=https://x.y/team;
            %%PASS%%
        }
    }
}
EOC
my $conf = $ng->slurp('nginx.conf') =~ s/%%PASS%%/retort_pass unix:$dir\/front.sock;/gr;
$ng->write('nginx.conf', $conf);

my $front = Retort::FakeFront->new("$dir/front.sock", sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', $req->{params}{RETORT_WORKSPACE});
});

$ng->start;

my $later = time + 600;
my %good = (sub => 'alice', exp => $later);


sub who {
    my ($token, $expect, $name, $path) = @_;

    my $res = $ng->post($path // '/set/x', '{}',
                        Authorization => "Bearer $token");
    is $res->{status} == 200 ? $res->{body} : $res->{status}, $expect, $name;
    is $res->{header}{'www-authenticate'}, 'Bearer error="invalid_token"',
        'and it is told that the token is bad' if $expect eq '401';
}


for my $alg (sort keys %key) {
    my $token = $key{$alg}->token(\%good);

    who($token, 'alice', "$alg, by a key of the set");
    who($token, 'alice', "$alg, by a key in PEM", '/pem/x') if $alg ne 'HS256';
    who($token =~ s/(.)\.([^.]+)$/($1 eq 'A' ? 'B' : 'A') . ".$2"/er, 401,
        "$alg, with another payload");
    who(substr($token, 0, -4), 401, "$alg, with a shorter signature");
    who($token . 'AAAA', 401, "$alg, with a longer one");
    who($key{$alg}->token(\%good, { kid => lc(substr $alg, 0, 1) . '1' }
        ), $alg eq 'EdDSA' ? 401 : 'alice', "$alg, by its kid");
}

# what is not what it says

sub unsigned {
    my ($header) = @_;
    return encode_base64url($header) . '.'
        . encode_base64url(qq({"sub":"alice","exp":$later})) . '.';
}

who(unsigned($_), 401, "no signature: $_")
    for '{"alg":"none"}', '{"alg":"None"}', '{"alg":"HS256"}', '{}';
who($other->token(\%good), 401, 'a key that nobody knows');
who($other->token(\%good, { $_->[0] => $_->[1] }), 401,
    "a key that it brings itself, as $_->[0]")
    for ['jwk', $other->jwk], ['x5c', ['AAAA']], ['kid', '../rsa.pem'],
        ['jku', 'https://h/jwks'], ['x5u', 'file:///etc/retort/keys'];

# signatures that broken verifiers take

for (['RS256', 256], ['ES256', 64], ['EdDSA', 64], ['HS256', 32]) {
    my ($alg, $n) = @$_;
    my $text = $key{$alg}->token(\%good) =~ s/[^.]*$//r;

    who($text . encode_base64url($_ x $n), 401, "$alg, of the byte " . ord)
        for "\0", "\1", "\xff";
}

# the public key is known to all: it is the secret of nothing

for my $text ($key{RS256}->pem, $key{RS256}->pem =~ s/\n\z//r) {
    my $confused = Retort::Jwt->secret($text);
    who($confused->token(\%good), 401, 'the public key as a secret', $_)
        for '/set/x', '/pem/x', '/rsa/x';
}

who($key{HS256}->token(\%good, { alg => $_ }), 401,
    "signed by a secret, and says $_") for qw(RS256 none HS512 hs256);
who($key{RS256}->token(\%good, { alg => 'ES256' }), 401,
    'signed by RSA, and says ES256');
who($key{ES256}->token(\%good, { kid => 'r1' }), 401, 'the name of another key');
who($key{ES256}->token(\%good, { kid => 'nosuch' }), 401, 'of no key');
who($key{ES256}->token(\%good, { kid => 'x' }), 'alice',
    'a name where our keys have none', '/pem/x');
who($key{ES256}->token(\%good, { kid => 7 }), 401, 'a name that is none');
who($key{ES256}->token(\%good, { crit => ['b64'], b64 => JSON::PP::false }), 401,
    'an extension that must be understood');
who($key{ES256}->token(\%good, { typ => 'at+jwt' }), 'alice', 'an access token');
who($key{ES256}->token(\%good, { typ => 'logout+jwt' }), 401, 'another token');

# when

sub claims { my %c = (%good, @_); delete @c{grep { !defined $c{$_} } keys %c};
             return $key{HS256}->token(\%c) }

who(claims(exp => time - 1), 401, 'it has expired');
who(claims(exp => undef), 401, 'it never expires');
who(claims(exp => "$later"), 401, 'its end is a string');
who(claims(exp => -1), 401, 'its end is before time');
who($key{HS256}->sign_parts('{"alg":"HS256"}',
    qq({"sub":"alice","exp":$later.75})), 'alice', 'its end has a fraction');
who($key{HS256}->sign_parts('{"alg":"HS256"}', qq({"sub":"alice","exp":9e9})),
    401, 'its end has an exponent');
who(claims(nbf => time + 300), 401, 'it is of the future');
who(claims(nbf => time - 1), 'alice', 'it is of the past');
who(claims(nbf => 'x'), 401, 'it begins nowhere');

my %strict = (iss => 'https://issuer.example', aud => 'retort');
who(claims(%strict), 'alice', 'issuer and audience', '/strict/x');
who(claims(%strict, exp => time - 10, nbf => time + 10), 'alice',
    'clocks may differ a little', '/strict/x');
who(claims(%strict, exp => time - 40), 401, 'but no more', '/strict/x');
who(claims(%strict, nbf => time + 120), 401, 'to no side', '/strict/x');
who(claims(%strict, iss => $_), 401, 'another issuer', '/strict/x')
    for 'https://issuer.example/', undef, 7;
who(claims(%strict, aud => ['x', 'other']), 'alice', 'one of the audiences',
    '/strict/x');
who(claims(%strict, aud => $_), 401, 'another audience', '/strict/x')
    for 'retor', 'retort ', [], ['x'], undef, { retort => 1 }, ['retort', 7];
who(claims(aud => 'retort'), 401, 'for others, where we have no name');

# whose

who(claims(org => { 'https://x.y/team' => 'blue' }), 'blue', 'any claim',
    '/team/x');
who($key{HS256}->sign_parts('{"alg":"HS256"}', qq({"exp":$later,"org":)
    . q({"https:\/\/x.y\/te\u0061m":"bl\u0075e"}})), 'blue',
    'however it is written', '/team/x');
who(claims(org => $_), 401, 'a claim of another kind', '/team/x')
    for 'blue', undef, { team => 'blue' }, { 'https://x.y/team' => 7 };
who(claims(sub => $_), 401, 'no name of a workspace')
    for '', 'a b', 'a/b', 'w' x 65, "a\0b", "\x{fc}", undef, 7, ['alice'];

for ('{"sub":"alice","exp":1,"exp":%d}', '{"sub":"alice","sub":"bob","exp":%d}',
     '{"sub":"alice","exp":%d,"s\u0075b":"bob"}', '[{"sub":"alice","exp":%d}]',
     '{"sub":"alice","exp":%d', '{"sub":"alice","exp":%d}}', '"alice"', '',
     '{"sub":"alice","exp":%d,"x":' . '[' x 600 . ']' x 600 . '}',
     '{"sub":"al\\', '{"sub":"al\u00', '{"sub":"al\ud800","exp":%d}')
{
    who($key{HS256}->sign_parts('{"alg":"HS256"}', s/%d/$later/r), 401,
        'a payload that means two things, or none');
}

who($key{HS256}->sign_parts('{"alg":"HS256","alg":"none"}',
    qq({"sub":"alice","exp":$later})), 401, 'so it is with the header');
who(claims(map { ("c$_" => $_) } 1 .. 100), 'alice', 'a hundred claims');
who(claims(map { ("c$_" => $_) } 1 .. 127), 401, 'more than 128');
who(claims(x => 'x' x 5000), 'alice', 'a long token');
who(claims(x => 'x' x 6200), 401, 'one that is too long');

my $token = claims();
who($_, 401, 'no token') for '.', '..', '...', $token . '.',
    ".$token", $token =~ s/\..*//r, "$token=", $token =~ s/\./ /r;

# rotation: what root writes counts from the next reload on

my $next = Retort::Jwt->secret('n' x 32);
my $new = $next->token(\%good, { kid => 'h2' });

who($new, 401, 'the next key is not known yet');
secretly('jwks', Retort::Jwt->set($key{HS256}->jwk(kid => 'h1'),
                                  $next->jwk(kid => 'h2')));
ok $ng->reload, 'nginx reads its files again';
who($new, 'alice', 'now it is');
who($token, 'alice', 'and the one before still is');
secretly('jwks', Retort::Jwt->set($next->jwk(kid => 'h2')));
ok $ng->reload, 'and again';
who($new, 'alice', 'the next key is the only one');
who($token, 401, 'the one before is gone');

$front->stop;
$ng->finish;
done_testing;
