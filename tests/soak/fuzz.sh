#!/usr/bin/env bash
# Builds the fuzz targets with clang, and lets each change its corpus for some seconds, under the address and
# undefined-behaviour sanitizers. What one finds is in build-fuzz/found. The last line counts.
#
#   fuzz.sh SECONDS [TARGET...]      default: all targets, one after the other
set -eu
seconds=$1
shift
cd "$(dirname "$0")/../.."
arguments=(-Dfuzz=true -Dpython=disabled -Dunity=on -Dunity_size=8 -Db_sanitize=address,undefined -Db_lundef=false
  -Doptimization=1 -Ddebug=false)
if [ -f build-fuzz/build.ninja ]; then
  meson configure build-fuzz "${arguments[@]}"
else
  CC=clang CXX=clang++ meson setup build-fuzz "${arguments[@]}" >/dev/null
fi
if [ $# = 0 ]; then
  ninja -C build-fuzz fuzzers >/dev/null
  set -- $(cd tests/fuzz && ls fuzz_*.cpp | sed 's/fuzz_\(.*\)\.cpp/\1/')
else
  ninja -C build-fuzz "${@/#/tests/fuzz/fuzz_}" >/dev/null
fi
# Sanitizers of this age cannot map their shadow on kernels that randomise addresses a lot.
fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)
mkdir -p build-fuzz/found
passed=0 failed=0
for target in "$@"; do
  corpus=$(sed -n "s/^  '$target': '\(.*\)',/\1/p" tests/fuzz/meson.build | head -n 1)
  corpus=${corpus:-$target}
  grown=build-fuzz/corpus/$target
  mkdir -p "$grown"
  if "${fixed[@]}" "build-fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4000 \
    -artifact_prefix="build-fuzz/found/$target-" "$grown" "tests/fuzz/corpus/$corpus" >"build-fuzz/$target.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$target:"
    tail -n 20 "build-fuzz/$target.log"
  fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
