#!/bin/bash
# Builds the libFuzzer targets of tests/fuzz into build/fuzz and gives each a fixed number of random
# inputs: FUZZ_RUNS (20,000). Findings of a target are kept in build/fuzz; its seeds are in
# tests/fuzz/corpus/<name>.
set -euo pipefail
cd -- "$(dirname -- "$0")/../.."

fuzz_runs=${FUZZ_RUNS:-20000}

can_fuzz() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    "$1" -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null
}

compiler=
for candidate in $(scripts/newest_tool.sh clang++ || true); do
  if can_fuzz "$candidate"; then compiler=$candidate; break; fi
done
if [ -z "$compiler" ]; then
  echo "== fuzz: no clang++ with libFuzzer is installed; nothing was fuzzed: run 'make deps'" >&2
  exit 1
fi
echo "== fuzz, with $compiler"
CC=${compiler/++/} CXX=$compiler cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers -- -k 0
found=0
failed=()
for target in build/fuzz/tests/fuzz/fuzz_*; do
  [ -f "$target" ] && [ -x "$target" ] || continue
  found=$((found + 1))
  name=$(basename "$target")
  corpus=$(mktemp -d)
  seeds=()
  if [ -d "tests/fuzz/corpus/$name" ]; then seeds=("tests/fuzz/corpus/$name"); fi
  # Targets that read an archive for each input take fifty times as long.
  runs=$fuzz_runs
  if [ "$name" = fuzz_spool_weave ] || [ "$name" = fuzz_otf2 ]; then runs=$((fuzz_runs / 20)); fi
  echo "== $name: $runs inputs"
  if "$target" -runs="$runs" -seed=1 -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" \
    "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1; then
    tail -n 8 "$corpus.log"
  else
    cat "$corpus.log"
    failed+=("$name")
  fi
  rm -rf "$corpus" "$corpus.log"
done
[ "$found" -gt 0 ] || { echo "fuzz: tests/fuzz builds no target" >&2; exit 1; }
[ "${#failed[@]}" -eq 0 ] || { echo "== fuzz: found faults: ${failed[*]}" >&2; exit 1; }
