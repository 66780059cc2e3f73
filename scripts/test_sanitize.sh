#!/bin/bash
# Runs the C++ tests under the address, undefined behaviour and thread sanitizers, and each
# libFuzzer target for a fixed number of inputs. Builds into build/asan, build/tsan, build/fuzz.
set -euo pipefail
cd -- "$(dirname -- "$0")/.."

fuzz_runs=${FUZZ_RUNS:-20000}

# The thread sanitizer of GCC 12 does not know the address space of newer kernels; without
# randomisation it is where it expects it. Where that is forbidden it may work as it is.
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
  fixed_addresses=(setarch "$(uname -m)" -R)
fi

for preset in asan tsan; do
  echo "== $preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset"
  "${fixed_addresses[@]}" ctest --preset "$preset"
done

if [ ! -e tests/fuzz/CMakeLists.txt ]; then
  echo "== fuzz: there are no targets"
  exit 0
fi
if ! command -v clang++-14 >/dev/null; then
  echo "== fuzz: clang++-14 is not installed; nothing was fuzzed: run 'make deps'" >&2
  exit 1
fi
echo "== fuzz"
CC=clang-14 CXX=clang++-14 cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers
# What a target finds is kept in build/fuzz; its seeds are in tests/fuzz/corpus/<name>.
found=0
for target in build/fuzz/tests/fuzz/fuzz_*; do
  [ -f "$target" ] && [ -x "$target" ] || continue
  found=$((found + 1))
  name=$(basename "$target")
  corpus=$(mktemp -d)
  seeds=()
  if [ -d "tests/fuzz/corpus/$name" ]; then seeds=("tests/fuzz/corpus/$name"); fi
  # One that writes and reads an archive for each input takes fifty times as long.
  runs=$fuzz_runs
  if [ "$name" = fuzz_spool_weave ]; then runs=$((fuzz_runs / 20)); fi
  echo "== $name: $runs inputs"
  "$target" -runs="$runs" -seed=1 -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" \
    "$corpus" "${seeds[@]}"
  rm -rf "$corpus"
done
[ "$found" -gt 0 ] || { echo "test_sanitize: tests/fuzz builds no target" >&2; exit 1; }
