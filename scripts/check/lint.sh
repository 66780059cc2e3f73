#!/bin/bash
# Runs clang-tidy over the C++ code that build/release compiles; arguments: files, or all.
set -euo pipefail
cd -- "$(dirname -- "$0")/../.."

linters=$(scripts/newest_tool.sh clang-tidy) || { echo "lint: clang-tidy is not installed" >&2; exit 1; }
linter=${linters%%$'\n'*}

# The extension is linted for the interpreter that runs the scripts.
CC=gcc CXX=g++ cmake --preset release -B build/lint -DTIMELOOM_BUILD_PYTHON=ON -DTIMELOOM_UNITY=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DPython_EXECUTABLE="$(python3 -c 'import sys; print(sys.executable)')" >/dev/null
if [ $# -eq 0 ]; then
  mapfile -t files < <(find src tests/unit -name '*.cpp' | sort)
else
  files=("$@")
fi
# Options of GCC that clang does not know are not an error in the code.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" $linter -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option
