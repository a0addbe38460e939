package Retort::FakeKernel;

# A kernel for tests of retort-front: speaks kernel.h; the code of a cell is
# Perl and is evaluated here, with the functions below at hand.  It can behave
# as badly as a tenant who took the interpreter over.

use strict;
use warnings;

use POSIX ();
use Time::HiRes ();

use constant { RUN => 2, FILE => 4, ACK => 6, RESET => 8, READY => 101,
               OUT => 103, SYNC => 105, DISPLAY => 107, MIME => 109,
               ERROR => 111, DONE => 113, FILED => 115, MORE => 120,
               PUT => 20, DATA => 22, GET => 24, LIST => 26, DELETE => 28,
               ENTRY => 117, BYTES => 119, CHANGE => 121,
               PAYLOAD => 32768 };

our (%v, %files, %env, $stdin, $run, $language, $want);
my ($channel, $out, $err, $counters, $reset, $hit);


# what each file of the box's cgroups says

sub counted {
    my ($files) = @_;

    return map { sysseek $_, 0, 0; sysread $_, my $text, 20; ($text || 0) + 0 }
        @$files;
}


sub add {
    my ($file, $more) = @_;
    my ($n) = counted([$file]);

    sysseek $file, 0, 0;
    syswrite $file, sprintf "%-19d\n", $n + $more;
}


# a run takes 1.5 ms, 0.5 of them of the kernel's

sub count {
    add($counters->[0], 1_500_000);
    add($counters->[1], 500_000);
}


sub raw { syswrite $channel, $_[0] }

sub head {
    my ($type, $len, $a, $b, @part) = @_;

    return pack 'CCSLLLL4', 1, $type, $len, $run // 0, $a // 0, $b // 0,
                map { $part[$_] // 0 } 0 .. 3;
}


sub say_ {
    my ($type, $a, $b, @parts) = @_;

    my $body = join '', @parts;
    my $first = substr $body, 0, PAYLOAD, '';

    raw(head($type, length $first, $a, $b, map { length } @parts) . $first);

    while (length $body) {
        my $next = substr $body, 0, PAYLOAD, '';
        raw(head(MORE, length $next) . $next);
    }
}


# what a cell may call

sub out { say_(OUT, 1, 0, $_[0]) }
sub err { say_(OUT, 2, 0, $_[0]) }
sub fd1 { syswrite $out, $_[0] }
sub fd2 { syswrite $err, $_[0] }
sub done { say_(DONE, $_[0] // 0, $_[1] // 0) }
sub error { say_(ERROR, 0, 0, @_) }
sub nap { Time::HiRes::sleep($_[0]) }
sub oom { POSIX::_exit(77) }

sub show {
    my ($kind, %forms) = @_;

    say_(DISPLAY, $kind, scalar keys %forms);
    say_(MIME, 0, 0, $_, $forms{$_}) for sort keys %forms;
}


# a file that the run changed, and one that it left for its client

sub change {
    my ($how, $name, $size, $sha) = @_;

    say_(CHANGE, $how, 0, $name, pack 'QLLa32', $size, defined $sha, 0,
         $sha // '');
}


sub saved {
    my ($name, $bytes) = @_;

    say_(DISPLAY, 0, 1);
    say_(MIME, 0, 0, '', $bytes, $name);
}


# a reset answers it as well, and is echoed when the cell is over

sub sync {
    say_(SYNC, 0, 0);

    while (1) {
        my ($type, $its) = get();
        $reset = $its if $type == RESET;
        return 1 if $type == ACK || $type == RESET;
    }
}


sub hear {
    my $n;

    do {
        $n = sysread $channel, my $packet, 32 + PAYLOAD;
        $hit = 0;
        return $packet if $n;
    } while (!defined $n && $!{EINTR});

    POSIX::_exit(0);
}


# type and parts of a whole message

sub get {
    my $packet = hear();
    my (undef, $type, undef, $its, $a, $b, @part) = unpack 'CCSLLLL4', $packet;
    my $body = substr $packet, 32;
    my $all = 0;

    $all += $_ for @part;
    $body .= substr(hear(), 32) while length $body < $all;

    return ($type, $its, $a, map { substr $body, 0, $_, '' } @part);
}


# a cell may set $v{editor}, which is then the editor of its sandbox

sub cell {
    my ($code) = @_;
    my $editor = $code =~ /retort_edit\.py/ && $v{editor};

    my $ok = eval {
        local $SIG{INT} = sub { die "interrupted\n" };
        die "interrupted\n" if $hit;
        $editor ? $editor->($stdin)
            : eval "package Retort::FakeKernel; no strict; no warnings 'void'; "
                   . "$code; 1" || die $@;
        1;
    };

    return if $v{mute};
    return done(0) if $ok;

    my $why = $@;
    chomp $why;
    error('Fault', $why, "Fault: $why\n", "Traceback\nFault: $why\n");
    done(1);
}


# what is asked about files; a cell may set $v{on}{TYPE} to do it otherwise

sub entry { say_(ENTRY, 0, 0, $_[0], pack 'QQLL', $_[1], 1000, $_[2] // 1, 0) }
sub bytes { say_(BYTES, 0, 0, $_[0]) }
sub filed { say_(FILED, $_[0] // 0, $_[1] // 0) }

sub put {
    my ($name) = @_;

    my $all = '';
    my $how = 0;

    filed(28) if $name eq 'full';

    while ($how == 0) {
        (my $type, undef, $how, my $piece) = get();
        die "not DATA but $type" if $type != DATA;
        $all .= $piece;
    }

    return if $name eq 'full';
    return filed(125) if $how == 2;
    my $old = exists $files{$name};
    $files{$name} = $all;
    filed(0, $old ? 1 : 0);
}


sub asked {
    my ($type, $name, $look) = @_;

    return $v{on}{$type}->($name) if $v{on}{$type};
    return put($name) if $type == PUT;

    if ($type == LIST) {
        entry($_, length $files{$_}) for sort keys %files;
        return filed();
    }

    return filed(2) unless exists $files{$name};

    if ($type == GET) {
        my $all = $files{$name};
        entry('', length $all);
        bytes(substr $all, 0, PAYLOAD, '') while !$look && length $all;
    }

    delete $files{$name} if $type == DELETE;
    filed();
}


sub main {
    ($channel, $out, $err, $counters) = @_;

    # one that comes before a cell has begun is meant for it
    $SIG{INT} = sub { $hit = 1 };
    $SIG{PIPE} = 'IGNORE';
    $SIG{CHLD} = 'DEFAULT';

    say_(READY, 0, 0);

    while (1) {
        my ($type, $its, $a, @part) = get();

        $run = $its;

        if ($type == FILE) {
            $files{$part[0]} = $part[1];
            say_(FILED, $part[0] eq 'full' ? 28 : 0, 0);

        } elsif ($type >= PUT && $type <= DELETE && $type != DATA) {
            asked($type, $part[0], $a);

        } elsif ($type == RESET) {
            # what a front before this one may not have come to tell
            say_(RESET, $v{undone} // 0, 0);

        } elsif ($type == RUN) {
            %env = map { split /=/, $_, 2 } split /\0/, $part[1];
            $stdin = $part[2];
            $want = join ' ', unpack 'QLL', $part[3];
            $language = $a;
            count();
            cell($part[0]);
            ($run, $reset) = ($reset) if defined $reset;
            say_(RESET, 0, 0) if $run != $its;
        }
    }
}


1;
