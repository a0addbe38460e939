package Retort::Jwt;

# Keys and tokens for tests, made by the program openssl.
#
#   my $rsa = Retort::Jwt->key('RS256', "$dir/rsa");     # or ES256, EdDSA
#   my $hmac = Retort::Jwt->secret($bytes);              # HS256
#   $rsa->pem; $rsa->jwk(kid => 'a');
#   $rsa->token({ sub => 'alice', exp => time + 60 }, { kid => 'a' });
#   $rsa->sign_parts($header_json, $payload_json);       # any text at all

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256);
use JSON::PP;
use MIME::Base64 qw(encode_base64url);

my $json = JSON::PP->new->canonical;

my %make = (
    RS256 => [qw(genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048)],
    RS1024 => [qw(genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024)],
    ES256 => [qw(genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256)],
    ES384 => [qw(genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384)],
    EdDSA => [qw(genpkey -algorithm ED25519)],
);


sub openssl {
    my @args = @_;

    open my $out, '-|', 'openssl', @args or die "openssl: $!";
    binmode $out;
    local $/;
    my $text = <$out>;
    close $out or die "openssl @args failed";

    return $text;
}


sub key {
    my ($class, $alg, $path) = @_;

    openssl(@{ $make{$alg} }, '-quiet', '-out', $path);

    return bless { alg => $alg, path => $path }, $class;
}


sub secret {
    my ($class, $bytes) = @_;

    return bless { alg => 'HS256', secret => $bytes }, $class;
}


sub pem { return openssl('pkey', '-in', shift->{path}, '-pubout') }


sub jwk {
    my ($self, %more) = @_;

    return { kty => 'oct', alg => 'HS256',
             k => encode_base64url($self->{secret}), %more }
        if defined $self->{secret};

    my $der = openssl('pkey', '-in', $self->{path}, '-pubout', '-outform',
                      'DER');

    return { kty => 'OKP', crv => 'Ed25519',
             x => encode_base64url(substr $der, -32), %more }
        if $self->{alg} eq 'EdDSA';

    return { kty => 'EC', crv => 'P-256',
             x => encode_base64url(substr $der, -64, 32),
             y => encode_base64url(substr $der, -32), %more }
        if $self->{alg} =~ /^ES/;

    my ($n) = openssl('rsa', '-in', $self->{path}, '-noout', '-modulus')
        =~ /=([0-9A-F]+)/;

    return { kty => 'RSA', n => encode_base64url(pack 'H*', $n), e => 'AQAB',
             %more };
}


sub set { my ($class, @keys) = @_; return $json->encode({ keys => \@keys }) }


sub token {
    my ($self, $claims, $header) = @_;

    return $self->sign_parts(
        $json->encode({ alg => $self->{alg}, typ => 'JWT', %{ $header // {} } }),
        $json->encode($claims));
}


sub sign_parts {
    my ($self, $header, $payload) = @_;

    my $text = encode_base64url($header) . '.' . encode_base64url($payload);

    return $text . '.' . encode_base64url($self->sign($text));
}


sub sign {
    my ($self, $text) = @_;

    return hmac_sha256($text, $self->{secret}) if defined $self->{secret};

    my $in = "$self->{path}.text";
    open my $fh, '>', $in or die "$in: $!";
    print $fh $text;
    close $fh;

    return openssl('pkeyutl', '-sign', '-rawin', '-inkey', $self->{path},
                   '-in', $in) if $self->{alg} eq 'EdDSA';

    my $der = openssl('dgst', '-sha256', '-sign', $self->{path}, $in);

    return $der unless $self->{alg} =~ /^ES/;

    # two numbers in DER: 32 bytes of each

    my ($r, $s) = $der =~ /^\x30.\x02(.)/s
        ? unpack 'x3 C/a x C/a', $der : die 'no signature';

    return join '', map { substr("\0" x 32 . $_, -32) } $r, $s;
}


1;
