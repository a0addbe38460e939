#!/usr/bin/perl

# What a client brings when an execution of Ubik's waits for it: a text, a file
# or both; from whom it is taken, and what is none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use IO::Socket::INET;
use JSON::PP;
use Retort::Fetch qw(web answer);
use Retort::Service;
use Test::More;

my $json = JSON::PP->new->utf8->canonical;
my $id;
my $F = '```';

# it asks, and prints what it was told and what is in the files that there are

my $web = web(sub {
    my ($sock, $head, $body) = @_;
    my $m = $json->decode($body)->{messages};
    my $n = grep { $_->{role} eq 'assistant' } @$m;
    my $said = JSON::PP->new->encode([$m->[-1]{content}]);

    answer($sock, 200, $json->encode({ choices => [{ message => { content =>
        $n == 0 ? "- Look\nASK: Which file?"
        : "${F}python\nimport glob\nprint($said, [(f, open(f).read()) for f "
          . "in sorted(glob.glob('/home/uploaded_files/*'))])\n$F" } }] }));
});

my $s = Retort::Service->new(stopped => 1, conf => {
    endpoint => "planner http://127.0.0.1:$web->{port}/" },
    profiles => { default => { request => '200k 1m' } });
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; retort_api ubik; "
    . "retort_auth_key_file $s->{dir}/keys; retort_planner planner;";

$s->{nginx} = 'underscores_in_headers on;';
$s->{location} = "location /ubik/api/v1/ { $pass }";
$s->configure;
$s->start;


sub ask {
    my ($method, $path, $body, @head) = @_;
    my $r = $s->request($method, "/ubik/api/v1$path", $body, @head);

    $r->{json} = eval { $json->decode($r->{content}) } // {};
    return $r;
}

sub reaches {
    my ($id, $status, @head) = @_;
    my $x;

    $s->until_true(sub {
        $x = ask('GET', "/tool-executions/$id", undef, @head)->{json};
        ($x->{status} // '') eq $status;
    });
    return $x;
}

# one that waits

sub waits {
    my (@head) = @_;
    my $id = ask('POST', '/tools/code_execution/execute',
        '{"inputs":{"request":"Read it"}}', @head)->{json}{execution_id};
    reaches($id, 'waiting_for_input', @head);
    return $id;
}

sub form {
    return join '', (map { "--B\r\nContent-Disposition: form-data; $_->[0]"
        . "\r\n\r\n$_->[1]\r\n" } @_), "--B--\r\n";
}

my @type = ('content-type' => 'multipart/form-data; boundary=B');

sub give {
    my ($id, $parts, @head) = @_;
    return ask('POST', "/tool-executions/$id/provide-input", form(@$parts),
               @type, @head);
}

# what the code has printed

sub says {
    my ($what, $name) = @_;
    my $log = reaches($id, 'completed')->{outputs}{logs};

    ok(index($log, "STDOUT:\n$what") != -1, $name) or diag($log);
}

my $text = ['name="input_data_json"', 'Here it is'];
my $file = ['name="file"; filename="a b.csv"', "1,2\n"];

# a text and a file, a file alone

$id = waits();
my $r = give($id, [$text, $file]);
is("$r->{status} $r->{json}{execution_id}", "202 $id", 'both are taken');
says(q(['Here it is\n\nFiles:\n/home/uploaded_files/a b.csv\n'] )
     . q([('/home/uploaded_files/a b.csv', '1,2\n')]),
     'the planner hears of both, and code has the file');
is(give($id, [$text])->{status}, 409, 'nobody waits any more');

$id = waits();
is(give($id, [["name=file; filename*=utf-8''%C3%A9.csv", 'x']])->{status}, 202,
   'a file is enough');
says(qq{['Files:\\n/home/uploaded_files/\x{e9}.csv\\n'] [(},
     'of which it hears');

# what is none

$id = waits();

for (['two files', [$file, $file], 'file'],
     ['two texts', [$text, $text], 'input_data_json'],
     ['a file by another name', [['name=x; filename=a', 'x']], 'file'],
     ['nothing', [['name=x', 'y']], 'input_data_json'],
     ['no UTF-8', [['name="input_data_json"', "\xff"]], 'input_data_json'],
     ['a NUL', [['name="input_data_json"', "a\0b"]], 'input_data_json'],
     ['a long text', [['name="input_data_json"', 'x' x 65537]],
      'input_data_json'],
     map({ ["a file called $_", [["name=file; filename=\"$_\"", 'x']], 'file']
         } '..', '.', 'a:b', 'x' x 256, ''))
{
    my ($what, $parts, $where) = @$_;
    $r = give($id, $parts);
    is_deeply([$r->{status}, $r->{json}{detail}[0]{loc}],
              [422, ['body', $where]], 'refused: ' . substr $what, 0, 40);
}

is(give($id, [['name=file; filename=a', 'x' x 300_000]])->{status}, 413,
   'refused: more than a request may have');
is(ask('POST', "/tool-executions/$id/provide-input", '{}')->{status}, 415,
   'refused: JSON');
is(give($id, [$text], 'x-end-user-id' => 'mallory')->{status}, 404,
   'another end user finds nothing that waits');
is(give($id, [$text], authorization => "Bearer $s->{other}")->{status}, 404,
   'nor does another workspace');
is(reaches($id, 'waiting_for_input')->{status}, 'waiting_for_input',
   'it still waits');

my @told = map { give($id, [$text])->{status} } 1, 2;
is($told[0], 202, 'and is told');
isnt($told[1], 202, 'once');
reaches($id, 'completed');

# end users by the header of the vendor's guide, which has underscores

my @user = ('external_user_id' => 'ann');
$id = waits(@user);
is(ask('GET', "/tool-executions/$id")->{status}, 404,
   'what an end user has begun is not there without his name');
is(give($id, [$text], 'X-End-User-ID' => 'ann')->{status}, 202,
   'by either header he is the same');
is(reaches($id, 'completed', @user)->{user_id}, 'ann', 'and so he is called');

my $sock = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $s->{port})
    or die "connect: $!";
my $body = '{"inputs":{"request":"x"}}';
print $sock "POST /ubik/api/v1/tools/code_execution/execute HTTP/1.1\r\n"
    . "Host: a\r\nConnection: close\r\nAuthorization: Bearer $s->{key}\r\n"
    . "X-End-User-ID: b\xf6b\r\nContent-Type: application/json\r\n"
    . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
like(join('', <$sock>), qr/^HTTP\S+ 400 .*"X-End-User-ID is no UTF-8"/s,
     'a name that is no UTF-8 is refused, and not lost');

$web->stop;
$s->end;
done_testing;
