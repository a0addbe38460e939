#!/usr/bin/perl

# Two sandboxes at once, one of them hostile.  Each program of pairs/ has parts
# for both, which run in turn in two living sessions; what a part tells is told
# to the next.  The same parts run in two plain processes of one user first,
# where the hostile one has to get through.  A header as in attacks.t:
#
#   outside: held, WHY      known: WHY (a channel that is not closed)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IPC::Open2;
use JSON::PP;
use POSIX ();
use Retort::Service;
use Retort::Weaker;
use Test::More;

my $J = JSON::PP->new->allow_nonref->ascii;
my $dir = "$FindBin::Bin/pairs";
my $common = Retort::Service::slurp("$FindBin::Bin/attacks/attack.py") . <<'PY';


import json


def tell(**what):
    print(json.dumps(what))


def status_of(pid, name):
    try:
        return status(name, pid)
    except OSError:
        return None


def began(p):
    """Popen() returns when the program before has let go, which is earlier."""
    import time
    for i in range(200):
        try:
            if open("/proc/%d/cmdline" % p.pid).read().startswith(p.args[0]):
                return
        except OSError:
            pass  # hidden while it is neither
        time.sleep(0.01)
PY
my $s = Retort::Service->new(profiles => { default => {
    import => '', memory => '256m', disk => '16m', tmp => '8m', fsize => '16m',
    inodes => '1000', processes => '40', files => '128', cpu => '1 2',
    timeout => '30s 60s', ready => '3' } });


# two processes of one user, in one set of namespaces, with common limits
sub open_two {
    my $tmpfs = 'mount -t tmpfs -o size=8m,nr_inodes=1000,mode=1777 x';
    my $pid = open2(my $out, my $in, 'unshare', '-m', '-n', '-i', '-u', '-p', '--fork',
        '--mount-proc', 'sh', '-c', "$tmpfs /tmp; $tmpfs /dev/shm; cd /tmp;"
        . ' exec setpriv --reuid 64999 --regid 64999 --clear-groups'
        . ' prlimit --nproc=50 --sigpending=256 --nofile=512 /usr/bin/python3 -c "$0"',
        Retort::Service::slurp("$dir/two.py"));

    $in->autoflush(1);

    return ($pid, sub {
        my ($who, $code) = @_;

        print {$in} $J->encode([$who eq 'victim' ? 'a' : 'b', $code]), "\n";
        return $J->decode(scalar(<$out>) // '"nothing"');
    }, $in);
}


# runs the parts of a program in turn; the last line is the outcome
sub play {
    my ($run, @parts) = @_;
    my $told = '{}';

    for my $part (@parts) {
        my ($who, $code) = @$part;

        $code = "$common\ntold = json.loads(" . $J->encode($told) . ")\n$code";
        $told = (split /\n/, $run->($who, $code))[-1] // 'nothing';
    }

    return $told;
}


sub outside {
    my ($pid, $run, $in) = open_two();
    my $end = play($run, @_);

    close $in;
    waitpid $pid, 0;

    return $end;
}


sub inside {
    my %box = map { $_ => $s->session } qw(victim hostile);
    my $end = play(sub {
        my $r = $s->run($_[1], sandbox_id => $box{$_[0]});

        return $r->{stdout} =~ /\S/ ? $r->{stdout} : $J->encode($r);
    }, @_);

    $s->json('DELETE', "/v1/sandboxes/$_") for values %box;

    return $end;
}


my @rows;

for my $file (grep { !@ARGV || $_ =~ $ARGV[0] } sort glob "$dir/p*.py") {
    my ($head, @rest) = split /^# ---- (\w+)\n/m, Retort::Service::slurp($file);
    my ($name) = $file =~ m{([^/]+)\.py$};
    my ($what) = $head =~ /^# (.*)/;
    my ($held) = $head =~ /^# outside: held, (.*)/m;
    my ($known) = $head =~ /^# known: (.*)/m;
    my @parts;

    push @parts, [splice @rest, 0, 2] while @rest;
    push @rows, "| $name | $what | " . ($known ? "gets through: $known" : 'held') . ' |';

    like(outside(@parts), $held ? qr/^HELD$/ : qr/^BROKE: /, $held
        ? "$name runs outside: $held" : "$name gets through between processes");
    $known = Retort::Weaker::closed($name) ? undef : $known // Retort::Weaker::why($name);
    like(inside(@parts), $known ? qr/^BROKE: / : qr/^HELD$/, $known
        ? "$name gets through between sandboxes: $known"
        : "$name is held between sandboxes");
}

# ---- at once: who works is served before who rages is through ----

my %rage = (
    'endless loops in eight processes' => "import os\nfor i in range(3): os.fork()\nwhile True: pass",
    'a fork bomb' => "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.01)",
    'endless output' => "while True: print('x' * 8000)",
    'memory taken again and again' => "import os\nwhile True:\n    if os.fork() == 0:\n"
        . "        b = bytearray(400 << 20)\n        b[::4096] = b'x' * (len(b) // 4096)\n"
        . "        os._exit(0)\n    os.wait()",
    'reading the whole image again and again' => "import os\nwhile True:\n"
        . "    for d, _, n in os.walk('/usr'):\n        for f in n:\n            try: open(os.path.join(d, f), 'rb').read()\n"
        . "            except OSError: pass",
);
my $victim = $s->session;

for my $what (@ARGV ? () : sort keys %rage) {
    my $hostile = $s->session;
    my $pid = fork // die;

    if ($pid == 0) {
        $s->run($rage{$what}, sandbox_id => $hostile, timeout => 20);
        POSIX::_exit(0);
    }

    my $r = $s->run("sum(i * i for i in range(300000))\nprint(len(bytearray(64 << 20)))",
        sandbox_id => $victim);

    is($r->{stdout}, (64 << 20) . "\n", "beside $what another sandbox works");
    is(waitpid($pid, POSIX::WNOHANG()), 0, '... and is through before it');
    $s->json('DELETE', "/v1/sandboxes/$hostile");
    waitpid $pid, 0;
}

# ---- another's names ----

my ($status) = $s->json('GET', "/v1/sandboxes/$victim");

is($status, 200, 'a sandbox is its workspace\'s');

for my $id (map { substr $victim, 0, -$_ } 0 .. 1) {
    for my $way (['GET', ''], ['DELETE', '']) {
        is($s->request($way->[0], "/v1/sandboxes/$id$way->[1]", undef,
            authorization => "Bearer $s->{other}")->{status}, 404,
            "$way->[0] of a foreign or a guessed id is 404");
    }

    is($s->request('POST', '/v1/execute', $J->encode({ code => '1', sandbox_id => $id }),
        authorization => "Bearer $s->{other}")->{status}, 404,
        'so is a run in it');
}

# ---- another's pictures ----

my $png = 'from IPython.display import display, Image; import base64; display(Image(base64.b64decode('
    . "'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')))";
my ($path) = ($s->run($png)->{artifacts}[0]{url} // '') =~ m{(/static/.*)};

is($s->get($path, authorization => '')->{status}, 200, 'who has a picture\'s name has the picture');

for my $guess (map { my $p = $path; substr($p, $_, 1) =~ tr/0-9a-f/1-9a-f0/; $p } 8, 24, 39) {
    is($s->get($guess)->{status}, 404, "one character away is nothing: $guess");
}

isnt($s->get("/static/$_")->{status}, 200, "and there is no list: /static/$_")
    for '', '.', '.secret', '..%2f', '%2e%2e/retortd.conf', 'index.html';

unless (@ARGV) {
    my $docs = Retort::Service::slurp("$FindBin::Bin/../../docs/security.md");

    is(join("\n", $docs =~ /^(\| p\d\d_.*)$/mg), join("\n", @rows),
        'docs/security.md has the row of each pair, and no other');
}

$s->end;
done_testing;
