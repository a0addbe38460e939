#!/usr/bin/perl

# Files of keys for tokens: what is no key, or one that others could sign with,
# is told when nginx reads it.

use strict;
use warnings;

use Test::More;

use Retort::Jwt;
use Retort::Nginx;

my $ng = Retort::Nginx->new;
my $dir = $ng->dir;
my %key = map { $_ => Retort::Jwt->key($_, "$dir/$_.key") } qw(RS256 ES256);

$key{HS256} = Retort::Jwt->secret('s' x 32);


sub keys_are {
    my ($text, $re, $name, $mode) = @_;
    $ng->write('new', $text);
    chmod $mode // 0600, "$dir/new";
    $ng->conf("%%MAIN%%\nhttp { retort_auth_jwt new; }");
    my ($code, $said) = $ng->check;
    ok $re ? $code != 0 && $said =~ /\[emerg\].*$re/ : $code == 0, $name
        or diag $said;
}

my $hs = $key{HS256}->jwk;

keys_are($key{RS256}->pem, undef, 'a file of one key', 0644);
keys_are(Retort::Jwt->set($hs), undef, 'a set of one secret');
keys_are(Retort::Jwt->set($hs), "must be root's", 'that all can read', 0644);
keys_are('', 'no key of', 'an empty file');
keys_are('{"keys":[]}', 'no key of', 'an empty set');
keys_are('{"keys":{}}', 'no set of keys', 'no set');
keys_are('{"keys":[7]}', 'no object', 'a set of no keys');
keys_are('{"keys":[', 'no set of keys', 'half a set');
keys_are(Retort::Jwt->set({ %$hs, k => 'AAAA' }), 'less than 32', 'a short secret');
keys_are(Retort::Jwt->set({ %$hs, k => '=' x 44 }), 'cannot be read', 'no base64');
keys_are(Retort::Jwt->set(({ %$hs }) x 17), 'more than 16', 'too many keys');
keys_are(Retort::Jwt->set({ %{ $key{RS256}->jwk }, d => 'AA' }), 'private key',
    'a private key');
keys_are(Retort::Jwt->set({ %{ $key{RS256}->jwk }, e => 'AQ' }), 'not sound',
    'a key that everybody can sign for');
keys_are(Retort::Jwt->set({ %{ $key{ES256}->jwk }, x => 'A' x 43 }), 'P-256',
    'a point beside the curve');
keys_are(Retort::Jwt->key('RS1024', "$dir/small.key")->pem, '2048', 'a small key');
keys_are(Retort::Jwt->key('ES384', "$dir/384.key")->pem, 'not P-256',
    'another curve');
keys_are(join('', map { $key{RS256}->pem } 1 .. 17), 'more than 16', 'too many');
keys_are($key{RS256}->pem =~ s/M/!/r, 'cannot be read', 'broken PEM');
open my $private, '<', "$dir/RS256.key" or die;
keys_are(do { local $/; <$private> }, 'no PUBLIC KEY', 'a private key in PEM');

done_testing;
