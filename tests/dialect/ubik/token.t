#!/usr/bin/perl

# Ubik's end users: their tokens, from the request for one until they are used;
# and events that are too large for one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64 qw(decode_base64url);
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);
my $pass = "retort_api ubik; retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys;";

Retort::Service::write_file("$s->{dir}/secret", 's' x 40 . "\n", 0600);
$s->{location} = <<"CONF";
location /ubik/api/v1/ { $pass retort_artifacts_secret $s->{dir}/secret; }
location /bare/ { $pass }
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;
my $F = '```';


sub ask {
    my ($method, $path, $body, @head) = @_;
    my $r = $s->request($method, $path =~ m{^/bare} ? $path
        : "/ubik/api/v1$path", defined $body && ref $body
        ? $json->encode($body) : $body // '',
        'content-type' => 'application/json', @head);

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub token { ask('POST', '/auth/token', @_) }

sub start {
    my ($code, @head) = @_;
    return ask('POST', '/tools/code_execution/execute',
        { inputs => { request => "${F}python\n$code\n$F\n" } }, @head)->{json}
        {execution_id};
}

sub over {
    my ($id, @head) = @_;
    my $r;

    $s->until_true(sub {
        $r = ask('GET', "/tool-executions/$id", undef, @head);
        ($r->{json}{status} // '') =~ /^(?:completed|failed)$/;
    });
    return $r->{json};
}

my $r = token({ external_user_id => 'ann', expires_in_minutes => 5 });
my $t = $r->{json}{token};

is($r->{status}, 200, 'who has a key gets a token');
is_deeply([sort keys %{ $r->{json} }], [sort qw(token access_token token_type
    external_user_id expires_in expires_at)], 'with all that is known of it');
is_deeply([@{ $r->{json} }{qw(access_token token_type external_user_id
    expires_in)}], [$t, 'bearer', 'ann', 300], 'as it was asked for');
is($r->{headers}{'cache-control'}, 'no-store', 'nobody keeps it');

my $claims = $json->decode(decode_base64url((split /\./, $t)[1]));
is_deeply([@$claims{qw(iss workspace profile sub scope)},
    $claims->{exp} - $claims->{iat}], ['retort', 'demo', 'default', 'ann',
    'execute,files', 300], 'it says whom it lets in, where, and until when');

my @ann = (authorization => "Bearer $t");
my @bob = (authorization => 'Bearer '
    . token({ external_user_id => "b\xf6b" })->{json}{token});
my $id = start('print(1)', @ann);

is(over($id, @ann)->{user_id}, 'ann', 'what she runs is hers');
is(ask('GET', "/tool-executions/$id", undef, @bob)->{status}, 404,
   'and nobody else knows of it');
is(ask('GET', "/tool-executions/$id", undef, @bob, 'x-end-user-id' => 'ann')
   ->{status}, 404, 'whatever he says of himself');
is(ask('GET', "/tool-executions/$id/stream", undef, @bob)->{status}, 404,
   'nor sees it happen');
is(ask('GET', "/tool-executions/$id", undef, 'x-end-user-id' => 'ann')
   ->{status}, 200, 'but who has the key');
is(over(start('print(1)', @bob), @bob)->{user_id}, "b\xf6b",
   'a name may have any letters');
is(token({ external_user_id => 'ann' }, @ann)->{status}, 403,
   'no token makes another one');
is(ask('GET', '/tools', undef, authorization => "Bearer ${t}x")->{status}, 401,
   'a token that was changed is none');
is(ask('POST', '/bare/auth/token', { external_user_id => 'ann' })->{status},
   501, 'without a secret there are none');

for my $row (
    ['{', [qw(body)]],
    [{}, [qw(body external_user_id)]],
    [{ external_user_id => 5 }, [qw(body external_user_id)]],
    [{ external_user_id => '' }, [qw(body external_user_id)]],
    [{ external_user_id => "a\nb" }, [qw(body external_user_id)]],
    [{ external_user_id => "a\0" }, [qw(body external_user_id)]],
    [{ external_user_id => 'a' x 128 }, [qw(body external_user_id)]],
    [{ external_user_id => 'a', expires_in_minutes => 0 },
     [qw(body expires_in_minutes)]],
    [{ external_user_id => 'a', expires_in_minutes => 1441 },
     [qw(body expires_in_minutes)]],
    [{ external_user_id => 'a', expires_in_minutes => '5' },
     [qw(body expires_in_minutes)]],
) {
    my ($body, $loc) = @$row;

    $r = token($body);
    is($r->{status}, 422, 'refused: ' . substr ref $body ? $json->encode($body)
       : $body, 0, 60);
    is_deeply($r->{json}{detail}[0]{loc}, $loc, 'where the fault is');
}

is_deeply(ask('GET', '/tools?limit=0')->{json}{detail}[0]{loc},
          ['query', 'limit'], 'so it is said of a query');

# large events: every piece is small and whole, and together they are one

$id = start('print("h\u00f6" * 60000)');
my $end = over($id);
$r = ask('GET', "/tool-executions/$id/stream");

my @events = map { [/^event: (\S+)\ndata: (.*)$/] }
    split /\n\n/, $r->{content};
my ($large) = grep { length $_->[1] > 2 * 32768 + 1000 } @events;
is($large, undef, 'no event is large');

my @last = map { $json->decode($_->[1]) }
    grep { $_->[0] eq 'tool_end_delta_sse' } @events;
cmp_ok(scalar @last, '>', 3, 'the last one comes in pieces');
is_deeply([map { $_->{chunk_index} } @last], [0 .. $#last], 'in their order');
is_deeply([map { $_->{is_last_chunk} ? 1 : 0 } @last], [(0) x $#last, 1],
          'the last of which is told apart');
is_deeply([map { "$_->{total_chunks} $_->{original_event_type}" } @last],
          [(@last . ' tool_end') x @last], 'each knows what it is of');
my %ids = map { $_->{chunk_id} => 1 } @last;
is(scalar keys %ids, 1, 'by one name');

my $whole = JSON::PP->new->decode(join '', map { $_->{chunk_data} } @last);
is($whole->{outputs}{logs}, $end->{outputs}{logs}, 'together they are the end');
is($events[-1][0], 'tool_end_delta_sse', 'behind which there is nothing');

$s->end;
done_testing;
