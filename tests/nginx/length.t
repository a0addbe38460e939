#!/usr/bin/perl

# An answer that is there whole keeps its length.  One that may still be cut
# has none, since an end may have to be added to it.

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
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC

my $body = qq({"stdout":"4\\n","status":"ok"}\n);
my $n = length $body;
my $end = "\1\3\0\1\0\10\0\0" . "\0" x 8;
my $refused = "\1\3\0\1\0\10\0\0\0\0\0\0\3\0\0\0";

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $how = $req->{params}{QUERY_STRING};
    my $said = $how eq 'more' ? $n + 1 : $how eq 'less' ? $n - 1 : $n;
    my $head = "Content-Type: application/json\r\nX-Retort-Form: json\r\n"
        . "X-Retort-Status: ok\r\nContent-Length: $said\r\n\r\n";

    $req->stdin;

    if ($how eq 'late') {
        $req->raw($req->out($head . $body));
        select undef, undef, undef, 0.2;
        $req->raw($end);

    } elsif ($how eq 'apart') {
        $req->raw($req->out($head) . $req->out($body) . $end);

    } elsif ($how eq 'cut') {
        $req->raw($req->out($head . $body) . substr $end, 0, 12);

    } elsif ($how eq 'refused') {
        $req->raw($req->out($head . $body) . $refused);

    } else {
        $req->raw($req->out($head . $body) . $end);
    }

    $req->close;
});

$ng->start;


sub answer {
    my ($how) = @_;
    my $res = $ng->post("/v1/execute?$how", '{"code":"1"}');

    return ($res, exists $res->{header}{'content-length'} ? 'length' : 'none');
}


my ($res, $length) = answer('whole');

is($length, 'length', 'an answer that came whole, with its end, has its length');
is($res->{header}{'content-length'}, $n, '... the right one');
is($res->{body}, $body, '... and is what the front said');

for my $how (qw(late apart more)) {
    ($res, $length) = answer($how);
    is($length, 'none', "one of which something is missing yet ($how) has none");
    is($res->{body}, $body, '... and is the same');
    ok($res->{whole}, '... whole');
}

for my $how (qw(cut refused)) {
    ($res, $length) = answer($how);
    is($length, 'none', "one that is not well ended ($how) has none");
    like($res->{body}, qr/"status":"lost"/, '... and is lost');
    ok($res->{whole}, '... in a whole document');
}

($res, $length) = answer('less');
is($length, 'none', 'one that is longer than it says has none');
is($res->{body}, $body, '... and is told');

$front->stop;
$ng->finish;
done_testing;
