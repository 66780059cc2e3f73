#!/bin/sh
# Installs the Debian packages that are missing. Does nothing, at once, when all are there.
# Works as root and as a user with sudo.
#
# usage: scripts/install_deps.sh [GROUP]...
#
# Groups: build, check, test, lint, fuzz, bench, readers, which are taken without one; mpi, cluster, debian, engines, release, viewer.
set -euf

# Groups, package, purpose. Of alternatives (a|b) one is sufficient, and the first that Debian has
# is installed; a pattern stands for the newest package with such a name.
packages() {
  cat <<'LIST'
build        build-essential      # the compiler
build        ccache               # the core is compiled once, not once for each Python
build        cmake                # the build
build        ninja-build          # the build
build,check  ca-certificates      # pip reaches its index over TLS
build        libopen-trace-format2-dev|libotf2-trace-dev|libotf2-dev  # OTF2: the traces (src/formats/otf2)
build        libexpat1-dev        # the XML of CUBE profiles (src/formats/cube)
build        zlib1g-dev           # their compressed form
build        libzstd-dev          # packed records and traces (src/packing)
build        libcli11-dev         # the command line of the timeloom program
build        libfmt-dev           # text of the timeloom program
build        nlohmann-json3-dev   # JSON of the timeloom program
build        libtomlplusplus-dev  # the files of rules of timeloom check
build        libboost-dev         # the parser of HTTP of timeloom view (headers only)
build,check  python3              # the scripts; the first Python that is measured
build        python3-dev          # its headers, for the extension module
build,check  python3-venv         # the environments that the tests run in
test         libgtest-dev         # the C++ tests
test         libpython3.[0-9]*-testsuite  # CPython's own tests, run under Timeloom
test,readers otf2-tools           # otf2-print reads the traces that the tests make
test,readers python3-otf2         # so does the Python reader of the OTF2 project, which
test,readers python3-six          # imports this without naming it among its dependencies
test         gfortran             # programs in Fortran whose calls are recorded
test         valgrind             # callgrind_annotate reads what convert writes
test         gdb                  # lets timeloom attach into programs of Python 3.12 and 3.13,
test         lldb                 # as this one does
test         strace               # shows what a program reads and writes, to compare with
test         libjemalloc2         # loaded before libtimeloom in a test: they use up room for
test         libopenmpi3|libopenmpi40  # thread-local variables
test         openmpi-bin          # mpirun: ranks of a job have one run
test         mpich                # the same with the other launcher
mpi          libopenmpi-dev       # mpicc: programs in C, and tables that must agree with its headers
mpi          libmpich-dev         # the same of the other library (make test-all)
cluster      iproute2             # two hosts on one machine: the cable between them
cluster      slurm-wlm            # a cluster of them; srun and sbatch start ranks
cluster      munge                # by which its daemons know each other
cluster      libpmix-dev          # by which srun starts programs of Open MPI
check        clang-format-14      # make format, and its check in make check
lint,test    clang-tidy|clang-tidy-[0-9][0-9]  # make lint, and the test of its rules
fuzz         clang|clang-[0-9][0-9]            # libFuzzer (make test-fuzz)
fuzz         libclang-rt-dev|libclang-rt-[0-9][0-9]-dev  # libFuzzer and the sanitizers of clang
fuzz         libomp-dev|libomp-14-dev  # LLVM's runtime of OpenMP, which clang's code is tested with
bench        libbenchmark-dev     # the C++ benchmarks (bench/core)
engines      openjdk-17-jre-headless|openjdk-21-jre-headless|default-jre-headless  # Spark runs in it
debian       debootstrap          # another Debian in a chroot (scripts/test/test_in_debian.sh)
release      g++-aarch64-linux-gnu  # wheels for arm64 (make wheels)
release      googletest           # its source, for the C++ tests on arm64
release      qemu-user-static     # runs programs of arm64 (make test-release)
release      binfmt-support       # also those that others start
readers      vite                 # ViTE reads traces, too (make real-readers)
viewer       chromium             # pages are used in it (make test-viewer, make test-notebooks)
viewer       firefox-esr          # the page of timeloom view is opened in it, too (make test-viewer)
check,bench  git                  # lists the files whose words are checked; names the measured version
LIST
}

# The second words of the lines of some groups.
needed() {
  packages | while read -r groups package _; do
    for group in "$@"; do
      case ",$groups," in *",$group,"*) echo "$package"; break ;; esac
    done
  done
}

alternatives() { printf '%s\n' "$1" | tr '|' '\n'; }

installed() { dpkg-query -W -f '${db:Status-Abbrev}\n' "$1" 2>/dev/null | grep -q '^ii'; }

missing() {
  for package in $(needed "$@"); do
    found=
    for name in $(alternatives "$package"); do if installed "$name"; then found=yes; fi; done
    if [ -z "$found" ]; then echo "$package"; fi
  done
}

# The newest package that matches a name or a pattern, if there is one.
known() {
  apt-cache pkgnames "${1%%\[*}" | while read -r name; do
    # shellcheck disable=SC2254 # a pattern
    case $name in $1) echo "$name" ;; esac
  done | sort -V | tail -n 1
}

# The package to install for each of some lists of alternatives.
choose() {
  for package in "$@"; do
    chosen=
    for name in $(alternatives "$package"); do chosen=${chosen:-$(known "$name")}; done
    if [ -n "$chosen" ]; then
      echo "$chosen"
    else
      echo "install_deps: this system has no package $package" >&2
    fi
  done
}

[ $# -gt 0 ] || set -- build check test lint fuzz bench readers

# On another system its user is responsible; missing tools will report themselves.
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_deps: not a Debian system; needed are what Debian calls:" $(needed "$@") >&2
  exit 0
fi

wanted=$(missing "$@")
[ -n "$wanted" ] || exit 0
give_up() {
  echo "install_deps: $1; ask an administrator for: apt-get install" $wanted >&2
  exit 1
}

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif ! command -v sudo >/dev/null; then
  give_up "neither root nor sudo"
elif [ -t 0 ] || sudo -n true 2>/dev/null; then
  as_root=sudo
else
  give_up "sudo asks for a password and there is no terminal"
fi

apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
# A third-party source that does not answer must not block Debian's own packages.
apt update -qq || echo "install_deps: apt-get update failed; trying with the lists there are" >&2
wanted=$(choose $wanted)
[ -n "$wanted" ] || exit 0
echo "install_deps: installing" $wanted
apt install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 $wanted
