#!/usr/bin/env bash
# Builds dapple and runs every test: in a build of its own (build-tests), under the address and undefined-behaviour
# sanitizers, then the suites in Python, in a browser and in JavaScript. The last line counts test cases:
# "N passed, N failed", and ", N skipped" if there are any. Exits 1 if one failed or something did not
# build. What takes long is in the suite `soak` (tests/soak/meson.build), with the thread sanitizer's build.
set -u
cd "$(dirname "$0")/.." || exit 1

apps/install_packages.sh tests || exit 1

# Many sources are compiled as one, which takes half the time when everything has to be built. While
# working on single files, build without this.
together=(-Dunity=on -Dunity_size=8)
# Optimising as users get it takes as long again as the tests save by it; the soak suite tests that build.
main=build-tests

# takes_tests FOLDER: whether it has room for the files of tests, and lets programs among them run,
# which containers may forbid in memory.
takes_tests() {
  local room probe status
  room=$(df --output=avail -B 1G "$1" 2>/dev/null | tail -n 1)
  [ "${room:-0}" -ge 4 ] && probe=$(mktemp "$1/dapple-XXXXXX" 2>/dev/null) || return 1
  printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" && "$probe" 2>/dev/null
  status=$?
  rm -f "$probe"
  return $status
}

# Most tests write small files and then wait for storage to have them, four times as long as they work.
# Files in memory are never waited for.
if [ -z "${TMPDIR:-}" ] && takes_tests /dev/shm; then export TMPDIR=/dev/shm; fi

logs=()

# build FOLDER TARGETS SETUP-ARGUMENTS...: configures one build folder and builds the targets there,
# all of them if none is named.
build() {
  local folder=$1 targets=$2
  shift 2
  echo "== $folder"
  if [ -f "$folder/build.ninja" ]; then
    meson configure "$folder" "$@"
  else
    meson setup "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; rm -f "$folder.log"; return 1; }
    rm -f "$folder.log"
  fi
  # shellcheck disable=SC2086  # a list of words
  ninja -C "$folder" $targets
}

# run FOLDER SUITES MESON-TEST-ARGUMENTS...: runs suites of a build folder.
run() {
  local folder=$1 suites=$2 suite arguments=()
  shift 2
  for suite in $suites; do arguments+=(--suite "$suite"); done
  $run_fixed meson test -C "$folder" --no-rebuild --print-errorlogs "${arguments[@]}" "$@"
}

# will_log LOG: names a log that must exist in the end; a missing one counts as a failure.
will_log() {
  logs+=("$1")
  rm -f "$1"
}

# Downloading takes as long as compiling a third of the tests.
tests/python/make_venv.sh "$main/python-venv" >/dev/null 2>&1 &

# Under sanitizers g++ 12 takes every std::optional for uninitialised.
quiet=-Wno-maybe-uninitialized

# Sanitizers of this age cannot map their shadow on kernels that randomise addresses a lot.
run_fixed=
setarch -R true 2>/dev/null && run_fixed="setarch -R"

# The unit tests of the main build run once, with libraries that the address and undefined-behaviour
# sanitizers watch in place of their own: compiling only those takes half the time. One program is
# watched itself, for what the public headers compile into their users. Checks that cost a fifth of the
# time each are left to the fuzz targets' own build. The other suites run with the libraries of the main
# build; its unit tests with those, as users get them, are in the soak suite (tests/soak/release_build.sh).
build_watched() {
  build build-asan "internal_library tests/fuzz/replay_views" -Dtests=true "${together[@]}" \
    -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=g \
    "-Dcpp_args=['-fno-sanitize-recover=all', '-fno-sanitize=null,object-size,vptr,pointer-overflow', '$quiet']"
}

# A short quarantine of freed memory spares a third of the time in the kernel, for fresh pages.
run_watched() {
  local watched=$PWD/build-asan/lib sanitizer
  export ASAN_OPTIONS=quarantine_size_mb=16
  sanitizer=$(ldd "$watched/libdapple_internal.so" | awk '$1 ~ /asan/ { print $3 }')
  run build-asan "" fuzz_views
  if LD_LIBRARY_PATH=$watched ldd $main/tests/unit | grep -qF "$watched/libdapple_internal.so"; then
    run $main "unit fuzz" --logbase testlog-asan --timeout-multiplier 3 \
      --wrapper "env LD_PRELOAD=$sanitizer LD_LIBRARY_PATH=$watched"
  fi
}

# Suites of other languages: scripts that say why they skip, and end with a line as ours does.
run_languages() {
  local suite
  for suite in "$@"; do tests/"$suite"/run.sh $main >"$main/$suite.log" 2>&1; done
}

will_log $main/meson-logs/testlog.json
will_log $main/meson-logs/testlog-asan-env.json
will_log build-asan/meson-logs/testlog.json
for suite in python browser js; do will_log "$main/$suite.log"; done

# Both builds at once, and then all tests: what waits for a file, a process or a last compiler leaves its
# processor to others.
mkdir -p $main
build_watched >$main/watched.log 2>&1 &
watched=$!
if build $main "" -Dtests=true -Dpython=disabled -Doptimization=1 "${together[@]}"; then
  run_languages browser js &
  tests/python/build.sh $main >"$main/python-build.log" 2>&1  # what it says, the suite says again
  run_languages python &
  run $main "made ranged threads cli interop tree faults neighbours" &
  wait $watched && run_watched >>$main/watched.log 2>&1
fi
wait
cat $main/watched.log
for suite in python browser js; do
  [ -f "$main/$suite.log" ] || continue
  echo "== $suite"
  cat "$main/$suite.log"
done

python3 tests/count.py "${logs[@]}"
