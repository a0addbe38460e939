# What auto/up and auto/down share: where things are, and what is ours.
#
#   RETORT_HOME   configuration, logs, keys (run/ in the checkout)
#   RETORT_RUN    the socket's folder (/run/retort)
#   RETORT_STATE  artifacts, log of runs (/var/lib/retort)
#   RETORT_PORT   8080, on 127.0.0.1
#   RETORT_NAME   of the service, and of its cgroups: a-z, 0-9, "-" (retort)
#   RETORT_UID_BASE   first host uid of sandboxes (1500000000)

home=${RETORT_HOME:-$top/run}
run=${RETORT_RUN:-/run/retort}
state=${RETORT_STATE:-/var/lib/retort}
port=${RETORT_PORT:-8080}
name=${RETORT_NAME:-retort}
uid_base=${RETORT_UID_BASE:-1500000000}

url=http://127.0.0.1:$port


say() {
    printf '%s: %s\n' "${0##*/}" "$*"
}


fail() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    shift

    if [ $# -gt 0 ]; then
        printf '    %s\n' "$@" >&2
    fi

    exit 1
}


# When did this process start?  With the pid it names one process for good,
# whatever that executes later.

started() {
    local stat

    stat=$(cat "/proc/$1/stat" 2> /dev/null) || return 1
    stat=${stat##*) }
    set -- $stat

    # a zombie is gone
    [ "$1" != Z ] && printf '%s\n' "${20}"
}


# The pid in a pid file of ours (pid and start), if that process lives.

alive() {
    local pid start

    [ -r "$home/$1.pid" ] || return 1
    read -r pid start < "$home/$1.pid" || return 1
    [ -n "$pid" ] && [ "$(started "$pid")" = "$start" ] &&
        printf '%s\n' "$pid"
}


remember() {
    printf '%s %s\n' "$2" "$(started "$2")" > "$home/$1.pid"
}


# wait_for SECONDS COMMAND...: until it succeeds

wait_for() {
    local end=$((SECONDS + $1))

    shift

    until "$@" > /dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}


gone() {
    ! started "$1"
}


# Asks a process to end, and makes it if it does not.

stop() {
    local what=$1 signal=$2 pid

    if pid=$(alive "$what"); then
        say "stopping $what ($pid)"
        kill "-$signal" "$pid"

        if ! wait_for 20 gone "$pid"; then
            say "$what does not stop: killing it"
            kill -KILL "$pid"
            wait_for 5 gone "$pid" || fail "$what ($pid) cannot be killed" \
                "see /proc/$pid/stack; a disk may hang"
        fi
    fi

    rm -f "$home/$what.pid" "$home/$what.stamp"
}


# The service's groups in every cgroup tree, deepest first.

cgroups() {
    find /sys/fs/cgroup -mindepth 1 -maxdepth 8 -type d \
        \( -name "retort-$name" -o -name "retort-$name-up" \) \
        -exec find {} -depth -type d \; 2> /dev/null | awk '!seen[$0]++'
}


# What a killed broker could not tidy: its sandboxes, then their cgroups.

sweep_cgroups() {
    local dir pid

    for dir in $(cgroups); do
        while read -r pid; do
            kill -KILL "$pid" 2> /dev/null || true
        done < <(cat "$dir/cgroup.procs" 2> /dev/null)
    done

    for dir in $(cgroups); do
        wait_for 5 rmdir "$dir" || fail "$dir cannot be removed" \
            "still in it: $(tr '\n' ' ' < "$dir/cgroup.procs")" \
            'see /proc/PID/stack of these'
    done
}


stop_all() {
    stop nginx QUIT
    stop_retortd
}


stop_retortd() {
    stop retortd TERM
    sweep_cgroups
    rm -f "$run/front.sock" "$run/control.sock"
}
