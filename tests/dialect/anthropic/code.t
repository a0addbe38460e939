#!/usr/bin/perl

# Blocks that ask for code to be run, byte by byte, with the front alone: each
# kind of result, each error, containers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 60_000, timeout_max => 60_000,
                             output => 2000, artifacts => 3);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '2026-10-21');
my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/;
my $json = JSON::PP->new->canonical->utf8;
my ($id, $r) = ('srvtoolu_A1');


sub ask {
    my ($body, %more) = @_;
    return $f->get('POST', '/code_execution', $body, @api, %more);
}

sub use_ {
    my ($name, $input, $its) = @_;
    return { type => 'server_tool_use', id => $its // $id, name => $name,
             input => $input, caller => { type => 'direct' } };
}

sub bash { return use_('bash_code_execution', { command => $_[0] }, $_[1]) }

sub edit { return use_('text_editor_code_execution', $_[0]) }

sub run { return ask({ content => [@_] }) }

sub result { return $_[0]{json}{content}[0] }

sub error_is {
    my ($got, $status, $type, $message, $name) = @_;
    is($got->{status}, $status, "$name: $status");
    is_deeply([@{$got->{json}{error}}{qw(type message)}], [$type, $message],
              "$name: $type");
}


# the whole answer

$r = run(bash('out("hi\n"); err("oh\n")'));
my ($container) = $r->{body} =~ /"id":"(container_\w+)"/;
like($r->{body}, qr/^\Q{"type":"code_execution","container":{"id":"\E
    container_n1_[0-9a-f]{32}","expires_at":"$time","skills":null\},
    \Q"content":[{"type":"bash_code_execution_tool_result",\E
    \Q"tool_use_id":"srvtoolu_A1","content":\E
    \Q{"type":"bash_code_execution_result","stdout":"hi\n","stderr":"oh\n",\E
    \Q"return_code":0,"content":[]}}],"stop_reason":"end_turn",\E
    \Q"usage":{"server_tool_use":{"code_execution_requests":1}}}\E\n$/x,
    'bash is answered byte by byte');
like($r->{header}{'request-id'}, qr/^req_\w{24}$/, 'with an id');
is($r->{header}{'x-retort-status'}, 'ok', 'and a verdict for the log');
is(result(run(bash('done(1, 3); $v{mute} = 1')))->{content}{return_code}, 3,
   'a code that is not 0 is a result');
is(result(run(bash('out("\xff\xc3\xa9")')))->{content}{stdout},
   "\x{fffd}\x{e9}", 'text is UTF-8');

# the files that it leaves

$r = result(run(bash('saved("a b.csv", "1,2"); saved("p.png", "x")')));
my @files = map { $_->{file_id} } @{$r->{content}{content}};
is_deeply($r->{content}{content}, [map +{ type => 'bash_code_execution_output',
          file_id => $_ }, @files], 'files are listed by their ids');
my $info = $f->get('GET', "/files/$files[0]", '', @api)->{json};
is_deeply([@$info{qw(filename mime_type size_bytes)}, !!$info->{downloadable}],
          ['a_b.csv', 'text/csv', 3, 1], 'they are files of the workspace');
$r = $f->get('GET', "/files/$files[0]/content", '', @api);
is("$r->{status} $r->{header}{'content-type'} $r->{body}", '200 text/csv 1,2',
   'that can be downloaded');
like($r->{header}{'content-disposition'}, qr/^attachment; filename="a_b.csv"/,
     'under their names');
is(result(run(bash('out($want)')))->{content}{stdout}, '100000 3 6',
   'the kernel is asked for OUTPUT_DIR alone, and keeps its folder');
$r = result(run(bash('saved("$_", "x") for 1 .. 4')));
is(scalar @{$r->{content}{content}}, 3, 'so many as may be');
like($r->{content}{stderr}, qr/^4 was not kept: a run may store 3 files\n$/,
     'the others are told of');

# Python, where the older version has it

my $py = run(use_('code_execution', { code => 'out("4")' }));
is_deeply(result($py), { type => 'code_execution_tool_result',
    tool_use_id => $id, content => { type => 'code_execution_result',
    stdout => '4', stderr => '', return_code => 0, content => [] } },
    'Python is answered');
$r = result(run(use_('code_execution', { code => 'err("x"); die "no\n"' })));
is_deeply([@{$r->{content}}{qw(return_code stderr)}],
          [1, "x\nTraceback\nFault: no\n"], 'an exception is on stderr');
is(result(run(use_('code_execution', { code => 'saved("a", "b")' })))
   ->{content}{content}[0]{type}, 'code_execution_output', 'so are its files');

# what is no result: the error of the block, HTTP stays 200

sub bash_error {
    my ($got, $code, $name) = @_;
    is($got->{status}, 200, "$name is no error of the request");
    is_deeply(result($got), { type => 'bash_code_execution_tool_result',
        tool_use_id => $id, content => { type =>
        'bash_code_execution_tool_result_error', error_code => $code } }, $name);
}

bash_error(ask({ content => [bash('nap(600)')] }, RETORT_LIMIT_TIMEOUT => 500),
           'execution_time_exceeded', 'too slow');
bash_error(run(bash('out("x" x 3000)')), 'output_file_too_large', 'too much');
bash_error(run(bash('change(4, "big", 1e9)')), 'output_file_too_large',
           'a file that is too large');
bash_error(run(use_('bash_code_execution', $_)), 'invalid_tool_input',
           $json->encode($_))
    for {}, { command => '' }, { command => 5 }, { command => undef };
bash_error(run({ %{bash('')}, input => $_ }), 'invalid_tool_input',
           'an input that is ' . $json->allow_nonref->encode($_))
    for 'x', [], undef;
$r = run(bash('oom()'));
is(result($r)->{content}{return_code}, 137, 'one that was killed says so');
like(result($r)->{content}{stderr}, qr/^Out of memory: /, 'and why');

# containers

$r = ask({ container => $container, content => [bash('$v{x} = 7')] });
is($r->{json}{container}{id}, $container, 'a container is gone on with');
$r = ask({ container => { id => $container, skills => [] },
           content => [bash('out($v{x})')] });
is(result($r)->{content}{stdout}, '7', 'in either form');
$r = ask({ container => $container,
           content => [map { bash("out(\$v{n}++)", "srvtoolu_$_") } 1 .. 3] });
is_deeply([map { [$_->{tool_use_id}, $_->{content}{stdout}] }
           @{$r->{json}{content}}], [['srvtoolu_1', 0], ['srvtoolu_2', 1],
          ['srvtoolu_3', 2]], 'several blocks run one after the other');
is($r->{json}{usage}{server_tool_use}{code_execution_requests}, 3,
   'and are counted');

for (['container_n1_' . '0' x 32, 'unknown'], ['x', 'no id'],
     ["sbx_n1_" . '0' x 32, 'a sandbox'])
{
    error_is(ask({ container => $_->[0], content => [bash('1')] }), 404,
             'not_found_error', "Container `$_->[0]` not found.", $_->[1]);
}

error_is(ask({ container => $container, content => [bash('1')] },
             RETORT_WORKSPACE => 'other'), 404, 'not_found_error',
         "Container `$container` not found.", "another workspace's");
(my $box = $container) =~ s/container/sbx/;
is($f->get('DELETE', "/sandboxes/$box", '')->{status}, 204, 'it is a sandbox');
error_is(ask({ container => $container, content => [bash('1')] }), 400,
         'invalid_request_error', "Container `$container` has expired.",
         'one that is gone');

# no place, no sandbox: each block says so, or the request if it named one

for ([3, 'too_many_requests'], [5, 'unavailable']) {
    my ($how, $code) = @$_;
    $f->{broker}->tell("spawn $how");
    bash_error(run(bash('1')), $code, "a broker that says $how");
    is_deeply(result(run(edit({ command => 'view', path => 'x' })))->{content},
              { type => 'text_editor_code_execution_tool_result_error',
                error_code => $code, error_message => undef },
              'the editor says the same');
    is(run(bash('1'))->{json}{container}, undef, 'there is no container then');
}

$f->{broker}->tell('spawn 0');

# files

sub upload {
    my ($name, $content) = @_;
    my $body = qq(--B\r\nContent-Disposition: form-data; name="file"; )
        . qq(filename="$name"\r\n\r\n$content\r\n--B--\r\n);
    return $f->get('POST', '/files', $body, @api,
                   CONTENT_TYPE => 'multipart/form-data; boundary=B')
        ->{json}{id};
}

sub given { { type => 'container_upload', file_id => $_[0] } }

my $code = 'out(join " ", map { "$_=$files{$_}" } sort keys %files)';
my $file = upload('a.csv', '1,2');
$r = run(given($file), bash($code), given(upload('b c', 'x')));
is(result($r)->{content}{stdout}, 'a.csv=1,2 b c=x',
   'files are there before anything runs');
is(scalar @{$r->{json}{content}}, 1, 'and are no results');
$r = run(given($file));
is_deeply($r->{json}{content}, [], 'files alone make a container');
is(result(ask({ container => $r->{json}{container}{id},
                content => [bash($code)] }))->{content}{stdout}, 'a.csv=1,2',
   'with them in it');
error_is(run(given('file_x'), bash('1')), 404, 'not_found_error',
         'File `file_x` not found.', 'a file that is not there');
error_is(ask({ content => [given($file)] }, RETORT_WORKSPACE => 'other'), 404,
         'not_found_error', "File `$file` not found.", "another's file");
error_is(run(given(upload('full', 'x')), bash('1')), 400,
         'invalid_request_error', 'file "full" could not be written: No space '
         . 'left on device', 'a file that finds no room');
$r = run(bash($code), given((result(run(bash('saved("o.txt", "made")')))
    ->{content}{content}[0]{file_id})));
is(result($r)->{content}{stdout}, 'o.txt=made',
   'what one container made is given to another');

done_front($f);
