#!/usr/bin/perl

# What numpy, pandas, scipy and scikit-learn test of themselves passes in a
# sandbox as it does outside, by the same interpreter from the same image: the
# filter and the walls break none of it.
#
# SCIENCE=all takes every test file, which lasts for hours; SCIENCE=scipy/stats
# those below there.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use Retort::Service;
use Test::More;

my $top = $Retort::Service::TOP;
my $of = $ENV{SCIENCE} // '';

chomp(my $tree = `\Q$top\E/auto/science`);
die "no tests of science: auto/science\n" if $? || !-d $tree;

# outside of a sandbox only: there is no /proc/cpuinfo in one, no /proc/meminfo
# (which tells those whether they have the 5 to 20 GB that they want), no file of
# 5 GB, the limit for cores stays at 1, and there is no network to serve on
my %may_fail = map { $_ => 1 } qw(
    numpy/core/tests/test_cpu_features.py::Test_X86_Features::test_features
    numpy/core/tests/test_multiarray.py::TestDot::test_huge_vectordot[complex128]
    numpy/core/tests/test_multiarray.py::TestDot::test_huge_vectordot[float64]
    numpy/core/tests/test_regression.py::TestRegression::test_dot_big_stride
    numpy/core/tests/test_ufunc.py::TestUfunc::test_identityless_reduction_huge_array
    numpy/lib/tests/test_format.py::test_large_archive
    numpy/lib/tests/test_format.py::test_large_file_support
    numpy/linalg/tests/test_linalg.py::test_xerbla_override
    numpy/ma/tests/test_core.py::TestMaskedArrayMathMethods::test_mean_overflow
    pandas/tests/io/test_user_agent.py
    scipy/signal/tests/test_signaltools.py::TestConvolve2d::test_large_array
    scipy/sparse/tests/test_sparsetools.py::TestInt32Overflow
    scipy/sparse/tests/test_sparsetools.py::test_nnz_overflow
);


sub list {
    return split /^/, Retort::Service::slurp("$FindBin::Bin/science/some.list")
        if $of eq '';
    return grep { $of eq 'all' || m{^\Q$of\E/} } map { s{^\Q$tree\E/own/}{}r }
        `find \Q$tree\E/own -path '*/tests/*' -name 'test_*.py' | sort`;
}

my @list = list();
my $work = tempdir('science-XXXXXX', TMPDIR => 1, CLEANUP => 1);

chmod 0755, $work;
Retort::Service::write_file("$work/list", join('', @list), 0644);
system("cp -r $tree/own $tree/pytest $work/ && cp \Q$FindBin::Bin\E/science/run.sh"
       . " $work/ && cp \Q$FindBin::Bin\E/science/retort_paths.py $work/pytest/") == 0
    or die 'no copy';
system("tar -C $work -cf $work.tar own pytest run.sh list") == 0 or die 'no tar';


sub results {
    my %r;

    for (split /\n/, $_[0]) {
        my ($how, $name) = /^(\w+) (.*)/ or next;
        $r{$name} = $how if ($r{$name} // 'passed') eq 'passed';
    }

    return \%r;
}


# outside: root's own chroot, with the image at the same place

sub outside {
    my $image = Retort::Service::image();
    my $said = `unshare -m -p -f --kill-child sh -c '
        mount --bind $work $image/workspace && mount -t proc proc $image/proc \\
        && mount -t tmpfs tmpfs $image/tmp && mount --rbind /dev $image/dev \\
        && exec chroot $image /usr/bin/env -i PATH=/usr/bin:/bin LANG=C.UTF-8 \\
        bash /workspace/run.sh /workspace/list' 2>&1`;

    return (results(Retort::Service::slurp("$work/results")), $said);
}


sub inside {
    my $s = Retort::Service->new(
        location => 'client_max_body_size 400m;', profiles => { default => {
        import => '', memory => '12g 12g', disk => '1g 1g', inodes => '65536 65536',
        tmp => '256m 256m', fsize => '512m 1g', processes => '256 256',
        cpu => '2 2', files => '1024 1024', timeout => '1h 24h', ttl => '1h 24h',
        request => '400m 400m', output => '1m 4m' } });
    my $box = $s->session;

    my $put = $s->request('PUT', "/v1/sandboxes/$box/files/t.tar",
                          Retort::Service::slurp("$work.tar"),
                          'content-type' => 'application/octet-stream');
    like($put->{status}, qr/^20[01]$/, 'the tests are in the sandbox')
        or diag $put->{content};

    # by a stream, which is never silent for long: they may take what they need
    my (undef, @events) = $s->stream(POST => '/v1/execute', { language => 'bash',
        code => 'tar xf t.tar && rm t.tar && bash run.sh /workspace/list',
        sandbox_id => $box, timeout => 86400 });
    my $r = $events[-1] // {};

    is($r->{status}, 'ok', 'they run to their end') or diag explain $r;
    my $got = $s->get("/v1/sandboxes/$box/files/results")->{content};
    $s->end;

    return (results($got), join '', map { $_->{text} // '' } @events);
}


my ($out, $out_said) = outside();
my ($in, $in_said) = inside();
my @passed = grep { $out->{$_} eq 'passed' } keys %$out;
my @broken = grep { ($in->{$_} // 'missing') ne 'passed' && !$may_fail{$_}
                    && !$may_fail{s/::.*//r} && !$may_fail{s/^(.*)::.*/$1/r} }
    sort @passed;

cmp_ok(scalar @passed, '>', 500, 'outside ' . @passed . ' of them pass')
    or diag $out_said;
is(scalar @broken, 0, 'and all of these do in a sandbox')
    or diag join("\n", (map { "$_: " . ($in->{$_} // 'missing') } @broken),
                 $in_said);
unlink "$work.tar";
done_testing;
