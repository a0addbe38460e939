#!/bin/bash
#
# Every parser of hostile bytes takes its seeds, and a few seconds of changes
# of them, without a sanitizer's word: what was a bug once is among the seeds.

cd "$(dirname "$0")/../.." || exit 1

mapfile -t names < <(auto/fuzz --list)
log=$(mktemp)
n=0
bad=0

echo "1..${#names[@]}"

for name in "${names[@]}"; do
    n=$((n + 1))

    if auto/fuzz --smoke "$name" > "$log" 2>&1; then
        echo "ok $n - $name holds"
    else
        bad=1
        echo "not ok $n - $name holds"
        tail -n 60 "$log" | sed 's/^/# /'
    fi
done

rm -f "$log"
exit "$bad"
