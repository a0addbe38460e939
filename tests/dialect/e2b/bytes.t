#!/usr/bin/perl

# What E2B's clients read, byte for byte, through the whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);

Retort::Service::write_file("$s->{dir}/secret", 's' x 40 . "\n", 0600);
$s->{location} = <<"CONF";
location /e2b/ {
    retort_api e2b;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_artifacts_secret $s->{dir}/secret;
}
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;
my @type = ('content-type' => 'application/json');
my (@in, $count);


sub ask {
    my ($method, $path, $body, @head) = @_;
    return $s->request($method, "/e2b$path", $body // '', @type, @head);
}

sub make {
    my $r = ask('POST', '/v2/sandboxes', $json->encode({
        templateID => 'code-interpreter-v1', timeout => 60, @_ }));
    return ($r, eval { $json->decode($r->{content}) });
}

# the lines, with what no two runs have in common as a word

sub run {
    my ($body) = @_;
    my $r = ask('POST', '/execute', ref $body ? $json->encode($body) : $body,
                @in);
    my $said = $r->{content};

    $said =~ s/\d{4}-\d\d-\d\dT[\d:.]+Z/TIME/g;
    $said =~ s/"traceback":"-+\\n\w+ +Traceback [^\n]*?"\}\n/"traceback":"TB"}\n/;

    return ($r, $said);
}


my ($r, $box) = make();
my $id = $box->{sandboxID};

is($r->{status}, 201, 'a sandbox is made');
is($r->{content}, qq({"sandboxID":"$id","templateID":"code-interpreter-v1",)
    . qq("clientID":"retort","alias":"default","envdVersion":"0.5.6",)
    . qq("startedAt":"$box->{startedAt}","endAt":"$box->{endAt}",)
    . qq("state":"running","cpuCount":1,"memoryMB":512,"diskSizeMB":64,)
    . qq("metadata":{},"domain":null,"envdAccessToken":)
    . qq("$box->{envdAccessToken}","trafficAccessToken":)
    . qq("$box->{envdAccessToken}"}\n), 'as the client knows one');
like($box->{envdAccessToken}, qr/^demo\.[0-9a-f]{32}$/, 'with its token');

@in = ('e2b-sandbox-id' => $id, 'e2b-sandbox-port' => 49999);
$count = 0;

my $png = '"png":"iVBORw0KGgo';

my @table = (
    ['print(4)', '{"type":"stdout","text":"4\n","timestamp":"TIME"}'],
    ['2+2', '{"type":"result","text":"4","is_main_result":true}'],
    ['x = 1', ''],
    ['x', '{"type":"result","text":"1","is_main_result":true}'],
    ['', ''],
    ['import sys; print("é", file=sys.stderr)',
     '{"type":"stderr","text":"é\n","timestamp":"TIME"}'],
    ['1/0', '{"type":"error","name":"ZeroDivisionError","value":"division by '
        . 'zero","traceback":"TB"}'],
    ['from IPython.display import display, HTML; display(HTML("<i>"))',
     '{"type":"result","text":"<IPython.core.display.HTML object>",'
        . '"html":"<i>","is_main_result":false}'],
    ['get_ipython().display_pub.publish({"application/json": {"a": [1]}})',
     '{"type":"result","json":{"a":[1]},"is_main_result":false}'],
);

for my $row (@table) {
    my ($code, $lines) = @$row;
    my ($res, $said) = run({ code => $code });

    $count++;
    $lines =~ s/(?<!\\)\n/\\n/g;
    utf8::decode($said);
    is($said, qq({"type":"number_of_executions","execution_count":$count}\n)
        . ($lines ne '' ? "$lines\n" : '') . qq({"type":"end_of_execution"}\n),
        'code: ' . ($code =~ s/\n/\\n/gr || 'none'));
    is($res->{headers}{'content-type'}, 'application/x-ndjson', 'as NDJSON')
        if $count == 1;
}

# nulls are what Python's client sends for what is not given

($r, my $said) = run('{"code":"3","context_id":null,"language":null,'
    . '"env_vars":null,"later":[1]}');
like($said, qr/"text":"3"/, 'nulls and keys of later clients mean nothing');

($r, $said) = run({ code => 'import os; os.environ["A"]',
                    env_vars => { A => 'b' } });
like($said, qr/"text":"'b'"/, 'a run has its variables');

# what is refused, and how

my $other = "sbx_local_" . '0' x 32;
my $context = '/contexts/none';

for my $row (
    ['{"code":1}', 400, '"code" must be a string'],
    ['{}', 400, '"code" is missing'],
    ['{', 400, 'the body is no JSON'],
    ['[]', 400, 'the body is no object'],
    ["{\"code\":\"\xff\"}", 400, 'the body is not valid UTF-8'],
    ['{"code":"1","code":"2"}', 400, 'a key stands twice'],
    ['{"code":"1","language":"r"}', 400,
     "language 'r' is not known here; there are 'python' and 'bash'"],
    ['{"code":"1","context_id":"x"}', 404, 'Context x not found'],
    ['{"code":"1","context_id":"x","language":"python"}', 400,
     '"context_id" and "language" exclude each other'],
    ['{"code":"1","env_vars":{"A":1}}', 400, '"env.A" must be a string'],
    ['{"code":"1","env_vars":{"=":"1"}}', 400,
     '"env": "=" is no name of a variable'],
    ['{"code":' . '[' x 40 . ']' x 40 . '}', 400, 'more than 32 levels'],
) {
    my ($body, $status, $message) = @$row;
    my $res = ask('POST', '/execute', $body, @in);
    my $got = eval { $json->decode($res->{content}) } // {};

    is($res->{status}, $status, "$status: $message");
    is_deeply([$got->{code}, keys %$got], [$status, keys %$got],
              'with its code');
    like($got->{message}, $body eq '{' ? qr/./ : qr/^\Q$message\E$/,
         'and its words');
}

for my $row (
    ['POST', '/execute', '{"code":"1"}', [], 400,
     'E2b-Sandbox-Id does not name a sandbox'],
    ['POST', '/execute', '{"code":"1"}', ['e2b-sandbox-id' => $other], 502,
     'The sandbox was not found'],
    ['POST', '/execute', '{"code":"1"}', ['e2b-sandbox-id' => '../x'], 502,
     'The sandbox was not found'],
    ['GET', '/health', '', ['e2b-sandbox-id' => $other], 502,
     'The sandbox was not found'],
    ['GET', "/sandboxes/$other", '', [], 404, 'The sandbox was not found'],
    ['DELETE', "/sandboxes/$other", '', [], 404, 'The sandbox was not found'],
    ['DELETE', $context, '', \@in, 404, 'Context none not found'],
    ['DELETE', '/contexts/default', '', \@in, 400,
     'the default context cannot be removed'],
    ['POST', '/contexts', '{"cwd":""}', \@in, 400, '"cwd" is no folder'],
    ['POST', '/contexts', '{"cwd":7}', \@in, 400, '"cwd" must be a string'],
    ['POST', '/v2/sandboxes', '{"templateID":"x"}', [], 404, "template 'x' not "
        . "found; there are 'code-interpreter-v1' and 'default'"],
    ['POST', '/v2/sandboxes', '{"timeout":0}', [], 400,
     '"timeout" must be from 1 to 600'],
    ['POST', '/v2/sandboxes', '{"metadata":{"a":1}}', [], 400,
     '"metadata.a" must be a string'],
    ['POST', '/v2/sandboxes', '{"volumeMounts":[]}', [], 400,
     '"network", "iam", "mcp" and "volumeMounts" are not known here'],
    ['PUT', "/sandboxes/$id/timeout", '{}', [], 405, 'allowed here: POST'],
    ['POST', "/sandboxes/$id/timeout", '{}', [], 400, '"timeout" is missing'],
    ['POST', "/sandboxes/$id/timeout", '{"timeout":null}', [], 400,
     '"timeout" is missing'],
    ['POST', '/process.Process/Start', '', \@in, 404, 'no such path'],
    ['GET', '/files?path=%2Fetc%2Fpasswd', '', \@in, 400,
     'files are below /home/user here'],
    ['GET', '/files?path=%zz', '', \@in, 400, '"path" is malformed'],
    ['GET', '/files', '', \@in, 400, 'the path is empty'],
    ['GET', '/files?path=%2Fhome%2Fuserx%2Fa', '', \@in, 400,
     'files are below /home/user here'],
) {
    my ($method, $path, $body, $head, $status, $message) = @$row;
    my $res = ask($method, $path, $body, @$head);

    is($res->{status}, $status, "$method $path: $status");
    is($res->{content}, $json->encode({ code => $status,
        message => $message }) . "\n", "$message");
}

is(ask('GET', '/health', '', @in)->{status}, 204, 'it has lived through that');

# tables as far as they are whole; contexts as many as may be

for my $row ([100, 1], [101, 0]) {
    my ($n, $whole) = @$row;
    my ($res) = run({ code => "import pandas\npandas.DataFrame({'a': "
                      . "range($n)})" });
    is($res->{content} =~ /"data":\{"a":\[0,/ ? 1 : 0, $whole,
       "a table of $n rows is " . ($whole ? '' : 'not ') . 'data');
}

my @contexts = map { ask('POST', '/contexts', '{}', @in) } 1 .. 33;
is(join(' ', map { $_->{status} } @contexts), '200 ' x 32 . '429',
   'there are 32 contexts');
my $id_of = $json->decode($contexts[0]{content})->{id};
is(ask('DELETE', "/contexts/$id_of", '', @in)->{status}, 204, 'one goes');
is(ask('POST', '/contexts', '{}', @in)->{status}, 200, 'another comes');
is(ask('POST', "/sandboxes/$id/timeout", '{"timeout":30}')->{status}, 204,
   'its life is set');
is(ask('DELETE', "/sandboxes/$id")->{status}, 204, 'it ends');

$s->end;
done_testing;
