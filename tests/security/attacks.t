#!/usr/bin/perl

# Programs that attack the sandbox from inside.  Each runs outside first, as
# root in throw-away namespaces, where it has to get through: otherwise a
# mistake in it would pass as security.  attacks/attack.py goes before each.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

# as root outside without getting through, and why that is right
my %held = (
    'ex/ex16_raise_rlimits' => 'some machines\' root has no CAP_SYS_RESOURCE',
);

my $dir = "$FindBin::Bin/attacks";
my $common = Retort::Service::slurp("$dir/attack.py");
my $s = Retort::Service->new(profiles => { default => { import => '' } });
my $box = $s->session;


sub outside {
    my ($code) = @_;
    my $file = "$s->{dir}/attack.py";

    Retort::Service::write_file($file, $code);

    return (split /\n/, scalar `timeout 10 unshare -m -n -i -u -p -C --fork \\
        --mount-proc /usr/bin/python3 $file 2>&1`)[-1] // 'nothing';
}


my @programs = sort map { s{^\Q$dir\E/|\.py$}{}gr } glob "$dir/*/*.py";

for my $name (@programs) {
    my $code = $common . Retort::Service::slurp("$dir/$name.py");
    my $last = outside($code);

    if ($held{$name}) {
        like($last, qr/^(?:HELD|BROKE: )/, "$name runs outside: $held{$name}");
    } else {
        like($last, qr/^BROKE: /, "$name gets through outside");
    }

    my $r = $s->run($code, sandbox_id => $box, timeout => 10);

    is((split /\n/, $r->{stdout} // '')[-1], 'HELD', "$name is held inside")
        or diag(explain $r);
}

ok(@programs >= 50, 'there are ' . @programs . ' programs');
is($s->run('print(6 * 7)')->{stdout}, "42\n", 'another tenant is served as before');
$s->end;
done_testing;
