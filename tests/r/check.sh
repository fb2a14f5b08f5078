#!/usr/bin/env bash
# check.sh SOURCE-ROOT BUILD-ROOT: R CMD check of the R package, which runs its tests and examples, has no
# complaint; and the README's R program gives what it says.
set -u
root=$(realpath "$1") build=$(realpath "$2")
for needed in R pkg-config; do
  command -v "$needed" >/dev/null || { echo "skipped: the R package: no $needed"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
done
for package in Matrix DelayedArray; do
  Rscript -e "quit(status = !requireNamespace('$package', quietly = TRUE))" >/dev/null 2>&1 ||
    { echo "skipped: the R package: no $package"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export DAPPLE_CFLAGS="-I$root/include" DAPPLE_LIBS="-L$build/lib -ldapple" LD_LIBRARY_PATH="$build/lib"
export _R_CHECK_FORCE_SUGGESTS_=false LC_ALL=C.UTF-8
# The check asks a package repository for its index: of one that has nothing.
mkdir -p "$folder/none/src/contrib" && : >"$folder/none/src/contrib/PACKAGES"
echo "options(repos = c(CRAN = 'file://$folder/none'))" >"$folder/profile.R"
export R_PROFILE_USER="$folder/profile.R"
passed=0 failed=0
result() {  # NAME STATUS LOG
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1:"; cat "$3"; fi
}

cd "$folder" || exit 1
R CMD build "$root/apps/r/dapple" >build.log 2>&1 &&
  R CMD check --no-manual dapple_*.tar.gz >check.log 2>&1 &&
  { grep -q '^Status: OK' check.log ||  # what is suggested need not be there
    { grep -q '^Status: 1 NOTE' check.log && grep -q '^Packages\? suggested but not available' check.log; }; }
status=$?
[ -f dapple.Rcheck/tests/dapple.Rout.fail ] && tail -30 dapple.Rcheck/tests/dapple.Rout.fail >>check.log
cat check.log >>build.log 2>/dev/null
result "R CMD check" "$status" build.log

# The README's C++ program writes the file that its R program reads.
mkdir library
R CMD INSTALL --library=library dapple_*.tar.gz >install.log 2>&1
sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | sed '/^```/d' >program.cpp
sed -n '/^```r$/,/^```$/p' "$root/README.md" | sed '/^```/d' >program.R
c++ -std=c++20 program.cpp -o program "-I$root/include" "-L$build/lib" -ldapple && ./program >/dev/null &&
  R_LIBS="$folder/library" Rscript -e 'invisible(lapply(parse("program.R"), function(e) print(eval(e, globalenv()))))' \
    >program.log 2>&1
grep -o '#> .*' program.R | cut -c4- >expected
tail -n "$(wc -l <expected)" program.log | diff - expected >>program.log
result "the README's R program" $? program.log

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
