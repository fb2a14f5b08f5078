#!/usr/bin/env bash
# Does what README says on a Debian 12 with nothing else in it (debootstrap's minbase, no /dev/pts): the
# two commands, and the installation, whose `dapple` has to start. Needs root and debootstrap, and exits
# with 77, skipped, without them.
#
#   tests/soak/bare_debian.sh [STEP...]      install, quickstart, tests; all three if none is named
#
# The system is made once, in $DAPPLE_BARE_DEBIAN (default: build-debian beside the sources), from
# $DAPPLE_DEBIAN_MIRROR (default: deb.debian.org). The tree is that of the last commit.
set -eu
cd "$(dirname "$0")/../.."
root=$(realpath -m "${DAPPLE_BARE_DEBIAN:-build-debian}")
mirror=${DAPPLE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ $# -gt 0 ] || set -- install quickstart tests

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "skipped: needs root and debootstrap"
  exit 77
fi
if [ ! -e "$root/made" ]; then
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
  touch "$root/made"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"

# What the commands of the README find: a clone, and the system as it was made.
fresh=$(mktemp -d "$(dirname "$root")/bare-XXXXXX")
trap 'rm -rf "$fresh"' EXIT
cp -a "$root/." "$fresh"
mkdir "$fresh/dapple"
git archive HEAD | tar -x -C "$fresh/dapple"

# inside COMMAND: in the bare system, with /proc but nothing else of this one.
inside() {
  unshare --mount --pid --fork --kill-child --mount-proc="$fresh/proc" \
    chroot "$fresh" env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec "cd /dapple; $1"
}

for step in "$@"; do
  echo "== $step"
  case $step in
    install) inside "$(sed -n 's/^To install: `\(.*\)`.*/\1/p' README.md); dapple --version;
      dapple info tests/golden/dapple-0.2/mixed_kinds_i32.dbdf" ;;
    quickstart) inside "apps/quickstart.sh 16" ;;
    tests) inside tests/run.sh ;;
    *) echo "bare_debian.sh: no step '$step'" >&2; exit 2 ;;
  esac
done
