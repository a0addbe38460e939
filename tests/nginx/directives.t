#!/usr/bin/perl

# Each wrong directive has a message that says what is wrong, and a test of
# a configuration leaves nothing behind.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::Nginx;

my $hash = sha256_hex('key');
my $ng = Retort::Nginx->new;
my $dir = $ng->dir;

$ng->write('keys', "a:$hash\n");


# (exit code, output) of nginx -t for lines in a location, or elsewhere

sub check {
    my ($location, $server, $head) = @_;

    $head //= 'location /x/';
    $ng->conf(<<"EOC");
%%MAIN%%
http {
    %%HTTP%%
    server {
        listen 127.0.0.1:%%PORT%%;
        ${\($server // '')}
        $head { $location }
    }
}
EOC
    return $ng->check;
}


sub good {
    my ($name, @conf) = @_;
    my ($code, $said) = check(@conf);
    is $code, 0, $name or diag $said;
}


sub bad {
    my ($name, $re, @conf) = @_;
    my ($code, $said) = check(@conf);
    ok $code != 0 && $said =~ /\[emerg\].*$re/, $name or diag $said;
}


my $pass = "retort_pass unix:$dir/f.sock; retort_workspace w;";

good 'a location that passes', $pass;
good 'in "if"', 'if ($arg_a) { retort_pass 127.0.0.1:1; }', 'retort_workspace w;';
good 'in "limit_except"', "$pass limit_except GET { deny all; }";
good 'a location of artifacts', "retort_artifacts $dir;";
good 'a probe without identity', 'retort_pass 127.0.0.1:1; retort_api health;';
good 'a regular expression', $pass, '', 'location ~ x';
good 'a named location', $pass, '', 'location @x';

bad 'retort_pass twice', 'is duplicate', "$pass retort_pass 127.0.0.1:1;";
bad 'retort_pass with a variable', 'takes no variables',
    'retort_pass $host; retort_workspace w;';
bad 'retort_pass without a port', 'no port in upstream',
    'retort_pass 127.0.0.1; retort_workspace w;';
bad 'retort_pass to nowhere', 'has an empty address', 'retort_pass "";';
bad 'retort_pass to an unknown name', 'no port in upstream|host not found',
    'retort_pass nosuchname; retort_workspace w;';
bad 'retort_pass outside of a location', 'is not allowed here',
    '', 'retort_pass 127.0.0.1:1;';
bad 'retort_pass without identity', 'needs "retort_auth_key_file", '
    . '"retort_auth_jwt", "retort_auth_signed" or "retort_workspace"', 'retort_pass 127.0.0.1:1;';
bad 'retort_pass with artifacts', 'conflicts with "retort_pass"',
    "$pass retort_artifacts $dir;";
bad 'artifacts with retort_pass', 'conflicts with "retort_artifacts"',
    "retort_artifacts $dir; $pass";

bad 'an unknown api', 'unknown api "nativ" in "retort_api"',
    "$pass retort_api nativ;";
bad 'an unknown tool', 'unknown tool "pyton" in "retort_tools"',
    "$pass retort_tools python pyton;";
good 'all tools', "$pass retort_tools python bash execute_python "
    . 'write_file read_file list_files code_execution bash_code_execution '
    . 'text_editor_code_execution '
    . 'code_interpreter launchShell runPythonCodeInRemoteEnvironment '
    . 'runShellCommandInRemoteEnvironment;';
bad 'no name of a package', '"a b" in "retort_import_allow" is no package',
    "$pass retort_import_allow numpy 'a b';";
bad 'a long list of packages', '"retort_import_allow" directive is too long',
    "$pass retort_import_allow " . 'p' x 1001 . ';';
good 'packages', "$pass retort_import_allow numpy -turtle os.path;";
bad 'a bad profile', 'must be 1 to 31', "$pass retort_profile a/b;";
bad 'a long profile', 'must be 1 to 31', "$pass retort_profile " . 'p' x 32 . ';';
bad 'a bad workspace', 'must be 1 to 64', 'retort_workspace "a b";';
bad 'an empty workspace', 'must be 1 to 64', 'retort_workspace "";';
bad 'an unknown variable', 'unknown "nosuch" variable',
    'retort_workspace $nosuch;';
bad 'a bad node', 'must be 1 to 15', "$pass retort_node a_b;";
bad 'a long node', 'must be 1 to 15', "$pass retort_node " . 'n' x 16 . ';';
bad 'a node in capitals', 'must be 1 to 15', "$pass retort_node A;";

for (['timeout', '25h', 'must be between'], ['timeout', '0', 'must be between'],
     ['timeout', 'x', 'has an invalid value'], ['memory', '1k', 'must be between'],
     ['memory', '2t', 'has an invalid value'], ['disk', '1', 'must be between'],
     ['output', '0', 'must be between'], ['image', '-1', 'has an invalid value'],
     ['processes', '0', 'must be between'],
     ['processes', '32769', 'must be between'],
     ['processes', '1.5', 'has an invalid value'],
     ['cpu', '0', 'must be between'], ['cpu', '1.5555', 'has an invalid value'],
     ['cpu', '2000', 'must be between'], ['turn', '25h', 'must be between'])
{
    bad "retort_limit_$_->[0] $_->[1]", $_->[2],
        "$pass retort_limit_$_->[0] $_->[1];";
}

my %value = (
    retort_api => 'native', retort_tools => 'bash', retort_import_allow => 'numpy',
    retort_profile => 'p', retort_workspace => 'w',
    retort_node => 'n', retort_static_url => '/s',
    retort_azure_strict => 'on', retort_azure_full => '404',
    retort_auth_key_file => "$dir/keys", retort_auth_jwt => 'off',
    retort_auth_signed => 'off', retort_auth_peers => '127.0.0.1',
    retort_scope => 'files', retort_resource_metadata => '/x',
    retort_limit_timeout => '1s', retort_limit_memory => '1m',
    retort_limit_disk => '1m', retort_limit_output => '1m',
    retort_limit_image => '1m', retort_limit_processes => 1,
    retort_limit_cpu => 1, retort_limit_turn => '1s',
    retort_connect_timeout => '1s',
    retort_send_timeout => '1s', retort_read_timeout => '1s',
    retort_buffer_size => '4k', retort_artifacts => $dir, retort_planner => 'p',
);

for (sort keys %value) {
    bad "$_ twice", 'is duplicate', "$_ $value{$_}; $_ $value{$_};";
    bad "$_ without a value", 'invalid number of arguments', "$_;";
}

bad "$_ of 0", 'must not be 0', "$pass $_ 0;"
    for map { "retort_${_}_timeout" } qw(connect send read);
bad "retort_buffer_size $_", 'must be between 1k and 16m',
    "$pass retort_buffer_size $_;" for 0, 1023, '17m';
bad "retort_artifacts_expires $_", 'must be between 1s and 366d',
    "$pass retort_artifacts_expires $_;" for 0, '367d';
good 'retort_artifacts_expires', "$pass retort_artifacts_expires 366d;";
good 'retort_next_upstream', "$pass retort_next_upstream error timeout;";
bad 'retort_next_upstream for an answer', 'invalid value "http_500"',
    "$pass retort_next_upstream http_500;";

bad 'artifacts under a regular expression', 'needs a location with a prefix',
    "retort_artifacts $dir;", '', 'location ~ x';
bad 'artifacts at one path', 'needs a location with a prefix',
    "retort_artifacts $dir;", '', 'location = /x';
bad 'artifacts with a variable', 'takes no variables',
    'retort_artifacts $host;';
bad 'artifacts nowhere', 'has an empty path', 'retort_artifacts "";';
bad 'artifacts outside of a location', 'is not allowed here', '',
    "retort_artifacts $dir;";

my $lim = 'retort_limits';
good 'limits', "$pass $lim zone=z running=1 waiting=0 rate=1r/m burst=2 wait=1s;"
    . ' } } retort_zone z 32k running=1 waiting=1; server { location / {';
good 'no limits', "$pass $lim off;";
good 'a status', "retort_status z; } } retort_zone z 32k; server { location / {";
bad 'a zone that nobody declares', 'no "retort_zone" declares "z"',
    "$pass $lim zone=z;";
bad 'limits without a zone', 'needs a "zone="', "$pass $lim running=1;";
bad 'limits twice', 'is duplicate', "$pass $lim off; $lim off;";
bad 'status twice', 'is duplicate', 'retort_status z; retort_status z;';
bad 'a burst without a rate', 'has a "burst="', "$pass $lim zone=z burst=1;";
bad "limits with $_", 'invalid parameter', "$pass $lim zone=z $_;"
    for qw(running=0 running=x waiting=-1 rate=1 rate=0r/s wait=0 wait=2h
           zone=a/b nonsense);
bad "a zone with $_", 'between 32k and 1024m|invalid parameter|is duplicate',
    '', "} retort_zone z $_; server {" for '31k', '2g', '1m running=0',
    '1m x=1', '1m; retort_zone z 1m';
bad 'a zone in a server', 'is not allowed here', '', 'retort_zone z 1m;';

# identity

$ng->write('short', "x\n");
$ng->write('secret', 's' x 32 . "\n");
chmod 0600, "$dir/$_" for qw(short secret);

bad "retort_auth_jwt $_", 'invalid parameter|a leeway is|open\(\)',
    "$pass retort_auth_jwt nokeys $_;" for '', 'x', 'iss=', 'iss=a iss=b',
    'scope=a scope=b', 'leeway=6m', 'leeway=x', 'alg=HS256';
bad 'retort_auth_jwt nowhere', 'has an empty path', 'retort_auth_jwt "";';
good 'retort_auth_signed', "$pass retort_auth_signed secret window=1h;";
bad "retort_auth_signed $_", 'window|32 to 256|open\(\)|empty path',
    "$pass retort_auth_signed $_;" for 'secret window=0', 'secret window=61m',
    'secret win=1', 'short', 'none', '""';
good 'retort_auth_peers', "$pass retort_auth_peers 10.0.0.0/8 ::1 unix:;";
bad 'retort_auth_peers of names', 'invalid address',
    "$pass retort_auth_peers localhost;";
bad 'an unknown scope', 'must be execute, files or admin',
    "$pass retort_scope root;";
bad 'a scope without an identity', 'needs "retort_auth_key_file"',
    'retort_pass 127.0.0.1:1; retort_api metrics; retort_scope admin;';
bad "a document of $_", 'is not the URL', "retort_resource_document $_;"
    for 'x https://i', 'https://r i', '"https://r\"" https://i';
bad 'two documents', 'is duplicate', 'retort_resource_document https://r'
    . ' https://i; retort_resource_document https://r https://i;';

# key files

my $keys = 'retort_pass 127.0.0.1:1; retort_auth_key_file keys;';

bad 'a key file that is missing', 'open\(\).*nokeys.*failed',
    'retort_auth_key_file nokeys;';
bad 'a directory as key file', 'is not a regular file',
    "retort_auth_key_file $dir;";
bad 'no key file', 'has an empty path', 'retort_auth_key_file "";';

for (["# c\n\na:$hash\nb", 4, 'the key\'s SHA-256'], ["a b:$hash", 1, 'workspace'],
     [":$hash", 1, 'workspace'], ['a:' . 'g' x 64, 1, 'the key\'s SHA-256'],
     ["a:${hash}0", 1, 'the key\'s SHA-256'], ["a:$hash:", 1, 'a profile'],
     ["a:$hash:p,,q", 1, 'a profile'], ["a:$hash:p q", 1, 'a profile'],
     ["a:$hash\nb:$hash", 2, 'duplicate key'],
     ["a:$hash\nb:\U$hash", 2, 'duplicate key'], ["\0", 1, 'workspace'])
{
    my ($text, $line, $says) = @$_;
    $ng->write('keys', $text);
    (my $name = $text) =~ s/[^ -~]/./g;
    bad 'line ' . substr($name, 0, 20), "$says.* in $dir/keys:$line", $keys;
}

for ('', "\n# nobody\n", "a:$hash", "a:\U$hash\E:p,q\r\n", "a:$hash \t\n") {
    $ng->write('keys', $_);
    good 'a good key file', $keys;
}

# nothing was started, bound or left

my @before = sort glob "$dir/*";
$ng->write('keys', "a:$hash\n");
good 'a test of a configuration', "retort_pass unix:$dir/f.sock; "
    . 'retort_auth_key_file keys;';
is_deeply [sort glob "$dir/*"], \@before, 'makes no file';
ok !-e "$dir/f.sock", 'and no socket';

$ng->{alarm} = qr/\[emerg\]/;
$ng->finish;
done_testing;
