#!/usr/bin/perl

# Who runs the service can have the walls tried: each stands in a sandbox, be it
# a container, and on the bare machine the same program misses each.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => {
    import => '', ready => '1', processes => '40' } });
my $program = "$Retort::Service::TOP/conf-examples/walls.py";


sub prove {
    my ($of) = @_;
    my $out = `'$Retort::Service::TOP/objs/retortctl' run '$program' --socket '$of->{dir}/run/control.sock' --timeout 20 2>&1`;

    return ($out, $? >> 8);
}


my ($out, $code) = prove($s);
my @walls = map { s/\(.*//r } $out =~ /^stands +(.*)$/mg;

is($code, 0, 'in a sandbox all walls stand') or diag($out);
is(scalar @walls, 16, 'there are sixteen');
unlike($out, qr/MISSING/, '... of which none is missing');

my $bare = `cd / && unshare -m -n /usr/bin/python3 '$program' 2>&1`;

isnt($? >> 8, 0, 'without a sandbox they do not');

for my $wall (@walls) {
    my $there = qr/^MISSING +\Q$wall\E/m;

    # a bound for processes other machines have as well
    next if $wall eq 'a bound for processes' && $bare !~ $there;
    like($bare, $there, "... not: $wall");
}

unlike($s->log, qr/Landlock/, 'of a kernel with Landlock nothing is said');
$s->end;

# ---- a machine with a wall less ----

SKIP: {
    skip 'strace is missing', 1 unless -x '/usr/bin/strace';

    no warnings 'redefine';
    local *Retort::Service::alone = sub { ('/usr/bin/strace', '-D', '-f', '-q', '-o', '/dev/null',
        '-e', 'trace=landlock_create_ruleset', '-e', 'inject=landlock_create_ruleset:error=EOPNOTSUPP') };

    # an engine's containers are nobody's children: their runtime takes it, and what covers the host
    my @runtime = Retort::Service::docker() ? (docker_runtime => 'less') : ();
    my @missed = ((@runtime ? ('nothing of the host', 'five devices') : ()), 'Landlock');

    # who is traced cannot be looked at for leaks as well; the service above was
    my $less = Retort::Service->new(alerts => qr/LeakSanitizer (?:has encountered a fatal error|does not work under ptrace)/,
        profiles => { default => { import => '', ready => '1', @runtime } });

    like($less->log, qr/warn: sandboxes are without Landlock/, 'on a kernel without Landlock the service says so');
    ($out, $code) = prove($less);
    is_deeply([$out =~ /^MISSING +(.*)$/mg], \@missed, '... the program misses what is not there, and no other wall')
        or diag($out);
    isnt($code, 0, '... and says so by its code');
    $less->end;
}

done_testing;
