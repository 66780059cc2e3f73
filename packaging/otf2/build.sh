#!/bin/sh
# Builds OTF2's library from its authors' source, static and for shared objects, below the current directory:
# build-backend/.libs/libotf2.a. Its programs and bindings, which would need more, are left out.
# The compiler is that of the variable CC.
#
# usage: build.sh SOURCE JOBS [OPTION OF CONFIGURE]...
set -eu

source=$1
jobs=$2
shift 2
"$source/configure" --disable-shared --enable-static --with-pic --without-sionlib --without-python "$@"
exec make -j "$jobs" -C build-backend libotf2.la
