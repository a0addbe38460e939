#!/usr/bin/perl

# A turn that was paused when the front died: what had begun is told as lost,
# and does not run again; what had not begun runs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 120_000, timeout_max => 120_000);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1', CONTENT_TYPE => 'application/json');


sub ask {
    my ($body, $turn) = @_;
    my $r = $f->get('POST', '/code_execution', $body, @api,
                    RETORT_LIMIT_TURN => $turn // 60_000);
    return $r->{json};
}

sub bash {
    my ($id, $code) = @_;
    return { type => 'server_tool_use', id => "srvtoolu_$id",
             name => 'bash_code_execution', input => { command => $code } };
}

sub count { "open my \$l, '>>', '$f->{dir}/$_[0].ran'; print \$l 'x'; close \$l" }

sub ran { -s "$f->{dir}/$_[0].ran" // 0 }

sub shape {
    return [map { $_->{content}{stdout} // $_->{content}{error_code} // $_->{id} }
            @{$_[0]{content}}];
}

sub crash {
    kill 'KILL', $f->{pid};
    is($f->ended, 9, 'the front dies');
    $f->run();
}


my @all = (bash('a', count('a') . '; out("a")'),
           bash('b', count('b') . '; nap(100)'),
           bash('c', count('c') . '; out("c")'));
my $paused;

wait_for(sub {
    $paused = ask({ content => \@all }, 200);
    return ran('b') && shape($paused)->[0] eq 'a';
});
is($paused->{stop_reason}, 'pause_turn', 'a turn is paused');
is_deeply(shape($paused), ['a', 'srvtoolu_b', 'srvtoolu_c'],
          'of which one block is done, one runs and one waits');
my %again = (container => $paused->{container}{id},
             content => $paused->{content});
crash();

my $r = ask(\%again);
is_deeply([$r->{stop_reason}, @{shape($r)}], ['end_turn', 'unavailable', 'c'],
          'what ran is told as lost, what waited runs');
is($r->{container}{id}, $paused->{container}{id}, 'in the same container');
is_deeply([map { ran($_) } qw(a b c)], [1, 1, 1], 'nothing ran twice');

$r = ask({ container => $again{container}, content => [bash('b', 'out("b")')] });
is_deeply(shape($r), ['b'], 'the same id with another input is another run');
is_deeply(shape(ask({ container => $again{container}, content => \@all })),
          ['unavailable', 'unavailable', 'c'],
          'all that began before is lost, however it is asked');
crash();
is_deeply(shape(ask({ container => $again{container}, content => \@all })),
          [('unavailable') x 3], 'also for a third front');
my $n = ask({ content => [$all[0]] });
is_deeply(shape($n), ['a'], 'in another container it is another run');

done_front($f);
