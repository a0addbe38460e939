#!/usr/bin/perl

# Programs that attack the sandbox from inside.  Each runs outside first, where
# it has to get through: otherwise a mistake in it would pass as security.
# attacks/attack.py goes before each, and each says of itself, in comments:
#
#   what it does
#   outside: user | owner | host | launcher   not as root in throw-away namespaces
#   outside: held, WHY | may hold, WHY        where it cannot, or need not, get through
#   inside: known, WHY                        it gets through there, too
#
# docs/security.md has a row for each.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Retort::Weaker;
use Test::More;

my $dir = "$FindBin::Bin/attacks";
my $common = Retort::Service::slurp("$dir/attack.py");
my $s = Retort::Service->new(profiles => { default => {
    import => '', memory => '256m', disk => '16m', tmp => '8m', fsize => '16m',
    inodes => '1000', processes => '40', files => '128', cpu => '1',
    ready => '3', ttl => '30m 30m' } });
my $box = $s->session;

my %namespaces = (
    root => 'unshare -m -n -i -u -p -C --fork --mount-proc',
    user => 'setpriv --reuid 65534 --regid 65534 --clear-groups',
    owner => 'setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r',
    host => 'env',
    launcher => 'env LAUNCHER_SECRET=1',
);


sub outside {
    my ($code, $as) = @_;
    my $file = "$s->{dir}/attack.py";
    my $by = $as eq 'launcher' ? "$FindBin::Bin/launcher.py" : '';

    Retort::Service::write_file($file, $code, 0644);

    return (split /\n/, scalar `cd /tmp && timeout 20 env API_KEY=1 $namespaces{$as} \\
        /usr/bin/python3 $by $file 2>&1 9</etc/passwd`)[-1] // 'nothing';
}


# what a program says of itself
sub header {
    my ($code) = @_;
    my %h = (as => 'root', what => '');

    for (map {/^# (.*)/} grep {/^#/} split /\n/, $code) {
        if (/^outside: (user|owner|host|launcher)$/) { $h{as} = $1 }
        elsif (/^outside: (held|may hold), (.+)/) { @h{qw(free why)} = ($1, $2) }
        elsif (/^inside: known, (.+)/) { $h{known} = $1 }
        elsif ($h{what} eq '') { $h{what} = $_ }
    }

    return %h;
}


my @programs = sort map { s{^\Q$dir\E/|\.py$}{}gr } glob "$dir/*/*.py";
my %only = map { $_ => 1 } @ARGV;
my @rows;

for my $name (grep { !@ARGV || $only{$_} } @programs) {
    my $text = Retort::Service::slurp("$dir/$name.py");
    my $code = $common . $text;
    my %h = header($text);
    my $last = outside($code, $h{as});
    my ($group, $short) = split m{/}, $name;

    push @rows, sprintf '| %s | %s | %s |', $short, $h{what}, $h{known}
        ? "gets through: $h{known}" : 'held';

    if ($h{free}) {
        like($last, $h{free} eq 'held' ? qr/^HELD$/ : qr/^(?:HELD|BROKE: .*)$/,
            "$name runs outside: $h{why}");
    } else {
        like($last, qr/^BROKE: /, "$name gets through outside");
    }

    my $r = $s->run($code, timeout => 20);
    my $end = (split /\n/, $r->{stdout} // '')[-1] // $r->{status};

    if (my $why = $h{known} // Retort::Weaker::why($short)) {
        like($end, qr/^BROKE: /, "$name gets through inside: $why");
    } else {
        # the whole sandbox may have been ended at its limit of memory
        like($end, qr/^(?:HELD|oom)$/, "$name is held inside") or diag(explain $r);
    }
}

unless (@ARGV) {
    my $docs = Retort::Service::slurp("$FindBin::Bin/../../docs/security.md");

    is(join("\n", $docs =~ /^(\| [a-z]{2}\d\d_.*)$/mg), join("\n", @rows),
        'docs/security.md has the row of each, and no other');
    is($docs =~ /^\| Not held .*\n.*\n((?:\|.*\n)+)/m && $1,
        join('', map {"$_\n"} Retort::Weaker::rows()), '... and all that containers do not hold');
    is_deeply([grep { !-e "$FindBin::Bin/../../$_" } $docs =~ /`(tests\/[^`]+)`/g], [],
        '... and names no test that is not there');
    is_deeply([grep { index($docs, $_) < 0 } map {s{.*/(tests/)}{$1}r} glob
        "$Retort::Service::TOP/tests/{security,fault}/*.t"], [], '... but all of these families');
    cmp_ok(scalar @programs, '>=', 120, 'there are ' . @programs . ' programs');
}

is($s->run('print(6 * 7)', sandbox_id => $box)->{stdout}, "42\n",
    'another tenant is served as before');
$s->end;
done_testing;
