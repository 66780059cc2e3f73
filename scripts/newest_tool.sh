#!/bin/bash
# Prints the installed versions of a tool of LLVM, the newest first: clang++-16, clang++-14, clang++.
# Fails if there is none.
#
# usage: scripts/newest_tool.sh NAME
set -euo pipefail
compgen -c | grep -E "^${1//+/[+]}(-[0-9]+)?$" | sort -ruV
