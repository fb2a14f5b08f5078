#!/usr/bin/env bash
# From a clean clone to answers: installs what is missing, builds, stores a table of real
# measurements, looks inside, takes out a block and a region, and shows what each step cost.
#
# usage: apps/quickstart.sh [MIB]   size of the large matrix of the last part; 256 unless told
set -eu
cd "$(dirname "$0")/.."
mib=${1:-256}

apps/install_packages.sh
export CCACHE_DISABLE=1  # see tests/run.sh
# Eight sources compiled as one take half as long.
[ -f build/build.ninja ] || meson setup build -Dtests=false -Dunity=on -Dunity_size=8 >/dev/null
echo "== Building dapple: about two minutes on two cores, the first time"
if [ -t 1 ]; then
  ninja -C build apps/dapple/dapple
else  # every fifth step, and whatever is no step
  (set -o pipefail; ninja -C build apps/dapple/dapple | sed -u -n '/^\[/!{p;b}; 1~5p')
fi
dapple=$PWD/build/apps/dapple/dapple

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$PWD
cd "$folder"

# milliseconds NANOSECONDS
milliseconds() { printf '%d.%02d ms' $(($1 / 1000000)) $(($1 / 10000 % 100)); }

# run COMMAND-LINE: shows it, what it prints, and what it cost.
run() {
  local start end
  printf '\n$ %s\n' "$1"
  start=$(date +%s%N)
  eval "$1"
  end=$(date +%s%N)
  printf '# %s\n' "$(milliseconds $((end - start)))"
}

# average COMMAND-LINE: what it costs when it is run 50 times, start of the program included.
average() {
  local start end
  start=$(date +%s%N)
  for _ in {1..50}; do eval "$1" >/dev/null; done
  end=$(date +%s%N)
  printf '%-48s %s\n' "$1" "$(milliseconds $(((end - start) / 50)))"
}

dapple() { "$dapple" "$@"; }

echo
echo "== A table of measurements"
cp "$here"/tests/golden/csv/winequality-red-white.csv wine.csv
cp "$here"/tests/golden/csv/winequality-red-white.csv.meta wine.csv.meta
run "dapple convert wine.csv wine.dbdf --tile 1024x13"
run "ls -l wine.csv wine.dbdf"
run "dapple info wine.dbdf"
run "dapple blocks wine.dbdf"
run "dapple get wine.dbdf --block 6144,0 | head -n 4"
run "dapple get wine.dbdf --rows 100:104 --cols 8:12"
run "dapple verify wine.dbdf --payload"

echo
echo "== A matrix of $mib MiB"
rows=$((mib * 64))
shape="{'descr': '|u1', 'fortran_order': False, 'shape': ($rows, 16384), }"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$shape" && head -c $((mib << 20)) /dev/urandom; } >large.npy
run "dapple convert large.npy large.dbdf --tile 1024x1024"
run "dapple info large.dbdf"
run "dapple get large.dbdf --rows $((rows - 2)):$rows --cols 0:8"

echo
echo "== The same question costs the same, whatever the size"
average "dapple --version"
average "dapple get wine.dbdf --rows 100:104 --cols 8:12"
average "dapple get large.dbdf --rows 100:104 --cols 8:12"
