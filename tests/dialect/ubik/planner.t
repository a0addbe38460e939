#!/usr/bin/perl

# Ubik's tool with a planner: it plans, its code is run, it reads what became
# of that and goes on, in a bounded number of rounds; and whatever it answers,
# an execution ends.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Fetch qw(web answer);
use Retort::Service;
use Test::More;

my $json = JSON::PP->new->utf8->canonical;
my $F = '```';

sub said { $json->encode({ choices => [{ message => {
    role => 'assistant', content => $_[0] } }] }) }

# what is answered, by the endpoint and by how much was said before

my %script = (
    good => [
        "I will do this:\n- Make a list\n- Add it up\n\n${F}python\nx = [1, 2\n$F",
        "A bracket is missing.\n${F}python\nx = [1, 2]\nprint(x)\n$F\nThat is it.",
        "${F}python\nprint('sum', sum(x), open('/home/uploaded_files/n').read())"
        . "\n$F", "${F}python\nraise ValueError('not asked')\n$F" ],
    stops => ["1. One\n2. Two\n3. Three\n${F}\nprint(1)\n$F", 'DONE'],
    endless => [("${F}python\nraise ValueError('again')\n$F") x 20],
    files => [("- One\n- Two\n- Three\n${F}python\nopen('one.txt', 'w').write('%d')\n"
        . "print('#' * 40000, 'the end')\n$F") x 2, 'DONE'],
    asks => ["I have to know.\nASK: Which number?",
        "${F}python\nprint('it is', %s)\n$F"],
    asksmore => [('ASK: What?') x 20],
    nocode => ['I am sorry.'],
);

my $web = web(sub {
    my ($sock, $head, $body) = @_;
    my ($name) = $head =~ m{^POST /(\w+)};

    if ($name eq 'html') {
        answer($sock, 200, '<html>', 'Content-Type: text/html');
    } elsif ($name eq 'empty') {
        answer($sock, 200, '{"choices":[]}', 'Content-Type: application/json');
    } elsif ($name eq 'error') {
        answer($sock, 500, said("${F}\n1\n$F"), 'Content-Type: application/json');
    } else {
        my $m = eval { $json->decode($body)->{messages} } // [];
        my $n = grep { $_->{role} eq 'assistant' } @$m;
        my $text = $script{$name}[$n] // 'DONE';

        # it is told what it needs, or says so
        $text = "not told\n" if $name eq 'good' && $n == 0
            && $m->[1]{content} ne "Add 1 and 2\n\nContext:\nshort\n\nFiles:\n"
               . "/home/uploaded_files/n\n";
        $text = "not told\n" if $name eq 'good' && $n == 1
            && $m->[-1]{content} !~ /SyntaxError.*STATUS: Execution failed/s;
        $text = "not told\n" if $name eq 'good' && $n == 2
            && $m->[-1]{content} !~ /STDOUT:\n\[1, 2\]\n/;
        $text = "not told\n" if $name eq 'files' && $n
            && ($m->[-1]{content} !~ /the end\n\nSTATUS: Execution successful/
                || length $m->[-1]{content} > 17000);
        $text =~ s/%d/$n/;
        $text =~ s/%s/$m->[-1]{content}/;
        answer($sock, 200, said($text), 'Content-Type: application/json');
    }
});

my $at = "http://127.0.0.1:$web->{port}";
my @names = (sort(keys %script), qw(html empty error));
my $s = Retort::Service->new(stopped => 1, conf => { endpoint => join
    "\nendpoint ", (map {"$_ $at/$_ model=little"} @names),
    'closed http://127.0.0.1:1/' });
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys;";

$s->{location} = join '', "location /anthropic/v1/ { retort_api anthropic; "
    . "$pass }\n", map { "location /$_/ { retort_api ubik; retort_planner $_; "
    . "$pass }\n" } @names, 'closed', 'unknown';
$s->configure;
$s->start;


sub ask {
    my ($method, $path, $body, @head) = @_;
    my $r = $s->request($method, $path, $body, 'content-type' =>
        'application/json', @head);
    return eval { $json->decode($r->{content}) } // {};
}

sub planned {
    my ($where, %more) = @_;
    my $id = ask('POST', "/$where/tools/code_interpreter/execute",
        $json->encode({ inputs => { request => 'Add 1 and 2', %more } }))
        ->{execution_id};
    my $x;

    $s->until_true(sub {
        $x = ask('GET', "/$where/tool-executions/$id", '');
        ($x->{status} // '') =~ /^(?:completed|failed)$/;
    }, 60);

    return $x;
}

my $b = 'xxBOUNDxx';
my $doc = $json->decode($s->request('POST', '/anthropic/v1/files',
    "--$b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"n\"\r\n"
    . "\r\n3!\r\n--$b--\r\n", 'content-type' =>
    "multipart/form-data; boundary=$b", 'anthropic-version' => '1')
    ->{content})->{id};

my $x = planned('good', context => 'short', document_ids => [$doc]);
my $log = $x->{outputs}{logs};

is($x->{status}, 'completed', 'wrong code is mended') or diag $json->encode($x);
is_deeply($x->{outputs}{plan}, ['Make a list', 'Add it up'], 'the plan is told');
is($x->{outputs}{total_rounds}, 3, 'and the rounds');
like($log, qr/\n--- Round 1\/6: Make a list ---\nGENERATED CODE:\nx = \[1, 2\n/s,
     'the first step fails');
like($log, qr/STATUS: Execution failed\n\n--- Round 2\/6: Make a list ---\n/,
     'and is tried again');
like($log, qr/--- Round 3\/6: Add it up ---.*STDOUT:\nsum 3 3!\n\n/s,
     'then comes the next, with variables and files');
like($log, qr/STATUS: Execution successful\n$/, 'to the end');
is($x->{error}, undef, 'a mended error is none');

$x = planned('stops');
is("$x->{status} $x->{outputs}{total_rounds}", 'completed 1',
   'it may say that it is done');

$x = planned('files');
is("$x->{status} $x->{outputs}{total_rounds}", 'completed 2',
   'it is told the end of what is long, and not all');
is_deeply([map { $_->{asset_filename} } @{ $x->{outputs}{generated_files} }],
          ['one.txt'], 'a file that is written twice is one');
is($s->request('GET', $x->{outputs}{generated_files}[0]{url}, '')->{content},
   '1', 'as it was in the end');

# what only the client knows

sub form {
    return join '', (map { "--$b\r\nContent-Disposition: form-data; $_->[0]"
        . "\r\n\r\n$_->[1]\r\n" } @_, ['name="x"', '']), "--$b--\r\n";
}

sub start {
    return ask('POST', "/$_[0]/tools/code_interpreter/execute",
        $json->encode({ inputs => { request => 'Say it' } }))->{execution_id};
}

sub give {
    my ($where, $id, @parts) = @_;
    my $r = $s->request('POST', "/$where/tool-executions/$id/provide-input",
        form(@parts), 'content-type' => "multipart/form-data; boundary=$b");
    return $r->{status};
}

sub reaches {
    my ($where, $id, $status) = @_;
    my $got;

    $s->until_true(sub {
        $got = ask('GET', "/$where/tool-executions/$id", '');
        ($got->{status} // '') eq $status;
    });
    return $got;
}

my @answer = ['name="input_data_json"', '6 * 7'];
my $asks = start('asks');

is(reaches('asks', $asks, 'waiting_for_input')->{status}, 'waiting_for_input',
   'it may ask its client');
is(give('asks', $asks), 422, 'who has to answer');
is(give('asks', $asks, ['name="other"; filename="a"', 'b'], @answer), 422,
   'with a text, or a file by its name');
is(give('asks', $asks, ['name="input_data_json"', 'x' x 70_000]), 422,
   'that is not too long');
is($s->request('POST', "/asks/tool-executions/$asks/provide-input", '{}')
   ->{status}, 415, 'in a form');
is(give('asks', $asks, @answer), 202, 'and is heard');
$x = reaches('asks', $asks, 'completed');
like($x->{outputs}{logs}, qr/STDOUT:\nit is 42\n/, 'the planner is told of it');
is(give('asks', $asks, @answer), 409, 'nobody waits any more');
like($s->request('GET', "/asks/tool-executions/$asks/stream", '')->{content},
    qr/^event:\ tool_input_required\n
     data:\ \{"prompt":"Which\ number\?","input_types":\["text","file"\],
     "timeout":300,"state":"waiting_for_input"\}\n\n/mx,
    'who follows it knows the question');

$asks = start('asksmore');
for (1 .. 3) {
    $s->until_true(sub { give('asksmore', $asks, @answer) == 202 });
}
is(reaches('asksmore', $asks, 'failed')->{error},
   "the planner's answer has no code", 'it may not ask for ever');

$x = planned('endless');
is("$x->{status} $x->{outputs}{total_rounds}", 'failed 6',
   'it may not go on for ever');
is($x->{error}, 'ValueError: again', 'and the last error is told');

for my $row (['nocode', "the planner's answer has no code"],
             ['html', "the planner's answer is no JSON"],
             ['empty', "the planner's answer has no text"],
             ['error', 'the planner refused to answer'],
             ['closed', undef], ['unknown', undef])
{
    my ($where, $why) = @$row;

    $x = planned($where);
    is($x->{status}, 'failed', "$where: it fails");
    defined $why ? is($x->{error}, $why, 'and says why')
                 : ok($x->{error}, "and says why: $x->{error}");
    is($x->{outputs}{total_rounds}, 0, 'nothing has run');
}

$x = planned('closed', request => "${F}\nprint(9)\n$F");
is($x->{status}, 'completed', 'code that is given needs no planner');

$web->stop;
$s->end;
done_testing;
