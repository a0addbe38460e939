#!/bin/bash
#
# run.sh LIST: the test files of the list, one pytest for each folder of them;
# how each test ended is in /workspace/results.

cd /workspace/own || exit 1
list=$1

export PYTHONPATH=/workspace/pytest PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
export RETORT_RESULTS=/workspace/results OMP_NUM_THREADS=2
: > "$RETORT_RESULTS"

while read -r folder; do
    mapfile -t files < <(grep -xE "$folder/[^/]+" "$list")
    echo "== $folder"
    RETORT_TESTS=$folder python3 -m pytest -p retort_paths \
        -p no:cacheprovider --continue-on-collection-errors -q --tb=line -W ignore "${files[@]}" < /dev/null \
        2>&1 | tail -n 12
done < <(grep -v '^#' "$list" | sed -n 's|/[^/]*$||p' | sort -u)
