#!/usr/bin/perl

# Runs are admitted by their workspace's limits and by the zone's: the others
# wait in turn, or are refused before anything has reached the front.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new;
my $conf = <<'EOC';
%%MAIN%%
http {
    %%HTTP%%
    log_format queue '$uri $status $retort_queue_time $retort_status';
    access_log %%DIR%%/logs/queue.log queue;
    retort_zone main 64k running=2 waiting=6;
    retort_zone slow 64k;
    retort_workspace $http_x_who;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=main running=2 waiting=4 wait=20s;
        }
        location /short/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=main running=2 waiting=4 wait=50ms;
        }
        location /one/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=main running=1;
        }
        location /rate/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=slow rate=1r/m burst=1;
        }
        location /free/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits off;
        }
        location = /status { retort_status main; }
    }
}
EOC

$ng->conf($conf);

# two workers, in the place of one
(my $text = $ng->slurp('nginx.conf')) =~ s/worker_processes 1/worker_processes 2/;
$ng->write('nginx.conf', $text);

# a run ends when a file with its name is there

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    my $name = $req->{params}{QUERY_STRING};

    open my $fh, '>>', $ng->dir . '/begun';
    syswrite $fh, "$name\n";
    $ng->wait_for(sub { !$name || -e $ng->dir . "/end-$name"
                        || -e $ng->dir . '/end' }, 20);
    $req->answer('Content-Type: text/plain', $name);
});

$ng->start;


sub status { decode_json($ng->get('/status')->{body}) }

sub is_status {
    my ($running, $waiting, $name) = @_;
    my $s;
    ok $ng->wait_for(sub {
        $s = status();
        $s->{running} == $running && $s->{waiting} == $waiting;
    }, 10), $name or diag explain $s;
}

sub begun { return split /\n/, $ng->slurp('begun') }

sub begin {
    my ($who, $name, $uri) = @_;
    my $s = $ng->connect;
    $uri //= '/v1/execute';
    print $s "POST $uri?$name HTTP/1.1\r\nHost: l\r\nX-Who: $who\r\n"
        . "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
    return $s;
}

sub finish_run { $ng->write("end-$_[0]", '') }


# fair between workspaces, in order within one

my %run;
$run{a1} = begin('a', 'a1');
is_status(1, 0, 'the first run is admitted at once');
$run{a2} = begin('a', 'a2');
is_status(2, 0, 'so is the second');

for my $n (3 .. 6) {
    $run{"a$n"} = begin('a', "a$n");
    is_status(2, $n - 2, "one more of it waits ($n)");
}

my $res = $ng->response(begin('a', 'a7'));
is $res->{status}, 429, 'its queue is full: that is its own limit';
is decode_json($res->{body})->{error}{code}, 'too_many_runs', 'and says so';
is $res->{header}{'retry-after'}, 1, 'and when to come again';

$run{b1} = begin('b', 'b1');
is_status(2, 5, 'another workspace may still wait');
$run{b2} = begin('b', 'b2');
is_status(2, 6, 'twice');
$res = $ng->response(begin('c', 'c1'));
is $res->{status}, 503, 'the zone is full: that is the capacity';
is decode_json($res->{body})->{error}{code}, 'capacity', 'and says so';
is $res->{header}{'retry-after'}, 1, 'and when to come again';

my $gone = delete $run{a6};
close $gone;
is_status(2, 5, 'a client that leaves waits no more');

for my $name (qw(a1 a2 b1 a3 b2 a4)) {
    my $had = () = begun();
    finish_run($name);
    is $ng->response($run{$name})->{body}, $name, "$name ends";
    $ng->wait_for(sub { begun() > $had || status()->{waiting} == 0 }, 10);
}

finish_run('a5');
is $ng->response($run{a5})->{body}, 'a5', 'and the last one';
is join(' ', begun()), 'a1 a2 b1 a3 b2 a4 a5',
    'workspaces take turns, in each the first comes first';
is_status(0, 0, 'nothing is left');

my ($a) = grep { $_->{workspace} eq 'a' } @{status()->{workspaces}};
is_deeply [@$a{qw(admitted queued limited refused)}], [5, 3, 1, 0],
    'all of it is counted';
ok $ng->wait_for(sub {
    $ng->slurp('logs/queue.log') =~ qr{^/v1/execute 200 \d+\.\d{3} }m
}, 10), 'the log says how long a run has waited';
like $ng->slurp('logs/queue.log'), qr{^/v1/execute 499 \d+\.\d{3} cancelled}m,
    'and that a client left';

# other ways to be refused

$run{x} = begin('a', 'x', '/one/execute');
is_status(1, 0, 'a run');
$res = $ng->response(begin('a', 'y', '/one/execute'));
is $res->{status}, 429, 'without a queue the next one is refused at once';
is $ng->response(begin('a', '', '/one/list'))->{status}, 200,
    'what is no run is not limited';
$run{z} = begin('a', 'z');
is_status(2, 0, 'another location');
$res = $ng->response(begin('b', 'late', '/short/execute'));
is $res->{status}, 503, 'a wait is over after its time';
is $ng->response(begin('b', '', '/free/execute'))->{status}, 200,
    'nothing is limited where that is off';

# a worker that dies leaks nothing, in no other worker

my %old = map { $_ => 1 } $ng->workers;
$run{w} = begin('b', 'w');
is_status(2, 1, 'one waits');
ok $ng->reload, 'a reload';
is_status(2, 1, 'keeps what runs and what waits');
kill 'KILL', keys %old;
ok $ng->wait_for(sub { !grep { $old{$_} } $ng->workers }), 'the old ones die';
is_status(0, 0, 'and nothing of theirs is left');
$ng->write('end', '');
is $ng->response(begin('b', 'again'))->{status}, 200, 'runs go on';

is $ng->response(begin('a', 'r', '/rate/x'))->{status}, 200, 'a first request';
is $ng->response(begin('a', 'r', '/rate/x'))->{status}, 200, 'a burst';
$res = $ng->response(begin('a', 'r', '/rate/x'));
is $res->{status}, 429, 'and one too many';
is decode_json($res->{body})->{error}{code}, 'too_many_requests', 'is told so';
cmp_ok $res->{header}{'retry-after'}, '>', 30, 'and when to come again';
is $ng->response(begin('b', 'r', '/rate/x'))->{status}, 200,
    'another workspace has a rate of its own';

# that two were killed is our own doing
(my $log = $ng->slurp('logs/error.log')) =~ s/.*exited on signal 9.*\n//g;
$ng->write('logs/error.log', $log);

$front->stop;
$ng->finish;
done_testing;
