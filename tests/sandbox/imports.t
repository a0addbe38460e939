#!/usr/bin/perl

# The list of imports that a location has, through the whole service: for its
# runs alone, beside a profile's and a run's own.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {},
    listed => { import_allow => "numpy\nimport_allow tabulate" } });
my $common = "retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;";

$s->{location} = <<"CONF";
location /few/ { retort_api native; $common retort_import_allow pandas tabulate; }
location /both/ {
    retort_api native; $common retort_profile listed;
    retort_import_allow pandas tabulate;
}
location /qwen/ { retort_api qwen; $common retort_import_allow pandas; }
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8;


sub run {
    my ($path, $code, %o) = @_;
    my $r = $json->decode($s->request('POST', "$path/execute",
        $json->encode({ code => $code, %o }))->{content});

    return $r if $o{detach};
    return $r->{error} ? "$r->{error}{name}: $r->{error}{message}" : $r->{status};
}


sub refusal { "ImportError: module '$_[0]' is not allowed by PYTHON_PACKAGES_WHITELIST_IMPORT" }

is(run('/few', 'import pandas, tabulate, json'), 'ok', 'a location has a list');
is(run('/few', 'import numpy'), refusal('numpy'), 'that refuses what is not in it');
is(run('/v1', 'import numpy, socket'), 'ok', 'for its runs alone:');

my $box = $s->session;
is(run('/few', 'import numpy', sandbox_id => $box), refusal('numpy'),
    'in a session of another location, too');
is(run('/v1', 'import numpy', sandbox_id => $box), 'ok', 'whose own runs it leaves alone');
is(run('/few', 'import numpy', sandbox_id => $box), refusal('numpy'),
    'and again, though it has been loaded');

is(run('/both', 'import tabulate'), 'ok', 'beside a profile\'s list both must have a name');
is(run('/both', 'import pandas'), refusal('pandas'), 'that of the profile');
is(run('/both', 'import numpy'), refusal('numpy'), 'and that of the location');

my $own = 'PYTHON_PACKAGES_WHITELIST_IMPORT';
is(run('/few', 'import pandas', env => { $own => 'tabulate' }), refusal('pandas'),
    'a run\'s own list takes away');
is(run('/few', 'import numpy', env => { $own => 'numpy', RETORT_IMPORT_ALLOW => 'numpy' }),
    refusal('numpy'), 'and gives nothing');
is(run('/few', 'import os; os.environ["A"]', env => { A => 'b' }), 'ok',
    'other variables are there as well');

my $x = run('/few', 'import numpy', detach => JSON::PP::true)->{execution_id};
my $done = $s->until_true(sub {
    my $r = $json->decode($s->get("/v1/executions/$x")->{content});
    return exists $r->{error} && $r;
});
is($done->{error}{message}, "module 'numpy' is not allowed by $own",
    'a run that goes on without its client has it, too');

is($s->request('POST', '/qwen/code_interpreter', $json->encode({ params =>
    "pd.DataFrame({'a': [1]}).sum().a" }))->{content}, "execute_result:\n\n```\n1\n```",
    'what a dialect makes ready is there in any case');
is($s->request('POST', '/qwen/code_interpreter', $json->encode({ params => 'import numpy' }))
    ->{content}, "error:\n\n```\n" . refusal('numpy') . "\n\n```", 'its code has the list');

$s->end;
done_testing;
