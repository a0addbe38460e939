#!/usr/bin/perl

# Retort as the image of a pool's custom container: the example of its
# configuration, real Python and real shells, what the pool asks and forwards.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, alerts => qr/front\.sock/,
    profiles => { default => { import => 'matplotlib.pyplot', ready => 1,
                               timeout => '20s 300s' } });
my $port = Retort::Service::free_port();
my $conf = Retort::Service::slurp(
    "$Retort::Service::TOP/conf-examples/azure-container.conf");
my ($server) = $conf =~ /^( +server \{.*?^ {4}\})$/ms;

like($server, qr/^\s*listen 6000;$/m, 'it listens where the template says');
$server =~ s/listen 6000;/listen 127.0.0.1:$port;/;
$server =~ s{unix:/run/retort/front\.sock}{unix:$s->{dir}/run/front.sock};
$s->{nginx} = $server;
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $http = HTTP::Tiny->new(timeout => 120);


sub ask {
    my ($method, $path, $body, %head) = @_;
    my $r = $http->request($method, "http://127.0.0.1:$port$path", {
        headers => { 'content-type' => 'application/json', %head },
        defined $body ? (content => ref $body ? $json->encode($body) : $body)
                      : () });

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub run { ask('POST', '/executions?identifier=user-42', { @_ })->{json} }

sub shell {
    my ($body, %head) = @_;
    return ask('POST', '/shellExecute?identifier=user-42', $body, %head);
}


# what a pool probes

is(ask('GET', '/health')->{content}, qq("healthy"\n), 'it is alive');
ok($s->until_true(sub {
    my $r = ask('GET', '/health/startup');
    "$r->{status} $r->{content}" eq qq(200 "healthy"\n) }), 'and has started');
is(ask($_, '/health')->{status}, 405, "$_ is no probe") for qw(POST DELETE);

# code

my $r = run(code => "x = 6\nprint('hi')\nx * 7", codeInputType => 'Inline',
            executionType => 'Synchronous', timeoutInSeconds => 60);
is_deeply([@$r{qw(identifier executionType status)}, @{ $r->{result} }
           {qw(stdout stderr executionResult)}],
          ['user-42', 'synchronous', 'Succeeded', "hi\n", '', 42],
          'code runs that the pool forwards');
is(run(code => 'x')->{result}{executionResult}, 6, 'in one session');
is(ask('POST', '/executions?identifier=user-42&api-version=2025-10-02-preview',
       { code => 'x' })->{json}{result}{executionResult}, 6,
   'whatever else is forwarded');
like(run(code => '1/0')->{result}{stderr}, qr/ZeroDivisionError/,
     'a failure has its traceback');
$r = run(code => 'import matplotlib.pyplot as plt; plt.plot([1, 2])')
    ->{result}{executionResult};
like(decode_base64($r->{base64_data}), qr/^\x89PNG\r\n/, 'a figure is a PNG');
$r = run(code => 'while True: pass', timeoutInSeconds => 1);
is($r->{error}{error}{code}, 'Timeout', 'time is limited');

# a container is one session: the identifier names a request, and is said again

for my $id ('', 'a', 'other-request-1', 'x' x 100) {
    $r = ask('POST', "/executions?identifier=$id", { code => 'x' })->{json};
    is("$r->{identifier} $r->{result}{executionResult}", "$id 6",
       'there is one session, for "' . substr($id, 0, 20) . '" as well');
}

$r = ask('POST', '/executions?identifier=user-42', {});
is("$r->{status} $r->{content}", '400 "`Code` field is required in the '
   . "request\"\n", 'no code is no request');

$r = run(code => "print('late')", executionType => 'asynchronous');
is_deeply([@$r{qw(status executionType)}, $r->{result}],
    ['NotStarted', 'asynchronous', { stdout => $r->{id}, stderr => '',
     executionResult => undef, executionTimeInMilliseconds => 0 }],
    'a run that goes on is its name');
my $id = $r->{id};
ok($s->until_true(sub {
    $r = ask('GET', "/executions/$id?identifier=user-42")->{json};
    $r->{status} eq 'Succeeded' }), 'by which it is asked for');
is($r->{result}{stdout}, "late\n", 'until it is over');
$r = ask('GET', '/executions/none?identifier=user-42');
is("$r->{status} $r->{content}",
   qq(404 "No execution available for operation Id: none"\n), 'no other is');

# files

my $b = 'x1y2';
my @form = ('content-type' => "multipart/form-data; boundary=$b");
$r = ask('POST', '/files?identifier=user-42', "--$b\r\nContent-Disposition: "
    . "form-data; name=\"file\"; filename=\"a b.csv\"\r\n\r\n1,2\n\r\n--$b--\r\n",
    @form);
is_deeply([map { "$_->{name} $_->{sizeInBytes}" } @{ $r->{json} }],
          ['a b.csv 4'], 'an upload is answered by a bare list');
is(run(code => 'open("/mnt/data/a b.csv").read()')->{result}{executionResult},
   "1,2\n", 'code has the file');
run(code => 'open("out.txt", "w").write("made")');
is_deeply([sort map { $_->{name} }
           @{ ask('GET', '/files?identifier=user-42')->{json} }],
          ['a b.csv', 'out.txt'], 'all are listed');
is(ask('GET', '/files/out.txt?identifier=user-42')->{json}{type}, 'file',
   'one is looked at');
is(ask('GET', '/files/out.txt/content?identifier=user-42')->{content}, 'made',
   'and downloaded');
$r = ask('DELETE', '/files/out.txt?identifier=user-42');
is($r->{status}, 204, 'and deleted');
ok(!length $r->{content}, 'without a word');
is(ask('GET', '/files/out.txt?identifier=user-42')->{json}{error}{code},
   'FileNotFound', 'and gone');
my $sock = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
    or die "connect: $!";
print $sock "POST /files?identifier=user-42 HTTP/1.1\r\nHost: a\r\n"
    . "Connection: close\r\nContent-Length: " . 251 * 1024 * 1024 . "\r\n\r\n";
like(join('', <$sock>), qr/^HTTP\S+ 413 .*"code":"RequestEntityTooLarge"/s,
     'a file has 250 MB at most');

# shells

my $which = 'echo "${BASH_VERSION:+bash}"; echo "it\'s $((6 * 7))"; exit 3';
$r = shell({ shellCommand => $which });
is_deeply([@{ $r->{json} }{qw(status errorName exitCode identifier)},
           $r->{json}{result}{stdout}],
          ['Failed', '', 3, 'user-42', "bash\nit's 42\n"], 'bash runs');
$r = shell({ shellCommand => $which, shellType => 'sh' });
is_deeply([@{ $r->{json} }{qw(exitCode)}, $r->{json}{result}{stdout}],
          [3, "\nit's 42\n"], 'sh is another shell');
$r = shell({ shellCommand => $which }, 'x-shell-type' => 'sh',
           'x-execution-identifier' => 'my-run');
is_deeply([$r->{json}{result}{stdout}, $r->{json}{identifier}],
          ["\nit's 42\n", 'my-run'], 'headers say the same');
is(shell({ execCommandAndArgs => ['printf', '%s|', "a'b", '$HOME', ''],
           shellType => $_ })->{json}{result}{stdout}, "a'b|\$HOME||",
   "words are words in $_") for qw(bash sh);
is(shell({ shellCommand => 'cat "a b.csv"' })->{json}{result}{stdout}, "1,2\n",
   'files are the same');
$r = shell({ shellCommand => 'sleep 60', shellType => 'sh',
             timeoutInSeconds => 1 })->{json};
is_deeply([@$r{qw(status errorName exitCode)}],
          ['Failed', 'ExecutionTimeout', -1], 'time is limited in both');
like(shell($_)->{content}, qr/^"no command provided in the request, /,
     $json->encode($_) . ' is no command') for {}, { code => '1' };
is(shell({ shellCommand => '1', shellType => 'fish' })->{status}, 400,
   'fish is no shell');
is(shell({ shellCommand => '1' }, 'x-shell-type' => 'fish')->{status}, 400,
   'a shell that there is not');

# what is the pool's own

is(ask('GET', $_)->{json}{error}{code}, 'NotFound', "$_ is not the image's")
    for '/session', '/listSessions', '/metadata', '/mcp', '/shellExecuteWs';

# a service that is away

$s->stop_retortd;
isnt(ask('GET', $_)->{status}, 200, "$_ tells that the service is away")
    for '/health', '/health/startup';

$s->end;
done_testing;
