#!/usr/bin/perl

# Streams through nginx, over HTTP/1.1, HTTP/2 and TLS, compressed or not: an
# event arrives before the next one is sent, a client that leaves is noticed,
# the verdict at the end is known, and no stream is kept in memory.

use strict;
use warnings;

use Compress::Raw::Zlib;
use IPC::Open3;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

# what a sanitizer keeps back of what was freed is not the worker's

$Retort::Nginx::ASAN .= ':quarantine_size_mb=0:thread_local_quarantine_size_kb=0';

my $ng = Retort::Nginx->new;

system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2"
       . " -keyout $ng->{dir}/key.pem -out $ng->{dir}/cert.pem 2> /dev/null");

$ng->conf(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    ssl_certificate %%DIR%%/cert.pem;
    ssl_certificate_key %%DIR%%/key.pem;
    gzip on;
    gzip_min_length 0;
    upstream kept { server unix:%%DIR%%/front.sock; keepalive 4; }
    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;
        listen 127.0.0.1:%%PORT2%% ssl;
        listen 127.0.0.1:%%PORT3%% ssl http2;
        location /v1/ { retort_pass kept; }
        location /gzip/ { retort_pass kept; gzip_types *; }
    }
}
EOC

my %type = (sse => 'text/event-stream', ndjson => 'application/x-ndjson');


sub event {
    my ($form, $n) = @_;
    return $form eq 'sse' ? "id: $n\nevent: stdout\ndata: {\"n\":$n}\n\n"
                          : "{\"type\":\"stdout\",\"n\":$n}\n";
}


sub Retort::FakeFront::Request::verdict {
    my ($req, $code) = @_;
    $req->raw($req->record(6, '') . $req->record(3, pack 'NCx3', $code, 0));
    $req->{ended} = 1;
}


# an event is sent when the client has said, by a file, that it has the last

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($form, $name, $events, $verdict) = split /,/,
        $req->{params}{QUERY_STRING};
    $req->stdin;

    $req->send("Content-Type: $type{$form}\r\nX-Retort-Form: $form\r\n\r\n");

    if ($name eq 'flood') {
        my $line = event('ndjson', 'x' x 31000);
        $req->send($line) for 1 .. $events;
        return $req->verdict($verdict);
    }

    for my $n (1 .. $events) {
        $req->send(event($form, $n));
        $ng->wait_for(sub { -e "$ng->{dir}/$name-$n" }, 10)
            or return $req->note('in vain');
    }

    return $req->verdict($verdict) if $verdict;

    $ng->write("$name-ready", '');
    $req->note(defined $req->wait_closed(20) ? 'heard' : 'in vain');
});

$ng->start;


sub curl {
    my ($how, $uri, @more) = @_;
    my ($n, $scheme, @args) = @$how;
    my $url = "$scheme://127.0.0.1:" . $ng->port($n) . $uri;
    my $pid = open3(my $in, my $out, undef, 'curl', '-sNk', '--max-time', 60,
                    @args, @more, '-d', '{}', $url);
    return ($pid, $out);
}


# (events that came one by one, all of the body)

sub follow {
    my ($out, $form, $name, $events, $zip) = @_;

    my ($n, $body) = (0, '');
    my $select = IO::Select->new($out);
    my $z = Compress::Raw::Zlib::Inflate->new(-WindowBits => WANT_GZIP)
        if $zip;

    while ($select->can_read(10)) {
        sysread($out, my $data, 65536) or last;
        if ($z) {
            $z->inflate($data, my $plain);
            $data = $plain // '';
        }
        $body .= $data;

        while ($n < $events && index($body, event($form, $n + 1)) >= 0) {
            $n++;
            $ng->write("$name-$n", '');
        }
    }

    return ($n, $body);
}


my @how = (['HTTP/1.1', '', 'http', '--http1.1'],
           ['HTTP/2', 1, 'http', '--http2-prior-knowledge'],
           ['HTTP/1.1 with TLS', 2, 'https', '--http1.1'],
           ['HTTP/2 with TLS', 3, 'https', '--http2']);
my @status = qw(ok error timeout oom killed cancelled lost);
my $turn = 0;

for (@how) {
    my ($name, @how) = @$_;

    for my $form (sort keys %type) {
        for my $path ('/v1/', '/gzip/') {
            my $id = 's' . ++$turn;
            my $code = ($turn - 1) % 6 + 1;
            my $zip = $path eq '/gzip/';
            my ($pid, $out) = curl(\@how,
                "${path}execute?$form,$id,10,$code", '-H',
                'Accept-Encoding: gzip', '-D', "$ng->{dir}/head-$id");
            my ($n, $body) = follow($out, $form, $id, 10, $zip);
            waitpid $pid, 0;
            is $n, 10, "$name, $form" . ($zip ? ', compressed' : '')
                . ': each event arrives before the next is sent';
            is $body, join('', map { event($form, $_) } 1 .. 10),
                'and nothing else does';
            my $gzip = $ng->slurp("head-$id") =~ /^content-encoding: gzip/mi;
            is !!$gzip, !!$zip, $zip ? 'as gzip' : 'which gzip leaves alone';
            $ng->wait_for(sub {
                $turn == (() = $ng->slurp('logs/access.log') =~ /\n/g)
            }, 10);
            my ($line) = $ng->slurp('logs/access.log') =~ /(.*)\n\z/;
            my $verdict = $status[$code - 1];
            like $line, qr/ "$verdict" /, "the verdict is $verdict";
        }
    }

    my $id = 'leave' . ++$turn;
    $front->forget;
    my ($pid, $out) = curl(\@how, "/v1/execute?sse,$id,3");
    my $guide = fork() // die;
    if ($guide == 0) {
        follow($out, 'sse', $id, 3);
        POSIX::_exit(0);
    }
    ok $ng->wait_for(sub { -e "$ng->{dir}/$id-ready" }, 10),
        "$name: a client in the middle of a stream";
    kill 'KILL', $pid;
    waitpid $_, 0 for $pid, $guide;
    is_deeply $front->last_request->{notes}, ['closed', 'heard'],
        'that dies is noticed by the front';
    $ng->wait_for(sub {
        $turn == (() = $ng->slurp('logs/access.log') =~ /\n/g)
    }, 10);
}

# a hundred megabytes

sub peak {
    my ($pid) = $ng->workers;
    open my $fh, '<', "/proc/$pid/status" or die;
    return (join('', <$fh>) =~ /^VmHWM:\s*(\d+)/m)[0];
}

for (@how) {
    my ($name, @how) = @$_;
    my $before;

    for my $lines (300, 3400) {
        my ($pid, $out) = curl(\@how, "/v1/execute?ndjson,flood,$lines,1");
        my $size = 0;
        while (my $n = sysread $out, my $data, 1 << 20) { $size += $n }
        waitpid $pid, 0;
        cmp_ok $size, '>', $lines * 31000, "$name: $lines long lines";
        $before //= peak();
    }

    cmp_ok peak() - $before, '<', 1024, 'take no more memory than some';
}

$front->stop;
$ng->finish;
done_testing;
