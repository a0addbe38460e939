#!/usr/bin/perl

# Every tool of MCP from one location of a whole service, each of which really
# runs and goes on where its handle says; Prisme's tool with tables by their
# URLs, for workspaces that somebody else vouches for.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Digest::SHA qw(hmac_sha256_hex);
use File::Temp ();
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Retort::Fetch qw(answer web);
use Retort::Service;
use Test::More;

my $python = 'runPythonCodeInRemoteEnvironment';
my $shell = 'runShellCommandInRemoteEnvironment';
my @tools = (qw(python bash write_file read_file list_files code_interpreter
    code_execution bash_code_execution text_editor_code_execution
    execute_python launchShell), $python, $shell);
my %served = ('/t/sales.csv' => "b\n1\n2\n39\n");

# the workbook is made by the service, after this has forked: as a file
my $dir = File::Temp->newdir('retort-every-XXXXXX', TMPDIR => 1);
my $web = web(sub {
    my ($sock, $head) = @_;
    my ($path) = $head =~ m{^GET (/[^ ?]*)};
    my $book = Retort::Service::slurp("$dir/book");

    return answer($sock, 200, $book) if $path eq '/t/sales.xlsx';
    answer($sock, exists $served{$path} ? 200 : 404, $served{$path} // 'no');
});
my $at = "http://127.0.0.1:$web->{port}/t";
my $s = Retort::Service->new(stopped => 1, conf => { fetch => 'time=60s',
    fetch_allow => "127.0.0.1:$web->{port}" });
my $secret = 's' x 32;

Retort::Service::write_file("$s->{dir}/secret", "$secret\n", 0600);
$s->{location} = join '', map { "location = $_->[0] { retort_api $_->[1]; "
    . "retort_pass unix:$s->{dir}/run/front.sock; $_->[2] }\n" }
    ['/every', 'mcp', "retort_auth_key_file $s->{dir}/keys;"
     . " retort_tools @tools;"],
    ['/near/mcp', 'prisme', 'retort_auth_peers 127.0.0.0/8;'
     . ' retort_workspace near;'],
    ['/far/mcp', 'prisme', 'retort_auth_peers 10.0.0.0/8;'
     . ' retort_workspace far;'],
    ['/few/mcp', 'prisme', "retort_auth_key_file $s->{dir}/keys;"
     . ' retort_import_allow pandas;'],
    ['/signed/mcp', 'prisme', "retort_auth_signed $s->{dir}/secret"
     . ' window=600s;'];
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;


sub rpc {
    my ($path, $method, $params, @head) = @_;
    my $r = $s->request('POST', $path, $json->encode({ jsonrpc => '2.0',
        id => 1, method => $method, params => $params // {} }),
        'content-type' => 'application/json', @head);
    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub tool {
    my ($name, %args) = @_;
    my $r = rpc('/every', 'tools/call', { name => $name,
                                          arguments => \%args })->{json};
    return $r->{result}{structuredContent} // $r->{result}{content}
        // $r->{error};
}


# thirteen tools

is_deeply([sort map { $_->{name} } @{ rpc('/every', 'tools/list')
          ->{json}{result}{tools} }], [sort @tools], 'all tools are offered');

my $r = tool('python', code => 'x = 6; open("a.txt", "w").write("hi")');
my @box = (sandbox_id => $r->{sandbox_id});
is(tool('python', code => 'x * 7', @box)->{result}, '42', 'python');
is(tool('bash', code => 'cat a.txt', @box)->{stdout}, 'hi', 'bash');
is(tool('write_file', path => 'b.txt', text => 'ho', @box)->{sandbox_id},
   $box[1], 'write_file');
is(tool('read_file', path => 'b.txt', @box)->{text}, 'ho', 'read_file');
is_deeply([sort map { $_->{path} } @{ tool('list_files', @box)->{files} }],
          ['a.txt', 'b.txt'], 'list_files');
is(tool('code_execution', code => 'print(x)', @box)->{stdout}, "6\n",
   'code_execution');
is(tool('bash_code_execution', command => 'cat b.txt', @box)->{stdout}, 'ho',
   'bash_code_execution');
is(tool('text_editor_code_execution', command => 'view', path => 'a.txt', @box)
   ->{content}, 'hi', 'text_editor_code_execution: all of them in one sandbox');

like(tool('code_interpreter', code => 'print(6 * 7)')->[0]{text}, qr/^stdout:.*42/s,
     'code_interpreter');
is(tool('execute_python', code => 'print(6 * 7)')->{result}, "42\n",
   'execute_python');

my @env = (environmentId => tool('launchShell')->{environmentId});
is(tool($python, pythonCode => 'y = 5; print(y)', @env)->{stdout}, "5\n",
   $python);
is(tool($python, pythonCode => 'print(y)', @env)->{stdout}, "5\n",
   'goes on in its environment');
tool($shell, shellCommand => 'echo ho > c.txt', @env);
is(tool($shell, execCommandAndArgs => ['cat', 'c.txt'], @env)->{stdout},
   "ho\n", "$shell, too");

# whose request it is: by peer, by a header that somebody signed, by no key

sub script {
    my ($path, $code, $files, @head) = @_;
    return rpc($path, 'tools/call', { name => 'execute_python', arguments => {
        code => $code, files => $files // [] } }, authorization => '', @head);
}

sub signed {
    my ($workspace, $key) = @_;
    my $said = time . ":$workspace:";
    return ('X-Retort-Identity' => "$said:" . hmac_sha256_hex(
        "retort-identity $said POST /signed/mcp", $key // $secret));
}

is(script('/near/mcp', '1')->{json}{result}{structuredContent}{result}, 1,
   'a peer that is trusted needs no key');
is(script('/signed/mcp', '1', [], signed('acme'))->{json}{result}
   {structuredContent}{result}, 1, 'nor does who has a signed header');

for (['/far/mcp', 'another peer'], ['/signed/mcp', 'no header'],
     ['/signed/mcp', 'a header of another\'s', signed('acme', 'x' x 32)])
{
    my ($path, $who, @head) = @$_;
    my $no = script($path, '1', [], @head);

    is($no->{status}, 401, "$who is refused");
    is($no->{json}{error}{code}, -32001, 'in the protocol\'s form');
}

# CSV and Excel

my $book = $s->run("import base64, io, pandas\nb = io.BytesIO()\n"
    . "pandas.DataFrame({'b': [1, 2, 39]}).to_excel(b, index=False)\n"
    . 'print(base64.b64encode(b.getvalue()).decode())')->{stdout};
Retort::Service::write_file("$dir/book", decode_base64($book));

is_deeply(script('/near/mcp', "import csv\nwith open('sales.csv') as f:\n"
          . "    print(sum(int(r['b']) for r in csv.DictReader(f)))",
          ["$at/sales.csv"])->{json}{result}{structuredContent},
          { result => "42\n", logs => [] }, 'a CSV file by its URL');
is_deeply(script('/near/mcp', "import pandas\nint(pandas.read_excel("
          . "'sales.xlsx')['b'].sum())", ["$at/sales.xlsx?v=1"])
          ->{json}{result}{structuredContent}, { result => 42, logs => [] },
          'and a workbook');

$r = script('/near/mcp', 'print(1)', ["$at/sales.csv", "$at/none.csv"])
    ->{json}{result};
ok($r->{isError}, 'a file that cannot be had fails the call');
is($r->{structuredContent}{error}{code}, 'FileDownloadError', 'with a code');
like($r->{structuredContent}{error}{message}, qr/none\.csv.*404/,
     'the file\'s name and the reason');

# modules that the operator has not listed

$r = rpc('/few/mcp', 'tools/call', { name => 'execute_python', arguments => {
    code => "import json, pandas\nimport numpy" } })->{json}{result};
ok($r->{isError}, 'a module that is not listed is refused');
is_deeply([@{ $r->{structuredContent}{error} }{qw(code message)}],
          ['ImportError', "ImportError: module 'numpy' is not allowed by "
          . 'PYTHON_PACKAGES_WHITELIST_IMPORT'], 'in the words that agents know');
like($r->{structuredContent}{error}{stack}, qr/^Traceback|^-{20}/,
     'with a traceback');

$s->end;
done_testing;
