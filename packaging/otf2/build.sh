#!/bin/sh
# Builds OTF2's library from its authors' source, static and for shared objects, below the current directory:
# build-backend/.libs/libotf2.a. Its programs and bindings, which would need more, are left out.
# The variable CC names the compiler.
#
# usage: build.sh SOURCE JOBS [HOST BUILD]
#
# HOST and BUILD: the triplets of the architecture that it is for and of this machine, if they differ; CC, CXX and
# LDFLAGS are then those for HOST. The outer configure, which writes files for every architecture, knows a few supercomputers as others
# than the machine that builds, and hands no other on; so it runs for this machine, and the inner one again for HOST.
set -eu

source=$1
jobs=$2
host=${3:-}
options="--disable-shared --enable-static --with-pic --without-sionlib --without-python"
# shellcheck disable=SC2086  # words
if [ -z "$host" ]; then
  "$source/configure" $options
else
  CC=cc CXX=c++ LDFLAGS='' "$source/configure" $options
  (cd build-backend && "$source/build-backend/configure" --disable-option-checking $options \
    --host="$host" --build="$4" CC="$CC" CXX="$CXX" LDFLAGS="$LDFLAGS" \
    ac_scorep_platform=linux ac_scorep_cross_compiling=yes)
fi
exec make -j "$jobs" -C build-backend libotf2.la
