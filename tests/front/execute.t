#!/usr/bin/perl

# A cell, from a FastCGI request to its answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1);
my ($r, $j);

$r = $f->execute({ code => 'out("4\n")' });
$j = $r->{json};
is($r->{status}, 200, 'a cell is answered with 200');
is($j->{status}, 'ok', 'its status is ok');
is($j->{stdout}, "4\n", 'its output is there');
is($j->{markdown}, "stdout:\n\n```\n4\n\n```", 'and as Markdown');
is($j->{sandbox_id}, undef, 'no sandbox outlives it');
is($j->{state}, 'gone', 'and it says so');
like($r->{body}, qr/,"status":"ok"\}\n$/, 'status is the last key');
is_deeply([sort keys %$j],
          [qw(artifacts error execution_id expires_at files files_truncated
              markdown outputs result sandbox_id state state_reason
              status stderr stdout timings_us truncated usage)],
          'every key is there');
is_deeply([sort keys %{$j->{timings_us}}],
          [qw(create first_byte queue render run)], 'and every timing');
is($j->{usage}{cpu_ms}, 1.5, 'CPU time is the broker\'s count');
is($j->{usage}{peak_memory_bytes}, 5_000_000, 'memory is, too');

is($r->{header}{'x-retort-status'}, 'ok', 'the worker learns the status');
is($r->{header}{'x-retort-form'}, 'json', 'and the form');
is($r->{header}{'x-retort-execution'}, $j->{execution_id}, 'and the id');
is($r->{header}{'x-retort-cpu-us'}, 1500, 'and the usage');

my $id = 'exec_n1_' . 'ab' x 16;
$r = $f->execute({ code => '1' }, RETORT_EXECUTION => $id);
is($r->{json}{execution_id}, $id, 'the worker\'s id is kept');

# order and kinds of output

$r = $f->execute({ code => 'fd1("raw\n"); sync(); out("py\n"); fd2("bad\n");
                            sync(); err("worse\n"); show(1, "text/plain", 5)' });
is_deeply([map { "$_->{type}:$_->{text}" } @{$r->{json}{outputs}}],
          ["stdout:raw\npy\n", "stderr:bad\nworse\n", 'result:5'],
          'writes to the descriptors keep their place among prints');
is($r->{json}{result}, '5', 'the result stands by itself, too');

$r = $f->execute({ code => 'fd1("late\n")' });
is($r->{json}{stdout}, "late\n", 'what the pipe holds at the end is read');

$r = $f->execute({ code => 'die "oops\n"' });
is($r->{status}, 200, 'a failing cell is answered with 200');
is($r->{json}{status}, 'error', 'its status is error');
is_deeply($r->{json}{error}, { name => 'Fault', message => 'oops',
          traceback => "Traceback\nFault: oops\n" }, 'its error is told');
is($r->{json}{markdown}, "error:\n\n```\nFault: oops\n\n```",
   'in Markdown only its short text');

$r = $f->execute({ code => 'done(1, 3); $v{mute} = 1', language => 'bash' });
is($r->{json}{error}{exit_code}, 3, 'an exit code is an error of its own');

# what goes in

$r = $f->execute({
    code => 'out(join "|", $stdin, $env{A}, $files{"a/b"}, $files{c},
                 $language)',
    stdin => "x\0y", env => { A => '1=2' }, language => 'bash',
    files => [{ name => 'a/b', text => 'hi' },
              { name => 'c', content_base64 => 'AAEC' }],
});
is($r->{json}{stdout}, "x\x{fffd}y|1=2|hi|\x{fffd}\x{01}\x{02}|1",
   'stdin, environment, files and language arrive');

$r = $f->execute({ code => 'out(length $files{big})',
                   files => [{ name => 'big', text => 'x' x 700_000 }] });
is($r->{json}{stdout}, '700000', 'a big file arrives whole');

$r = $f->execute({ code => 'out("no")',
                   files => [{ name => 'full', text => 'x' }] });
is($r->{status}, 400, 'a file that cannot be written is a bad request');
like($r->{json}{error}{message}, qr/"full".*No space/, 'and is named');

# pictures

my $png = "\x89PNG\r\n\x1a\n" . 'data';
$r = $f->execute({ code => 'show(0, "image/png", "\x89PNG\r\n\x1a\ndata",
                                 "text/plain", "<Figure>");
                            show(1, "text/html", "<b>", "text/plain", "T")' });
my ($pic, $table) = @{$r->{json}{outputs}};
is($pic->{type}, 'image', 'a picture is an output');
is($pic->{name}, 'fig-001.png', 'it has a number');
like($pic->{url}, qr{^http://h/static/[0-9a-f]{32}\.png$}, 'and a link');
is(ref $table->{forms} && $table->{forms}[0]{mime}, 'text/html',
   'a rich result links its other form');
is($r->{json}{artifacts}[0]{size}, length $png, 'artifacts tell their size');

my ($file) = $pic->{url} =~ m{([^/]+)$};
open my $fh, '<:raw', "$f->{dir}/store/$file";
is(do { local $/; <$fh> }, $png, 'the file has the bytes of the picture');
is((stat "$f->{dir}/store/$file")[2] & 07777, 0640, 'and mode 0640');
is($r->{json}{artifacts}[0]{sha256}, do {
       require Digest::SHA; Digest::SHA::sha256_hex($png) }, 'and its digest');
like($r->{json}{markdown}, qr{^!\[fig-001\]\(http://h/static/\Q$file\E\)},
     'Markdown links it');

# forms and refusals

$r = $f->execute({ code => 'out("4\n")' }, HTTP_ACCEPT => 'text/markdown');
is($r->{body}, "stdout:\n\n```\n4\n\n```", 'Markdown by Accept');
is($r->{header}{'x-retort-form'}, 'markdown', 'the worker knows the form');
is($f->execute({ code => '1' }, HTTP_ACCEPT => 'text/html')->{status}, 406,
   'another form is refused');
is($f->execute({ code => '1' }, CONTENT_TYPE => 'text/plain')->{status}, 415,
   'another body is refused');
is($f->execute({ code => '1', timeout => 31 })->{status}, 400,
   'a timeout above the ceiling is refused');
is($f->execute({ code => '1', timeout => 2 }, RETORT_LIMIT_TIMEOUT => 1000)
   ->{status}, 400, 'a location lowers the ceiling');
is($f->execute({ code => '1', url => 'http://h/' })->{json}{error}{code},
   'unknown_key', 'an unknown key is named');
is($f->execute({ code => '1' }, RETORT_WORKSPACE => '')->{status}, 403,
   'nobody is refused');
is($f->execute({ code => '1' }, RETORT_API => 'xyz')->{status}, 500,
   'a dialect that is not there is refused');
is($f->execute('x' x 1_000_001)->{status}, 413, 'a body has a bound');
is($f->execute('[' x 500_000)->{status}, 400, 'depth has a bound');

done_front($f);
