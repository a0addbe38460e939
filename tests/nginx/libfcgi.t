#!/usr/bin/perl

# What the module says is FastCGI to another hand, too: a program by libfcgi-perl
# in the front's place, which tells what it has understood.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FCGI;
use JSON::PP;
use POSIX ();
use Test::More;

use Retort::Nginx;

my $json = JSON::PP->new->latin1->canonical;
my $ng = Retort::Nginx->new(<<'EOC', alarm => qr/connect\(\) to unix:/);
%%MAIN%%
http {
    %%HTTP%%
    upstream kept { server unix:%%DIR%%/front.sock; keepalive 1; }
    client_max_body_size 20m;
    large_client_header_buffers 8 64k;
    retort_workspace demo;

    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass kept; }
        location /once/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC


# one process, which is at one connection at a time

sub serve {
    my ($listen) = @_;
    my %env;
    my $r = FCGI::Request(\*STDIN, \*STDOUT, \*STDERR, \%env, $listen, 0);

    while ($r->Accept >= 0) {
        my $body = do { local $/; readline STDIN } // '';
        my $how = $env{QUERY_STRING} // '';

        if ($how eq 'pieces') {
            print "Status: 202 Accepted\r\nContent-Type: text/plain\r\n\r\n";
            for (1 .. 50) { print "piece $_\n"; $r->Flush }

        } elsif ($how =~ /^long=(\d+)/) {
            print "Content-Type: text/plain\r\n\r\n", 'z' x $1;

        } else {
            print STDERR "a word for the operator\n" if $how eq 'stderr';
            print "Content-Type: application/json\r\n\r\n", $json->encode({
                env => \%env, length => length $body,
                sum => sha256_hex($body) });
        }
    }

    POSIX::_exit(0);
}


my $listen = FCGI::OpenSocket($ng->dir . '/front.sock', 16);
my $pid = fork // die "fork: $!";

serve($listen) if $pid == 0;
FCGI::CloseSocket($listen);
$ng->start;


sub told {
    my $r = $ng->post(@_);

    return eval { $json->decode($r->{body}) } // { bad => $r->{body} };
}


for my $where ('/once/a', '/v1/a') {
    for my $size (0, 1, 7, 8, 32767, 32768, 65535, 65536, 1_000_000) {
        my $body = join '', map { chr(($_ * 31) % 256) } 1 .. $size;
        my $t = told($where, $body);

        is_deeply [@$t{qw(length sum)}], [$size, sha256_hex($body)],
            "$where: $size bytes are understood as they were sent";
    }
}

# from here on there is no connection but the one that is kept
unlink $ng->dir . '/front.sock';

my $t = told('/v1/execute?a=b%20c', 'x', 'Content-Type' => 'text/x',
             'X-Empty' => '', 'X-Bytes' => "\xe2\x82\xac");

is_deeply [@{ $t->{env} }{qw(REQUEST_METHOD QUERY_STRING CONTENT_LENGTH CONTENT_TYPE
    SCRIPT_NAME PATH_INFO RETORT_WORKSPACE RETORT_API HTTP_X_EMPTY HTTP_X_BYTES)}],
    ['POST', 'a=b%20c', 1, 'text/x', '/v1', '/execute', 'demo', 'native', '',
     "\xe2\x82\xac"], 'so are the params' or diag explain $t;

for my $length (126, 127, 128, 129, 255, 256, 16383, 60_000) {
    my $t = told('/v1/a', '', 'X-Long' => 'l' x $length, 'X-Next' => 'n');

    is_deeply [map { length } @{ $t->{env} }{qw(HTTP_X_LONG HTTP_X_NEXT)}],
        [$length, 1], "a param of $length bytes, and the one after it";
}

is told('/once/a', '')->{length}, undef, 'another connection cannot be made';
is told('/v1/a', 'x' x $_)->{length}, $_, "one that is kept is asked again, $_"
    for 1 .. 5;

my $r = $ng->post('/v1/a?pieces', '');
is_deeply [@$r{qw(status body)}], [202, join '', map {"piece $_\n"} 1 .. 50],
    'an answer in many records is put together';
ok $r->{whole}, 'to its end';

for my $size (0, 1, 65535, 65536, 3_000_000) {
    is length($ng->post("/v1/a?long=$size", '')->{body}), $size,
        "so is one of $size bytes";
}

is told('/v1/a?stderr', '')->{length}, 0, 'words for the log are no part of it';
ok $ng->wait_for(sub { $ng->slurp('logs/error.log') =~ /a word for the operator/ }),
    'but are in the log';

kill 'TERM', $pid;
waitpid $pid, 0;
$ng->finish;
done_testing;
