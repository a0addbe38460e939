#!/usr/bin/perl

# Where the links of Qwen's dialect begin: the tool's two settings, as a
# profile has them, and the location's.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $code = 'show(0, "image/png", "\x89PNG\r\n\x1a\n")';
my $file = qr/[0-9a-f]{32}\.png/;
my @signed = (RETORT_LINK_TAG => '0377243c8f79b7b6', RETORT_LINK_KEY => 'ab' x 32,
              RETORT_LINK_EXPIRES => 600);
my $f;

sub with { $f->stop if defined $f; $f = Retort::Front->start(@_); return }

sub text {
    return $f->get(POST => '/code_interpreter', { timeout => 0,
                   params => { code => $code } }, RETORT_API => 'qwen', @_)->{body};
}

with(m6_static_url => 'http://h/s', m6_work_dir => '/srv/ws');
like(text(RETORT_STATIC_URL => 'http://other'), qr{^!\[fig-001\]\(http://h/s/$file\)$},
     'M6_CODE_INTERPRETER_STATIC_URL is what links begin with');
like(text(@signed), qr{^!\[fig-001\]\(http://h/s/$file\?e=\d+&w=[^&]+&s=[0-9a-f]{32}\)$},
     'and they are signed like others');
like($f->execute({ code => $code }, RETORT_STATIC_URL => 'http://other')
     ->{json}{artifacts}[0]{url}, qr{^http://other/}, 'it is for this dialect alone');

with(m6_static_url => 'http://h/s/');
like(text(), qr{\(http://h/s//$file\)$}, 'a slash at its end stays, as in the tool');

with(m6_work_dir => '/srv/ws');
my @none = (RETORT_STATIC_URL => '');
like(text(@none), qr{^!\[fig-001\]\(/srv/ws/$file\)$},
     'without it links are files in M6_CODE_INTERPRETER_WORK_DIR');
like(text(@none, @signed), qr{\(/srv/ws/$file\)$}, 'whose names nobody signs');
like(text(RETORT_STATIC_URL => 'http://other'), qr{\(http://other/$file\)$},
     'unless the location has a URL');

with();
like(text(@none), qr{\(/$file\)$}, 'with neither, they are paths on the server');

done_front($f);
