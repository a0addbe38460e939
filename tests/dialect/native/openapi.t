#!/usr/bin/perl

# The native API's document is true: every operation and every status in it is
# had from the service by nginx, and each answer is what the document says.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64;
use Retort::FakeFront;
use Retort::Front;
use Retort::OpenApi;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, alerts => qr{none\.sock},
    nginx => 'retort_zone runs 1m;', profiles => { default => {
        disk => '4m 64m', fsize => '2m 64m', request => '1m 16m' } });
my $f = Retort::Front->new(threads => 16);
my $web = (getpwnam 'www-data')[2];
my $broken = Retort::FakeFront->new("$s->{dir}/broken.sock", sub {
    $_[0]->stdin;
    $_[0]->send("no header\r\n\r\n");
});

$f->run(args => ['--allow-uid', $web]);
chown $web, -1, $f->{path}, $f->{dir}, "$s->{dir}/broken.sock";
Retort::Service::write_file("$s->{dir}/links", 'x' x 32 . "\n", 0600);

my $front = "unix:$s->{dir}/run/front.sock";
my %where = ('' => $front, denied => "$front; deny all",
    limited => "$front; retort_limits zone=runs rate=1r/m",
    broken => "unix:$s->{dir}/broken.sock", fake => "unix:$f->{path}",
    away => "unix:$s->{dir}/none.sock");

$s->{location} = join '', map({ $_ eq '' ? '' : "location /$_/v1/ { "
    . "retort_pass $where{$_}; retort_auth_key_file $s->{dir}/keys; }\n"
    . "location /$_/health { retort_pass $where{$_}; retort_api health; }\n" }
    sort keys %where), "location /denied/static/ { retort_artifacts "
    . "$s->{dir}/artifacts; retort_artifacts_secret $s->{dir}/links; }\n";
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;
my $doc = $json->decode($s->get('/v1/openapi.json')->{content});
my $api = Retort::OpenApi->new($doc);

is($doc->{servers}[0]{url}, '/v1', 'the document knows where it is');
is($json->decode($s->get('/fake/v1/openapi.json')->{content})
   ->{servers}[0]{url}, '/fake/v1', 'and where another one is');


# asks an operation with what its path wants; the answer has to be as documented

my %in;

sub ask {
    my ($status, $method, $path, $body, %h) = @_;
    my $prefix = delete $h{prefix} // '';
    my $query = delete $h{query} // '';
    my $own = $doc->{paths}{$path}{servers} ? '' : '/v1';
    my %in = (%in, %{ delete $h{in} // {} });
    (my $uri = $path) =~ s/\{(\w+)\}/$in{$1}/g;
    my $text = ref $body ? $json->encode($body) : $body;
    my $r = $s->request(uc $method, ($prefix && "/$prefix") . "$own$uri$query",
                        $text, %h);
    my @faults = $api->answer($method, $path, $r);

    push @faults, $api->request_faults($method, $path, 'application/json',
        $body) if ref $body && $r->{status} < 300;
    is(join("\n", $r->{status}, @faults), $status, "$method $prefix$path is "
       . "$status, and as documented" . ($h{accept} ? " ($h{accept})" : ''));
    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

my $run = '/execute';
my $box = '/sandboxes/{sandbox_id}';
my $files = "$box/files";
my $file = "$files/{name}";
my $exec = '/executions/{execution_id}';
my $events = "$exec/events";
my %stream = map { $_ => 1 } 'text/event-stream', 'application/x-ndjson';

sub code { { code => $_[0], @_[1 .. $#_] } }

# a session, and all that runs say

%in = (sandbox_id => ask(201, 'post', '/sandboxes', { ttl => 60, profile =>
    'default', limits => { cpu => 0.5, memory_bytes => 3e8 }, files => [
    { name => 'in.txt', text => 'x' }, 'data:text/csv,a,b' ] })
    ->{json}{sandbox_id}, name => 'a.txt');
my $rich = join "\n", 'import sys, pandas, matplotlib.pyplot as plt',
    'from IPython.display import display, HTML', 'print(1)',
    'print(2, file=sys.stderr)', 'plt.plot([1, 2]); plt.show()',
    'display(HTML("<b>x</b>"))', 'open("out.csv", "w").write("a")',
    'import os; os.remove("in.txt")', 'pandas.DataFrame({"a": [1]})';

ask(200, 'post', $run, code($rich, sandbox_id => $in{sandbox_id}));
my $r = ask(200, 'post', $run, code("$rich\n1/0", env => { A => '1' }, stdin =>
    'x', timeout => 20, language => 'python', keep => $JSON::PP::false,
    limits => { output_bytes => 1e5 }, files => [{ name => 'in.txt',
    content_base64 => encode_base64('x', '') }]));
my ($artifact) = map { $_->{url} =~ m{([^/]+)$} } $r->{json}{artifacts}[0];
ask(200, 'post', $run, code('print("x" * 9000)', limits => {
    output_bytes => 1000 }));
ask(200, 'post', $run, code($_)) for 'import os; os._exit(3)', 'x = bytearray('
    . '10**10)', 'import os; os.kill(os.getpid(), 9)';
ask(200, 'post', $run, code('exit 3', language => 'bash', files => [
    { file_id => $artifact }]));
ask(200, 'post', $run, code($rich =~ s/in\.txt/out.csv/r), accept => $_)
    for 'text/markdown', sort keys %stream;
my $late = ask(202, 'post', $run, code('import time; time.sleep(60)',
    detach => $JSON::PP::true))->{json}{execution_id};

ask(200, 'get', $_) for '/metadata', '/openapi.json', '/sandboxes', $box;
ask(200, 'post', "$box/$_") for 'interrupt', 'restart';

# runs

$in{execution_id} = $late;
ask(200, 'get', $exec);
$s->until_true(sub { $s->request('DELETE', "/v1/executions/$late")->{status}
                     == 200 });
ask(200, $_, $exec) for 'delete', 'get';
ask(200, 'get', $events, undef, accept => $_) for sort keys %stream;
ask(204, 'get', $events, undef, query => '?after=999999');
ask(400, 'get', $events, undef, query => '?after=x');
ask(406, 'get', $events, undef, accept => 'text/markdown');
ask(404, @$_, in => { execution_id => 'exec_local_' . '0' x 32 }, body => '')
    for ['get', $exec, undef], ['delete', $exec, undef],
        ['get', $events, undef];

# files

my $part = qq(--x\r\nContent-Disposition: form-data; name="file"; filename=");
sub form { $part . qq($_[0]"\r\n\r\n$_[1]\r\n--x--\r\n) }
my @form = ('content-type' => 'multipart/form-data; boundary=x');

ask($_, 'put', $file, 'x') for 201, 200;
ask(200, $_, $file) for 'get', 'head';
ask(201, 'post', $files, form('b.txt', 'y'), query => '?path=d/e', @form);
ask(200, 'get', $files, undef, query => '?recursive=true');
ask(204, 'delete', $file);

ask(404, $_, $file) for 'get', 'head', 'delete';
ask(404, 'get', $files, undef, query => '?path=none');
my @other = (in => { sandbox_id => 'sbx_local_' . '0' x 32, name => 'x' });
ask(404, 'put', $file, 'x', @other);
ask(404, 'post', $files, form('b', ''), @form, @other);

my @bad = (in => { name => 'a%01' });
ask(400, $_, $file, $_ eq 'put' ? 'x' : undef, @bad)
    for 'get', 'head', 'put', 'delete';
ask(400, 'get', $files, undef, query => '?recursive=maybe');
ask(400, 'post', $files, '--y--', @form);
ask(415, 'post', $files, 'x', 'content-type' => 'text/plain');

my @folder = (in => { name => 'd' });
ask(409, $_, $file, $_ eq 'put' ? 'x' : undef, @folder)
    for 'get', 'head', 'put', 'delete';
ask(409, 'get', $files, undef, query => '?path=d/e/b.txt');
ask(409, 'post', $files, form('c', ''), query => '?path=d/e/b.txt', @form);

ask(413, 'put', $file, 'x' x 3e6);
ask(413, 'post', $files, form('big', 'x' x 3e6), @form);
ask(201, 'put', $file, 'x' x 2e6, in => { name => $_ }) for 1, 2;
ask(507, 'put', $file, 'x' x 1e6);
ask(507, 'post', $files, form('big', 'x' x 1e6), @form);

# what is wrong with what is asked

for my $path ($run, '/sandboxes') {
    my $ok = $path eq $run ? { code => '1' } : {};

    ask(400, 'post', $path, { %$ok, none => 1 });
    ask(400, 'post', $path, '{');
    ask(404, 'post', $path, { %$ok, files => [{ file_id => "0$artifact" }] });
    ask(413, 'post', $path, ' ' x 2e6);
    ask(415, 'post', $path, '{}', 'content-type' => 'text/plain');
    ask(422, 'post', $path, { %$ok, files => ['http://127.0.0.1/x'] });
    $f->{broker}->tell('spawn', 5);
    ask(500, 'post', $path, $ok, prefix => 'fake');
}

ask(400, 'post', $run, code('1', files => [{ name => 'x/y', text => '1' },
    { name => 'x', text => '2' }]));
ask(404, 'post', $run, code('1', sandbox_id => 'sbx_local_' . '0' x 32));
ask(406, 'post', $run, code('1'), accept => 'image/png');

# a run that does not end when it is told to: it waits for the broker

$f->{broker}->tell('spawn', 0);
kill 'STOP', $f->{broker}{pid};
$in{execution_id} = ask(202, 'post', $run, code('1', detach =>
    $JSON::PP::true), prefix => 'fake')->{json}{execution_id};
ask(202, 'delete', $exec, undef, prefix => 'fake');
kill 'CONT', $f->{broker}{pid};

# what has ended

ask(404, $_->[0], $_->[1], undef, @other) for ['get', $box], ['delete', $box],
    ['post', "$box/interrupt"], ['post', "$box/restart"];
ask(204, 'delete', $box);
ask(410, @$_) for ['get', $box], ['delete', $box], ['post', "$box/interrupt"],
    ['post', "$box/restart"], ['get', $files], ['get', $file],
    ['head', $file], ['delete', $file], ['put', $file, 'x'],
    ['post', $files, form('b', ''), @form],
    ['post', $run, code('1', sandbox_id => $in{sandbox_id})];

# artifacts

my $static = '/static/{artifact}';
$in{artifact} = $artifact;
$r = ask(200, 'get', $static);
ask(206, 'get', $static, undef, range => 'bytes=0-1');
ask(304, 'get', $static, undef, 'if-none-match' => $r->{headers}{etag});
ask(403, 'get', $static, undef, prefix => 'denied');
ask(404, 'get', $static, undef, in => { artifact => '0' x 32 . '.png' });

# what holds everywhere

$api->operations(sub {
    my ($method, $path, $op, $item) = @_;
    my @get = ($method, $path, $op->{requestBody} ? '{}' : undef);

    if ($item->{servers}) {
        ask(200, @get) if $path =~ /health/;
        ask(503, @get, prefix => 'away') if $path =~ /health/;
        return;
    }

    ask(401, @get, authorization => '');
    ask(403, @get, prefix => 'denied');
    $s->request(uc $method, '/limited/v1/none');
    ask(429, @get, prefix => 'limited');
    ask(502, @get, prefix => 'broken');
    ask(503, @get, prefix => 'away');
});

is_deeply([$api->unseen], [], 'all that is documented was seen');

$broken->stop;
$f->stop;
$s->end;
done_testing;
