#!/usr/bin/perl

# An engine that hangs, and one that dies, while many work: each request has an
# answer that says what became of it, what was printed is never another's, and
# no container strays.

use strict;
use warnings;

use FindBin;
use POSIX ();
use Test::More;

use lib "$FindBin::Bin/../lib";

BEGIN { $ENV{RETORT_BACKEND} = 'docker' }

use Retort::Service;

use constant { CLIENTS => 4, SECONDS => 4 };

my $s = Retort::Service->new(alerts => qr/./, profiles => { default => {
    import => '', ready => 1, sessions => '16', ttl => '10m 10m' } });
my $e = $s->{engine};


# one that asks until it is enough, and writes down what it hears: every other
# one in a session, which it makes again when it is gone

sub client {
    my ($me) = @_;
    my ($n, $id) = (0, undef);

    open my $out, '>', "$s->{dir}/heard-$me" or die $!;
    $out->autoflush(1);

    until (-e "$s->{dir}/enough") {
        my %in;

        if ($me % 2 && !defined $id) {
            my ($status, $r) = $s->json('POST', '/v1/sandboxes', {});

            print $out "session $status\n";
            $id = $r->{sandbox_id} if $status == 201;
        }

        $in{sandbox_id} = $id if defined $id;

        my $word = "$me-" . ++$n;
        my $r = $s->request('POST', '/v1/execute', JSON::PP::encode_json({
            code => "print('$word')", timeout => SECONDS, %in }));
        my $said = eval { JSON::PP::decode_json($r->{content}) } // {};
        my $how = $said->{status} // $said->{error}{code} // 'nothing';

        $how = 'another' if $how eq 'ok' && $said->{stdout} ne "$word\n";
        $how .= ' later' if defined $r->{headers}{'retry-after'};
        print $out "run $r->{status} $how\n";
        undef $id if $r->{status} != 200 || $how ne 'ok';
    }

    POSIX::_exit(0);
}


# all of it, or what came after so many bytes of each
sub heard {
    my (%at) = @_;
    return join '', map { substr Retort::Service::slurp($_), $at{$_} // 0 } glob "$s->{dir}/heard-*";
}

sub marks { map { $_ => -s $_ } glob "$s->{dir}/heard-*" }

sub count { my ($what, $text) = @_; return scalar(() = $text =~ /^$what$/mg) }


# clients at work, then what happens, until that is over for all of them

sub under_load {
    my ($what, $begin, $until, $end) = @_;

    unlink "$s->{dir}/enough", glob "$s->{dir}/heard-*";

    my @pids = map {
        my ($me, $pid) = ($_, fork // die "fork: $!");

        client($me) if $pid == 0;
        $pid;
    } 1 .. CLIENTS;

    ok($s->until_true(sub { count('run 200 ok', heard()) >= 2 * CLIENTS }, 60),
        "$what: many work") or diag heard();
    $begin->();

    my %at = marks();

    ok($s->until_true(sub { $until->(heard(%at)) }, 90),
        '... those who ask are told so') or diag heard();
    $end->();
    %at = marks();
    ok($s->until_true(sub { count('run 200 ok', heard(%at))
        >= 2 * CLIENTS }, 90), '... when it is there again all goes on')
        or diag heard();
    Retort::Service::write_file("$s->{dir}/enough", '');
    waitpid $_, 0 for @pids;

    my %said;
    my @odd = grep { !/^(?:run\ 200\ (?:ok|timeout|killed|lost)
        |run\ (?:429|503)\ \w+\ later|run\ 4(?:04|10)\ \w+
        |session\ (?:201|429|503))$/x } split /\n/, heard();

    $said{$_}++ for split /\n/, heard();
    is_deeply(\@odd, [], '... each answer was a verdict, or one for later')
        or diag $s->log;
    note map {"$_: $said{$_}\n"} sort keys %said;
    is($s->get('/health')->{status}, 200, '... the service has lived');

    # those that wait in the pool, and the clients' sessions, are still there
    my ($status, $list) = $s->json('GET', '/v1/sandboxes');
    my @live = map { $_->{sandbox_id} } @{ $list->{sandboxes} };

    $s->json('DELETE', "/v1/sandboxes/$_") for @live;
    ok($s->until_true(sub { $s->containers == 1 }, 90),
        '... and no container strays') or diag join ' ', $s->containers;
}


under_load('an engine that hangs', sub { $e->hold },
    sub { count('run 503 engine_away later', $_[0]) >= 2
        && $_[0] =~ /^run 200 (?:timeout|killed)$/m },
    sub { $e->release });

under_load('an engine that dies', sub { $e->crash },
    sub { count('run 503 \w+ later', $_[0]) >= 2 },
    sub { $e->start });

is_deeply([grep { !/^runc init *$/ } $e->forgotten], [],
    'in what an engine that died has forgotten is no code');
$s->end;
done_testing();
