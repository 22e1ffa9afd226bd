#!/usr/bin/env bash
# Puts the page's libraries into page/vendor, with their licences. Needs npm, openssl and tar.
# Each package is pinned by its version and the SHA-512 of its archive. To take another version,
# change both (`npm view NAME@VERSION dist.integrity` prints the sum), run this, and look at what
# has changed. Imports by a package's name are made relative: the page has no import map, which
# its policy for scripts would refuse.
set -euo pipefail
cd "$(dirname "$0")"

into=page/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# get NAME VERSION SUM unpacks a package into $work/NAME and keeps its licence.
get() {
  local name=$1 version=$2 sum=$3 archive found
  archive=$(cd "$work" && npm pack --silent "$name@$version")
  found=$(openssl dgst -sha512 -binary "$work/$archive" | openssl base64 -A)
  [ "$found" = "$sum" ] || {
    echo "$name $version has the sum $found, not $sum" >&2
    exit 1
  }
  mkdir "$work/$name"
  tar -xzf "$work/$archive" -C "$work/$name" --strip-components 1
  cp "$work/$name/LICENSE" "$into/licenses/$name-$version.txt"
}

# put FILE NAME takes a module over: no source map, imports relative.
put() {
  sed -E -e '/^\/\/# sourceMappingURL=/d' -e 's/\/\/# sourceMappingURL=[^ ]*$//' \
    -e 's/(from ?|import ?)"(preact|d3-[a-z]+)"/\1".\/\2.js"/g' "$work/$1" >"$into/$2"
}

rm -rf "$into"
mkdir -p "$into/licenses"
get preact 11.2.0 /HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg==
get htm 3.1.1 983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ==
get uplot 1.6.32 KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==
get d3-force 3.0.1 kAaaHLFebBYwgi5cYBXAI8vKrQFMCD2MEswj2QuPKKbdU1wYLc8WXtS7O8F/b6POCIe3gJjY6hkDstHi1yMETQ==
get d3-dispatch 3.0.2 sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==
get d3-quadtree 3.0.2 9Lu9mqJKRbIk0d6mKDjpvPURaPdwHVK5CYbcdd0/4vBgz4ldz/7TIOse3kNERsByGNfld58KEco507AztJWyTQ==
get d3-timer 3.0.2 1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==
put preact/dist/preact.mjs preact.js
put preact/hooks/dist/hooks.mjs preact-hooks.js
put htm/dist/htm.module.js htm.js
put uplot/dist/uPlot.iife.min.js uplot.js # a script; its own module is not minified
echo 'export default uPlot;' >>"$into/uplot.js"
cp "$work/uplot/dist/uPlot.min.css" "$into/uplot.css"
for name in d3-force d3-dispatch d3-quadtree d3-timer; do put $name/dist/$name.min.mjs $name.js; done
