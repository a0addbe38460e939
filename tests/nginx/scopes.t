#!/usr/bin/perl

# What an identity may do: scopes of keys and tokens, what a location asks for,
# and what a client that was refused is told, down to where tokens are to be had.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Jwt;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_auth_key_file keys;
    server {
        listen 127.0.0.1:%%PORT%%;

        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /files/ { retort_pass unix:%%DIR%%/front.sock; }
        location /token/ {
            retort_auth_jwt jwks scope=scp;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location /only/ {
            retort_scope files;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location = /metrics {
            retort_scope admin;
            retort_pass unix:%%DIR%%/front.sock;
            retort_api metrics;
        }
        location = /open {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api metrics;
        }
        location /mcp {
            retort_api mcp;
            retort_pass unix:%%DIR%%/front.sock;
            retort_resource_metadata
                http://$host/.well-known/oauth-protected-resource/mcp;
        }
        location = /.well-known/oauth-protected-resource/mcp {
            retort_resource_document https://retort.example/mcp
                https://issuer.example https://other.example/a;
        }
    }
}
EOC

my %scopes = (all => '', run => ':execute', files => ':files', admin => ':admin',
              most => ':admin,execute', none => 'x');
my $hmac = Retort::Jwt->secret('s' x 32);

$ng->write('keys', join '', map {
    my $tail = $_ eq 'all' ? '' : $_ eq 'files' ? ":default:files"
        : ":$scopes{$_}";
    "$_:" . sha256_hex("key-$_") . "$tail\n"
} grep { $_ ne 'none' } sort keys %scopes);
$ng->write('jwks', Retort::Jwt->set($hmac->jwk));
chmod 0600, $ng->dir . '/jwks';

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', 'done');
});

$ng->start;


sub can {
    my ($key, $method, $path, $lacks, $name) = @_;
    my $res = $ng->request($method, $path, { 'x-api-key' => $key }, '{}');

    is $res->{status}, $lacks ? 403 : 200, $name;
    return unless $lacks;
    is $res->{header}{'www-authenticate'},
        qq(Bearer error="insufficient_scope", scope="$lacks"), 'as OAuth says it';
    is $res->{body}, qq({"error":{"code":"forbidden","message":)
        . qq("this needs the scope $lacks"}}\n), 'and in words';
}


for (['all', undef, undef, 'admin'], ['run', undef, 'files', 'admin'],
     ['files', 'execute', undef, 'admin'], ['admin', 'execute', 'files', undef],
     ['most', undef, 'files', undef])
{
    my ($who, $run, $files, $admin) = @$_;

    can("key-$who", 'POST', '/v1/execute', $run, "$who: a run");
    can("key-$who", 'GET', '/v1/sandboxes', $run, 'a list of sandboxes');
    can("key-$who", 'PUT', '/v1/sandboxes/x/files/a/b', $files, 'a file');
    can("key-$who", 'GET', '/v1/files/x', $files, 'an artifact');
    can("key-$who", 'GET', '/metrics', $admin, 'numbers of all');
}

can('key-files', 'POST', '/v1/files/execute', 'execute',
    'a run is one, whatever its path is called');
can('key-files', 'POST', '/files/v1/code', 'execute',
    "the location's own prefix does not count");
can('key-files', 'POST', '/v1/filesystem', 'execute', 'nor does half a name');
can('key-files', 'POST', '/v1/x/%2e%2e/execute', 'execute', 'nor a detour');
can('key-files', 'GET', '/v1/files/../sandboxes', 'execute', 'or another');
can('key-run', 'GET', '/only/x', 'files', 'a location may ask for one itself');
is $ng->get('/metrics')->{status}, 401, 'and for an identity by it';
is $ng->get('/open')->{status}, 200, 'that nobody else asks for';

# tokens

sub token {
    my ($scp) = @_;
    return $hmac->token({ sub => 'a', exp => time + 60,
                          defined $scp ? (scp => $scp) : () });
}

can(token('openid retort:execute'), 'POST', '/token/execute', undef,
    'a token with the scope, among others');
can(token(['x', 'execute']), 'POST', '/token/execute', undef, 'in an array');
can(token($_), 'POST', '/token/execute', 'execute', 'a token without it')
    for undef, '', 'openid', 'files', 'other:execute', 'executed', [];
is $ng->post('/token/execute', '{}', 'x-api-key' => token(7))->{status}, 401,
    'a scope that is no string';

# where to get one

my $at = 'resource_metadata="http://localhost/.well-known/'
    . 'oauth-protected-resource/mcp"';

for (['', 401, "Bearer $at"], ['wrong', 401, "Bearer error=\"invalid_token\", $at"],
     ['key-files', 403,
      "Bearer error=\"insufficient_scope\", scope=\"execute\", $at"])
{
    my ($key, $status, $line) = @$_;
    my $res = $ng->post('/mcp', '{}', $key ? ('x-api-key' => $key) : ());
    is "$res->{status} $res->{header}{'www-authenticate'}", "$status $line",
        'who is refused is told where to ask';
    is decode_json($res->{body})->{error}{code}, -32001, 'as MCP has it';
}

my $path = '/.well-known/oauth-protected-resource/mcp';
my $res = $ng->get($path);
is $res->{header}{'content-type'}, 'application/json', 'the document is JSON';
is_deeply decode_json($res->{body}), {
    resource => 'https://retort.example/mcp',
    authorization_servers => ['https://issuer.example',
                              'https://other.example/a'],
    scopes_supported => [qw(execute files admin)],
    bearer_methods_supported => ['header'],
}, 'and says what RFC 9728 wants';
is $ng->post($path, '{}')->{status}, 405, 'it can only be read';
is $ng->get("$path/x")->{status}, 404, 'other paths are nothing';

$front->stop;
$ng->finish;
done_testing;
