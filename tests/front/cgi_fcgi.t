#!/usr/bin/perl

# Another hand's FastCGI on our socket: cgi-fcgi, libfcgi's own client, which
# sends what it has been given in its environment.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(hmac_sha256_hex);
use JSON::PP;
use POSIX ();
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->new(threads => 2, ready => 1);
my $secret = 's' x 32;

open my $fh, '>', "$f->{dir}/store/.identity" or die;
print $fh "$secret\n";
close $fh;
chmod 0400, "$f->{dir}/store/.identity";
chown Retort::Front::NOBODY, -1, "$f->{dir}/store/.identity";
$f->run;


# the whole answer, as a CGI program would print it

sub cgi {
    my ($method, $path, $body, %more) = @_;
    my $in = "$f->{dir}/in";
    my $p = $f->params($method, $path, CONTENT_LENGTH => length $body,
                       CONTENT_TYPE => 'application/json', %more);

    delete $p->{RETORT_WORKSPACE} if $more{RETORT_IDENTITY};

    open my $fh, '>', $in or die "$in: $!";
    print $fh $body;
    close $fh;

    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDIN, '<', $in or POSIX::_exit(126);
        %ENV = %$p;
        exec '/usr/bin/cgi-fcgi', '-bind', '-connect', $f->{path}
            or POSIX::_exit(127);
    }

    local $/;
    my $all = <$out> // '';
    close $out;

    my ($head, $text) = split /\r\n\r\n/, $all, 2;
    my ($status) = $head =~ /^Status: (\d+) /m;

    return { status => $status, code => $? >> 8, body => $text,
             json => eval { decode_json($text) } };
}


my $r = cgi('POST', '/execute', '{"code":"out(\"hello\\\\n\")"}');
is_deeply([@$r{qw(status code)}, $r->{json}{stdout}], [200, 0, "hello\n"],
          'a run, its output, its end')
    or diag $r->{body};

my $long = '{"code":"out(\"x\")","env":{"A":"' . 'y' x 200_000 . '"}}';
is(cgi('POST', '/execute', $long)->{status}, 400,
   'a long body is read to its end, and refused for what is in it');
is(cgi('POST', '/execute', '{')->{status}, 400, 'broken JSON is refused');
is(cgi('GET', '/nothing', '')->{status}, 404, 'so is a path that is none');
is(cgi('GET', '/executions/' . $r->{json}{execution_id}, '')->{json}{status}, 'ok',
   'an execution can be asked for');

my $line = 'POST /v1/execute';
my $said = time . ':alice:';
my $id = "$said:" . hmac_sha256_hex("retort-identity $said $line", $secret);

is(cgi('POST', '/execute', '{"code":"out(1)"}', RETORT_IDENTITY => $id,
       REQUEST_URI => '/v1/execute')->{json}{status}, 'ok',
   'a signed identity in the environment');
is(cgi('POST', '/execute', '{"code":"out(1)"}', RETORT_IDENTITY => "${id}0",
       REQUEST_URI => '/v1/execute')->{status}, 401, 'and a wrong one');

done_front($f);
