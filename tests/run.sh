#!/usr/bin/env bash
# Builds dapple and runs every test: the ordinary build, one under the address and undefined
# behaviour sanitizers, one under the thread sanitizer. The last line counts test cases:
# "N passed, N failed, N skipped". Exits 1 when one failed or something did not build.
set -u
cd "$(dirname "$0")/.." || exit 1

apps/install_packages.sh tests || exit 1

logs=()

# run_build FOLDER TARGETS SUITES SETUP-ARGUMENTS...: configures one build folder, builds the
# targets there (all of them if none is named) and runs the suites. A log that is missing
# afterwards counts as a failure.
run_build() {
  local folder=$1 targets=$2 suites=$3 log=$1/meson-logs/testlog.json
  shift 3
  logs+=("$log")
  rm -f "$log"
  echo "== $folder"
  if [ -f "$folder/build.ninja" ]; then
    meson configure "$folder" "$@"
  else
    meson setup "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; rm -f "$folder.log"; return; }
    rm -f "$folder.log"
  fi
  # shellcheck disable=SC2086  # a list of words
  ninja -C "$folder" $targets || return
  local arguments=()
  for suite in $suites; do arguments+=(--suite "$suite"); done
  $run_fixed meson test -C "$folder" --no-rebuild --print-errorlogs "${arguments[@]}"
}

# Under sanitizers g++ 12 takes every std::optional for uninitialised.
quiet=-Wno-maybe-uninitialized

# Sanitizers of this age cannot map their shadow on kernels that randomise addresses a lot.
run_fixed=
setarch -R true 2>/dev/null && run_fixed="setarch -R"

run_build build "" "unit threads cli interop fuzz tree faults neighbours" -Dtests=true -Dbench=true
# What the address sanitizer sees anyway costs a fifth of this build's time when it is looked for
# twice.
run_build build-asan "tests/unit fuzzers" "unit fuzz" -Dtests=true -Db_sanitize=address,undefined -Db_lundef=false \
  -Doptimization=1 "-Dcpp_args=['-fno-sanitize-recover=all', '-fno-sanitize=null,object-size,vptr', '$quiet']"
run_build build-tsan "tests/threads" "threads" -Dtests=true -Db_sanitize=thread -Db_lundef=false \
  -Doptimization=1 "-Dcpp_args=['$quiet', '-Wno-tsan']"

python3 tests/count.py "${logs[@]}"
