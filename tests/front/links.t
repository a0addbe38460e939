#!/usr/bin/perl

# Signed links from end to end: the front signs what nginx verifies.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Front qw(wait_for);
use Retort::Nginx;

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(keep => 1000);
my $ng = Retort::Nginx->new(<<"EOC");
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace \$http_x_who;
    retort_artifacts_secret secret;
    retort_static_url http://127.0.0.1:%%PORT%%/static;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:$f->{path}; }
        location /qwen/ { retort_pass unix:$f->{path}; retort_api qwen; }
        location /short/ {
            retort_pass unix:$f->{path};
            retort_artifacts_expires 1s;
        }
        location /static/ { retort_artifacts $f->{dir}/store; }
    }
}
EOC

sub secrets {
    $ng->write('secret', join "\n", @_);
    chmod 0600, $ng->dir . '/secret';
}

my @secret = map { $_ x 40 } qw(a b c);

secrets($secret[0]);
$ng->start;

sub code {
    return 'show(0, "image/png", "\x89PNG\r\n\x1a\n" . "' . $_[0] . '")';
}

sub ask {
    my ($where, $body, @more) = @_;

    my $r = $ng->post($where, encode_json($body), 'X-Who' => 'demo',
                      'Content-Type' => 'application/json', @more);
    is $r->{status}, 200, "$where answers" or diag $r->{body};
    return $r->{body};
}

sub link_to {
    my ($what, $where, @more) = @_;
    my $r = decode_json(ask($where // '/v1/execute', { code => code($what) },
                            @more));
    return $r->{artifacts}[0]{url};
}

sub got {
    my ($url) = @_;
    $url =~ s{^http://127\.0\.0\.1:\d+}{};
    return $ng->get($url);
}

sub status { return got(@_)->{status} }


# every dialect's links are good

my $url = link_to('hello');
my $r = got($url);
is $r->{status}, 200, 'a link is good';
is $r->{body}, "\x89PNG\r\n\x1a\nhello", 'and leads to the picture';
is $r->{header}{'content-type'}, 'image/png', 'as what it is';

my $md = ask('/v1/execute', { code => code('hello') },
             Accept => 'text/markdown');
is status($md =~ /\]\((.*)\)/), 200, 'so is the one in markdown';
my $qwen = ask('/qwen/code_interpreter',
               { params => { code => code('hello') }, timeout => 0 });
is status($qwen =~ /\]\((.*)\)/), 200, 'and Qwen\'s';

# no other is

my ($file, $e, $tag, $sig) = $url =~ /(\w+\.png)\?e=(\d+)&w=(\w+)&s=(\w+)$/;
my $base = $url =~ s/\?.*//r;
my $foreign = link_to('hello', undef, 'X-Who' => 'other');
my ($its) = $foreign =~ /&w=(\w+)/;

isnt $its, $tag, 'another workspace signs with another key';
is status($foreign), 200, 'its own links are good';

for (["$base", 'one that is not signed'],
     [$url =~ s/e=\d+/'e=' . ($e + 1)/er, 'one with a later end'],
     [$url =~ s/&w=\w+/&w=$its/r, 'one with another workspace\'s tag'],
     [$foreign =~ s/\w+\.png/$file/r, 'another workspace\'s for this file'],
     [$url =~ s/.$/substr($sig, -1) eq '0' ? '1' : '0'/er, 'an altered one'],
     [link_to('other') =~ s/\w+\.png/$file/r, 'one of another file'])
{
    is status($_->[0]), 403, "$_->[1] is refused";
}

# time

my $short = link_to('brief', '/short/execute');
ok status($short) == 200 || time >= ($short =~ /e=(\d+)/)[0],
   'a short link is good at first';
ok wait_for(sub { status($short) == 403 }), 'and then expires';
ok wait_for(sub { !-e "$f->{dir}/store/" . ($short =~ /(\w+\.png)/)[0] }),
   'its file is swept away';
is status($url), 200, 'those whose links are good are not';
my ($age) = got($url)->{header}{'cache-control'} =~ /max-age=(\d+)/;
cmp_ok $age, '<=', $e - time + 1, 'nobody keeps it for longer than its link';

# another secret

secrets(@secret[1, 0]);
$ng->reload;
my $new = link_to('hello');
isnt $new =~ s/.*&s=//r, $sig, 'a new secret signs';
is status($new), 200, 'its links are good';
is status($url), 200, 'the old one\'s still are';
secrets($secret[1]);
$ng->reload;
is status($url), 403, 'until it is taken away';
is status($new), 200, 'which the new ones survive';
secrets($secret[2]);
$ng->reload;
is status($new), 403, 'and so on';

# what stays secret, and sound

unlike $f->log, qr/Sanitizer|runtime error/, 'no sanitizer report';

unlike $f->log, qr/[0-9a-f]{64}|LINK_KEY/, 'the front logs no key';
unlike $ng->slurp('logs/error.log'), qr/[0-9a-f]{64}|LINK_KEY/,
       'nor does nginx';

$f->stop;
$ng->finish;
done_testing;
