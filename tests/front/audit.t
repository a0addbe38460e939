#!/usr/bin/perl

# The log of runs: what is in a line and what never is, and that it goes on
# after the front's death.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use MIME::Base64 qw(encode_base64);
use Test::More;

use Retort::Audit qw(audit_dir audit_lines audit_text audit_verify);
use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $dir = audit_dir();
my $f = Retort::Front->start(audit => "$dir", output => 2000,
                             timeout => 300);


sub of {
    my ($event, $id) = @_;

    return grep { $_->{event} eq $event
                  && (!$id || $_->{execution} eq $id) } audit_lines($dir);
}


sub line {
    my ($r) = @_;
    my @all = of('run', $r->{json}{execution_id});

    is(scalar @all, 1, 'a run has one line of its end');
    is(scalar of('begin', $r->{json}{execution_id}), 1, '... one of its begin');
    return $all[0];
}


# what a line says

my $code = 'out("4\n"); change(1, "r.csv", 3, "\1" x 32);'
           . ' show(1, "image/png", "\x89PNG\r\n\x1a\nabc")';
my $r = $f->execute({
    code => $code, env => { TOKEN => 'sesame-env' }, keep => JSON::PP::true,
    stdin => 'sesame-stdin', files => [{ name => 'in.txt',
        content_base64 => encode_base64('sesame-file', '') }] });
my $o = line($r);

is(join(' ', @$o{qw(workspace api profile language verdict exit_code)}),
   'demo native default python ok 0', 'who, by what and how it ended');
is($o->{sandbox}, $r->{json}{sandbox_id}, 'in which sandbox');
is($o->{code_sha256}, sha256_hex($code), 'the hash of the code');
is_deeply([@{$o->{inputs}[0]}{qw(name size sha256)}],
          ['in.txt', 11, sha256_hex('sesame-file')], 'the input files');
is_deeply([@{$o->{files}[0]}{qw(name size sha256 change)}],
          ['r.csv', 3, '01' x 32, 'created'], 'the files that it left');
is($o->{artifacts}[0]{sha256}, $r->{json}{artifacts}[0]{sha256},
   'the artifacts');
ok($o->{usage}{wall_us} > 0 && exists $o->{usage}{memory_peak},
   'what it used');

$o = line($f->execute({ code => 'nap(20)' }));
is("$o->{verdict} @{$o->{limits}}", 'timeout timeout', 'the limit of time');
is($o->{sandbox}, undef, 'no name of a sandbox that was not kept');

$o = line($f->execute({ code => 'out("x" x 5000)' }));
is("$o->{verdict} @{$o->{limits}}", 'ok output', 'the limit of output');

$o = line($f->execute({ code => 'error("E", "m", "t"); done(1)' }));
is($o->{verdict}, 'error', 'an error');

# what it never says

my $text = audit_text($dir);
my $link = $r->{json}{artifacts}[0]{url};
my ($secret) = $link =~ m{([0-9a-f]{32})\.png};

like($f->execute({ code => 'out("$env{TOKEN} $stdin")',
                   env => { TOKEN => 'sesame-env' },
                   stdin => 'sesame-stdin' })->{json}{stdout},
     qr/sesame-env sesame-stdin/, 'environment and input do reach the code');
unlike($text, qr/sesame/, 'no value of the environment, no input, no file');
unlike($text, qr/\Qout(/, 'no code');
ok($secret && index($text, $secret) < 0, 'no link to an artifact');

# a refused request is no run

my $before = () = of('begin');
$f->execute({ code => 'out(1)', sandbox_id => 'sbx_n1_' . '0' x 32 });
is(scalar of('begin'), $before, 'what did not begin has no line');

# the front's death

my $c = $f->client;
$c->send_request($f->params('POST', '/execute',
                            CONTENT_TYPE => 'application/json'),
                 '{"code":"nap(20)","timeout":20}');
ok(wait_for(sub { of('begin') == $before + 1 }), 'a run begins');
kill 'KILL', $f->{pid};
$f->ended;
$f->run();
is($f->execute({ code => 'out(1)' })->{json}{status}, 'ok', 'a new front');

my ($start) = (of('start'))[-1];
ok(!$start->{clean}, 'it says that the one before it died');
my ($rc, $said) = audit_verify("$dir");
is($rc, 0, 'the chain goes on') or diag $said;
like($said, qr/ 1 began without an end, .* 1 fronts died/,
     'retortctl tells of the run and of the death');

# with the code

$f->stop();
my $with = Retort::Front->start(audit => "$dir", audit_code => 1);
$r = $with->execute({ code => "out('\"1\"')" });
is((of('run', $r->{json}{execution_id}))[0]{code}, "out('\"1\"')",
   'the code, if it is switched on');
my $odd = "# \"\\\n\x{2028}\x{1}\r\n";
$r = $with->execute({ code => $odd });
is((of('run', $r->{json}{execution_id}))[0]{code}, $odd,
   '... whatever is in it, in one line');
$r = $with->execute({ code => '#' . 'x' x 200_000 });
$o = (of('run', $r->{json}{execution_id}))[0];
is(length($o->{code}) . " $o->{code_cut} $o->{code_sha256}",
   '131072 1 ' . sha256_hex('#' . 'x' x 200_000), 'long code is cut, and so said');
ok((of('start'))[-1]{clean}, 'a front that is stopped says so');
done_front($with);
