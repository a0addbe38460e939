#!/usr/bin/perl

# Every example can be loaded, and every directive is in an example, in the
# operator's reference and in a test.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::Jwt;
use Retort::Nginx;

my $top = $Retort::Nginx::TOP;


sub slurp {
    open my $fh, '<', shift or die $!;
    local $/;
    return <$fh>;
}


my @examples = glob "$top/conf-examples/*.conf";
cmp_ok scalar @examples, '>=', 2, 'there are examples';

for my $file (@examples) {
    my ($name) = $file =~ m{([^/]+)$};
    my $ng = Retort::Nginx->new;
    my $dir = $ng->dir;
    my $text = slurp($file);

    $ng->write('keys', 'demo:' . sha256_hex('key') . "\n");

    $ng->write('secret', 's' x 32 . "\n");
    chmod 0600, "$dir/secret";
    $text =~ s{/etc/retort/link\.secret}{$dir/secret}g;

    $ng->write('jwks', Retort::Jwt->set(Retort::Jwt->secret('s' x 32)->jwk));
    chmod 0600, "$dir/jwks";
    $text =~ s{/etc/retort/gateway\.secret}{$dir/secret}g;
    $text =~ s{/etc/retort/issuer\.jwks}{$dir/jwks}g;

    if ($text =~ /^upstream/m) {
        $text = "%%MAIN%%\nhttp { %%HTTP%%\n$text\n}";

    } elsif ($text =~ /^events/m) {
        $text =~ s{^load_module .*?;}{%%MAIN%%}m;
        $text =~ s{^(?:worker_processes|pid) .*\n}{}mg;
        $text =~ s{^events \{.*?^\}}{}ms;
        $text =~ s{/var/log/nginx/}{$dir/logs/}g;

    } else {
        $text = "%%MAIN%%\nhttp { %%HTTP%% server { listen 127.0.0.1:%%PORT%%;"
            . "\n$text\n} }";
    }

    $text =~ s{/etc/retort/keys}{$dir/keys}g;
    $text =~ s{127\.0\.0\.1:8080;}{127.0.0.1:%%PORT%%;}g;

    $ng->conf($text);
    my ($code, $said) = $ng->check;
    is $code, 0, "$name is a good configuration" or diag $said;
    unlike $said, qr/\[warn\]/, 'without a warning';
}

my $examples = join '', map { slurp($_) } @examples;
my $readme = slurp("$top/ngx_module/README.md");
my $tests = join '', map { slurp($_) }
    grep { !/conf_examples/ } glob "$top/tests/nginx/*.t";

my $table = slurp("$top/ngx_module/ngx_http_retort_module.c");
my @directives = $table =~ /\{ ngx_string\("(retort_\w+)"\)/g;

cmp_ok scalar @directives, '>', 15, 'the table of directives is read';

for my $name (@directives) {
    like $examples, qr/^\s*$name\s/m, "$name is in an example";
    like $readme, qr/^### .*\b$name\b/m, 'has a place in the reference';
    like $readme, qr/\b$name [^;`]+;/, 'and an example there';
    like $tests, qr{\b$name\b}, 'and is tested';
}

my @variables = slurp("$top/ngx_module/ngx_http_retort_variables.c")
    =~ /ngx_http_retort_var\("(\w+)"/g;

like $readme, qr/`\$$_`/, "\$$_ is in the reference" for @variables;
is scalar(@variables), 8, 'all of them';

done_testing;
