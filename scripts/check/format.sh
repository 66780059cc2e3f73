#!/bin/sh
# Formats the C and C++ code; with --check only lists the unformatted places, and fails.
set -eu
cd -- "$(dirname -- "$0")/../.."

# Every version of clang-format formats differently: this is Debian 12's.
formatter=clang-format-14
if ! command -v $formatter >/dev/null; then
  echo "format: $formatter is not installed; the format was not checked" >&2
  exit 0
fi

case "${1-}" in
  --check) mode="--dry-run --Werror" ;;
  "") mode=-i ;;
  *) echo "usage: scripts/check/format.sh [--check]" >&2; exit 2 ;;
esac

# Missing folders are not an error.
set --
for folder in include src tests bench; do
  if [ -d "$folder" ]; then set -- "$@" "$folder"; fi
done
find "$@" \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 |
  xargs -0 "$formatter" --style=file $mode
