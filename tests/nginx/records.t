#!/usr/bin/perl

# FastCGI records of the front, in any pieces; its stderr; answers whose end
# the worker cannot write.

use strict;
use warnings;

use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    upstream kept { server unix:%%DIR%%/front.sock; keepalive 1; }
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass kept; }
        location /tiny/ { retort_pass kept; retort_buffer_size 1k; }
    }
}
EOC

my $body = '{"a":"' . 'b' x 40 . '","status":"ok"}';
my $head = "Content-Type: application/json\r\nX-Retort-Form: json\r\n"
    . "X-Retort-Status: ok\r\n\r\n";

my $class = 'Retort::FakeFront::Request';
my $answer = join '',
    $class->record(7, "note\n", 3), $class->record(6, substr($head, 0, 20), 7),
    $class->record(6, substr($head, 20) . substr($body, 0, 3), 0),
    $class->record(7, 'half a '), $class->record(6, substr($body, 3), 255),
    $class->record(7, "line\n"), $class->record(6, '', 9),
    $class->record(3, "\0" x 8, 5);

my %stderr = (
    binary => "a\0b\x1b[31m\\ \xff\r[alert]\nnext\n",
    long => 'l' x 3000,
    flood => "flood\n" x 20000,
);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($how, $n) = split /,/, $req->{params}{QUERY_STRING};
    $req->stdin;

    if ($how eq 'split') {
        $req->raw(substr $answer, 0, $n);
        select undef, undef, undef, 0.002;
        $req->raw(substr $answer, $n);

    } elsif ($how eq 'bytes') {
        $req->raw($_) for split //, $answer;

    } elsif ($how eq 'big') {
        $req->send("X-Retort-Form: none\r\n\r\n" . 'z' x $n);
        $req->end;

    } elsif ($how eq 'stderr') {
        my $text = $stderr{$n};
        while (length $text) { $req->err(substr $text, 0, 60000, '') }
        $req->answer('Content-Type: text/plain', 'ok');

    } elsif ($how eq 'trailing') {
        $req->raw($answer . "\1\6\0\1\0\1\0\0x");

    } elsif ($how eq 'late') {
        $req->raw($class->record(6, $head . $body) . $class->record(6, '')
                  . $class->record(6, 'more'));
        $req->close;

    } elsif ($how eq 'length') {
        $req->send("Content-Length: $n\r\n\r\n0123456789");
        $req->end;

    } elsif ($how eq 'none') {
        $req->send("Content-Type: text/plain\r\n\r\nhalf");
        $req->raw('broken!!') if $n;
        return $req->close;

    } elsif ($how eq 'nobody') {
        $req->send("Status: $n\r\nContent-Type: text/plain\r\n\r\n");
        $req->end;
    }

    $req->{ended} = 1;
});

$ng->start;

my @bad;

for my $n (0 .. length $answer) {
    my $res = $ng->get("/v1/x?split,$n");
    push @bad, "$n: $res->{status} $res->{body}"
        unless $res->{status} == 200 && $res->{whole} && $res->{body} eq $body;
}

is join("\n", @bad), '', 'records may be split at each byte';
is $ng->get('/v1/x?bytes')->{body}, $body, 'and come byte by byte';
is $ng->get('/tiny/x?bytes')->{body}, $body, 'into a small buffer, too';

my %conn = map { $_->{conn} => 1 } $front->requests(length($answer) + 3);
is scalar(keys %conn), 1, 'all that over one connection';

for my $uri ('/v1/x', '/tiny/x') {
    my $res = $ng->get("$uri?big,3000000");
    is length($res->{body}), 3000000, "three megabytes through $uri";
    ok $res->{whole}, 'are whole';
}

$ng->log_like(qr/retort front: note /, 'stderr of the front is logged');
$ng->log_like(qr/retort front: half a line /, 'in lines');

# stderr is hostile, too

$ng->get("/v1/x?stderr,$_") for sort keys %stderr;

$ng->log_like(qr/front: a\\x00b\\x1b\[31m\\x5c \\xff\\x0d\[alert\] /,
              'control characters are escaped');
my @long = $ng->slurp('logs/error.log') =~ /front: (l+) /g;
is_deeply [map { length } @long], [1024, 1024, 952], 'a long line is cut up';
$ng->log_like(qr/more than 16384 bytes to stderr/, 'a flood is stopped');
cmp_ok length($ng->slurp('logs/error.log')), '<', 2_000_000,
    'before the log is full';

{
    # the line that looks like an alarm was the front's
    my $log = $ng->slurp('logs/error.log');
    is scalar(() = $log =~ /^\S+ \S+ \[alert\]/mg), 0, 'nor does it forge one';
    $ng->{alarm} = qr/retort front: a\\x00b/;
}

# after the end

is $ng->get('/v1/x?trailing')->{body}, $body, 'what follows the end is ignored';
$front->forget;
$ng->get('/v1/x?bytes');
isnt $front->last_request->{conn}, 1, 'and that connection is not used again';

my $res = $ng->get('/v1/x?late');
ok $res->{whole}, 'output after the end of output breaks the answer';
like $res->{body}, qr/"status":"lost"\}$/, 'which is lost';

# no form: only a cut connection says that the body is not whole

$res = $ng->get("/v1/x?none,$_"), ok(!$res->{whole}, 'a body of no form is cut'),
    is($res->{body}, 'half', 'after what had come')
    for 0, 1;
like $ng->access(qr/none|lost/), qr/200/, 'the log has it';

$res = $ng->get('/v1/x?length,10');
is_deeply [@$res{qw(whole body)}, $res->{header}{'content-length'}],
    [1, '0123456789', 10], 'a length is kept where nothing may be added';

$res = $ng->get('/v1/x?length,4');
is_deeply [@$res{qw(whole body)}], [1, '0123'],
    'more than the length is not sent';

ok !$ng->get('/v1/x?length,11')->{whole}, 'less than it is not whole';

for (204, 304, 200) {
    $res = $ng->get("/v1/x?nobody,$_");
    is_deeply [@$res{qw(status whole body)}], [$_, 1, ''],
        "status $_ without a body";
}

$res = $ng->request('HEAD', '/v1/x?bytes', {});
is_deeply [@$res{qw(status body)}], [200, ''], 'HEAD has no body';

$front->stop;
$ng->finish;
done_testing;
