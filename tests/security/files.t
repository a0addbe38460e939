#!/usr/bin/perl

# Files that lead elsewhere, change while they are read, have names that want to
# be headers or paths, or are programs for a browser: by the files of a
# session, and by what a run saves for its client.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => {
    import => '', ready => '1', artifacts => '8 64', inodes => '4096 16384' } });
my $box = $s->session;
my $at = "/v1/sandboxes/$box/files";
my $mark = 'only-the-host-' . unpack 'H*', Retort::Service::random(8);

Retort::Service::write_file("$s->{dir}/host.png", "\x89PNG\r\n\x1a\n$mark", 0644);

sub here { $s->run($_[0], sandbox_id => $box, @_[1 .. $#_]) }


# ---- what a run saves ----

my $png = "b'\\x89PNG\\r\\n\\x1a\\n'";
my $r = here(<<"PY");
import os
os.symlink('$s->{dir}/host.png', 'a.png')
os.symlink('/etc/passwd', 'b.png')
os.symlink('/proc/self/environ', 'c.png')
os.symlink('/dev/zero', 'd.png')
os.symlink('e.png', 'e.png')
os.symlink('/', 'root')
try: os.mkfifo('f.png')
except OSError as e: print('no pipe', e.errno)
import socket
socket.socket(socket.AF_UNIX).bind('f.png')
os.mkdir('g.png')
try: os.link('/usr/bin/bash', 'h.png')
except OSError as e: print('no link', e.errno)
PY

is($r->{status}, 'ok', 'a run that saves what leads elsewhere ends as it should')
    or diag(explain $r);
is_deeply($r->{artifacts}, [], 'links, sockets and folders with names of pictures are none');
unlike($s->request('GET', "$at/$_.png")->{content}, qr/\Q$mark\E|root:/, "$_.png is not followed")
    for 'a' .. 'h';
like($r->{stdout}, qr/^no pipe 1$/m, 'no pipe with a name can be made');
like($r->{stdout}, qr/^no link 18$/m, 'no file of the image can be linked into the workspace');

# a file that is a link each second time that it is looked at
$r = here(<<"PY", timeout => 15);
import os, subprocess, sys
p = subprocess.Popen(['/usr/bin/python3', '-c', """
import os
while True:
    os.symlink('/etc/passwd', 'swap.tmp')
    os.rename('swap.tmp', 'swap.png')
    open('swap.tmp', 'wb').write(bytes.fromhex('89504e470d0a1a0a') * 1000)
    os.rename('swap.tmp', 'swap.png')
"""])
PY

my ($seen, $bad) = (0, 0);

for my $i (1 .. 150) {
    my $x = $s->request('GET', "$at/swap.png");

    $seen++ if $x->{status} == 200;
    $bad++ if $x->{content} =~ /root:/;
}

is($bad, 0, "a file that turns into a link is never followed (read $seen times)");
cmp_ok($seen, '>', 0, '... and was read as the file that it is');
is(here('p.kill(); p.wait()')->{status}, 'ok', '... and the session goes on');

# more than anybody wants
$r = here("for i in range(500): open('p%d.png' % i, 'wb').write($png + b'%d' % i)");
cmp_ok(scalar @{ $r->{artifacts} }, '<=', 8, 'pictures of one run are counted');
$r = here("import os\nos.makedirs('/'.join(['d'] * 60))\nopen('/'.join(['d'] * 60) + '/x.png', 'wb').write($png)");
is($r->{status}, 'ok', 'folders sixty deep end nothing');
$r = here("f = open('big.png', 'wb')\nf.write($png)\nf.truncate(60 << 20)");
is_deeply([grep { ($_->{size} // 0) > 5 << 20 } @{ $r->{artifacts} }], [],
    'a sparse picture above the limit is not stored');
here("import glob, os\nfor f in glob.glob('*.png'):\n    if not os.path.isdir(f): os.unlink(f)");

# ---- names and types ----

my %type = ('x.html' => '<script>alert(1)</script>', 'x.svg' => '<svg onload="alert(1)"/>',
    'x.xml' => '<?xml-stylesheet href="x"?><a/>', 'x.js' => 'alert(1)', 'x.xhtml' => '<html/>',
    'index.html' => '<script>1</script>', '.htaccess' => 'x', 'x.png' => '<script>1</script>',
    'x.pdf' => '%PDF-1.4 /JavaScript', 'x.swf' => 'FWS', 'x' => '<html>');

for my $name (sort keys %type) {
    is($s->request('PUT', "$at/$name", $type{$name})->{status}, 201, "$name is put");
    my $h = $s->request('GET', "$at/$name")->{headers};

    is($h->{'x-content-type-options'}, 'nosniff', '... its type is not guessed');
    like($h->{'content-disposition'} // '', qr/^attachment/, '... it is saved, not shown');
    unlike($h->{'content-type'} // '', qr{html|svg|xml|javascript|flash}, '... as what runs nowhere');
}

for my $name ("a\"b.txt", "a;b=c.txt", "a%b.txt", "\xe2\x80\xaetxt.exe", "a\\b.txt", '-rf', "CON", "x.") {
    my $path = "$at/" . $name =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ger;

    next unless $s->request('PUT', $path, 'x')->{status} == 201;
    my $h = $s->request('GET', $path)->{headers};
    my $shown = $name =~ s/[^ -~]/?/gr;

    like(ref $h->{'content-disposition'} ? 'many' : $h->{'content-disposition'} // '',
        qr/^attachment(?:; filename="[^"\\]*")?(?:; filename\*=UTF-8''[\w.%!#\$&+^`|~-]+)?$/,
        "the name $shown stays in its place in the header");
}

is($s->request('PUT', "$at/$_", 'x')->{status} >= 400 ? 1 : 0, 1, "$_ is no name")
    for '..%2fx', '%2e%2e/x', 'a/../../x', 'a%00b', 'a%0d%0ab', '%ff%fe', 'x' x 256,
        '%c0%ae%c0%ae/x';

# nginx makes one slash of two
$s->request('PUT', "$at/%2fetc%2fpasswd", 'mine');
is(here("print(open('/etc/passwd').read()[:4], open('etc/passwd').read())")->{stdout},
    "root mine\n", 'an absolute name is below the workspace');

# ---- another's files ----

is($s->request($_, "$at/x.html", undef, authorization => "Bearer $s->{other}")->{status}, 404,
    "$_ of a file is 404 for another workspace") for qw(GET DELETE);

$r = here("open('mine.png', 'wb').write($png + b'mine')");

my ($id) = ($r->{artifacts}[0]{url} // '') =~ m{([^/?]+)(?:\?.*)?$};

ok($id, 'a picture that was saved is an artifact');
$r = $s->request('POST', '/v1/execute', '{"code": "1", "files": [{"name": "x", "file_id": "' . ($id // '') . '"}]}',
    authorization => "Bearer $s->{other}");
cmp_ok($r->{status}, '>=', 400, '... and no input file of another workspace');
unlike($r->{content}, qr/mine/, '... of which nothing is told');

is(here('print(6 * 7)')->{stdout}, "42\n", 'the session is served as before');
$s->end;
done_testing;
