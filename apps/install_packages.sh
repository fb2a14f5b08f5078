#!/usr/bin/env bash
# Installs what Debian 12 lacks to build dapple; with the argument `tests` also what its tests use, with
# `soak` what the long ones use, too. Does nothing, silently, if everything is installed; otherwise it needs root or sudo.
set -u

needed=(g++ meson ninja-build pkg-config libboost-dev libxxhash-dev libdeflate-dev zlib1g-dev
  libzstd-dev libtbb-dev libcli11-dev libfmt-dev nlohmann-json3-dev libpng-dev libcpp-httplib-dev
  libcurl4-openssl-dev)
useful=()  # without these, tests are skipped
if [ "${1:-}" = soak ]; then
  useful+=(r-base-core r-base-dev r-cran-matrix r-bioc-delayedarray r-bioc-delayedmatrixstats)
fi
if [ "${1:-}" = tests ] || [ "${1:-}" = soak ]; then
  needed+=(doctest-dev python3)
  useful+=(cmake libblosc1 libhdf5-dev python3-h5py python3-numpy python3-scipy python3-pandas python3-venv python3-dev chromium)
  command -v node >/dev/null || useful+=(nodejs)
  command -v npm >/dev/null || useful+=(npm)
fi

say() { echo "install_packages: $*" >&2; }

# Those of the given packages that are not installed.
missing() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" >/dev/null
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  say "not a Debian system; install the equivalents of these packages yourself: ${needed[*]}"
  exit 0
fi

mapfile -t lacking < <(missing "${needed[@]}")
mapfile -t wanted < <([ ${#useful[@]} = 0 ] || missing "${useful[@]}")
[ ${#lacking[@]} = 0 ] && [ ${#wanted[@]} = 0 ] && exit 0

if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
  [ ${#wanted[@]} = 0 ] || say "no root and no sudo to install ${wanted[*]}; going on without"
  [ ${#lacking[@]} = 0 ] && exit 0
  say "cannot install ${lacking[*]}: neither root nor sudo"
  exit 1
fi

say "installing ${lacking[*]} ${wanted[*]}"
as_root apt-get -qq update || say "apt-get update failed; trying with the lists from before"
if [ ${#lacking[@]} != 0 ] && ! install "${lacking[@]}"; then
  say "cannot install ${lacking[*]}: apt-get failed"
  exit 1
fi
if [ ${#wanted[@]} != 0 ] && ! install "${wanted[@]}"; then
  say "could not install ${wanted[*]}; going on without"
fi
