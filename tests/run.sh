#!/usr/bin/env bash
# Builds dapple in a build of its own (build-tests) and runs every test, in C++, Python, JavaScript and a
# browser. The last line counts test cases: "N passed, N failed", and ", N skipped" if there are any. Exits 1
# if one failed or something did not build. What takes long is in the suite `soak` (tests/soak/meson.build),
# with what needs a library of its own: the sanitizers.
set -u
cd "$(dirname "$0")/.." || exit 1

apps/install_packages.sh tests || exit 1

# ccache takes a precompiled header for the same where only comments of what it includes have changed; GCC
# does not, and reads these headers twice.
export CCACHE_DISABLE=1

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
  # Times out what hangs; a machine may be several times as slow as those that the limits were set on.
  meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 3 "${arguments[@]}" "$@"
}

# will_log LOG: names a log that must exist in the end; a missing one counts as a failure.
will_log() {
  logs+=("$1")
  rm -f "$1"
}

# Downloading takes as long as compiling a third of the tests.
tests/python/make_venv.sh "$main/python-venv" >/dev/null 2>&1 &

# Suites of other languages: scripts that say why they skip, and end with a line as ours does.
run_languages() {
  local suite
  for suite in "$@"; do tests/"$suite"/run.sh $main >"$main/$suite.log" 2>&1; done
}

will_log $main/meson-logs/testlog.json
will_log $main/meson-logs/tree.json
for suite in python browser js; do will_log "$main/$suite.log"; done

# All suites at once: what waits for a file, a process or a last compiler leaves its processor to others.
# What the standard library can check of its containers, it does.
mkdir -p $main
if build $main "" -Dtests=true -Dpython=disabled -Doptimization=1 -Dcpp_args=-D_GLIBCXX_ASSERTIONS "${together[@]}"; then
  {
    tests/python/build.sh $main configure
    run_languages browser js &
    run $main "unit fuzz made ranged threads cli interop faults neighbours" >&3 2>&1 &
    tests/python/build.sh $main
  } 3>&1 >"$main/python-build.log" 2>&1  # what it says, the suite says again
  run_languages python &
  run $main tree --logbase tree &  # installs what was built
fi
wait
for suite in python browser js; do
  [ -f "$main/$suite.log" ] || continue
  echo "== $suite"
  cat "$main/$suite.log"
done

python3 tests/count.py "${logs[@]}"
