#!/bin/sh
# SPDX-License-Identifier: MIT
# tools/quickstart, with the rec under test: the four files, and a report that knows the example.
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
"$SOURCE/tools/quickstart" >output 2>&1 || {
    cat output
    exit 1
}
for file in rec.data rec.pb.gz rec.json.gz rec.folded; do
    [ -s "quickstart-out/$file" ] || {
        cat output
        echo "no $file"
        exit 1
    }
done
# A recursive C function, and an inlined C++ one with its file.
for text in place_row escape_time tour.cc "profiler.firefox.com"; do
    grep -q "$text" output || {
        cat output
        echo "the output does not show $text"
        exit 1
    }
done
