#!/usr/bin/perl

# Reloads: keys are read again, running requests go on to their end.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use IO::Select;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC', alarm => qr/SHA-256 must be/);
%%MAIN%%
http {
    %%HTTP%%
    upstream kept { server unix:%%DIR%%/front.sock; keepalive 8; }
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass kept; retort_auth_key_file keys; }
    }
}
EOC

$ng->write('keys', 'one:' . sha256_hex('key-1') . "\n");

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;

    if ($req->{params}{QUERY_STRING} eq 'slow') {
        $req->send("Content-Type: text/plain\r\n\r\n");
        for (1 .. 1000) {
            last if -e $ng->dir . '/go';
            select undef, undef, undef, 0.01;
        }
        $req->send($req->{params}{RETORT_WORKSPACE});
        $req->end;
        return;
    }

    $req->answer('Content-Type: text/plain', $req->{params}{RETORT_WORKSPACE});
});

$ng->start;


sub who {
    my $res = $ng->post('/v1/x', '{}', 'x-api-key' => shift);
    return $res->{status} == 200 ? $res->{body} : $res->{status};
}


is who('key-1'), 'one', 'the first key is known';
is who('key-2'), 401, 'the second is not';

my $slow = $ng->connect;
print $slow "POST /v1/x?slow HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
    . "x-api-key: key-1\r\nContent-Length: 0\r\n\r\n";
IO::Select->new($slow)->can_read(10);

$ng->write('keys', 'two:' . sha256_hex('key-2') . "\n");
is who('key-2'), 401, 'a changed file alone changes nothing';
ok $ng->reload, 'a reload';
is who('key-2'), 'two', 'reads the keys again';
is who('key-1'), 401, 'and forgets the old ones';

$ng->write('keys', "broken\n");
my @workers = sort $ng->workers;
kill 'HUP', $ng->{pid};
$ng->log_like(qr/keys:1/, 'a broken file is named');
is who('key-2'), 'two', 'and the old keys stay';
$ng->write('keys', 'two:' . sha256_hex('key-2') . "\n");

$ng->write('go', '');
my $res = $ng->response($slow);
is $res->{body}, 'one', 'a request from before the reload goes on to its end';
ok $res->{whole}, 'and is whole';

# under load

my $clients = 4;
my @pipe;

for my $n (1 .. $clients) {
    pipe my $r, my $w or die;
    my $pid = fork() // die;
    if ($pid == 0) {
        close $r;
        my ($good, $bad) = (0, 0);
        until (-e $ng->dir . '/enough') {
            my $res = eval { $ng->post('/v1/x', 'x' x 5000,
                                       'x-api-key' => 'key-2') } // {};
            ($res->{body} // '') eq 'two' ? $good++ : $bad++;
        }
        print $w "$good $bad";
        close $w;
        POSIX::_exit(0);
    }
    close $w;
    push @pipe, [$pid, $r];
}

ok $ng->reload, 'a reload under load' for 1 .. 10;
$ng->write('enough', '');

my ($good, $bad) = (0, 0);

for (@pipe) {
    my ($pid, $r) = @$_;
    my ($g, $b) = split ' ', <$r>;
    $good += $g;
    $bad += $b;
    waitpid $pid, 0;
}

is $bad, 0, 'loses no request';
cmp_ok $good, '>', 20, 'of many';

ok $ng->wait_for(sub { $ng->workers == 1 }), 'old workers end';

$front->stop;
$ng->finish;
done_testing;
