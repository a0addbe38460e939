#!/usr/bin/perl

# The front goes away in the middle of Markdown, server-sent events or
# NDJSON, at each byte: what the client gets can be read to its end.

use strict;
use warnings;

use Encode qw(decode);
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

my %sample = (
    markdown => "stdout:\n\n```\n4 \xc3\xa9 `x` ``` no\n```\n\n"
        . "````python\n```\nin \xf0\x9f\x98\x80\n```\n  ````\n\n"
        . "~~~ a`b\n```\n~~~\n``` not` a fence\n\n    ```\n![f](u)\n",

    sse => "id: 1\nevent: stdout\ndata: {\"text\":\"4\\n\xc3\xa9\",\"n\":[1,2]}"
        . "\n\n: note\n\ndata:{\"a\":\ndata: {\"b\":null}}\nid: 2\n\n"
        . "retry: 100\nevent: status\ndata: {\"status\":\"ok\"}\n\n",

    ndjson => "{\"type\":\"stdout\",\"text\":\"4\\n\xe2\x82\xac\"}\n\n"
        . "[1,{\"a\":\"\\ud83d\\ude00\"}]\n \n{\"type\":\"status\","
        . "\"status\":\"ok\"}\n",
);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($form, $cut, $how) = split /,/, $req->{params}{QUERY_STRING};

    $req->stdin unless $how eq 'reset';
    $req->raw($req->out("Content-Type: text/x\r\nX-Retort-Form: $form\r\n"
                        . "Content-Length: 5\r\n\r\n"));
    $req->raw($req->out(substr($sample{$form}, 0, $cut),
                        $how eq 'tiny' ? 1 : 65535));
    $req->raw('garbage!') if $how eq 'broken';
    $req->end if $how eq 'tiny';
    $req->close;
});

$ng->start;

my $json = JSON::PP->new->allow_nonref;


# the fence that is open at the end of a text, after CommonMark

sub open_fence {
    my $fence = '';

    for (split /\n/, shift, -1) {
        if ($fence ne '') {
            my $c = substr $fence, 0, 1;
            $fence = '' if /^ {0,3}(\Q$c\E+)[ \t]*$/
                && length $1 >= length $fence;

        } elsif (/^ {0,3}(`{3,})[^`]*$/ || /^ {0,3}(~{3,})/) {
            $fence = $1;
        }
    }

    return $fence;
}


sub bad_markdown {
    my $text = shift;

    return "no error block: $text"
        unless $text =~ s/(?:\A|\n\n|(?<=\n)\n)(error:\n\n```\n[^`]+\n```\n)\z/\n/;
    return "open fence before the block: $text" if open_fence($text) ne '';
    return '';
}


# events as a browser would see them

sub events {
    my (@events, %e);

    for (split /\n/, shift, -1) {
        if ($_ eq '') {
            push @events, {%e} if exists $e{data};
            %e = ();
            next;
        }
        my ($name, $value) = /^([^:]*):? ?(.*)$/s;
        if ($name eq 'data') {
            $e{data} = exists $e{data} ? "$e{data}\n$value" : $value;
        } else {
            $e{$name} = $value;
        }
    }

    return @events;
}


sub bad_sse {
    my $text = shift;

    my @events = events($text);
    my $last = pop @events // return "no event: $text";

    return "no end: $text"
        if ($last->{event} // '') ne 'status' || exists $last->{id}
           || $json->decode($last->{data})->{status} ne 'lost';

    for (@events) {
        return "broken event: $text"
            unless defined eval { $json->decode($_->{data}); 1 };
    }

    return "does not end an event: $text" unless $text =~ /\n\n\z/;
    return '';
}


sub bad_ndjson {
    my $text = shift;

    return "half a line: $text" unless $text =~ /\n\z/;

    my @lines = map { eval { [$json->decode($_)] } // return "broken: $_" }
        grep { /\S/ } split /\n/, $text;
    my $last = $lines[-1][0];

    return "no end: $text"
        if $last->{type} ne 'status' || $last->{status} ne 'lost'
           || $last->{execution_id} !~ /^exec_local_/;
    return '';
}


my %bad = (markdown => \&bad_markdown, sse => \&bad_sse,
           ndjson => \&bad_ndjson);


sub fault {
    my ($form, $cut, $how) = @_;

    my $res = $ng->post("/v1/execute?$form,$cut,$how", '{"code":"1"}');

    return "status $res->{status}" if $res->{status} != 200;
    return 'not whole' unless $res->{whole};
    return 'length promised' if exists $res->{header}{'content-length'};
    return 'what was sent is not there'
        if index($res->{body}, substr $sample{$form}, 0, $cut) != 0;

    my $text = eval { decode('UTF-8', $res->{body}, 1) };
    return "not UTF-8: $res->{body}" unless defined $text;

    return $bad{$form}->($text);
}


for my $form (sort keys %sample) {
    my @bad;

    for my $cut (0 .. length $sample{$form}) {
        my $how = (qw(eof reset broken))[$cut % 3];
        my $fault = fault($form, $cut, $how);
        push @bad, "$cut: $fault" if $fault;
    }

    is join("\n", @bad), '', "$form, cut at each byte, can be read";

    my $res = $ng->post("/v1/execute?$form,9999,tiny", '{}');
    is $res->{body}, $sample{$form}, "$form arrives as it is";
    ok $res->{whole}, 'and whole';
}

like $ng->access(qr/"lost"/), qr/200 .*"lost"/, 'the access log says lost';

$front->stop;
$ng->finish;
done_testing;
