#!/usr/bin/env bash
# Runs the Python tests with the Pythons of another release of Debian, in a chroot of it.
#
# usage: scripts/test/test_in_debian.sh SUITE PYTHON[,PYTHON]... [arguments of run_python_tests.py]
#        scripts/test/test_in_debian.sh SUITE --shell [COMMAND]
#
#   scripts/test/test_in_debian.sh unstable 3.13,3.14,3.15 -k streams
#
# The chroot, build/debian-SUITE, is created once and kept, with everything built in it; to create it
# again, remove it. Needs root, debootstrap, 3 GB and the network. Packages come from the mirror that
# this machine's apt uses, or from TIMELOOM_DEBIAN_MIRROR; pip in the chroot has the settings of
# this machine's pip. Nothing is changed outside the chroot: its mounts are gone when
# the script ends, whether it succeeds or fails.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

fail() { echo "test_in_debian.sh: $*" >&2; exit 1; }

[ $# -ge 2 ] || { sed -n 's/^# \{0,1\}//; 4,5p' "$0"; exit 2; }
suite=$1 versions=$2
shift 2
case $suite in *[!a-z0-9-]* | -*) fail "'$suite' is no release of Debian; write testing or unstable" ;; esac
[ "$(id -u)" = 0 ] || fail "a chroot needs root; write: sudo $0 $suite $versions"
root=$PWD/build/debian-$suite

mirror() {
  local uris
  uris=${TIMELOOM_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages')}
  grep -v security <<<"$uris" | head -n 1
}

make_chroot() {
  [ -e "$root/made" ] && return
  scripts/install_deps.sh debian
  rm -rf "$root"
  mkdir -p build
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$(mirror)"
  touch "$root/made"
}

# Settings for reaching the network, copied from this machine.
copy_settings() {
  local file
  for file in /etc/hosts /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || install -D -m 644 "$(realpath "$file")" "$root$file"
  done
  # A mirror may lag behind by more than the validity of a release file.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90timeloom"
}

# The working tree without files that git ignores; earlier build results there stay.
copy_tree() {
  mkdir -p "$root/timeloom"
  find "$root/timeloom" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory="$root/timeloom"
}

# Runs a command line there, with /proc, /sys and /dev.
inside() {
  # shellcheck disable=SC2016
  unshare --mount --propagation private bash -euc '
    root=$1; shift
    for place in proc sys dev; do mount --rbind "/$place" "$root/$place"; done
    exec chroot "$root" /usr/bin/env -C /timeloom -u PIP_FIND_LINKS "$@"' - "$root" "$@"
}

packages() {
  local version
  for version in ${versions//,/ }; do
    case $version in *[!0-9.]* | '') fail "'$version' is no version of Python such as 3.14" ;; esac
    echo "python$version" "python$version-dev" "python$version-venv" "libpython$version-testsuite"
  done
}

make_chroot
copy_settings
copy_tree
if [ "$versions" = --shell ]; then
  inside bash ${1:+-c "$*"}
  exit
fi
wanted=$(packages)
inside apt-get update --quiet=2
# shellcheck disable=SC2086
inside env DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --no-install-recommends --yes $wanted git >/dev/null
inside scripts/install_deps.sh build test
inside env TIMELOOM_PYTHONS= python3 -m scripts.test.run_python_tests --no-werror --one-by-one --only "$versions" "$@"
