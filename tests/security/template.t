#!/usr/bin/perl

# What the forks of one template share, and what not.  In the place of other
# tenants: a fork that does nothing to differ, which is what raw clones do.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Retort::Weaker;
use Test::More;

use constant BOXES => 12;

my $s = Retort::Service->new(
    stopped => 1, conf => { slots => 64 },
    profiles => {
        default => { import => 'numpy', ready => '4', sessions => '40' },
        second => { import => '', ready => '1' },
    });
my $nginx = Retort::Service::slurp("$s->{dir}/nginx.conf");

$nginx =~ s{(?=location /static/)}{location /second/ {
    retort_api native;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_static_url http://localhost/static;
    retort_profile second;
}
};
Retort::Service::write_file("$s->{dir}/nginx.conf", $nginx);
$s->start;

# ---- nothing random twice ----

my $draw = <<'PY';
import random, uuid, os, tempfile, secrets, ssl, hashlib, numpy, numpy.random
gen = numpy.random.default_rng()
for n, v in (
    ("random.random", random.random()), ("random.getrandbits", random.getrandbits(64)),
    ("a shuffled list", random.sample(range(10 ** 9), 3)),
    ("random.SystemRandom", random.SystemRandom().random()),
    ("random.Random()", random.Random().random()),
    ("numpy.random", numpy.random.random()), ("numpy.random.randn", numpy.random.randn()),
    ("numpy.random.RandomState()", numpy.random.RandomState().random_sample()),
    ("default_rng", gen.random()), ("numpy.random.bytes", numpy.random.bytes(8).hex()),
    ("ssl.RAND_bytes", ssl.RAND_bytes(8).hex()), ("os.urandom", os.urandom(8).hex()),
    ("secrets", secrets.token_hex(8)), ("uuid4", uuid.uuid4()),
    ("tempfile", next(tempfile._get_candidate_names())),
):
    print(n, "=", v)
PY

my %seen;
my %names;

for my $i (1 .. BOXES) {
    my $r = $s->run($draw);

    for (split /\n/, $r->{stdout} // '') {
        my ($name, $value) = split / = /, $_, 2;

        $names{$name}++;
        $seen{$name}{$value}++;
    }
}

for my $name (sort keys %names) {
    is(scalar(keys %{ $seen{$name} }), BOXES, BOXES . " sandboxes draw other values from $name");
}

is(scalar keys %names, 15, 'all of them were drawn');

# the same generators where nobody seeds them anew
my $raw = <<'PY';
import ctypes, os, random
C = ctypes.CDLL(None)
random.random()
values = set()
for i in range(3):
    r, w = os.pipe()
    if C.syscall(56, 17, 0, 0, 0, 0) == 0:
        os.write(w, repr(random.random()).encode())
        os._exit(0)
    values.add(os.read(r, 200))
    os.wait()
print(len(values))
PY

Retort::Service::write_file("$s->{dir}/raw.py", $raw);
is(scalar `/usr/bin/python3 $s->{dir}/raw.py`, "1\n",
    'forks of a raw call, outside, all draw the same');

# ---- nothing of another tenant, or of the service, in memory ----

my $scan = <<'PY';
import ctypes, re
C = ctypes.CDLL(None)
C.memmem.restype = ctypes.c_void_p
def look(flipped):
    """Where in memory is this word?  It comes with all its bits turned, and is
    turned in its place, so that there is one copy of ours."""
    word, found = bytearray.fromhex(flipped), []
    for i in range(len(word)):
        word[i] ^= 255
    mine = ctypes.addressof((ctypes.c_char * len(word)).from_buffer(word))
    for line in open("/proc/self/maps"):
        m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
        if not m or "[v" in line:
            continue
        p, end = int(m[1], 16), int(m[2], 16)
        while p:
            p = C.memmem(ctypes.c_void_p(p), ctypes.c_size_t(end - p), ctypes.c_void_p(mine), ctypes.c_size_t(len(word)))
            if p and p != mine:
                found.append(line.split()[-1])
            p = p and p + 1
    return found
PY

sub flipped { join '', map { sprintf '%02x', 255 - ord } split //, $_[0] }

sub found {
    my ($word, %o) = @_;
    my $r = $s->run("$scan\nprint(len(look('" . flipped($word) . "')))", timeout => 20, %o);

    return $r->{stdout} // $r->{status};
}


my $canary = 'canary' . unpack 'H*', Retort::Service::random(12);
my $box = $s->session;

$s->run("secret = '$canary' * 1000\nx = '''" . "$canary\n" x 500 . "'''", sandbox_id => $box);
cmp_ok(found($canary, sandbox_id => $box), '>', 0, 'a word is found in the memory that it is in');
is(found($canary), "0\n", '... and not in that of a sandbox made afterwards');

my %secret = (
    'the key of the client' => $s->{key}, 'the front\'s socket' => "$s->{dir}/run",
    'the store\'s directory' => "$s->{dir}/artifacts", 'the profiles' => "$s->{dir}/profiles",
    'the configuration' => 'retortd.conf', 'the service\'s name' => "retort-$s->{name}",
);

for my $file (glob "$s->{dir}/artifacts/.secret* $s->{dir}/artifacts/secret*") {
    $secret{"what is in $file"} = substr Retort::Service::slurp($file), 0, 16;
}

is(found($secret{$_}), "0\n", "$_ is not in a sandbox's memory") for sort keys %secret;

# ---- what forks of one template do share ----

my $layout = <<'PY';
import sys
for l in open("/proc/self/maps"):
    for n in ("libc.so", "[stack]", "retort-kernel"):
        if n in l and l.split()[2] == "00000000":
            print(n, l.split("-")[0])
print("heap", id(sys.path))
print("hash", hash("abc"))
PY

my %of = map { $_ => [map { $s->run($layout, @$_)->{stdout} } ([], [], [])] } 'default';

$of{second} = [map { ($s->json('POST', '/second/execute', { code => $layout }))[1]{stdout} } 1, 2];

for my $name (sort keys %of) {
    my %other = map { $_ => 1 } @{ $of{$name} };

    if (Retort::Weaker::closed('layout')) {
        is(keys %other, @{ $of{$name} }, "each container ($name) has a layout and a hash seed of its own");
    } else {
        is(keys %other, 1, "sandboxes of one template ($name) have its layout and its hash seed: known, see docs/security.md");
    }
}

for my $what ('libc.so', '[stack]', 'heap', 'hash') {
    my ($one, $two) = map { $_->[0] =~ /^\Q$what\E (\S+)/m } @of{qw(default second)};

    isnt($one, $two, "another template has another $what");
}

$s->end;
done_testing;
