#!/usr/bin/perl

# profile from-arm: a session pool of Azure becomes a profile that retortd
# takes, or it is told why not.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;

my $top = abs_path(dirname(abs_path(__FILE__)) . '/../..');
my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'needs root' if $> != 0;
chmod 0755, $dir;


sub ctl {
    my $pid = open(my $f, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', "$dir/err";
        exec "$top/objs/retortctl", @_ or POSIX::_exit(127);
    }

    my $out = do { local $/; <$f> } // '';
    close $f;
    return ($? >> 8, $out);
}


sub slurp { open my $f, '<', shift or return ''; local $/; return <$f> // '' }

sub spill {
    my ($path, $text) = @_;
    open my $f, '>', $path or die "$path: $!";
    print $f ref $text ? encode_json($text) : $text;
    close $f;
}

sub convert {
    my ($template, @more) = @_;
    spill("$dir/pool.json", $template);
    return ctl('profile', 'from-arm', "$dir/pool.json", @more);
}


# a template for agents with an interpreter of their own: a custom container
# of which the size is a parameter

sub pool {
    my (%change) = @_;
    my $o = {
        '$schema' => 'https://schema.management.azure.com/schemas/'
            . '2019-04-01/deploymentTemplate.json#',
        contentVersion => '1.0.0.0',
        parameters => {
            environmentName => { type => 'string', minLength => 3 },
            sessionPoolName => { type => 'string', minLength => 3 },
            cpu => { type => 'int', minValue => 1, maxValue => 16,
                     defaultValue => 1 },
            memory => { type => 'int', minValue => 1, maxValue => 16,
                        defaultValue => 2 },
            image => { type => 'string', defaultValue => 'mcr.microsoft.com/'
                . 'k8se/services/codeinterpreter:0.9.18-python3.12' } },
        resources => [ { type => 'Microsoft.App/sessionPools',
            apiVersion => '2025-10-02-preview',
            name => "[parameters('sessionPoolName')]",
            properties => {
                environmentId => "[resourceId('Microsoft.App/managed"
                    . "Environments', parameters('environmentName'))]",
                poolManagementType => 'Dynamic',
                containerType => 'CustomContainer',
                scaleConfiguration => { maxConcurrentSessions => 10,
                                        readySessionInstances => 5 },
                dynamicPoolConfiguration => { lifecycleConfiguration => {
                    cooldownPeriodInSeconds => 600,
                    lifecycleType => 'Timed' } },
                customContainerTemplate => { containers => [ {
                    name => 'jupyterpython',
                    image => "[parameters('image')]",
                    env => [ map { { name => $_->[0], value => $_->[1] } }
                        ['SYS_RUNTIME_SANDBOX',
                         'AzureContainerApps-DynamicSessions'],
                        ['AZURE_CODE_EXEC_ENV',
                         'AzureContainerApps-DynamicSessions-Py3.12'],
                        ['AZURECONTAINERAPPS_SESSIONS_SANDBOX_VERSION', '7758'],
                        ['JUPYTER_TOKEN', 'AzureContainerApps-DynamicSessions']
                    ],
                    resources => { cpu => "[parameters('cpu')]",
                        memory => "[concat(parameters('memory'), 'Gi')]" },
                    probes => [
                        { type => 'Liveness', failureThreshold => 4,
                          httpGet => { path => '/health', port => 6000 } },
                        { type => 'Startup', failureThreshold => 30,
                          httpGet => { path => '/health', port => 6000 },
                          periodSeconds => 2 } ] } ],
                    ingress => { targetPort => 6000 } },
                mcpServerSettings => { isMCPServerEnabled => JSON::PP::true },
                sessionNetworkConfiguration => { status => 'egressEnabled' },
                %change } } ],
    };
    return $o;
}

my ($code, $conf) = convert(pool());
is($code, 0, 'a template becomes a profile') or diag(slurp("$dir/err"));
is(slurp("$dir/err"), '', 'and nothing is to be said about it');
is($conf, <<'CONF', 'which is this');
sessions 10
ready 5
life timed
ttl 600s 600s
cpu 1 1
memory 2048m 2048m
timeout 120s 220s
# probe Liveness: /health
# probe Startup: /health/startup
# image: auto/image makes one, "rootfs" names it
# env: a request says it, a profile does not
# sessionNetworkConfiguration: there is no network in a sandbox
# mcpServerSettings: a location with "retort_api azure_mcp"
CONF

spill("$dir/agents.conf", $conf);
($code) = ctl('profile', 'check', "$dir/agents.conf");
is($code, 0, 'retortd takes it') or diag(slurp("$dir/err"));

spill("$dir/values.json", { parameters => { cpu => { value => 4 },
    memory => { value => 8 }, sessionPoolName => { value => 'agents' } } });
($code, $conf) = convert(pool(), '--parameters', "$dir/values.json");
like($conf, qr/^# the session pool agents\n.*^cpu 4 4\nmemory 8192m 8192m$/ms,
     'a file of parameters has other values');

# other pools

($code, $conf) = convert(pool()->{resources}[0]);
is($code, 1, 'a resource by itself has no parameters');
like(slurp("$dir/err"), qr/"cpu" is \[parameters/, 'which is told');
($code, $conf) = convert({ name => 'plain', properties => {
    containerType => 'PythonLTS', scaleConfiguration =>
    { maxConcurrentSessions => 600 }, dynamicPoolConfiguration =>
    { executionType => 'Timed', cooldownPeriodInSeconds => 300 } } });
is("$code $conf", "0 # the session pool plain\nsessions 600\nlife timed\n"
   . "ttl 300s 300s\ntimeout 120s 220s\n", 'a pool of Azure\'s own image, in '
   . 'the older form');
($code, $conf) = convert(pool(dynamicPoolConfiguration => {
    lifecycleConfiguration => { lifecycleType => 'OnContainerExit',
    maxAlivePeriodInSeconds => 3600 } }));
like($conf, qr/^life exit\nalive 3600s$/m, 'one that ends with its container');
spill("$dir/agents.conf", $conf);
is((ctl('profile', 'check', "$dir/agents.conf"))[0], 0, 'is a good one, too');

# what is no pool

my %bad = (
    'no room in the pool' => { scaleConfiguration => {
        maxConcurrentSessions => 5, readySessionInstances => 5 } },
    'nothing ready' => { scaleConfiguration => { maxConcurrentSessions => 5 } },
    'a short rest' => { dynamicPoolConfiguration => { lifecycleConfiguration =>
        { cooldownPeriodInSeconds => 10 } } },
    'a long one' => { dynamicPoolConfiguration => { lifecycleConfiguration =>
        { cooldownPeriodInSeconds => 3601 } } },
    'an odd life' => { dynamicPoolConfiguration => { lifecycleConfiguration =>
        { lifecycleType => 'Forever' } } },
    'a life without an end' => { dynamicPoolConfiguration => {
        lifecycleConfiguration => { lifecycleType => 'OnContainerExit' } } },
    'another language' => { containerType => 'NodeLTS' },
    'another management' => { poolManagementType => 'Manual' },
    'no container' => { customContainerTemplate => {} },
    'two containers' => { customContainerTemplate => { containers => [1, 2] } },
    'an odd container' => { customContainerTemplate => { containers => 'x' } },
    'numbers in words' => { scaleConfiguration => {
        maxConcurrentSessions => 'many', readySessionInstances => 1 } },
    map({ ("memory $_" => { customContainerTemplate => { containers => [ {
        resources => { memory => $_ } } ] } }) } '2', '2Mi', 'Gi', '-1Gi',
        "[format('{0}Gi', 2)]", "[parameters('none')]", "[concat('a'", '[]',
        "[concat('" . 'x' x 2000 . "')]", "['", '1e9Gi'),
    map({ ("a probe $_->[0]" => { customContainerTemplate => { containers => [
        { probes => [ { type => 'Startup', @$_ } ] } ] } }) }
        [type => 'Readiness'], [failureThreshold => 61], [periodSeconds => 0]),
);

for my $what (sort keys %bad) {
    ($code, $conf) = convert(pool(%{ $bad{$what} }));
    is($code, 1, "refused: " . substr $what, 0, 40);
    like(slurp("$dir/err"), qr/^retortctl: .*pool\.json: \S/, 'with a reason');
}

is((convert($_))[0], 1, 'no template: ' . substr $_, 0, 20)
    for '', 'x', '[]', '{}', '{"resources":[]}', '{"resources":[1]}',
        '{"resources":[{"type":1}]}', '{"properties":[]}';
my $deep = pool();
$deep->{parameters}{cpu}{defaultValue} = "[parameters('cpu')]";
is((convert($deep))[0], 1, 'a parameter that is itself has no end');
$deep = sub { "[" . 'concat(' x $_[0] . "'2Gi'" . ')' x $_[0] . ']' };
my %of = map { $_ => [ convert(pool(customContainerTemplate => { containers => [
    { resources => { memory => $deep->($_) } } ] })) ] } 8, 9, 100_000;
like($of{8}[1], qr/^memory 2048m 2048m$/m, 'functions stand in functions');
is($of{$_}[0], 1, "but not $_ of them") for 9, 100_000;
is((ctl('profile', 'from-arm', "$dir/none"))[0], 1, 'nor is no file one');

done_testing;
