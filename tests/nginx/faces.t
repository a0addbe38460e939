#!/usr/bin/perl

# One error, in the words of each dialect: what the worker refuses itself, or
# cannot have, byte by byte.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

# each event, and how a location comes to it

my %conf = (
    ok      => '',
    limited => 'retort_limits zone=runs rate=1r/m;',
    away    => 'retort_pass unix:%%DIR%%/none.sock;',
    denied  => 'deny all;',
    gpu     => 'retort_profile gpu;',
);

my @events = (
    [401, 'ok', {}, '', 'unauthorized', 'a valid key is needed'],
    [403, 'gpu', {}, 'key', 'forbidden',
     'this workspace may not do that here'],
    [403, 'denied', {}, 'key', 'forbidden', 'this is not allowed here'],
    [413, 'ok', { body => 'x' x 200 }, 'key', 'too_large',
     'the request is too large'],
    [429, 'limited', { twice => 1 }, 'key', 'too_many_requests',
     'this workspace sends too many requests'],
    [502, 'ok', { query => 'broken' }, 'key', 'bad_gateway',
     'the service gave a broken answer'],
    [503, 'away', {}, 'key', 'unavailable',
     'the service is not there, try again'],
);

# each dialect, and what it makes of a status, a code and a message

sub native {
    my ($status, $code, $message) = @_;
    return qq({"error":{"code":"$code","message":"$message"}}\n);
}

my %rpc = (401 => -32001, 403 => -32001, 413 => -32600,
           429 => -32000, 502 => -32603, 503 => -32000);

sub rpc {
    my ($status, $code, $message) = @_;
    return qq({"jsonrpc":"2.0","id":null,"error":{"code":$rpc{$status},)
        . qq("message":"$message","data":{"code":"$code"}}}\n);
}

# an agent reads results: who cannot be reached has one, too

sub prisme {
    my ($status, $code, $message) = @_;
    return rpc(@_) if $status < 500 && $status != 429;

    my $error = '"error":{"code":"CodeSandboxUnreachable","message":'
        . qq("$message","stack":""});
    my $twin = qq({"result":null,"logs":[],$error});
    (my $text = $twin) =~ s/"/\\"/g;
    return '{"jsonrpc":"2.0","id":null,"result":{"content":[{"type":"text",'
        . qq("text":"$text"}],"isError":true,"structuredContent":$twin}}\n);
}

my %type = (401 => 'authentication_error', 403 => 'permission_error',
            413 => 'request_too_large', 429 => 'rate_limit_error',
            502 => 'api_error', 503 => 'overloaded_error');

sub anthropic {
    my ($status, $code, $message) = @_;
    return qq({"type":"error","error":{"type":"$type{$status}","message":)
        . qq("$message"},"request_id":"req_"}\n);
}

sub ubik {
    my ($status, $code, $message) = @_;
    return qq({"detail":"$message"}\n);
}

sub e2b {
    my ($status, $code, $message) = @_;
    return qq({"code":$status,"message":"$message"}\n);
}

my %azure = (401 => 'Unauthorized', 403 => 'Forbidden',
             413 => 'RequestEntityTooLarge', 429 => 'TooManyRequests',
             502 => 'ConnectionError', 503 => 'ServiceUnavailable');

sub azure {
    my ($status, $code, $message) = @_;
    return qq({"error":{"code":"$azure{$status}","message":"$message"}}\n);
}

my %face = (ubik => \&ubik, e2b => \&e2b, native => \&native, qwen => \&native, mcp => \&rpc,
            anthropic => \&anthropic, prisme => \&prisme, azure => \&azure, azure_image => \&azure,
            azure_mcp => \&rpc);

my $locations = join '', map {
    my $api = $_;
    map {
        my $pass = $conf{$_} =~ /retort_pass/ ? ''
                   : 'retort_pass unix:%%DIR%%/front.sock;';
        "location /$api/$_/ { retort_api $api; $pass $conf{$_} }\n"
    } sort keys %conf
} sort keys %face;

my $ng = Retort::Nginx->new(<<"EOC", alarm => qr{none\.sock});
%%MAIN%%
http {
    %%HTTP%%
    retort_zone runs 1m;
    client_max_body_size 100;
    retort_auth_key_file keys;
    server {
        listen 127.0.0.1:%%PORT%%;
        $locations
    }
}
EOC

# every dialect has a workspace of its own, so that none uses up another's rate
$ng->write('keys', join '', map { "$_:" . sha256_hex("key-$_") . ":default\n" }
           sort keys %face);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    $req->send("no header\r\n\r\n") if $req->{params}{QUERY_STRING};
    $req->answer('Content-Type: application/json', '{}')
        unless $req->{params}{QUERY_STRING};
});

$ng->start;


for my $api (sort keys %face) {
    for my $event (@events) {
        my ($status, $where, $how, $key, $code, $message) = @$event;
        my %h = $key ? ('x-api-key' => "key-$api") : ();
        my $uri = "/$api/$where/execute"
            . ($how->{query} ? "?$how->{query}" : '');
        my $res;

        $res = $ng->request('POST', $uri, \%h,
                            $how->{body} // '{}')
            for 1 .. ($how->{twice} ? 2 : 1);

        is $res->{status}, $status, "$api: $code is $status";
        $res->{body} =~ s/"req_[0-9a-f]{32}"/"req_"/;
        is $res->{body}, $face{$api}->($status, $code, $message),
            'in its own words';
        is $res->{header}{'content-type'}, 'application/json', 'as JSON';
        is $res->{header}{'x-ms-error-code'}, $face{$api} == \&azure
            ? $azure{$status} : undef, 'the code is in a header of Azure';
        is exists $res->{header}{'retry-after'} || 0,
            ($status == 429 || $status == 503) || 0,
            'which say when to try again, if that helps';
    }
}

$front->stop;
$ng->finish;
done_testing;
