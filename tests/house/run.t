#!/usr/bin/perl

# The runner of the tests tells the truth: what fails, is skipped, hangs
# nothing over or leaves something behind is reported.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $run = "$FindBin::Bin/../run";
my $dir = tempdir('retort-run-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $n = 0;
my @options;

delete @ENV{qw(CI MUST_RUN)};


# runs one shell script as a test; exit code and what the runner said

sub run {
    my ($script, %env) = @_;

    my $path = "$dir/" . ++$n . '.t';

    open(my $file, '>', $path) or die $!;
    print $file "#!/bin/bash\n$script";
    close $file or die $!;
    chmod 0755, $path or die $!;

    local @ENV{keys %env} = values %env;
    my $said = `\Q$run\E --grace 0.3 @options $path 2>&1`;

    return ($? >> 8, $said);
}


sub fails {
    my ($promise, $script, $word, %env) = @_;

    my ($code, $said) = run($script, %env);
    ok($code != 0 && $said =~ /$word/, $promise) or diag "$code: $said";
}


sub passes {
    my ($promise, $script, %env) = @_;

    my ($code, $said) = run($script, %env);
    ok($code == 0 && $said =~ /^Result: PASS$/m, $promise)
        or diag "$code: $said";

    return $said;
}


my $skip = "echo 1..1; echo 'ok 1 # SKIP no reason'\n";
my $todo = "echo 1..1; echo 'not ok 1 - x # TODO later'\n";
my $none = "echo '1..0 # SKIP not here'\n";

passes('a good test passes', "echo 1..1; echo ok 1\n");
passes('a good test passes where all must run', "echo 1..1; echo ok 1\n",
       MUST_RUN => 1);

fails('a failed check fails', "echo 1..1; echo not ok 1\n", 'Failed');
fails('why is told at the end, too', "echo 1..1; echo not ok 1; echo '# why' >&2\n",
      '(?s)# why.*Result: FAIL.*said\n\n?# why');
fails('an exit code fails', "echo 1..1; echo ok 1; exit 3\n", 'Non-zero exit');
fails('a missing check fails', "echo 1..2; echo ok 1\n", 'Bad plan');
fails('a signal fails', "echo 1..1; echo ok 1; kill -9 \$\$\n", 'Non-zero wait status: 9|Dubious');
fails('a test that says nothing fails', "exit 0\n", 'nothing ran|No plan');

passes('a skipped check passes on a small machine', $skip);
fails('a skipped check fails with MUST_RUN=1', $skip, 'skipped check 1',
      MUST_RUN => 1);
fails('a skipped check fails with CI=true', $skip, 'skipped check 1',
      CI => 'true');
fails('a skipped file fails with MUST_RUN=1', $none, 'skipped as a whole',
      MUST_RUN => 1);
passes('a planned failure passes on a small machine', $todo);
fails('a planned failure fails with MUST_RUN=1', $todo, 'planned failure',
      MUST_RUN => 1);

# what a host does to a virtual machine: the first time, the processors are away

sub flaky {
    my ($share) = @_;

    unlink "$dir/once", "$dir/stat";

    return "stat() { echo \"cpu \$1 0 0 0 0 0 0 \$2 0 0\" > $dir/stat.new; "
        . "mv $dir/stat.new $dir/stat; }\n"
        . "if [ -e $dir/once ]; then echo 1..1; echo ok 1; exit; fi\n"
        . "touch $dir/once\n"
        . "for i in 1 2 3 4 5 6 7 8 9; do\n"
        . "    stat \$((i * (100 - $share))) \$((i * $share)); sleep 0.5\n"
        . "done\n"
        . "echo 1..1; echo not ok 1\n";
}

@options = ('--stat', "$dir/stat");
my $said = passes('what failed without processors runs once more, and that '
                  . 'counts', flaky(60));
like($said, qr/once more, as the host.*with \d\d % of the/s, 'and this is told');
fails('what failed with them does not', flaky(10), 'with \d+ % of the');
fails('what fails both times fails', flaky(60) =~ s/echo ok 1/echo not ok 1/r,
      'once more');
@options = ();

passes('a test has no input to wait for',
       "read -r line; echo 1..1; echo ok 1\n");

SKIP: {
    skip 'only root can leave these', 3 if $> != 0;

    my $uid = 1_500_000_000 + 77;
    my $pid = "$dir/pid";

    fails('a process with a sandbox uid that is left is found',
          "setpriv --reuid=$uid --clear-groups sleep 60 > /dev/null 2>&1 &\n"
          . "echo \$! > $pid; disown\n"
          . "until grep -q sleep /proc/\$!/comm; do :; done\n"
          . "echo 1..1; echo ok 1\n",
          "left behind: process \\d+ \\(sleep\\), uid $uid");

    open(my $file, '<', $pid) or die $!;
    kill 'KILL', <$file> + 0;
    close $file;

    fails('a mount that is left is found',
          "mkdir $dir/mnt; mount -t tmpfs none $dir/mnt\n"
          . "echo 1..1; echo ok 1\n", "left behind: mount $dir/mnt");
    system('umount', "$dir/mnt") == 0 or die "umount: $?\n";

    my ($root) = grep { -d } '/sys/fs/cgroup/pids', '/sys/fs/cgroup';

    fails('a cgroup that is left is found',
          "mkdir $root/retort-run-$$; echo 1..1; echo ok 1\n",
          "left behind: cgroup $root/retort-run-$$");
    rmdir "$root/retort-run-$$" or die "rmdir: $!\n";
}

fails('a file that is left is found',
      "touch /tmp/retort-left-$$; echo 1..1; echo ok 1\n",
      "left behind: file /tmp/retort-left-$$");
unlink "/tmp/retort-left-$$" or die $!;

fails('a socket that is left is found',
      "/usr/bin/perl -MIO::Socket::UNIX -e '\$s = IO::Socket::UNIX->new("
      . "Local => \"$dir/left.sock\", Listen => 1); sleep 60' "
      . "> /dev/null 2>&1 & echo \$! > $dir/pid; disown\n"
      . "while [ ! -e $dir/left.sock ]; do :; done\n"
      . "echo 1..1; echo ok 1\n", "left behind: socket $dir/left.sock");
open(my $file, '<', "$dir/pid") or die $!;
kill 'KILL', <$file> + 0;

done_testing();
