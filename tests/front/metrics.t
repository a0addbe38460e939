#!/usr/bin/perl

# /metrics and /status: what the front counts is what has happened.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use Retort::Front qw(done_front wait_for);
use Retort::Prom;

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 2, artifacts => 1);


sub metrics {
    my $r = $f->ops('metrics', @_);
    my $p = eval { Retort::Prom->parse($r->{body}) };

    is($@, '', 'the page is Prometheus text 0.0.4, strictly');
    return $p;
}


my $r = $f->ops('metrics');
is($r->{status}, 200, 'metrics are served without a workspace');
is($r->{header}{'content-type'}, 'text/plain; version=0.0.4; charset=utf-8',
   'with the type that says the version of the format');
is($r->{header}{'cache-control'}, 'no-store', 'and are not cached');

my $p = metrics();
is($p->all('retort_runs_total'), 0, 'no run, no line about runs');
ok(defined $p->value('retort_build_info', node => 'n1'), 'the node is named');
cmp_ok(abs($p->value('retort_front_start_time_seconds') - time), '<', 60,
       'the start is a time of today, in seconds');
cmp_ok($p->value('retort_front_memory_bytes'), '>', 1 << 20,
       'the front has some memory');
is($p->value('retort_threads'), 8, 'the threads are those it was given');

# runs

$f->execute({ code => 'out("1")' }) for 1 .. 3;
$f->execute({ code => 'die "x\n"' });
$f->execute({ code => 'out("1")' }, RETORT_WORKSPACE => 'w.2');
$f->execute({ code => 'nap(9)', timeout => 0.2 });
$p = metrics();

my @demo = ('retort_runs_total', workspace => 'demo', profile => 'default');
is($p->value(@demo, verdict => 'ok'), 3, 'good runs are counted');
is($p->value(@demo, verdict => 'timeout'), 1, 'so are those that took long');
is($p->value('retort_runs_total', workspace => 'w.2'), 1,
   'each workspace by itself');
is($p->value('retort_phase_seconds_count', phase => 'run'), 6,
   'each has its time');
cmp_ok($p->value('retort_phase_seconds_sum', phase => 'run'), '>=', 0.2,
       'of which one took as long as it may');
is($p->value('retort_phase_seconds_bucket', phase => 'run', le => '0.1'), 5,
   'and stands in its bucket');
is($p->value('retort_phase_seconds_count', phase => 'create'), 6,
   'a fresh sandbox was made for each');
is($p->value('retort_requests_total', status => '200'), 6 + 2,
   'answers are counted by status, earlier pages among them');

# artifacts

is($p->value('retort_store_bytes'), 0, 'nothing is stored');
$f->execute({ code => 'show(0, "image/png", "\\x89PNG\\r\\n\\x1a\\n" . "x" x 5000)' }) for 1 .. 2;
$p = metrics();
is($p->value('retort_artifacts_total'), 2, 'pictures are counted');
is($p->value('retort_store_bytes'), 8192, 'equal ones take their blocks once');

# sessions, pool

$r = $f->get('POST', '/sandboxes');
my $id = $r->{json}{sandbox_id};
$f->execute({ code => '1', sandbox_id => $id });
$p = metrics();
is($p->value('retort_sessions', profile => 'default'), 1, 'a session is seen');
is($p->value('retort_sessions_busy', profile => 'default'), 0,
   'it is not busy between runs');
is($p->value('retort_sessions_memory_bytes', profile => 'default'), 3_000_000,
   'its memory is that of its last run');
is($p->value('retort_phase_seconds_count', phase => 'create'), 8,
   'a run in it makes no sandbox');
is($p->value('retort_template_warm', profile => 'default'), 1,
   'the template has proved itself');
is($p->value('retort_pool_wanted', profile => 'default'), 2,
   'so many shall wait');
ok(wait_for(sub {
    my $n = metrics()->value('retort_pool_ready', profile => 'default');
    return $n == 2;
}), 'and do');

my $c = $f->client;
$c->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 qq({"sandbox_id":"$id","code":"nap(1)"}));
ok(wait_for(sub {
    $f->ops('metrics')->{body} =~ /^retort_sessions_busy\{[^}]*\} 1$/m
}), 'a session that runs is busy');
cmp_ok(metrics()->value('retort_threads_busy'), '>=', 2,
       'as is a thread, besides that of this page');
$c->read_answer;

# refusals

$f->get('POST', '/sandboxes', { ttl => 9999 });
$f->get('GET', "/sandboxes/sbx_n1_" . '0' x 32) for 1 .. 2;
$f->get('GET', '/execute', '', RETORT_WORKSPACE => 'a b');
$p = metrics();
is($p->value('retort_refusals_total', code => 'sandbox_not_found'), 2,
   'refusals are counted by their code');
is($p->value('retort_refusals_total', code => 'forbidden'), 1,
   'those of a request that was not even looked at, too');
is($p->value('retort_requests_total', status => '404'), 2,
   'and by their status');

# what nginx counts

$p = metrics(RETORT_ZONE_0 => 'runs 3 4 64 256 1000 20 5 6 7',
             RETORT_ZONE_1 => 'a"b\c 0 0 0 0 0 0 0 0 0',
             RETORT_ZONE_2 => 'short 1 2 3', RETORT_ZONE_3 => 'x 1 2 3 4 5 6 7 8 -9',
             RETORT_ZONE_4 => 'long 1 2 3 4 5 6 7 8 9 10');
is($p->value('retort_admission_running', zone => 'runs'), 3,
   'nginx\' own numbers are there');
is($p->value('retort_admission_limited_total', zone => 'runs'), 5,
   'refusals by the reason');
is($p->value('retort_admission_refused_total', zone => 'runs'), 6, 'each');
is($p->value('retort_admission_lost_total', zone => 'runs'), 7,
   'and runs whose front died');
is($p->value('retort_admission_waiting', zone => 'a"b\c'), 0,
   'a name with quotes stays one name');
is($p->all('retort_admission_running'), 2, 'what is no zone is left out');

# no more rows than there are

for my $n (1 .. 130) {
    $f->execute({ code => '1' }, RETORT_WORKSPACE => "many-$n");
}

$p = metrics();
my %seen = map { $_->{labels}{workspace} => 1 } $p->all('retort_runs_total');
is(scalar keys %seen, 129, 'a bounded number of workspaces has rows');
is($p->value('retort_runs_total', workspace => '(other)'), 4,
   'those beyond share one');
is($p->value('retort_runs_total', workspace => 'many-1', verdict => 'ok'), 1,
   'the first ones keep theirs');

# for people

$r = $f->ops('status', RETORT_ZONE_0 => 'runs 3 4 64 256 1000 20 5 6 7');
is($r->{status}, 200, 'the status is served');
is($r->{header}{'content-type'}, 'application/json', 'as JSON');
is($r->{json}{status}, 'ready', 'it says that all is well');
is($r->{json}{runs}{timeout}, 1, 'how runs have ended');
is($r->{json}{profiles}[0]{wanted}, 2, 'how the pools are');
is($r->{json}{admission}[0]{limited}, 5, 'and what nginx counts');

is($f->ops('metrics', REQUEST_METHOD => 'POST')->{status}, 405,
   'metrics are only read');
is($f->ops('status', REQUEST_METHOD => 'DELETE')->{header}{allow}, 'GET, HEAD',
   'so is the status');

done_front($f);
