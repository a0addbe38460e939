#!/usr/bin/perl

# A template: what it refuses to serve with, and that a sandbox made from it
# has no trace of the warm-up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Path qw(make_path);
use File::Temp ();
use Test::More;

use Retort::Kernel;
use Retort::Service;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

# modules that a profile may name, in a layer of their own

my $layer = File::Temp->newdir;
my $folder = "$layer/usr/lib/python3/dist-packages";
system('cp', '-a', "$Retort::Kernel::LAYER/.", "$layer") == 0
    or die "cannot copy the layer\n";
make_path($folder);
chmod 0755, "$layer";

my %module = (
    leaves_thread => "import threading, time\n"
        . "threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    leaves_file => "kept = open('/etc/passwd')",
    is_wrong => '1/0',
    mapped => "import ctypes\nlibc = ctypes.CDLL(None)\n"
        . "libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p\n"
        . "block = libc.malloc(40 << 20)\nctypes.memset(block, 7, 1)\n",
    leaves_output => "import sys\nprint('hello')\nsys.stderr.write('world')",
);

for my $name (keys %module) {
    open my $fh, '>', "$folder/$name.py" or die "$name: $!\n";
    print $fh $module{$name};
    close $fh or die "$name: $!\n";
}


# what a template says, and how it ends

sub attempt {
    my (@imports) = @_;
    local $Retort::Kernel::LAYER = "$layer";
    my $t = Retort::Kernel->new(mode => '--template', imports => \@imports);
    my $poll = IO::Poll->new;
    $poll->mask($t->{sock} => IO::Poll::POLLIN());
    $poll->poll(Retort::Kernel::PATIENCE);
    recv $t->{sock}, my $warm, 64, 0;
    my $end = $t->end >> 8;
    return (length $warm // 0, $end, $t->noise);
}


my ($warm, $end, $said) = attempt('json', 'csv');
is($warm, 16, 'a template says when it is warm');
is($end, 0, 'and ends with its broker');
is($said, '', 'without a word');

($warm, $end, $said) = attempt('leaves_output');
is("$warm $end $said", '16 0 ', 'what an import prints is nobody\'s');

my @refused = (
    ['a module that is missing', 'nothere',
        qr/No module named 'nothere'.*cannot import, named by the profile: nothere/s],
    ['a module that fails', 'is_wrong',
        qr/ZeroDivisionError.*named by the profile: is_wrong/s],
    ['a thread that is left', 'leaves_thread', qr/2 threads and 4 descriptors/],
    ['a descriptor that is left', 'leaves_file', qr/1 threads and 5 descriptors/],
);

for my $row (@refused) {
    my ($what, $name, $text) = @$row;
    ($warm, $end, $said) = attempt($name);
    is("$warm $end", '0 1', "$what ends the template");
    like($said, $text, 'with a word about it');
}

# in the service

my $s = Retort::Service->new(conf => { layer => "$layer" }, profiles => {
    default => { import => 'numpy pandas matplotlib.pyplot mapped' } });


sub out { return $s->run(@_)->{stdout} }


my $box = $s->session;
my $names = 'print(*sorted(n for n in globals() if n[0] != "_"), In, Out, _, '
    . 'get_ipython().execution_count)';
is(out($names, sandbox_id => $box), "In Out exit get_ipython quit "
    . "['', '" . ($names =~ s/'/\\'/gr) . "'] {}  1\n",
    'a session begins with nothing of the warm-up');
is(out('import sys, linecache; print([n for n in linecache.cache '
    . 'if "ipython" in n].__len__(), hasattr(sys, "last_value"))',
    sandbox_id => $box), "2 False\n", 'no text of an earlier cell is kept');
is(out('import matplotlib.pyplot as plt; print(plt.get_fignums())'), "[]\n",
    'no figure is open');
is(out('import os; print(os.cpu_count(), len(os.sched_getaffinity(0)), '
    . 'os.environ["OMP_NUM_THREADS"])'), "1 1 1\n",
    'processors are the profile\'s');
is(out('open("/proc/self/environ").read()'), '',
    'nothing is in the environment block');
is(out('import sys; print(sys.flags.isolated, sys.path[0] == "", '
    . 'any("retort" in p for p in sys.path))'), "1 True False\n",
    'the interpreter is isolated, the kernel\'s folder not on its path');

# memory: the template's, behind a seal, but for what the sandbox wrote

my $maps = <<'EOP';
import os, re
own = shared = 0
for entry in re.split(r"^(?=[0-9a-f]+-)", open("/proc/self/smaps").read(), flags=re.M)[1:]:
    own += int(re.search(r"Anonymous: +(\d+)", entry)[1])
    if "memfd:template" in entry:
        place, size = entry.split()[0], int(re.search(r"Size: +(\d+)", entry)[1])
        shared += size
try:
    os.open("/proc/self/map_files/" + place, os.O_RDWR)
    got = "opened"
except OSError as error:
    got = "refused"
print(shared > 20 * own, own < 6000, got)
EOP
is(out($maps), "True True refused\n", 'nearly all of its memory is the '
    . 'template\'s, in a file that nobody can open');
is(out("import os, threading, time\n"
    . "threading.Thread(target=time.sleep, args=(0.5,)).start()\n"
    . "pid = os.fork()\nif pid == 0: os._exit(threading.active_count())\n"
    . "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"), "1\n",
    'a fork of the tenant\'s is told to the libraries');
is(out("import logging, concurrent.futures.thread as pool\n"
    . "print(pool._global_shutdown_lock.locked(), logging._lock.acquire(timeout=1))\n"
    . "import threading; t = threading.Thread(target=logging._acquireLock)\n"
    . "logging._lock.release(); t.start(); t.join(5); print(t.is_alive())"),
    "False True\nFalse\n", 'and none of their locks is held since the template\'s');
is(out("import os\nfor i in range(3):\n    pid = os.fork()\n"
    . "    if pid == 0: os._exit(7)\n"
    . "    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), end=' ')",
    timeout => 10), "7 7 7 ", 'nor in the way of a fork');

is(out("import ctypes, mapped\nblock = mapped.libc.realloc("
    . "ctypes.c_void_p(mapped.block), ctypes.c_size_t(1 << 29))\n"
    . "ctypes.memset(block + (1 << 29) - 1, 1, 1)\nprint(ctypes.string_at(block, 1)[0])"),
    "7\n", 'a large block of the template\'s can be made larger');

my $numbers = 'import random, uuid, tempfile, secrets, numpy as np, ctypes; '
    . 'print(np.random.rand(), random.random(), uuid.uuid4(), '
    . 'tempfile.mktemp(), secrets.token_hex(), np.random.default_rng().random(),'
    . ' ctypes.CDLL(None).rand())';
my %seen;
$seen{$_}++ for map { split ' ', out($numbers) } 1 .. 3;
is_deeply([grep { $seen{$_} > 1 } keys %seen], [],
    'three sandboxes draw no number twice, from any of seven sources');
is(scalar keys %seen, 21, 'and all of them were drawn');

$s->end;
done_testing();
