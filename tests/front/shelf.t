#!/usr/bin/perl

# Files of a workspace outlive the front, are inputs of every dialect, and
# never stand in its memory.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant MB => 1 << 20;

my $f = Retort::Front->start(quota => 100 * MB, request => 2 * MB);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1',
           CONTENT_TYPE => 'multipart/form-data; boundary=B');
my $r;


sub head { qq(--B\r\nContent-Disposition: form-data; name="file"; )
           . qq(filename="$_[0]"\r\n\r\n) }

sub upload {
    my ($name, $content, %more) = @_;
    return $f->get('POST', '/files', head($name) . $content . "\r\n--B--\r\n",
                   @api, %more);
}

sub names { sort map { $_->{filename} }
            @{$f->get('GET', '/files', '', @api)->{json}{data}} }

sub store { opendir(my $d, "$f->{dir}/store"); return sort grep { !/^\.{1,2}$/ }
            readdir $d }

sub peak { open my $fh, '<', "/proc/$f->{pid}/status"; local $/;
           return (<$fh> =~ /VmHWM:\s+(\d+)/)[0] * 1024 }


my $id = upload('in.csv', "a,b\r\n--C-not\r\n1,2")->{json}{id};
my $code = 'out(join " ", map { "$_=$files{$_}" } sort keys %files)';

is($f->execute({ code => $code, files => [{ name => 'x/y.csv',
                                            file_id => $id }] })
   ->{json}{stdout}, "x/y.csv=a,b\r\n--C-not\r\n1,2",
   'a file that was uploaded is an input, byte by byte');
$r = $f->execute({ code => $code, files => [{ file_id => $id, name => 'x' }] },
                 RETORT_WORKSPACE => 'other');
is("$r->{status} $r->{json}{error}{code}", '404 file_not_found',
   'of its own workspace alone');
$r = $f->execute({ code => $code, files => [{ name => 'x', file_id =>
                   upload('big', 'x' x (3 * MB))->{json}{id} }] });
is($r->{status}, 413, 'and no larger than inputs may be');

# large ones are in pieces all the way

my $before = peak();
$r = upload('large', 'x' x (50 * MB));
is($r->{json}{size_bytes}, 50 * MB, 'a large file is uploaded');
cmp_ok(peak() - $before, '<', 8 * MB, 'and was never in memory');

$r = upload('over', 'x' x (60 * MB));
is($r->{status}, 400, 'more than the quota is refused');
is($r->{json}{error}{details}{error_code}, 'storage_quota_exceeded',
   'as such');
is_deeply([names()], ['big', 'in.csv', 'large'], 'and nothing of it is there');
is(scalar(grep { /part/ } store()), 0, 'nor on the disk');
$r = $f->client->request($f->params('POST', '/files', @api,
    CONTENT_LENGTH => 600 * MB), head('x'));
is($r->{status}, 413, 'one that says that it is too large is not read');

# a front that dies

my $c = $f->client;
$c->raw(Retort::FastCGI::begin(1)
        . Retort::FastCGI::params(1, $f->params('POST', '/files', @api))
        . Retort::FastCGI::record(5, 1, head('half') . 'x' x 30_000));
ok(wait_for(sub { grep { /part/ } store() }), 'a file is half there');
kill 'KILL', $f->{pid};
is($f->ended, 9, 'the front dies');
$c->close;
$f->run();
is_deeply([names()], ['big', 'in.csv', 'large'], 'another has what was whole');
is(scalar(grep { /part/ } store()), 0, 'and nothing of the rest');
is($f->execute({ code => $code, files => [{ name => 'x', file_id => $id }] })
   ->{json}{status}, 'ok', 'ids mean what they meant');

# what became of the disk meanwhile

kill 'KILL', $f->{pid};
$f->ended;
my ($file) = grep { /\.file$/ && -s "$f->{dir}/store/$_" > 50 * MB } store();
truncate "$f->{dir}/store/$file", 40 * MB;
$f->run();
is_deeply([names()], ['big', 'in.csv'], 'one whose end was lost is no file');
ok(!-e "$f->{dir}/store/$file", 'and takes no room');
is(upload('again', 'x' x (60 * MB))->{status}, 200, 'that others can have');
is((stat "$f->{dir}/store/" . (grep { /\.file$/ } store())[0])[2] & 007, 0,
   'nobody else reads them');

done_front($f);
