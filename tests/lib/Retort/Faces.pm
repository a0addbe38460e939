package Retort::Faces;

# One event, in the words of every dialect: a service with a location for each,
# how a request for code is said in each of them, and a table of what they
# answer.  The table is a text of blocks, "== event" and a line for each face:
# "face status body", with what no two answers have in common as a word.
#
#   my $t = Retort::Faces->new('runs.txt');
#   $t->event('an exception', sub { $t->run($_[0], '1/0') });
#   $t->end;
#
# RETORT_FACES=write writes the table anew: read the difference.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Retort::Messages ();
use Retort::Service;
use Test::More;

my $json = JSON::PP->new->utf8->canonical;
my $M = 'io.modelcontextprotocol';
my $tool = 'runPythonCodeInRemoteEnvironment';
my $api = 'api-version=2025-10-02-preview';
my @rpc = (jsonrpc => '2.0', id => 7, method => 'tools/call');


sub call { +{ @rpc, params => { name => $_[0], arguments => $_[1] } } }

sub legacy { call('python', { code => $_[0] }) }

sub modern {
    my $o = legacy(@_);
    $o->{params}{_meta} = { "$M/protocolVersion" => '2026-07-28',
                            "$M/clientCapabilities" => {} };
    return $o;
}

sub fenced { { inputs => { request => "```python\n$_[0]\n```" } } }

sub script { "python3 - <<'E'\n$_[0]\nE" }

sub shell {
    return { content => [{ type => 'server_tool_use', id => 'srvtoolu_1',
        name => 'bash_code_execution', caller => { type => 'direct' },
        input => { command => script(@_) } }] };
}

# the model wants to be run what it is told

sub dialogue {
    return { model => 'm', max_tokens => 9, tools => [{ name =>
        'code_execution', type => 'code_execution_20250825' }],
        messages => [{ role => 'user', content => script(@_) }] };
}

sub model {
    return Retort::Messages->new('' => sub {
        my ($n, $said) = @_;
        return Retort::Messages::text('done') if $n;
        return Retort::Messages::use_('bash_code_execution', { command =>
            $said->{messages}[0]{content}[0]{text} }, 'toolu_2');
    });
}

sub form {
    return join "\r\n", '--B', 'Content-Disposition: form-data; name="file"; '
        . 'filename="a.py"', '', $_[0], '--B--';
}

# location and api, path, body that runs a code, where the code is in it, more
# headers; one without such a place runs nothing, and is asked only by its name

our @FACES = (
    ['native', 'native', '/execute', sub { { code => $_[0] } }, ['code']],
    ['qwen', 'qwen', '/code_interpreter', sub { { params => { code => $_[0] } }
     }, ['params', 'code']],
    ['mcp', 'mcp', '', \&legacy, ['params', 'arguments', 'code'],
     'mcp-protocol-version' => '2025-11-25'],
    ['mcp_2026', 'mcp', '', \&modern, ['params', 'arguments', 'code'],
     'mcp-protocol-version' => '2026-07-28', 'mcp-method' => 'tools/call',
     'mcp-name' => 'python'],
    ['prisme', 'prisme', '', sub { call('execute_python', { code => $_[0] }) },
     ['params', 'arguments', 'code']],
    ['azure', 'azure', "/executions?$api&identifier=%ID%", sub { {
     codeInputType => 'Inline', executionType => 'Synchronous', code => $_[0]
     } }, ['code']],
    ['azure_2024', 'azure', "/code/execute?$api&identifier=%ID%", sub { {
     properties => { codeInputType => 'inline', executionType => 'synchronous',
     code => $_[0] } } }, ['properties', 'code']],
    ['azure_image', 'azure_image', '/executions?identifier=%ID%', sub { {
     code => $_[0] } }, ['code']],
    ['azure_mcp', 'azure_mcp', '', sub { call($tool, { environmentId =>
     '%ID%', pythonCode => $_[0] }) }, ['params', 'arguments', 'pythonCode']],
    ['anthropic', 'anthropic', '/code_execution', \&shell,
     ['content', 0, 'input', 'command'], 'anthropic-version' => '2023-06-01'],
    ['messages', 'anthropic', '/messages', \&dialogue,
     ['messages', 0, 'content'], 'anthropic-version' => '2023-06-01'],
    ['files', 'anthropic', '/files', \&form, undef, 'anthropic-version' =>
     '2023-06-01', 'content-type' => 'multipart/form-data; boundary=B'],
    ['ubik', 'ubik', '/tools/code_execution/execute', \&fenced,
     ['inputs', 'request']],
    ['e2b', 'e2b', '/execute', sub { { code => $_[0] } }, ['code']],
);

# what else a location may have, beside its api

our %WHERE = (
    plain  => '',
    strict => 'retort_azure_strict on;',
    short  => 'retort_limit_timeout 400ms; retort_limit_output 200;',
    full   => 'retort_profile full;',
    none   => 'retort_profile none;',
    files  => 'retort_scope files;',
);


sub new {
    my ($class, $table) = @_;
    my $model = model();
    my $s = Retort::Service->new(stopped => 1, conf => {
        endpoint => "anthropic $model->{url} timeout=60s" },
        profiles => { default => {
            import => 'numpy pandas matplotlib.pyplot seaborn sympy',
            request => '100k 1m', memory => '256m 256m', sessions => 60 },
            full => { import => 'json', sessions => 1, ready => 0 } });
    my $self = bless { s => $s, model => $model, path => $table, rows => [],
                       count => 0 }, $class;
    my %apis = map { $_->[1] => 1 } @FACES;

    Retort::Service::write_file("$s->{dir}/execute", 'demo:'
        . sha256_hex('execute') . "::execute\n");

    $s->{location} = join '', map { my $where = $_; map {
        "location /$where/$_ { retort_api $_; $WHERE{$where} retort_pass "
        . "unix:$s->{dir}/run/front.sock; retort_auth_key_file $s->{dir}/"
        . ($where eq 'files' ? 'execute' : 'keys') . "; }\n"
        } sort keys %apis } sort keys %WHERE;
    $s->configure;
    $s->start;

    return $self;
}


# a new name for a session, where a client has its own

sub fresh { "user-" . ++$_[0]{count} }


sub face { my ($name) = @_; return (grep { $_->[0] eq $name } @FACES)[0] }

sub names { return map { $_->[0] } grep { $_->[4] } @FACES }


# a request as it is; "%ID%" in path and body is the name of a session

sub send {
    my ($self, $name, $method, $path, $body, %o) = @_;
    my $face = face($name);
    my $id = $o{id} // $self->fresh;
    my $where = $o{where} // 'plain';
    my %h = ('content-type' => 'application/json', @$face[5 .. $#$face],
             %{ $o{headers} // {} });

    delete $h{$_} for grep { !defined $h{$_} } keys %h;
    $h{'e2b-sandbox-id'} //= $self->e2b($o{id}, $where) if $name eq 'e2b';
    s/%ID%/$id/g for grep { defined } $path, $body;

    return $self->{s}->request($method, "/$where/$face->[1]$path", $body, %h);
}


# E2B's clients make a sandbox before they use it

sub e2b {
    my ($self, $id, $where) = @_;

    return $id if defined $id;

    my $r = $self->{s}->request('POST', '/plain/e2b/sandboxes',
        '{"templateID":"default"}');

    return $json->decode($r->{content})->{sandboxID};
}


sub body { my ($name, $code) = @_; return face($name)->[3]->($code) }


sub run {
    my ($self, $name, $code, %o) = @_;
    my $face = face($name);
    my $body = $o{body} // body($name, $code);
    my $r = $self->send($name, 'POST', $face->[2],
                        ref $body ? $json->encode($body) : $body, %o);

    $r = $self->planned($r, $o{where} // 'plain')
        if $name eq 'ubik' && $r->{status} == 202;

    return $r;
}


# Ubik's runs are asked for later

sub planned {
    my ($self, $r, $where) = @_;
    my $id = $json->decode($r->{content})->{execution_id};

    $self->{s}->until_true(sub {
        $r = $self->{s}->get("/$where/ubik/tool-executions/$id");
        $r->{content} =~ /"status":"(?:completed|failed)"/;
    });

    return $r;
}


sub normal {
    my ($text) = @_;

    for ($text) {
        s/\b(sbx|exec|mcp|file)_(?:local_)?[0-9a-f]{32}\b/$1_ID/g;
        s/\breq_[0-9a-f]+/req_ID/g;
        s/\b(container|msg)_\w+/$1_ID/g;
        s/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*(?:Z|\+00:00)/TIME/g;
        s/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/UUID/g;
        s/\buser-\d+/user-N/g;
        s/"(usage|timings_us)":\{[^}]*\}/"$1":{}/g;
        s/(executionTimeInMilliseconds\\?"):\d+/$1:0/g;
        s/(sandbox_id\\?":\\?"|session: )[a-z0-9]{21}\b/$1ID/g;
        s/(Traceback \(most recent call last\)).*?(\\n\w+: )/$1$2/g;
        s/"state(\\?)":\\?"(?:kept|restored)/"state$1":$1"STATE/g;
        s/\b[0-9a-f]{32}(\.\w+)/HEX$1/g;
        s{[A-Za-z0-9+/]{400,}={0,2}}{BASE64}g;
        s/line \d+: +\d+ Killed +/line N: N Killed /g;
        s/^\n+|\n+\z//g;
        s/\r?\n/ ⏎ /g;
    }

    return $text;
}


# asks every face, or those that are named, and notes what it says

sub event {
    my ($self, $event, $do, @names) = @_;
    my @lines;

    for my $name (@names ? @names : names()) {
        my $r = $do->($name) // next;
        my $text = normal($r->{content});

        utf8::encode($text) if utf8::is_utf8($text);
        push @lines, sprintf '%-12s %d%s %s', $name, $r->{status},
            $r->{headers}{'retry-after'} ? '+' : '', $text;
        $lines[-1] =~ s/ +$//;
        isnt($r->{status}, 599, "$name, $event: it is answered");
        $self->{each}->($name, $event, $r) if $self->{each};
    }

    push @{ $self->{rows} }, [$event, @lines];
    return;
}


sub read_table {
    my ($self) = @_;
    my (%table, $event);

    for (split /\n/, Retort::Service::slurp($self->{path})) {
        $event = $1, next if /^== (.*)$/;
        my ($name) = /^(\w+) / or next;
        $table{"$event: $name"} = $_;
    }

    return \%table;
}


sub end {
    my ($self) = @_;
    my $table = $self->read_table;
    my ($head) = Retort::Service::slurp($self->{path}) =~ /^((?:#.*\n)*)/;

    if (($ENV{RETORT_FACES} // '') eq 'write') {
        Retort::Service::write_file($self->{path}, $head . join '', map {
            my ($event, @lines) = @$_;
            "\n== $event\n" . join '', map { "$_\n" } @lines
        } @{ $self->{rows} });
    }

    for my $row (@{ $self->{rows} }) {
        my ($event, @lines) = @$row;

        for my $line (@lines) {
            my ($name) = $line =~ /^(\w+)/;

            is($line, delete $table->{"$event: $name"} // 'nothing',
               "$name, $event: it says what it should");
        }
    }

    is_deeply([sort keys %$table], [], 'every line of the table was had');
    $self->{s}->end;
    done_testing();
}


1;
