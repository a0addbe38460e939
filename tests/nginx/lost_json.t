#!/usr/bin/perl

# The front goes away in the middle of a JSON body, at each byte: the client
# still gets a whole document, and its status is "lost".

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC

my $pretty = qq({\n  "a" : [ 1 , -2.5e+10, true ],\n  "statu" : null ,\n)
    . qq(  "status" :  "ok" \n}\n);

my %sample = (
    run => qq({"execution_id":"exec_1","stdout":"4\\n\\"q\\" \xc3\xa9 )
        . qq(\xe2\x82\xac \xf0\x9f\x98\x80","s":"","st":0,"stderr":"",)
        . qq("u":"\\u00e9\\ud83d\\ude00\\\\","result":null,"n":[0,-1.25e-3,)
        . qq(12.5E+7,1e5],"b":[true,false,null,[],{}],"o":{"status":"ok",)
        . qq("x":{"y":[{"z":1},{"status":2}]}},"usage":{"wall_ms":3.1},)
        . qq("status":"ok"}\n),
    pretty => $pretty,
    first => '{"status":"error"}',
    array => '[{"status":"x"},[1,[2,[3]]],"e\u12abnd"]',
    none => '{"id":"sbx_1","state":"ready"}',
);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($name, $cut, $how) = split /,/, $req->{params}{QUERY_STRING};

    $req->stdin unless $how eq 'reset';

    my $body = substr $sample{$name}, 0, $cut;
    my $head = "Content-Type: application/json\r\nX-Retort-Form: json\r\n"
        . "X-Retort-Status: ok\r\n"
        . 'Content-Length: ' . length($sample{$name}) . "\r\n\r\n";

    if ($how eq 'tiny') {
        $req->raw($req->out($head . $body, 1));
        return $req->end;
    }

    $req->raw($req->out($head) . $req->out($body));
    $req->raw("\1\6\0\2\0\0\0\0") if $how eq 'broken';
    $req->end if $how eq 'ok';
    $req->end(1) if $how eq 'refused';
    $req->close;
});

$ng->start;

my $json = JSON::PP->new->utf8;


# what is wrong with an answer that was cut, or nothing

sub fault {
    my ($name, $cut, $how) = @_;

    my $res = $ng->post("/v1/execute?$name,$cut,$how", '{"code":"1"}');

    return "status $res->{status}" if $res->{status} != 200;
    return 'not whole' unless $res->{whole};
    return 'length promised' if exists $res->{header}{'content-length'};

    my $doc = eval { $json->decode($res->{body}) };
    return "no JSON: $res->{body}" unless defined $doc;

    return '' if $name eq 'array';
    return '' if $name eq 'none' && $cut == length $sample{none};

    return 'not lost: ' . $res->{body} if ($doc->{status} // '') ne 'lost';

    my $twice = () = $res->{body} =~ /^\{.*"status"\s*:\s*"(?:ok|error)/sg;
    return "both ends: $res->{body}"
        if $twice && $name ne 'run';

    return '';
}


for my $name (sort keys %sample) {
    my @bad;

    for my $cut (0 .. length $sample{$name}) {
        my $fault = fault($name, $cut, 'eof');
        push @bad, "$cut: $fault" if $fault;
    }

    is join("\n", @bad), '', "$name, cut at each byte, is JSON and lost";
}

for my $how (qw(reset broken refused)) {
    my @bad = grep { $_ ne '' }
        map { fault('run', $_ * 7, $how) } 0 .. length($sample{run}) / 7;

    is join("\n", @bad), '', "$how in the middle is lost as well";
}

for my $name (sort keys %sample) {
    for my $how (qw(ok tiny)) {
        my $res = $ng->post("/v1/execute?$name,9999,$how", '{}');
        is $res->{body}, $sample{$name}, "$name, $how, arrives as it is";
    }
}

my $res = $ng->post('/v1/execute?run,0,eof', '{}');
my $doc = $json->decode($res->{body});

is_deeply [sort keys %$doc],
    [sort qw(execution_id sandbox_id status stdout stderr result outputs error
             artifacts markdown usage timings_us expires_at)],
    'a lost answer without a body has every member of an answer';
like $doc->{execution_id}, qr/^exec_local_[0-9a-f]{32}$/,
    'and names the execution';
like $ng->access(qr/$doc->{execution_id}/), qr/" "-" "lost"/,
    'the access log says so too';

$ng->log_like(qr/went away in the middle/, 'the error log says why');

$front->stop;
$ng->finish;
done_testing;
