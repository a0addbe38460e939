#!/usr/bin/perl

# Ubik's tool with a planner that means ill, or is broken: whatever it sends, or
# does not, an execution ends with an error of its own, and the service goes on.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Fetch qw(web answer);
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep);

my $json = JSON::PP->new->utf8->canonical;
my $F = '```';

sub said { $json->encode({ choices => [{ message => {
    role => 'assistant', content => $_[0] } }] }) }

sub sends { my ($body) = @_; sub { answer($_[0], 200, $body,
    'Content-Type: application/json') } }

my $head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

# how it misbehaves, and what the execution's error says

my %does = (
    silent => [sub { sleep 600 }, qr/took too long/],
    drips => [sub {
        syswrite $_[0], "$head\r\n";
        sleep 0.05 while syswrite $_[0], ' ';
    }, qr/./],
    endless => [sub {
        syswrite $_[0], "$head\r\n";
        1 while syswrite $_[0], 'x' x 65536;
    }, qr/answer is too long/],
    cut => [sub { syswrite $_[0], "${head}Content-Length: 99\r\n\r\n{" }, qr/./],
    nothing => [sub { }, qr/./],
    moved => [sub { answer($_[0], 302, '', 'Location: http://127.0.0.1:1/') },
              qr/refused to answer/],
    denied => [sub { answer($_[0], 401, said("$F\n1\n$F")) },
               qr/refused to answer/],
    deep => [sends('{"choices":' . '[' x 100_000), qr/is no JSON/],
    twice => [sends('{"choices":[],"choices":[]}'), qr/is no JSON/],
    latin => [sends("{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}"),
              qr/is no JSON/],
    list => [sends('[]'), qr/is no JSON/],
    number => [sends('{"choices":[{"message":{"content":5}}]}'),
               qr/has no text/],
    nulls => [sends('{"choices":[null]}'), qr/has no text/],
    words => [sends('{"choices":"x"}'), qr/has no text/],
    fences => [sends(said("$F\n" x 100_001)), qr/has no code/],
    lines => [sends(said("\n" x 500_000)), qr/has no code/],
    nul => [sends(said("$F\nprint(1)\0\n$F")), qr/./],
    asks => [sends(said('ASK: ' . 'x' x 500_000)), undef],
);

# which of them is in the request

my $web = web(sub {
    my ($sock, $said, $body) = @_;
    my $ask = $json->decode($body);
    my ($name) = $ask->{messages}[1]{content} =~ /^Do it: (\w+)$/;

    return $does{$name}[0]->($sock) if $does{$name};

    if ($name eq 'plan') {
        return answer($sock, 200, said(join('', map { "- Step $_\n" }
            1 .. 10_000) . "$F\nprint('ran')\n$F"));
    }

    # what it was sent, as a program that prints it

    my ($key) = $said =~ /^Authorization: (.*?)\r?$/mi;
    answer($sock, 200, said("$F\nprint('''$key|$ask->{model}|"
        . ($ask->{stream} ? 1 : 0) . '|' . join(',', map { $_->{role} }
        @{ $ask->{messages} }) . "''')\n$F"));
});

my $at = "http://127.0.0.1:$web->{port}/";
my $s = Retort::Service->new(stopped => 1);

Retort::Service::write_file("$s->{dir}/model.key", "sk-test\n", 0640);
chown 0, scalar getgrnam('retort-fetch'), "$s->{dir}/model.key";
$s->{conf} = { endpoint => "planner $at model=big-1 "
    . "key_file=$s->{dir}/model.key\nendpoint hasty $at timeout=2s" };
$s->{location} = join '', map { "location /$_/ { retort_api ubik; "
    . "retort_planner $_; retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys; }\n" } 'planner', 'hasty';
$s->configure;
$s->start;

my $front = $s->process('retort-front');


# each at its place; those that take their time where there is little

sub at { $_[0] =~ /^(?:silent|drips)$/ ? 'hasty' : 'planner' }

sub start {
    my ($what) = @_;
    my $r = $s->request('POST', '/' . at($what)
        . '/tools/code_execution/execute',
        $json->encode({ inputs => { request => "Do it: $what" } }));
    return eval { $json->decode($r->{content})->{execution_id} };
}

sub look {
    my ($what, $id) = @_;
    return eval { $json->decode($s->get('/' . at($what)
                                . "/tool-executions/$id")->{content}) } // {};
}

sub over {
    my ($what, $id) = @_;
    my $x;

    $s->until_true(sub {
        $x = look($what, $id);
        ($x->{status} // '') =~ /^(?:completed|failed)$/;
    }, 60);
    return $x;
}


my $x = over('keyed', start('keyed'));
like($x->{outputs}{logs}, qr/STDOUT:\nBearer sk-test\|big-1\|0\|system,user\n/,
     'a planner is sent its key, its model and the question')
    or diag($json->encode($x));

for my $name (sort grep { defined $does{$_}[1] } keys %does) {
    $x = over($name, start($name));
    is($x->{status}, 'failed', "a planner: $name");
    like($x->{error}, $does{$name}[1], "which is told: $x->{error}");
}

my $asks = start('asks');
ok($s->until_true(sub {
    (look('asks', $asks)->{status} // '') eq 'waiting_for_input' }),
   'a question may be long');
my ($prompt) = $s->request('POST', "/planner/tool-executions/$asks/provide-input",
    "--B\r\nContent-Disposition: form-data; name=\"input_data_json\"\r\n\r\n\r\n"
    . "--B--\r\n", 'content-type' => 'multipart/form-data; boundary=B')
    ->{status};
is($prompt, 202, 'and the answer to it empty');

$x = over('plan', start('plan'));
is(scalar @{ $x->{outputs}{plan} }, 16, 'a plan has so many steps at most');
is($x->{outputs}{total_rounds}, 6, 'and runs no longer than any');

is($s->process('retort-front'), $front, 'the front has lived through that');
is($s->run('print(1)')->{status}, 'ok', 'and runs code');

$web->stop;
$s->end;
done_testing;
