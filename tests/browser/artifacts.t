#!/usr/bin/perl

# What a sandbox made, opened in a browser: no script of it runs.  The same
# bytes, served by the same nginx as what they want to be and without our
# headers, run theirs: so the programs are sound, and it is the headers that
# hold them.  Each is opened by itself, and in a frame of a page that listens.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => { import => '', ready => '1', ttl => '10m 10m' } },
    location => location());
my $home = tempdir('browser-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $page = "$s->{dir}/page";

chown 65534, 65534, $home;
mkdir $page;

# tells that it ran: to who opened it or holds its frame, and in its document
my $tell = "(opener||parent).postMessage(location.pathname,'*');"
    . "document.documentElement.setAttribute('ran','RAN')";
my $html = "<script>$tell</script>";
my %made = (
    'svg' => qq{<svg xmlns="http://www.w3.org/2000/svg"><script>$tell</script></svg>},
    'html' => "<!doctype html><p>a</p>$html",
    'png' => "\x89PNG\r\n\x1a\n$html",
    'jpg' => "\xff\xd8\xff\xe0$html",
    'gif' => "GIF89a$html",
    'webp' => "RIFF\x20\0\0\0WEBP$html",
    'pdf' => "%PDF-1.4\n$html",
    'json' => "{\"a\":\"$html\"}",
    'csv' => "a,b\n$html,2\n",
    'txt' => $html,
    'md' => "# a\n\n$html\n",
);
my @kinds = sort keys %made;


sub location {
    return <<'CONF';
location /page/ { root %RUN%/..; }
        location = /told { access_log %RUN%/../told.log; return 204; }
        location /bare/ {
            alias %RUN%/../artifacts/;
            types { image/svg+xml svg; }
            default_type text/html;
        }
        location /files/ {
            set $key $arg_key;
            set $args '';
            rewrite ^/files/(.*) /v1/sandboxes/$1 break;
            proxy_set_header Authorization "Bearer $key";
            proxy_pass http://127.0.0.1:$server_port;
        }
CONF
}


# a browser with this page, until the code is true, or 60 s
sub browse {
    my ($path, $until) = @_;
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        POSIX::setpgid(0, 0);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        exec 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
            'env', '-i', 'PATH=/usr/bin:/bin', "HOME=$home", "TMPDIR=$home",
            'chromium', '--headless', '--no-sandbox', '--disable-gpu',
            '--disable-dev-shm-usage', '--disable-breakpad', '--no-first-run',
            '--disable-popup-blocking', "--user-data-dir=$home/profile",
            $s->url($path) or POSIX::_exit(127);
    }

    my $good = $s->until_true($until, 60);

    kill 'KILL', -$pid;
    waitpid $pid, 0;

    return $good;
}


# one page that opens all of them, each in a frame and in a window of its own
# (what is an attachment is in neither), and then a program that nothing holds:
# once that has told, all others have told, or had another second.  What has
# told that it ran.
sub told {
    my ($name, $want, @urls) = @_;
    my $list = JSON::PP->new->encode([@urls, '/page/last.html']);
    my $log = sub { Retort::Service::slurp("$s->{dir}/told.log") };

    Retort::Service::write_file("$page/last.html", "<!doctype html>$html", 0644);
    Retort::Service::write_file("$s->{dir}/told.log", '', 0666);
    Retort::Service::write_file("$page/$name.html", <<"HTML", 0644);
<!doctype html>
<script>
onmessage = e => fetch('/told?' + e.data)
onload = () => {
    for (const url of $list) {
        document.body.appendChild(document.createElement('iframe')).src = url
        window.open(url)
    }
}
</script>
<body>
HTML

    my $others = sub { grep { $_ ne '/page/last.html' } $log->() =~ m{told\?(\S+) }g };
    my $last;
    my $done = browse("/page/$name.html", sub {
        return 0 if 2 > (() = $log->() =~ m{told\?/page/last\.html }g);
        $last //= Time::HiRes::time();
        return $want ? $others->() >= $want : Time::HiRes::time() - $last > 1;
    });

    return 'the page itself did not' unless $done || $last;
    return join ' ', sort $others->();
}


# ---- what a run displays, and what it saves ----

my $box = $s->session;
my $show = join '', map { "show('$_', '" . unpack('H*', $made{$_}) . "')\n" } @kinds;
my $code = <<"PY";
from IPython.display import display
types = dict(svg='image/svg+xml', html='text/html', png='image/png', jpg='image/jpeg', gif='image/gif',
    webp='image/webp', pdf='application/pdf', json='application/json', md='text/markdown')
def show(kind, text):
    data = bytes.fromhex(text)
    open('a.' + kind, 'wb').write(data)
    if kind in types:
        display({types[kind]: data if kind in ('png', 'jpg', 'gif', 'webp', 'pdf') else data.decode()},
            raw=True)
$show
PY
my $r = $s->run($code);
my %url = map { ($_->{url} =~ m{(/static/.*\.(\w+))})[1, 0] } @{ $r->{artifacts} };

is_deeply([sort keys %url], \@kinds, 'a run stores a program for a browser as ' . @kinds . ' types')
    or diag(explain $r);

my @static = map { $url{$_} } @kinds;
my @bare = map { s{^/static}{/bare}r } @static;
my @files = map { "/files/$box/files/a.$_?key=$s->{key}" } @kinds;

is($s->run($code, sandbox_id => $box)->{status}, 'ok', '... and as files of a session');
my $all = join ' ', sort @bare, @bare;

is(told('bare', 2 * @bare, @bare), $all, 'without our headers each runs, in a frame and when it is opened');
is(told('static', 0, @static), '', 'with them none of the artifacts does');
is(told('files', 0, @files), '', '... and none of the files of a session');
is($s->get($_)->{content}, $made{$kinds[0]}, '... which are there to be opened')
    for $static[0], $files[0];

# ---- Markdown, in a page that lets HTML through ----

sub page_of {
    my ($name, $want, $markdown) = @_;
    my $file = "$s->{dir}/$name.md";

    Retort::Service::write_file($file, $markdown);

    my $text = `cmark --unsafe \Q$file\E`;

    Retort::Service::write_file("$page/$name-text.html", "<!doctype html>\n$text", 0644);

    return ($text, told($name, $want, "/page/$name-text.html"));
}


my $onload = qq{<img src="x:y" onerror="$tell">};
my $text = join "\n", '', '```', $onload, '````', "</pre>$html", $onload, '[a](javascript:a)',
    '~~~', $html;

$r = $s->request('POST', '/v1/execute', JSON::PP->new->encode({ code => 'text = bytes.fromhex("'
    . unpack('H*', $text) . qq{").decode()\n} . <<'PY' }), accept => 'text/markdown');
import sys
print(text)
print(text, file=sys.stderr)
for name in ('](javascript:a).png', '<img src=x onerror=a>.png', '`.png'):
    try: open(name, 'wb').write(b'\x89PNG\r\n\x1a\n' + name.encode())
    except OSError: pass
raise ValueError(text)
PY

my (undef, $ran) = page_of('raw', 1, $text);

like($ran, qr{^/page/raw-text\.html}, 'what a sandbox wrote, as Markdown, runs');
(my $shown, $ran) = page_of('shown', 0, $r->{content});
like($shown, qr/ValueError/, 'the Markdown of an answer shows it');
is($ran, '', '... and nothing of it runs');
unlike($shown, qr/href="javascript:|<img[^>]*\sonerror=/i, '... and no link of it is a program');

$s->end;
done_testing;
