#!/usr/bin/perl

# Sandboxes as resources: they belong to a workspace, live for a time, and end.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start();
my @other = (RETORT_WORKSPACE => 'other');
my ($r, $id);

$r = $f->get('POST', '/sandboxes');
is($r->{status}, 201, 'a sandbox is made');
$id = $r->{json}{sandbox_id};
like($id, qr/^sbx_n1_[0-9a-f]{32}$/, 'its id carries the node');
is($r->{json}{status}, 'ready', 'it is ready');
is($r->{json}{limits}{memory_bytes}, 256_000_000, 'its limits are told');
like($r->{json}{expires_at}, qr/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'its end is, too');

$f->execute({ code => '$v{x} = 41', sandbox_id => $id });
$r = $f->execute({ code => 'out($v{x} + 1)', sandbox_id => $id });
is($r->{json}{stdout}, '42', 'variables live from cell to cell');
is($r->{json}{sandbox_id}, $id, 'the answer names the sandbox');
is($r->{json}{state}, 'kept', 'it is kept');

$r = $f->execute({ code => '$v{y} = 1', keep => JSON::PP::true });
my $kept = $r->{json}{sandbox_id};
$r = $f->execute({ code => 'out($v{y})', sandbox_id => $kept });
is($r->{json}{stdout}, '1', '"keep" makes a sandbox that lives');

$r = $f->get('GET', '/sandboxes');
is_deeply([sort map { $_->{sandbox_id} } @{$r->{json}{sandboxes}}],
          [sort $id, $kept], 'the list has both');
is($f->get('GET', "/sandboxes/$id")->{json}{sandbox_id}, $id,
   'one can be shown');

# another workspace

is_deeply($f->get('GET', '/sandboxes', '', @other)->{json}{sandboxes}, [],
          'another workspace sees none');
is($f->get('GET', "/sandboxes/$id", '', @other)->{status}, 404,
   'nor one whose id it knows');
is($f->get('DELETE', "/sandboxes/$id", '', @other)->{status}, 404,
   'and cannot end it');
is($f->execute({ code => '1', sandbox_id => $id }, @other)->{status}, 404,
   'nor run in it');

# bad names

is($f->execute({ code => '1', sandbox_id => "sbx_n1_" . '0' x 32 })->{status},
   404, 'an unknown id is not found');
is($f->execute({ code => '1', sandbox_id => '../../etc' })->{status}, 404,
   'nor is what is no id');
is($f->get('GET', '/sandboxes/' . 'x' x 5000)->{status}, 404,
   'nor a very long one');
is($f->get('GET', '/sandboxes/a/b')->{status}, 404, 'nor a longer path');
is($f->get('GET', '/nothing')->{status}, 404, 'nor an unknown path');

# methods

$r = $f->get('PATCH', '/sandboxes');
is($r->{status}, 405, 'an unknown method is refused');
is($r->{header}{allow}, 'GET, POST', 'with those that are allowed');
is($f->get('GET', '/execute')->{header}{allow}, 'POST', 'per path');

# limits and ttl

is($f->get('POST', '/sandboxes', { ttl => 601 })->{status}, 400,
   'ttl has a ceiling');
is($f->get('POST', '/sandboxes', { profile => 'other' })->{status}, 403,
   'only the location\'s profile is offered');
$r = $f->get('POST', '/sandboxes', { limits => { memory_bytes => 300_000_000 },
                                     profile => 'default' });
is($r->{json}{limits}{memory_bytes}, 300_000_000, 'limits can be asked for');
is($f->get('POST', '/sandboxes', { limits => { memory_bytes => 1e9 } })
   ->{status}, 400, 'up to the ceiling');
is($f->execute({ code => '1', sandbox_id => $id,
                 limits => { memory_bytes => 1000 } })->{status}, 400,
   'a living sandbox keeps its limits');
is($f->execute({ code => '1', sandbox_id => $id, keep => JSON::PP::false })
   ->{status}, 400, 'and is not thrown away by a run');

# expiry

$r = $f->get('POST', '/sandboxes', { ttl => 1 });
my $short = $r->{json}{sandbox_id};
ok(wait_for(sub {
    $f->get('GET', "/sandboxes/$short")->{status} == 410
}), 'an idle sandbox expires, and that is told');
is($f->execute({ code => '1', sandbox_id => $short })->{status}, 410,
   'for a run, too');
is($f->get('GET', "/sandboxes/$short", '', @other)->{status}, 404,
   'but not to others');

# the end

is($f->get('DELETE', "/sandboxes/$id")->{status}, 204, 'a sandbox is deleted');
is($f->get('DELETE', "/sandboxes/$id")->{status}, 410, 'once');
is($f->execute({ code => '1', sandbox_id => $id })->{status}, 410,
   'and nothing runs in it');
is($f->get('DELETE', "/sandboxes/$id", '', @other)->{status}, 404,
   'others never learn that there was one');

# two cells at once

my ($a, $b) = map { $f->client } 1, 2;
my @p = ($f->params('POST', '/execute', CONTENT_TYPE => 'application/json'));
my $cell = sub {
    JSON::PP->new->encode({ sandbox_id => $kept, code => $_[0] });
};
$a->send_request(@p, $cell->('nap(0.3); push @l, 1; nap(0.1); push @l, 2'));
ok(wait_for(sub {
    $f->get('GET', "/sandboxes/$kept")->{json}{status} eq 'running'
}), 'a cell shows as running');
$b->send_request(@p, $cell->('push @l, 3; out("@l")'));
$a->read_answer;
like($b->read_answer->{body}, qr/"stdout":"1 2 3"/,
     'two cells of one sandbox run one after the other');

$a = $f->client;
$a->send_request(@p, $cell->('nap(30)'));
wait_for(sub {
    $f->get('GET', "/sandboxes/$kept")->{json}{status} eq 'running'
});
is($f->execute({ code => '1', sandbox_id => $kept, timeout => 0.2 })->{status},
   429, 'who waits longer than its own time is told that it is busy');
is($f->get('DELETE', "/sandboxes/$kept")->{status}, 204,
   'a running sandbox can be deleted');
like($a->read_answer->{body}, qr/"state":"gone".*"status":"killed"/,
     'and its run ends as killed');

$r = $f->execute({ code => '$v{a} = 1', keep => JSON::PP::true });
$f->{broker}->tell('endbox');
ok(wait_for(sub {
    $f->execute({ code => '1', sandbox_id => $r->{json}{sandbox_id} })
      ->{status} == 410
}), 'a box that ended by itself is told as gone');

done_front($f);
