#!/usr/bin/perl

# A template that is to take another one's place and never gets through its
# imports is ended after a while; the old one serves, with nothing of the two in
# its sandboxes, and there is another try.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Path qw(make_path);
use Retort::Service;
use Test::More;

plan skip_all => 'a container imports for itself: there is no template to renew'
    if Retort::Service::docker();

my $layer = "/tmp/layer-$$-hang";
my $slow = "$layer/usr/lib/python3/dist-packages/slow.py";

system('cp', '-a', $Retort::Service::LAYER, $layer) == 0 or die 'no copy of the layer';
make_path($slow =~ s{/[^/]+$}{}r);
Retort::Service::write_file($slow, "import time\n", 0644);

my $s = Retort::Service->new(conf => { layer => $layer }, profiles => { default => {
    import => 'slow', renew => '4 0 10', ready => '1' } });
my $seed = 'import os; print(hash("abc"), sorted(os.listdir("/proc/self/fd")))';


# processes that are a template, by whether they were asked to be another one
sub templates {
    my ($renewed) = @_;

    return grep { my $line = Retort::Service::slurp("/proc/$_/cmdline");
        $line =~ /^retort-kernel\0--template/ && ($line =~ /\0--after\0/ ? 1 : 0) == $renewed
            && Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:\s+\d+$/m }
        $s->children($s->{broker});
}


my $before = $s->run($seed)->{stdout};

Retort::Service::write_file($slow, "import time\nwhile True:\n    time.sleep(1)\n", 0644);

my $wrong = 0;
my $new;

ok($s->until_true(sub {
    $wrong++ if $s->run($seed)->{stdout} ne $before;
    ($new) = templates(1);
}, 60), 'a new template hangs in its imports');
ok($s->until_true(sub {
    $wrong++ if $s->run($seed)->{stdout} ne $before;
    $s->log =~ /the new template takes too long, the old one stays/;
}, 60), '... which is told once its time is over');
ok($s->until_true(sub { !-e "/proc/$new" }), '... and it is ended');
is($wrong, 0, '... while the old one serves');

Retort::Service::write_file($slow, "import time\n", 0644);
ok($s->until_true(sub { ($s->run($seed)->{stdout} // '') ne $before }, 120),
    'one that can come up takes its place');
ok($s->until_true(sub { $s->run('print(6 * 7)')->{stdout} eq "42\n" && templates(0) == 0 }),
    '... and nothing of the old one is left');

$s->end;
system('rm', '-rf', $layer);
done_testing;
