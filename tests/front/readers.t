#!/usr/bin/perl

# Who follows runs holds threads: not all of them, whoever it is.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

# three of eight: twelve in all, eight of one workspace

my $f = Retort::Front->start(threads => 32, timeout => 120_000,
                             timeout_max => 120_000);
my $n = 0;


sub run {
    my ($workspace) = @_;
    my $id = sprintf 'exec_n1_%032x', ++$n;
    $f->get('POST', '/execute', { code => 'nap(100)', detach => \1 },
            RETORT_EXECUTION => $id, RETORT_WORKSPACE => $workspace);
    return $id;
}

# a client that follows: once its head is there it holds its thread

sub follow {
    my ($id, $workspace) = @_;
    my $c = $f->client;
    $c->send_request($f->params('GET', "/executions/$id/events",
        HTTP_ACCEPT => 'application/x-ndjson',
        RETORT_WORKSPACE => $workspace), '');
    return $c;
}

sub head {
    my ($c) = @_;
    my ($said, $r) = ('');
    while ($said !~ /\n/ && ($r = $c->read_record)) {
        last if $r->[0] == 3;
        $said .= $r->[2] if $r->[0] == 6;
    }
    return $said =~ /^Status: (\d+)/ ? $1 : 'none';
}

my %id = map { $_ => run($_) } 'one', 'two';
my @one = map { follow($id{one}, 'one') } 1 .. 8;
is(join(' ', map { head($_) } @one), join(' ', (200) x 8),
   'a workspace has its part of readers');
my $r = $f->get('GET', "/executions/$id{one}/events", '',
                RETORT_WORKSPACE => 'one');
is($r->{status}, 429, 'not one more');
is_deeply([$r->{json}{error}{code}, $r->{header}{'retry-after'}],
          ['no_capacity', 1], 'which is told');

my @two = map { follow($id{two}, 'two') } 1 .. 4;
is(join(' ', map { head($_) } @two), join(' ', (200) x 4),
   'another has readers as well');
is($f->get('GET', "/executions/$id{two}/events", '',
           RETORT_WORKSPACE => 'two')->{status}, 429, 'until all are taken');
is($f->execute({ code => 'out(1)' })->{json}{stdout}, 1,
   'meanwhile others run');

(shift @one)->close;
ok(wait_for(sub { head(follow($id{two}, 'two')) == 200 }),
   'one that leaves makes room');
$f->get('DELETE', "/executions/$id{$_}", '', RETORT_WORKSPACE => $_)
    for 'one', 'two';
ok(wait_for(sub {
    $f->get('GET', "/executions/$id{one}/events", '', RETORT_WORKSPACE =>
            'one')->{status} == 200;
}), 'the end of a run, too');

undef $f;

# what is no run, behind a session that is busy: some are left to others

$f = Retort::Front->start(threads => 8, timeout => 120_000, timeout_max => 120_000);

my @one_ws = (RETORT_WORKSPACE => 'one');
my $box = $f->get('POST', '/sandboxes', {}, @one_ws)->{json}{sandbox_id} or die;
my $nap = $f->client;

$nap->send_request($f->params('POST', '/execute', @one_ws,
                              CONTENT_TYPE => 'application/json'),
                   encode_json({ code => 'nap(100)', sandbox_id => $box }));
ok(wait_for(sub { ($f->get('GET', '/sandboxes', '', @one_ws)->{body} // '') =~ /"status":"running"/ }),
   'a session is busy');

my @waits = map { $f->client } 1 .. 6;
$_->send_request($f->params('GET', "/sandboxes/$box/files", @one_ws), '') for @waits;
ok(wait_for(sub {
    $r = $f->get('GET', '/sandboxes', '', @one_ws);
    return $r->{status} == 429;
}), 'six wait for its files, and there is no place for a seventh request');
is_deeply([$r->{json}{error}{code}, $r->{header}{'retry-after'}],
          ['no_capacity', 1], 'which is told');
is($f->get('GET', '/sandboxes', '', RETORT_WORKSPACE => 'two')->{status}, 200,
   'another workspace has its answer');
is($f->execute({ code => 'out(1)' }, @one_ws)->{json}{stdout}, 1,
   'and a run has, which was admitted elsewhere');
$nap->close;
is(join(' ', map { head($_) } @waits), join(' ', (200) x 6),
   'who waited is served when it is free');
is($f->get('GET', '/sandboxes', '', @one_ws)->{status}, 200,
   'and who asks then is, too');

done_front($f);
