#!/usr/bin/perl

# Each row of auto/boundary fires on a bad include and on a bad call, and the
# project passes.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $boundary = "$FindBin::Bin/../../auto/boundary";


# one source, compiled to where the build would put it; what the gate says

sub boundary {
    my ($path, $text) = @_;

    my $dir = tempdir(CLEANUP => 1);
    my $object = "$dir/objs/" . ($path =~ s/\.c$/.o/r);
    my @link;

    if ($path =~ m{^ngx_module/}) {
        $object = "$dir/objs/ngx_http_retort_module.so";
        @link = ('-shared', '-fPIC');
    }

    make_path(dirname("$dir/$path"), dirname($object));
    open(my $file, '>', "$dir/$path") or die $!;
    print $file $text;
    close $file or die $!;

    system('gcc', '-O2', '-D_GNU_SOURCE', '-D_FORTIFY_SOURCE=2',
           '-w', @link,
           (@link ? () : '-c'), '-o', $object, "$dir/$path") == 0
        or die "gcc failed\n";

    my @said = `\Q$boundary\E $dir 2>&1`;

    return ($? >> 8, join '', @said);
}


sub calls {
    my ($folder, @names) = @_;

    for my $name (@names) {
        my ($code, $said) = boundary("$folder/x.c",
            "void *f(void)\n{\n    extern void *$name();\n"
            . "    return $name() ? f : 0;\n}\n");

        ok($code == 1 && $said =~ /^objs\S+ .* may not call \Q$name\E \(/m,
           "$folder may not call $name()") or diag $said;
    }
}


sub includes {
    my ($folder, @names) = @_;

    for my $name (@names) {
        my ($code, $said) = boundary("$folder/x.c",
            "#if 0\n# include <$name>\n#endif\nint x;\n");

        ok($code == 1
           && $said =~ m{^\Q$folder\E/x\.c:2: .* may not include \Q$name\E},
           "$folder may not include $name") or diag $said;
    }
}


sub passes {
    my ($promise, $path, $text) = @_;

    my ($code, $said) = boundary($path, $text);
    is("$code $said", '0 ', $promise);
}


includes('ngx_module', qw(json-c/json.h fcgiapp.h Python.h seccomp.h));
calls('ngx_module', qw(fork execve socket system sleep json_object_new_int
                       FCGX_Init dlopen getaddrinfo unlink write mkdir));

includes('helper/protocol', qw(stdlib.h errno.h unistd.h log.h));
calls('helper/protocol', qw(malloc write open));

includes('helper/front', qw(sys/mount.h Python.h dlfcn.h sys/ptrace.h));
calls('helper/front', qw(mount clone unshare setns setuid setresuid fork
                         execve ptrace dlopen));

includes('helper/front/dialect', qw(sys/socket.h fcntl.h poll.h fcgiapp.h
                                    broker.h ../../protocol/kernel.h));
calls('helper/front/dialect', qw(read write open socket poll sendmsg fopen
                                 fork FCGX_PutS));

for my $folder (qw(helper/broker helper/mapd helper/launch)) {
    includes($folder, qw(json-c/json.h fcgiapp.h netdb.h pwd.h dlfcn.h));
    calls($folder, qw(json_tokener_parse FCGX_Init dlopen getaddrinfo
                      getpwnam getgrnam mount unshare setns ptrace));
}

includes('helper/fetch', qw(json-c/json.h pwd.h dlfcn.h sys/mount.h));
calls('helper/fetch', qw(execve setuid json_tokener_parse fopen unlink mount));

calls('helper/broker', qw(execve fork setuid));
calls('helper/mapd', qw(execve fork socket));
calls('helper/launch', qw(socket connect));
calls('helper/start', qw(json_tokener_parse FCGX_Init dlopen getaddrinfo));
calls('helper/init', qw(malloc getpwnam ptrace dlopen connect));
calls('helper/lib', qw(fork execve setuid malloc));
includes('sandbox-image/kernel', qw(fcgiapp.h sys/mount.h));
calls('sandbox-image/kernel', qw(mount setns unshare setuid));

my ($code, $said) = boundary('helper/front/dialect/x.c',
    "#include <fcntl.h>\n\nint f(const char *s, int n)\n"
    . "{\n    return open(s, n);\n}\n");
like($said, qr/may not call open \(/,
     'a fortified call is known by its own name');

passes('what a part needs is allowed: nginx in the module',
       'ngx_module/x.c', "void *f(void)\n{\n    extern void *ngx_palloc();\n"
       . "    return ngx_palloc();\n}\n");
passes('what a part needs is allowed: mounts in helper/init',
       'helper/init/x.c', "#include <sys/mount.h>\n\nint f(void)\n"
       . "{\n    return umount2(\"/\", 0);\n}\n");
passes('what a part needs is allowed: memory in a dialect',
       'helper/front/dialect/x.c', "#include <stdlib.h>\n\nvoid *f(void)\n"
       . "{\n    return malloc(9);\n}\n");

my $dir = tempdir(CLEANUP => 1);
make_path("$dir/helper/broker");
open(my $file, '>', "$dir/helper/broker/x.c") or die $!;
close $file or die $!;
my @said = `\Q$boundary\E $dir 2>&1`;
ok($? != 0, 'what is not built does not pass') or diag @said;

@said = `\Q$boundary\E 2>&1`;
is($?, 0, 'the project passes') or diag @said;

done_testing();
