#!/usr/bin/perl

# Ubik's tool with code that is given, and all that is asked around it, byte
# for byte, through the whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys;";

$s->{location} = <<"CONF";
location /ubik/api/v1/ { retort_api ubik; $pass }
location /anthropic/v1/ { retort_api anthropic; $pass }
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;
my $F = '```';
my $uuid = '5e7b0c1a-4f0d-4d3e-9a61-2c8f0e5b7d01';


sub ask {
    my ($method, $path, $body, @head) = @_;
    my $r = $s->request($method, "/ubik/api/v1$path", $body // '',
        'content-type' => 'application/json', @head);

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub start {
    my ($inputs, @head) = @_;
    return ask('POST', '/tools/code_execution/execute',
               $json->encode({ inputs => $inputs }), @head);
}

# the execution, when it is over

sub over {
    my ($id, @head) = @_;
    my $r;

    $s->until_true(sub {
        $r = ask('GET', "/tool-executions/$id", undef, @head);
        $r->{json} && ($r->{json}{status} // '') =~ /^(?:completed|failed)$/;
    });
    return $r->{json};
}

sub code { { request => "Please run:\n${F}python\n$_[0]\n$F\n" } }

my $r = start(code('print(6 * 7)'));
my $id = $r->{json}{execution_id};

is($r->{status}, 202, 'a request is accepted');
is($r->{content}, qq({"execution_id":"$id","status":"pending","tool_id":)
    . qq("$uuid","details_url":"/ubik/api/v1/tool-executions/$id","stream_url")
    . qq(:"/ubik/api/v1/tool-executions/$id/stream"}\n), 'with its five keys');

my $x = over($id);
my $sandbox = $x->{outputs}{sandbox_id};

is($x->{status}, 'completed', 'it is completed');
is_deeply([sort keys %$x], [sort qw(id tool_id user_id status inputs outputs
    error created_at started_at completed_at)], 'and has all of its keys');
is_deeply($x->{outputs}, { sandbox_id => $sandbox, generated_files => [],
    artifacts => [], plan => ['Run the code of the request'],
    total_rounds => 1, execution_id => $id, logs =>
    "INFO: Started sandbox session: $sandbox\n"
    . "INFO: Development plan: [\"Run the code of the request\"]\n\n"
    . "--- Round 1/1: Run the code of the request ---\nGENERATED CODE:\n"
    . "print(6 * 7)\nSTDOUT:\n42\n\nSTATUS: Execution successful\n" },
    'its outputs are those of the vendor');

over(start(code('x = 5'))->{json}{execution_id});
my $more = over(start({ %{ code('y = 7') }, sandbox_id => $sandbox })
    ->{json}{execution_id});
is($more->{outputs}{sandbox_id}, $sandbox, 'a sandbox is gone on with');
$more = over(start({ %{ code('print(y)') }, sandbox_id => $sandbox })
    ->{json}{execution_id});
like($more->{outputs}{logs}, qr/STDOUT:\n7\n/, 'with its variables');

$x = over(start(code('1/0'))->{json}{execution_id});
is($x->{status}, 'failed', 'an exception fails');
is($x->{error}, 'ZeroDivisionError: division by zero', 'with its words');
like($x->{outputs}{logs}, qr/STDERR:\n.*Traceback.*ZeroDivisionError.*\n\n
     STATUS:\ Execution\ failed\n$/sx, 'and its traceback in the transcript');
unlike($x->{outputs}{logs}, qr/\e/, 'without colours');
like($s->request('GET', "/ubik/api/v1/tool-executions/$x->{id}/stream", '')
    ->{content}, qr/^event: error\ndata: \{"message":"ZeroDivisionError: /m,
    'a stream ends with it');

$x = over(start(code('print(1, end="")'))->{json}{execution_id});
like($x->{outputs}{logs}, qr/STDOUT:\n1\n\nSTATUS:/, 'a last line is a line');

# pictures and files

$x = over(start(code("import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
    . "plt.show()\nopen('t.csv', 'w').write('a')"))->{json}{execution_id});
my $a = $x->{outputs}{artifacts}[0];
is_deeply($a, { type => 'media_reference', asset_filename => 'plot_0.png',
    url => "/ubik/api/v1/assets/tools/$uuid/$x->{id}/plot_0.png",
    tool_id => $uuid, execution_id => $x->{id} }, 'a figure is an artifact');
my $png = $s->request('GET', $a->{url}, '');
is("$png->{status} $png->{headers}{'content-type'}", '200 image/png',
   'it can be had');
like($png->{content}, qr/^\x89PNG/, 'as a picture');
is($s->request('GET', $a->{url}, '', 'x-end-user-id' => 'u')->{status}, 404,
   'by no other end user');
is($x->{outputs}{generated_files}[0]{asset_filename}, 't.csv',
   'a file is generated');
is($s->request('GET', $x->{outputs}{generated_files}[0]{url}, '')->{content},
   'a', 'and can be had');

# documents

sub upload {
    my $said = $s->request('POST', '/anthropic/v1/files', "--B\r\nContent-"
        . "Disposition: form-data; name=\"file\"; filename=\"t.txt\"\r\n\r\n"
        . "$_[0]\r\n--B--\r\n", 'anthropic-version' => '2023-06-01',
        'content-type' => 'multipart/form-data; boundary=B');
    return $json->decode($said->{content})->{id};
}

my $doc = upload('1 2');
$x = over(start({ %{ code('print(open("/home/uploaded_files/t.txt").read())') },
    document_ids => [$doc], context => undef })->{json}{execution_id});
like($x->{outputs}{logs}, qr/STDOUT:\n1 2\n/, 'a document is where it shall be');
is(start({ %{ code('1') }, document_ids => [$doc, upload('3')] })->{status},
   422, 'two of one name are refused');
is(start({ %{ code('1') }, document_ids => [$doc, $doc] })->{status}, 202,
   'one twice is one');

# the stream of what is over, and of what runs

$r = $s->request('GET', "/ubik/api/v1/tool-executions/$id/stream", '');
is($r->{headers}{'content-type'}, 'text/event-stream', 'there is a stream');
my @names = $r->{content} =~ /^event: (\w+)$/mg;
is("$names[0] $names[-1]", 'tool_update tool_end', 'from begin to end');
my ($last) = $r->{content} =~ /event: tool_end\ndata: (.*)\n\n$/;
$last = $json->decode($last);
is_deeply([$last->{status}, $last->{logs}, $last->{outputs}{total_rounds}],
    ['completed', $last->{outputs}{logs}, 1], 'whose last event has it all');
is(join('', map { $json->decode($_)->{content} }
    $r->{content} =~ /event: tool_partial_update\ndata: (.*)/g),
    $last->{logs}, 'and whose pieces are the transcript');

# end users

$id = start(code('1'), 'x-end-user-id' => 'u1')->{json}{execution_id};
is(over($id, 'x-end-user-id' => 'u1')->{user_id}, 'u1', 'an end user has his');
is(ask('GET', "/tool-executions/$id")->{status}, 404, 'which others have not');
is(ask('GET', "/tool-executions/$id/stream", undef, 'x-end-user-id' => 'u2')
   ->{status}, 404, 'nor its stream');

is(start(code('1'), 'x-end-user-id' => 'u' x 128)->{status}, 400,
   'a name has its bound');
$r = $s->run('print(1)', detach => JSON::PP::true);
is(ask('GET', "/tool-executions/$r->{execution_id}")->{status}, 404,
   'a run of another api is none of these');

# tools

$r = ask('GET', '/tools?page=1&limit=1')->{json};
is_deeply([@$r{qw(total page limit)}, $r->{has_more} ? 1 : 0, $r->{items}[0]
    {name}], [2, 1, 1, 1, 'code_execution'], 'tools are listed by pages');
ok(!ask('GET', '/tools?limit=2')->{json}{has_more}, 'and the last is known');
is(ask('GET', "/tools/$uuid")->{json}{name}, 'code_execution', 'by uuid');
$r = ask('GET', '/tools/code_interpreter')->{json};
is($r->{input_schema}{required}[0], 'request', 'and by name');
is_deeply([sort keys %$r], [sort qw(id name description input_schema
    media_output_keys example_responses)], 'with all keys');

sub missing { [{ loc => ['body', @_], msg => 'Field required',
                 type => 'missing' }] }
sub bad { my $m = pop; [{ loc => ['body', @_], msg => $m,
                          type => 'value_error' }] }

for my $row (
    ['{}', 422, missing('inputs')],
    ['{', 422, bad('JSON decode error')],
    ['{"inputs":1}', 422, bad('inputs', 'Input should be a valid dictionary')],
    ['{"inputs":{}}', 422, missing('inputs', 'request')],
    ['{"inputs":{"request":5}}', 422, bad('inputs', 'request',
        'Input should be a valid string')],
    ['{"inputs":{"request":""}}', 422, bad('inputs', 'request',
        'String should have at least 1 character')],
    ['{"inputs":{"request":null}}', 422, bad('inputs', 'request',
        'Input should be a valid string')],
    ['{"inputs":{"request":"a","b":1}}', 422, bad('inputs', 'b',
        'Extra inputs are not permitted')],
    ['{"inputs":{"request":"prose"}}', 422, bad('inputs', 'request',
        'There is no planner here: one fenced block of Python is needed')],
    [$json->encode({ inputs => { request => 'a' x 300_000 } }), 422,
     bad('inputs', 'request', 'String is too long')],
    [$json->encode({ inputs => code('#' . "\1" x 100_000) }), 422,
     bad('inputs', 'request', 'String is too long')],
    [$json->encode({ inputs => { request => "\n" x 250_000 . "a```" } }), 422,
     bad('inputs', 'request',
         'There is no planner here: one fenced block of Python is needed')],
    [$json->encode({ inputs => { request => "x ```\n${F}sh\nls\n$F\n"
        . "${F}python\n1\n$F\n${F}py\n2\n$F" } }), 422, bad('inputs',
        'request',
        'There is no planner here: one fenced block of Python is needed')],
    ['{"inputs":{"request":"a","document_ids":"x"}}', 422, bad('inputs',
        'document_ids', 'Input should be a valid list')],
    ['{"inputs":{"request":"a","document_ids":["x"]}}', 404,
     'Document x not found'],
    ['{"inputs":{"request":"a","sandbox_id":"x"}}', 404, 'no such sandbox'],
    [$json->encode({ inputs => { %{ code('1') }, sandbox_id => 'sbx_local_'
        . '0' x 32 } }), 404, 'no such sandbox'],
) {
    my ($body, $status, $detail) = @$row;
    my $res = ask('POST', '/tools/code_execution/execute', $body);

    is($res->{status}, $status, "$status: " . substr $body, 0, 70);
    is_deeply($res->{json}, { detail => $detail }, 'in the words of the vendor');
}

for my $row (['POST', '/tools/none/execute', '{"inputs":{}}', 404],
    ['GET', '/tools/none', '', 404], ['GET', '/tools?page=0', '', 422],
    ['GET', '/tools?limit=101', '', 422],
    ['GET', '/tool-executions/exec_none', '', 404],
    ['POST', '/tool-executions/exec_none/provide-input', '', 404],
    ['GET', "/assets/tools/$uuid/$x->{id}/none.png", '', 404],
    ['GET', "/assets/tools/$uuid/$x->{id}", '', 404],
    ['PUT', '/tools', '', 405], ['GET', '/none', '', 404],
    ['POST', '/auth/token', '{"external_user_id":"a"}', 501],
    ['POST', "/tool-executions/$x->{id}/provide-input", '', 409])
{
    my ($method, $path, $body, $status) = @$row;
    my $res = ask($method, $path, $body);

    is($res->{status}, $status, "$method $path is $status");
    ok($res->{json}{detail}, 'with a detail');
}

$s->end;
done_testing;
