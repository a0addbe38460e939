#!/usr/bin/perl

# A template is not for ever: after so many forks there is another one, with
# another layout and another hash seed, and nobody notices; if it does not come
# up, the old one serves.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Path qw(make_path);
use POSIX ();
use Retort::Service;
use Test::More;

plan skip_all => 'a container imports for itself: there is no template to renew'
    if Retort::Service::docker();

my $layer = "/tmp/layer-$$-renew";
my $modules = "$layer/usr/lib/python3/dist-packages";
my $flaky = "$modules/flaky.py";

system('cp', '-a', $Retort::Service::LAYER, $layer) == 0 or die 'no copy of the layer';
make_path($modules);
Retort::Service::write_file($flaky, "import time\n", 0644);

my $s = Retort::Service->new(conf => { layer => $layer }, profiles => { default => {
    import => 'flaky', renew => '8 0', ready => '2', sessions => '32' } });
my $layout = <<'PY';
for l in open("/proc/self/maps"):
    if "libc.so" in l and l.split()[2] == "00000000":
        print(l.split("-")[0], hash("abc"))
PY


# runs in so many processes at once; what each run printed, or how it ended
sub runs {
    my ($processes, $each) = @_;
    my @pipes;

    for (1 .. $processes) {
        my $pid = open(my $from, '-|') // die "fork: $!";

        if ($pid == 0) {
            for (1 .. $each) {
                my $r = $s->run($layout);

                print $r->{status} eq 'ok' ? $r->{stdout} : "$r->{http} $r->{status}\n";
            }

            close STDOUT;
            POSIX::_exit(0);
        }

        push @pipes, $from;
    }

    return map { my $from = $_; my @lines = <$from>; close $from; @lines } @pipes;
}


sub templates {
    return grep { Retort::Service::slurp("/proc/$_/cmdline") =~ /^retort-kernel\0--template/
            && Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:\s+\d+$/m }
        $s->children($s->{broker});
}


my ($first) = templates();
my $old = $s->session;
my $before = $s->run($layout, sandbox_id => $old)->{stdout};
my @all = runs(4, 15);
my %layouts = map { $_ => 1 } @all;

# a quick machine makes them all before the new template is warm
$s->until_true(sub {
    push @all, runs(4, 5);
    %layouts = map { $_ => 1 } @all;
    return keys %layouts > 1;
});

is(scalar(grep { !/^[0-9a-f]{6,} -?\d+$/ } @all), 0, 'no run fails while templates are renewed')
    or diag(@all);
cmp_ok(scalar keys %layouts, '>', 1, 'sandboxes of before and after have other layouts and hash seeds');
ok($s->until_true(sub { my @t = templates(); @t == 1 && $t[0] == $first }),
    'the new template is in the place of the old one, which is gone');
is($s->run($layout, sandbox_id => $old)->{stdout}, $before, 'a session of before goes on');

# ---- one that does not come up ----

Retort::Service::write_file($flaky, "import os\nos._exit(3)\n", 0644);

@all = runs(2, 20);
is(scalar(grep { !/^[0-9a-f]{6,} -?\d+$/ } @all), 0, 'no run fails while no new template comes up')
    or diag(@all);
ok($s->until_true(sub { $s->log =~ /the new template is gone, the old one stays/ }), '... which is told');
is($s->run('print(6 * 7)')->{stdout}, "42\n", '... and the old one serves');

Retort::Service::write_file($flaky, "import time\n", 0644);
%layouts = map { $_ => 1 } @all;
ok($s->until_true(sub { !$layouts{ $s->run($layout)->{stdout} } }, 60),
    'once one can come up, it does');

$s->end;
system('rm', '-rf', $layer);
done_testing;
