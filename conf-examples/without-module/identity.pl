#!/usr/bin/perl

# Who asks, for web servers without the module: looks a client's key up in the
# file of keys, and signs its workspace for one request (docs/operator.md).
#
#   identity.pl SECRET KEYS           a line each, for Apache's RewriteMap:
#                                     AUTHORIZATION;X-API-KEY;METHOD URI ...
#   identity.pl SECRET KEYS SOCKET    FastCGI, for nginx' auth_request
#                                     (Debian: libfcgi-perl)
#
# Both files are read for each request: a key counts at once.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex sha256_hex);

my ($secret_file, $keys_file, $socket) = @ARGV;

die "usage: identity.pl SECRET KEYS [SOCKET]\n" unless defined $keys_file;


# the lines that are no comment

sub lines {
    my ($path) = @_;

    open my $file, '<', $path or die "$path: $!\n";
    return grep { length && !/^#/ } map { s/\s+\z//r } <$file>;
}


# what goes into RETORT_IDENTITY, or nothing

sub identity {
    my ($authorization, $api_key, $method, $uri) = @_;

    my ($key) = $authorization =~ /^bearer +(.+)/i;
    $key //= $api_key;
    return '' unless length $key;

    my $hash = sha256_hex($key);
    my ($line) = grep { lc((split /:/)[1]) eq $hash } lines($keys_file);
    return '' unless defined $line;

    my ($workspace, undef, undef, $scopes) = split /:/, $line;
    my $said = join ':', time, $workspace, $scopes // '';
    my ($secret) = grep { $_ ne 'required' } lines($secret_file);

    return "$said:" . hmac_sha256_hex("retort-identity $said $method $uri",
                                      $secret);
}


if (defined $socket) {
    require FCGI;

    unlink $socket;
    my $listen = FCGI::OpenSocket($socket, 64);
    my $fcgi = FCGI::Request(\*STDIN, \*STDOUT, \*STDERR, \%ENV, $listen);

    while ($fcgi->Accept() >= 0) {
        my $id = identity($ENV{HTTP_AUTHORIZATION} // '',
                          $ENV{HTTP_X_API_KEY} // '',
                          $ENV{REQUEST_METHOD}, $ENV{REQUEST_URI});

        print $id ne '' ? "X-Retort-Identity: $id\r\n\r\n"
                        : "Status: 401 Unauthorized\r\n\r\n";
    }

} else {
    $| = 1;

    while (my $line = <STDIN>) {
        chomp $line;
        my ($authorization, $key, $request) = split /;/, $line, 3;
        my ($method, $uri) = split / /, $request // '';

        print defined $uri ? identity($authorization, $key, $method, $uri)
                           : '', "\n";
    }
}
