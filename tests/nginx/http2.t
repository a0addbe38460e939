#!/usr/bin/perl

# The same over HTTP/2: bodies, answers, losses with a proper end of stream.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

plan skip_all => 'no curl with HTTP/2'
    unless (`curl --version 2>/dev/null` // '') =~ /HTTP2/;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    client_max_body_size 20m;
    server {
        listen 127.0.0.1:%%PORT%% http2;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /who/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $http_x_who;
        }
        location /static/ { retort_artifacts %%DIR%%/static; }
    }
}
EOC

my $doc = '{"stdout":"' . 'x' x 3000 . '","status":"ok"}';

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($how, $n) = split /,/, $req->{params}{QUERY_STRING};

    my $body = $req->stdin;
    $req->{stdin} = length $body;

    return $req->close if $how eq 'eof';

    if ($how eq 'cut') {
        $req->send("Content-Type: application/json\r\nX-Retort-Form: json"
                   . "\r\n\r\n" . substr $doc, 0, $n);
        return $req->close;
    }

    if ($how eq 'none') {
        $req->send("Content-Type: text/plain\r\n\r\nhalf");
        return $req->close;
    }

    $req->answer('Content-Type: text/plain', sha256_hex($body));
});

$ng->start;

my $base = 'http://127.0.0.1:' . $ng->port;


# (curl's exit code, status, body)

sub curl {
    my ($uri, @args) = @_;

    open my $p, '-|', 'sh', '-c', 'exec curl "$@" < "$0"', $ng->dir . '/body',
        '-s', '--max-time', '20', '--http2-prior-knowledge',
        '-w', "\n%{http_code} %{http_version}", @args, "$base$uri" or die;
    my $out = do { local $/; <$p> };
    close $p;

    my ($body, $status, $version) = $out =~ /^(.*)\n(\d+) (\S+)$/s;
    is $version, 2, "$uri over HTTP/2" unless $? >> 8;

    return ($? >> 8, $status, $body);
}


for my $size (0, 1, 32768, 100_000, 5_000_000) {
    my $data = 'd' x $size;
    my $file = $ng->write('body', $data);

    is((curl('/v1/x?ok', '--data-binary', "\@$file"))[2], sha256_hex($data),
       "$size bytes arrive");
    is((curl('/v1/x?ok', '-X', 'POST', '-T', '-'))[2], sha256_hex($data),
       'without a length as well');
}

my $p = $front->last_request->{params};
is $p->{SERVER_PROTOCOL}, 'HTTP/2.0', 'the protocol is told';
is $p->{HTTP_HOST}, '127.0.0.1:' . $ng->port, 'the authority is the host';

my ($code, $status, $body) = curl('/who/x?ok');
is_deeply [$status, decode_json($body)->{error}{code}],
    [401, 'unauthorized'], 'nobody is refused';

($code, $status, $body) = curl('/v1/execute?eof', '-d', '{}');
is "$code $status", '0 200', 'a run lost before the header ends well';
is decode_json($body)->{status}, 'lost', 'as lost';

for my $n (0, 1, 11, 2000, length($doc) - 1, length $doc) {
    ($code, $status, $body) = curl("/v1/execute?cut,$n", '-d', '{}');
    is "$code $status", '0 200', "so does one cut at $n";
    is decode_json($body)->{status}, 'lost', 'as lost';
}

($code) = curl('/v1/execute?none', '-d', '{}');
isnt $code, 0, 'a body of no form is an error of the stream';

mkdir $ng->dir . '/static';
$ng->write('static/' . 'a' x 32 . '.txt', 'artifact');
is((curl('/static/' . 'a' x 32 . '.txt'))[2], 'artifact', 'artifacts, too');

$front->stop;
$ng->finish;
done_testing;
