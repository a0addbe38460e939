#!/usr/bin/perl

# Azure's dynamic sessions through the whole service: real Python, real bash,
# the worker's own errors.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64 qw(decode_base64);
use POSIX ();
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => 'matplotlib.pyplot', sessions => 3, ready => 0 } });
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; ";
my $keys = "retort_auth_key_file $s->{dir}/keys;";

$s->{location} = <<"CONF";
location /azure/ { retort_api azure; $pass $keys client_max_body_size 1m; }
location = /azure/mcp { retort_api azure_mcp; $pass $keys }
location /away/ { retort_api azure; $keys retort_pass unix:$s->{dir}/no.sock; }
location /image/ { retort_api azure_image; $pass retort_workspace pool; }
CONF
$s->{alerts} = qr/no\.sock/;
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;


sub ask {
    my ($method, $path, $body, %head) = @_;
    my $id = delete $head{id} // 'user-42';
    my $r = $s->request($method, "$path?api-version=2025-10-02-preview"
        . "&identifier=$id", ref $body ? $json->encode($body) : $body, %head);

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub run { return ask('POST', '/azure/executions', { @_ })->{json} }

# Python

my $r = ask('POST', '/azure/executions', { code => "x = 6\nprint('hi')\nx * 7",
    codeInputType => 'Inline', executionType => 'Synchronous',
    timeoutInSeconds => 60 });
is($r->{status}, 200, 'code runs');
is_deeply([@{$r->{json}{result}}{qw(stdout stderr executionResult)}],
          ["hi\n", '', 42], 'and has a value');
is(run(code => 'x')->{result}{executionResult}, 6, 'its variables stay');
is_deeply(run(code => $_->[0])->{result}{executionResult}, $_->[1],
          "the value of $_->[0]")
    for ["'a\\tb'", "a\tb"], ['float("nan")', 'nan'], ['None', undef],
        ['[1, (2.5, True)]', [1, [2.5, JSON::PP::true]]],
        ["{'a': [None]}", { a => [undef] }], ['object', "object"],
        ['2 ** 100', '1267650600228229401496703205376'];
$r = run(code => "import sys\nprint('e', file=sys.stderr)\n1/0");
is($r->{status}, 'Failed', 'an exception fails the run');
like($r->{result}{stderr}, qr/^e\n.*ZeroDivisionError: division by zero/s,
     'and is in stderr');
$r = run(code => 'import matplotlib.pyplot as plt; plt.plot([1, 2])')
    ->{result}{executionResult};
is("$r->{type} $r->{format}", 'image png', 'a figure is the value');
like(decode_base64($r->{base64_data}), qr/^\x89PNG\r\n/, 'as a PNG');
$r = run(code => 'while True: pass', timeoutInSeconds => 1);
is($r->{error}{error}{code}, 'Timeout', 'time is limited');
is(run(code => 'x')->{result}{executionResult}, 6, 'the session goes on');

my %empty = (useEmptyKernel => JSON::PP::true);
like(run(code => 'x', %empty)->{result}{stderr}, qr/NameError/,
     'an empty kernel has none of its variables');
run(code => 'y = 1; open("left.txt", "w").write("1")', %empty);
like(run(code => 'y', %$_)->{result}{stderr}, qr/NameError/,
     'and leaves none behind') for \%empty, {};
is(run(code => 'open("left.txt").read()', %empty)->{result}{executionResult},
   '1', 'but files');

my %jupyter = (returnJupyterFormatExecutionResult => JSON::PP::true);
is_deeply(run(code => '[1]', %jupyter)->{result}{executionResult},
    { data => { 'text/plain' => '[1]' }, metadata => {} },
    "a value in Jupyter's form");
$r = run(code => "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
         %jupyter)->{result}{executionResult}{data};
like(decode_base64($r->{'image/png'}), qr/^\x89PNG\r\n/, 'a figure, too');
is(run(code => 'print(1)', %jupyter)->{result}{executionResult}, undef,
   'nothing is null there as well');

# what there is

$r = ask('GET', '/azure/metadata')->{json};
is_deeply([sort keys %$r], [qw(createdAt jupyterKernel lastUpdatedAt
          preInstalledPackages runtimes)], 'the metadata have all that is known');
is($r->{runtimes}[0]{name}, 'python', 'the runtime');
like($r->{runtimes}[0]{version}, qr/^3\.11\./, 'and its version');
like((grep { $_->{name} eq 'numpy' } @{ $r->{preInstalledPackages} })[0]
     {version}, qr/^\d+\.\d/, 'packages and theirs');
like($r->{createdAt}, qr/^20\d\d-\d\d-\d\dT/, 'and how old the image is');

# files

$r = ask('POST', '/azure/executions', { code => 'import os; os.mkdir("dir")' });
$r = ask('GET', '/azure/files/dir');
is("$r->{status} $r->{json}{name} $r->{json}{type}", '200 dir directory',
   'what is known of a folder');
is(ask('GET', '/azure/files/dir/content')->{status}, 409, 'it has no bytes');

my $b = 'x1y2';
$r = ask('POST', '/azure/files', "--$b\r\nContent-Disposition: form-data; "
    . "name=\"file\"; filename=\"a b.csv\"\r\n\r\n1,2\n\r\n--$b--\r\n",
    'content-type' => "multipart/form-data; boundary=$b");
is($r->{json}{name}, 'a b.csv', 'a file is uploaded');
is(run(code => 'open("/mnt/data/a b.csv").read()')->{result}
   {executionResult}, "1,2\n", 'to the folder that code knows');
run(code => 'open("/mnt/data/out.txt", "w").write("made")');
is(ask('GET', '/azure/files/out.txt/content')->{content}, 'made',
   'and what code writes there is downloaded');
is(ask('GET', '/azure/files/a%20b.csv')->{json}{sizeInBytes}, 4,
   'a name with a blank is found');

# bash

$r = run(shellCommand => 'cat "out.txt"; echo e >&2; exit 3');
is_deeply([$r->{status}, @{$r->{result}}{qw(stdout stderr)}],
          ['3', 'made', "e\n"], 'a command has its exit code');
is(run(execCommandAndArgs => ['printf', '%s|', "a'b", '$HOME', ''])
   ->{result}{stdout}, "a'b|\$HOME||", 'words are taken as they are');

# later

$r = ask('POST', '/azure/executions', { code => 'print("late")',
    executionType => 'Asynchronous' }, 'operation-id' => 'op-1');
is("$r->{status} $r->{headers}{'operation-id'}", '202 op-1', 'a run goes on');
is($r->{headers}{'operation-location'}, $s->url('/azure/executions/op-1?'
   . 'api-version=2025-10-02-preview&identifier=user-42'), 'at a URL');
ok($s->until_true(sub {
    my $g = $s->get($r->{headers}{'operation-location'} =~ s{^.*?(?=/azure)}{}r);
    $json->decode($g->{content})->{status} eq 'Succeeded' }), 'and ends there');

# errors of the worker, and of the pool

is_deeply([@$_{qw(status content)}, $_->{headers}{'x-ms-error-code'}],
          [401, '{"error":{"code":"Unauthorized","message":"a valid key is '
           . 'needed"}}' . "\n", 'Unauthorized'], 'nobody has a key')
    for ask('GET', '/azure/session', undef, authorization => '');
is(ask('GET', '/away/session')->{json}{error}{code}, 'ServiceUnavailable',
   'a service that is away');
is(ask('POST', '/azure/executions', '{"code":"' . 'x' x 2_000_000 . '"}')
   ->{json}{error}{code}, 'RequestEntityTooLarge', 'a body that is too large');
is(ask('GET', '/azure/session', undef, authorization => "Bearer $s->{other}")
   ->{json}{error}{code}, 'NoSessionFoundError', 'a session of somebody else');
ask('POST', '/azure/executions', { code => '1' }, id => "more-$_") for 1, 2;
$r = ask('POST', '/azure/executions', { code => '1' }, id => 'more-3');
is("$r->{status} $r->{json}{error}{code}", '429 SessionsCountExceedsLimit',
   'there are as many sessions as the pool has');
is(ask('DELETE', '/azure/session', undef, id => 'more-1')->{status}, 204,
   'one is ended');
ok($s->until_true(sub { ask('POST', '/azure/executions', { code => '1' },
                            id => 'more-3')->{status} == 200 }),
   'which makes room for another');

# MCP

sub tool {
    my ($name, $args, %head) = @_;
    my $res = $s->request('POST', '/azure/mcp', $json->encode({ jsonrpc =>
        '2.0', id => 1, method => 'tools/call', params => { name => $name,
        arguments => $args } }), authorization => '',
        'x-ms-apikey' => $s->{key}, %head);
    $res->{json} = eval { $json->decode($res->{content}) };
    return $res;
}

ask('DELETE', '/azure/session', undef, id => $_) for 'more-2', 'more-3';
my $env = tool('launchShell', {})->{json}{result}{structuredContent}
    {environmentId};
ok($s->until_true(sub {
    $r = tool('runPythonCodeInRemoteEnvironment', { environmentId => $env,
        pythonCode => "y = 6\nprint(y * 7)" })->{json}{result};
    $r->{structuredContent}{stdout} eq "42\n" }),
   'code runs in an environment, as soon as there is room');
is(tool('runShellCommandInRemoteEnvironment', { environmentId => $env,
    execCommandAndArgs => ['sh', '-c', 'exit 4'] })->{json}{result}
    {structuredContent}{exitCode}, 4, 'and so do commands');
is(ask('POST', '/azure/executions', { code => 'y' }, id => $env)
   ->{json}{result}{executionResult}, 6, 'REST finds it by its name');
$r = tool('launchShell', {}, 'x-ms-apikey' => 'wrong');
is("$r->{status} $r->{json}{error}{code}", '401 -32001', 'a wrong key');

# the front's death in the middle of a run

my $killer = fork // die "fork: $!";
if ($killer == 0) {
    my $busy = $s->until_true(sub {
        $s->get('/v1/sandboxes')->{content} =~ /"status":\s*"running"/ });
    kill 'KILL', $s->process('retort-front') if $busy;
    POSIX::_exit(0);
}
$r = ask('POST', '/azure/executions', { code =>
    'import time; time.sleep(100)' }, id => $env);
waitpid $killer, 0;
is_deeply([@$r{qw(status content)}, $r->{headers}{'x-ms-error-code'}],
    [502, '{"error":{"code":"ConnectionError","message":"the run was lost: '
     . 'the service that ran it went away"}}' . "\n", 'ConnectionError'],
    'a run whose front dies is lost');
ok($s->until_true(sub {
    (ask('POST', '/azure/executions', { code => 'y' }, id => $env)
     ->{json}{result}{executionResult} // '') eq 6 }), 'its session is not');

# the image

is($s->get('/image/health')->{content}, qq("healthy"\n), 'the image is well');

$s->end;
done_testing;
