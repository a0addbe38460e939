package Retort::Server;

# A web server without our module in front of a whole service, started with its
# example of conf-examples/without-module, and what clients want of it.
#
#   my $w = Retort::Server->new('apache');
#   $w->start('/usr/sbin/apache2', '-X', '-f', $w->conf);
#   $w->drive;                      # native API, MCP, streams, artifacts
#   $w->end;

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex);
use File::Copy qw(copy);
use File::Path qw(make_path);
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Test::More;

use Retort::Service;

my $json = JSON::PP->new->utf8->canonical;


sub new {
    my ($class, $name) = @_;

    my $s = Retort::Service->new(stopped => 1, profiles => { default => {
        import => 'matplotlib.pyplot' } });
    my $self = bless { s => $s, dir => $s->{dir}, name => $name,
                       port => Retort::Service::free_port(), pids => [] },
               $class;
    my $secret = unpack 'H*', Retort::Service::random(32);
    my $front = getpwnam 'retort-front';

    # the front requires what this server signs: nothing else counts
    make_path(map { "$s->{dir}/$_" } qw(artifacts empty server logs));
    chown scalar(getpwnam 'www-data'), -1, "$s->{dir}/logs";
    Retort::Service::write_file("$s->{dir}/artifacts/.identity",
                                "required\n$secret\n", 0400);
    chown $front, -1, "$s->{dir}/artifacts/.identity";
    Retort::Service::write_file("$s->{dir}/secret", "$secret\n", 0640);
    chown 0, scalar(getgrnam 'www-data'), "$s->{dir}/secret", "$s->{dir}/keys";
    chmod 0640, "$s->{dir}/keys";
    $s->start;
    $self->example($_) for glob
        "$Retort::Service::TOP/conf-examples/without-module/*";

    return $self;
}


# a copy of an example with this test's paths

sub example {
    my ($self, $path) = @_;
    my $d = $self->{dir};
    my $text = Retort::Service::slurp($path);

    $text =~ s{/run/retort/}{$d/run/}g;
    $text =~ s{/etc/retort/identity\.secret}{$d/secret}g;
    $text =~ s{/etc/retort/keys}{$d/keys}g;
    $text =~ s{/etc/retort/}{$d/server/}g;
    $text =~ s{/var/lib/retort/artifacts}{$d/artifacts}g;
    $text =~ s{/var/empty}{$d/empty}g;
    $text =~ s{/var/log/[^/]+/|/run/(?:apache2/|(?=\w+\.pid))}{$d/logs/}g;
    $text =~ s{\b8080\b}{$self->{port}}g;

    Retort::Service::write_file("$d/server/" . $path =~ s{.*/}{}r, $text, 0755);
}


sub conf { my ($self) = @_; return "$self->{dir}/server/$self->{name}.conf" }


# a program in the foreground, until it listens

sub start {
    my ($self, @command) = @_;

    $self->spawn(@command);
    $self->{s}->until_true(sub {
        die "$command[0] ended: " . $self->log
            if waitpid($self->{pids}[-1], WNOHANG) > 0;
        IO::Socket::INET->new("127.0.0.1:$self->{port}");
    }) or die "$command[0] does not listen: " . $self->log;
}


sub spawn {
    my ($self, @command) = @_;
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$self->{dir}/other.log";
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }

    push @{ $self->{pids} }, $pid;
}


sub log {
    my ($self) = @_;
    return join '', map { Retort::Service::slurp($_) }
        "$self->{dir}/other.log", glob "$self->{dir}/logs/*.log";
}


sub ask {
    my ($self, $method, $path, $body, %h) = @_;

    $h{authorization} //= "Bearer $self->{s}{key}";
    delete $h{authorization} if $h{authorization} eq '';
    $h{'content-type'} //= 'application/json' if defined $body;

    my $r = HTTP::Tiny->new(timeout => 60)->request($method,
        "http://127.0.0.1:$self->{port}$path",
        { headers => \%h, defined $body ? (content => ref $body
          ? $json->encode($body) : $body) : () });

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}


sub drive {
    my ($self) = @_;

    $self->native;
    $self->identity;
    $self->mcp;
    $self->artifact;
    $self->stream;
}


sub native {
    my ($self) = @_;

    my $r = $self->ask('POST', '/v1/execute', { code => 'print(6 * 7)' });
    is_deeply([$r->{status}, @{ $r->{json} // {} }{qw(stdout status)}],
              [200, "42\n", 'ok'], 'the native API runs code')
        or diag $r->{content}, $self->log;

    my $id = $self->ask('POST', '/v1/sandboxes', {})->{json}{sandbox_id} // '';
    my $file = "/v1/sandboxes/$id/files/a%20b/c.txt";
    my $text = join '', map { "$_\n" } 1 .. 50_000;

    is($self->ask('PUT', $file, $text, 'content-type' => 'text/plain')->{status},
       201, 'a file is put, of a name with a blank');
    is($self->ask('POST', '/v1/execute?x=%C3%A9&y=a+b', { sandbox_id => $id,
        code => 'print(len(open("a b/c.txt").read()))' })->{json}{stdout},
       length($text) . "\n", 'code reads all of it');
    my $back = $self->ask('GET', $file);
    is("$back->{status} " . length $back->{content}, '200 ' . length $text,
       'and it is read back') or diag $back->{content};
    ok($back->{content} eq $text, 'byte by byte');
    is($self->ask('GET', $file, undef, authorization =>
                  "Bearer $self->{s}{other}")->{status}, 404,
       'by nobody else');
    is($self->ask('DELETE', "/v1/sandboxes/$id")->{status}, 204,
       'a sandbox is ended');
}


sub identity {
    my ($self) = @_;
    my $run = { code => '1' };
    my $secret = Retort::Service::slurp("$self->{dir}/secret") =~ s/\n//r;
    my $mine = time . ':demo:';

    $mine .= ':' . hmac_sha256_hex("retort-identity $mine POST /v1/execute",
                                   'x' x 32);

    for (['no key', ''], ['a wrong key', 'Bearer wrong'],
         ['a key cut short', 'Bearer ' . substr $self->{s}{key}, 0, -1])
    {
        is($self->ask('POST', '/v1/execute', $run, authorization => $_->[1])
           ->{status}, 401, "$_->[0] is nobody");
    }

    for my $name (qw(retort-workspace retort_workspace x-retort-identity
                     retort-identity retort_identity x-workspace))
    {
        is($self->ask('POST', '/v1/execute', $run, authorization => '',
                      $name => $name =~ /identity/ ? $mine : 'demo')->{status},
           401, "nor is a header $name anybody");
    }

    is($self->ask('POST', '/v1/execute', $run, authorization => '',
                  'x-api-key' => $self->{s}{key})->{status}, 200,
       'x-api-key does as well');
}


sub mcp {
    my ($self) = @_;
    my $rpc = sub {
        my ($method, $params, %h) = @_;
        return $self->ask('POST', '/mcp', { jsonrpc => '2.0', id => 1, method =>
            $method, params => $params }, accept => 'application/json, '
            . 'text/event-stream', %h);
    };

    my $r = $rpc->('initialize', { protocolVersion => '2025-11-25',
        capabilities => {}, clientInfo => { name => 'test', version => '1' } });
    my %in = ('mcp-session-id' => $r->{headers}{'mcp-session-id'} // '',
              'mcp-protocol-version' => '2025-11-25');

    like($in{'mcp-session-id'}, qr/^mcp_/, 'MCP opens a session');
    $rpc->('tools/call', { name => 'python', arguments => { code => 'x = 6' } },
           %in);
    $r = $rpc->('tools/call', { name => 'python', arguments => {
        code => 'x * 7' } }, %in);
    like($r->{content}, qr/"result":\s*"42"/, 'whose variables stay');
    is($self->ask('DELETE', '/mcp', undef, %in)->{status}, 204, 'and ends it');
}


sub artifact {
    my ($self) = @_;

    my $r = $self->ask('POST', '/v1/execute', { code => "import matplotlib."
        . "pyplot as plt\nplt.plot([1, 2])\nplt.show()" });
    my $url = $r->{json}{artifacts}[0]{url} // '';

    like($url, qr{^http://127\.0\.0\.1:$self->{port}/static/[0-9a-f]{32}\.png$},
         'a picture has a link');
    $url =~ s{^http://[^/]+}{};
    $r = $self->ask('GET', $url, undef, authorization => '');
    is($r->{status}, 200, 'that everybody can follow');
    like($r->{content}, qr/^\x89PNG/, 'to a PNG');
    is($r->{headers}{'content-type'}, 'image/png', 'of that type');
    is($r->{headers}{'x-content-type-options'}, 'nosniff', 'and nothing else');

    for my $name ('', '.identity', '.secret', '../secret', '%2e%2e/secret') {
        my $r = $self->ask('GET', "/static/$name", undef, authorization => '');
        like($r->{status}, qr/^4/, "/static/$name is nothing");
        unlike($r->{content}, qr/required|[0-9a-f]{64}/, 'that says a secret');
    }
}


# what code says comes while it still runs: it is woken when we have seen it

sub stream {
    my ($self) = @_;

    my $id = $self->ask('POST', '/v1/sandboxes', {})->{json}{sandbox_id} // '';
    my $got = '';
    my $put = 0;

    HTTP::Tiny->new(timeout => 60)->request('POST',
        "http://127.0.0.1:$self->{port}/v1/execute", {
        headers => { authorization => "Bearer $self->{s}{key}", accept =>
                     'application/x-ndjson', 'content-type' => 'application/json' },
        content => $json->encode({ sandbox_id => $id, code => "import time\n"
            . "try:\n    print('one', flush=True)\n"
            . "    while True: time.sleep(0.01)\n"
            . "except KeyboardInterrupt:\n    print('two')" }),
        data_callback => sub {
            $got .= $_[0];
            return if $put || $got !~ /one/;
            $put = 1;
            $self->ask('POST', "/v1/sandboxes/$id/interrupt", '');
        } });

    like($got, qr/one.*two.*"cancelled"/s, 'output comes while the code runs');
}


sub end {
    my ($self) = @_;

    for my $pid (reverse @{ $self->{pids} }) {
        kill 'TERM', $pid;
        $self->{s}->until_true(sub { waitpid($pid, WNOHANG) == $pid }, 30)
            or do { kill 'KILL', $pid; waitpid $pid, 0 };
    }

    $self->{pids} = [];
    unlink "$self->{dir}/run/identity.sock";
    $self->{s}->end;
}


sub DESTROY { local ($?, $@); $_[0]->end if @{ $_[0]{pids} } }


1;
