#!/bin/sh
# Installs Timeloom for the newest supported Python and runs examples/demo.sh with it.
#
# The output of the installation goes to a log: one line tells how far it is, and the end of the log is
# printed if it fails.
set -eu
cd -- "$(dirname -- "$0")/.."

DEMO=${DEMO:-build/demo}
mkdir -p "$DEMO"
log=$DEMO/install.log
started=$(date +%s)

compiled() { find build/wheel-* -name '*.o' -newer "$DEMO/started" 2>/dev/null | wc -l; }

# On a terminal one line that changes, elsewhere a line a minute.
progress() {
  seconds=$(($(date +%s) - started))
  text="Installing Timeloom: $seconds s, $(compiled) files compiled"
  if [ -t 1 ]; then printf '\r%s ' "$text"; elif [ $((seconds % 60)) = 0 ]; then echo "$text"; fi
}

touch "$DEMO/started"
echo "Installing Timeloom into an environment below build/: compiles it, which takes some minutes the first time"
python3 -m scripts.environments --newest -r examples/requirements.txt >"$DEMO/python" 2>"$log" &
installing=$!
trap 'kill "$installing" 2>/dev/null || :' INT TERM
while kill -0 "$installing" 2>/dev/null; do
  progress
  sleep 1
done
if [ -t 1 ]; then echo; fi
if ! wait "$installing"; then
  tail -n 60 "$log" >&2
  echo "make demo: Timeloom could not be installed; all of the output is in $log" >&2
  exit 1
fi

PYTHON=$(cat "$DEMO/python")
export PYTHON DEMO
exec examples/demo.sh
