#!/bin/sh
# Installs the Debian packages that building and testing need. Does nothing, at
# once, when all are there. Works as root and as a user with sudo.
set -eu

# One package a line, and what needs it.
packages() {
  sed 's/ *#.*//' <<'LIST'
build-essential             # the compiler
ccache                      # the core is compiled once, not once for each Python
cmake                       # the build
ninja-build                 # the build
git                         # names the version of what is measured in bench/RESULTS.md
ca-certificates             # pip reaches its index over TLS
libopen-trace-format2-dev   # OTF2: the traces (src/formats/otf2)
libexpat1-dev               # the XML of CUBE profiles (src/formats/cube)
zlib1g-dev                  # their compressed form
libcli11-dev                # the command line of the timeloom program
libfmt-dev                  # text of the timeloom program
nlohmann-json3-dev          # JSON of the timeloom program
libtomlplusplus-dev         # the files of rules of timeloom check
libgtest-dev                # the C++ tests
libbenchmark-dev            # the C++ benchmarks (bench/core)
clang-14                    # libFuzzer (make test-sanitize)
libclang-rt-14-dev          # libFuzzer and the sanitizers of clang
clang-format-14             # make format, and its check in make test
clang-tidy-14               # make lint
python3                     # the scripts; the first Python that is measured
python3-dev                 # its headers, for the extension module
python3-venv                # the environments that the tests run in
libpython3.11-testsuite     # CPython's own tests, run under Timeloom
libjemalloc2                # loaded before libtimeloom in a test: they use up room for
libopenmpi3                 # thread-local variables
otf2-tools                  # otf2-print reads the traces that the tests make
python3-otf2                # so does the Python reader of the OTF2 project, which
python3-six                 # imports this without naming it among its dependencies
LIST
}

missing() {
  for package in $(packages); do
    status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case $status in ii*) ;; *) printf ' %s' "$package" ;; esac
  done
}

# On another system it is up to its user; what is missing will say so itself.
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_deps: not a Debian system; needed are what Debian calls:" $(packages) >&2
  exit 0
fi

wanted=$(missing)
[ -n "$wanted" ] || exit 0
give_up() {
  echo "install_deps: $1; ask an administrator for: apt-get install$wanted" >&2
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

echo "install_deps: installing$wanted"
apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
# A foreign source that does not answer must not keep us from Debian's own packages.
apt update -qq || echo "install_deps: apt-get update failed; trying with the lists there are" >&2
apt install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 $wanted
