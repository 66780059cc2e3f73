#!/bin/sh
# Lints the Python code with ruff and checks its types with mypy; pyproject.toml has their rules.
#
# The tools of scripts/check/check_python.txt are installed into a separate environment. It stays,
# so only the first call needs a network.
set -eu
cd -- "$(dirname -- "$0")/../.."

environment=build/venv-check
wanted="$(python3 -c 'import sys; print(sys.executable, sys.version)')
$(cat scripts/check/check_python.txt)"
if [ "$(cat "$environment/made-of" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/check/check_python.txt
  printf '%s\n' "$wanted" >"$environment/made-of"
fi

status=0
"$environment/bin/ruff" check --quiet --cache-dir build/ruff || status=1
"$environment/bin/mypy" --no-error-summary || status=1
"$environment/bin/mypy" --no-error-summary --config-file tests/mypy.ini || status=1
exit $status
