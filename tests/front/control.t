#!/usr/bin/perl

# The control socket: who may come by it, what goes by it and by no other, and
# that it answers when the others are busy.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { NOBODY => 65534, GROUP => 54321 };

my $f = Retort::Front->start(control => GROUP, threads => 2, ready => 1);
my ($r, $id);


# what a process with these ids is told; '' if the connection is closed

sub as {
    my ($uid, $gid, @groups) = @_;

    pipe my $out, my $in or die "$!";
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        $) = join ' ', $gid, @groups ? @groups : $gid;
        POSIX::setgid($gid);
        POSIX::setuid($uid);
        my $got = eval { $f->control('GET', '/ps')->{status} } // '';
        syswrite $in, $got || 'closed';
        POSIX::_exit(0);
    }

    close $in;
    waitpid $pid, 0;
    return scalar <$out>;
}


chmod 0755, $f->{dir};
is(as(0, 0), '200', 'root may come');
is(as(NOBODY, GROUP), '200', 'so may who has the control group');
is(as(NOBODY, NOBODY, 7, GROUP, 9), '200', 'as any of its groups');
is(as(NOBODY, NOBODY, 7, 9), 'closed',
   'another one is not heard, though the file mode would let it in');
like($f->log, qr/control: uid 65534 .*may not connect/, 'and that is logged');

# which requests go which way

is($f->ops('control', PATH_INFO => '/ps')->{status}, 403,
   'the web server\'s socket does not take control');
is($f->control('GET', '/ps', RETORT_API => 'health')->{status}, 403,
   'the control socket does not take probes');
is($f->control('POST', '/', RETORT_API => 'qwen', RETORT_WORKSPACE => 'demo')
   ->{status}, 403, 'nor another dialect');
is($f->control('GET', '/nothing')->{status}, 404, 'an unknown path is told');
is($f->control('POST', '/ps')->{status}, 405, 'a wrong method, too');
$r = $f->control('POST', '/execute', RETORT_API => 'native',
                 RETORT_WORKSPACE => 'ops', CONTENT_TYPE => 'application/json',
                 body => '{"code":"out(42)"}');
is($r->{json}{stdout}, '42', 'the native API runs, in a workspace of choice');

# sandboxes of everybody

$id = $f->get('POST', '/sandboxes')->{json}{sandbox_id};
my $other = $f->get('POST', '/sandboxes', '', RETORT_WORKSPACE => 'w2')
    ->{json}{sandbox_id};


sub ps { map { $_->{id} => $_ } @{$f->control('GET', '/ps')->{json}{sandboxes}} }

$f->execute({ code => 'out(1)', sandbox_id => $id });
my %ps = ps();
is($ps{$id}{execution_id}, undef, 'a run that is over is not told');
is($ps{$id}{workspace}, 'demo', 'sandboxes are listed');
is($ps{$other}{workspace}, 'w2', 'those of all workspaces');
is($ps{$id}{status}, 'idle', 'with what they do');
like($ps{$id}{expires_at}, qr/^\d{4}-\d\d-\d\dT/, 'and their end');
ok(wait_for(sub { %ps = ps(); grep { $_->{status} eq 'ready' } values %ps }),
   'one of the pool is seen as ready');
my ($ready) = grep { $ps{$_}{status} eq 'ready' } keys %ps;
like($ready, qr/^box_[0-9a-f]+$/, 'by a name of its own');

$r = $f->control('GET', "/sandboxes/$other");
is($r->{json}{workspace}, 'w2', 'one can be shown');
is($r->{json}{limits}{memory_bytes}, 256_000_000, 'with its limits');
ok(exists $r->{json}{usage}{memory_bytes}, 'and what it uses');

is($f->control('POST', "/kill/$other")->{json}{killed}, $other,
   'and can be ended');
is($f->get('GET', "/sandboxes/$other", '', RETORT_WORKSPACE => 'w2')->{status},
   410, 'its owner finds it no more');
is($f->control('POST', "/kill/$other")->{status}, 404, 'it ends once');
is($f->control('POST', '/kill/box_0')->{status}, 404,
   'what is not there is not found');
is($f->control('POST', '/kill/' . 'x' x 4000)->{status}, 404,
   'nor is a very long id');
is($f->control('POST', "/kill/$ready")->{status}, 200,
   'one that waits can be ended');
is($f->execute({ code => 'out(1)' })->{json}{status}, 'ok',
   'and no run gets what is being ended');

# all threads busy

my @c = map { $f->client } 1 .. 2;
my $p = $f->params('POST', '/execute', CONTENT_TYPE => 'application/json');
$_->send_request($p, '{"code":"nap(20)","timeout":20}') for @c;
ok(wait_for(sub { %ps = ps(); 2 == grep { $_->{status} eq 'busy' } values %ps }),
   'with every thread in a run it still answers');
my @busy = grep { $ps{$_}{status} eq 'busy' } keys %ps;
ok(wait_for(sub {
    %ps = ps();
    2 == grep { ($ps{$_}{execution_id} // '') =~ /^exec_n1_/
                && $ps{$_}{workspace} eq 'demo' } @busy;
}), 'and says whose each is, and which execution');
is($f->control('GET', "/sandboxes/$ps{$busy[0]}{execution_id}")->{json}{id},
   $busy[0], 'by which a sandbox is found, too');
$f->control('POST', "/kill/$_")
    for $busy[0], $ps{$busy[1]}{execution_id};
like($_->read_answer->{body}, qr/"status":"killed"/,
     'and ends a run that has no public id') for @c;

# drain

is($f->control('PUT', '/drain')->{json}{draining}, JSON::PP::true, 'it drains');
$r = $f->execute({ code => 'out(1)' });
is($r->{status}, 503, 'no new run is taken');
is($r->{json}{error}{code}, 'draining', 'and it says why');
ok($r->{header}{'retry-after'}, 'and when to come again');
is($f->get('POST', '/sandboxes')->{status}, 503, 'nor a new sandbox');
is($f->execute({ code => '1', sandbox_id => $id })->{status}, 503,
   'nor a run in a living one');
is($f->get('GET', "/sandboxes/$id")->{status}, 200, 'which can be looked at');
is($f->ops('health', SCRIPT_NAME => '/health/startup')->{status}, 503,
   'the startup probe says that it takes no work');
is($f->ops('health', SCRIPT_NAME => '/health')->{status}, 200,
   'though it is alive');
is($f->ops('status')->{json}{status}, 'draining', 'the status says it');
like($f->ops('metrics')->{body}, qr/^retort_draining 1$/m, 'so do the metrics');
$f->control('DELETE', '/drain');
is($f->execute({ code => 'out(1)' })->{status}, 200, 'and then it works again');

# pool

$r = $f->control('POST', '/pool');
is($r->{json}{profiles}[0]{profile}, 'default', 'pools are told by profile');
is($r->{json}{profiles}[0]{wanted}, 1, 'with what they shall be');

done_front($f);
