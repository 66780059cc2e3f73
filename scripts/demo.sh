#!/bin/sh
# Installs Timeloom for the newest supported Python and runs examples/demo.sh with it.
set -eu
cd -- "$(dirname -- "$0")/.."

echo "== Installing Timeloom: compiles it, which takes some minutes the first time"
PYTHON=$(python3 -m scripts.environments --newest)
DEMO=${DEMO:-build/demo}
export PYTHON DEMO
exec examples/demo.sh
