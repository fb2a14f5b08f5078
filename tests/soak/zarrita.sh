#!/usr/bin/env bash
# Reads what `dapple serve` serves with zarrita.js (npm, Node 18 or later), and compares every cell with `dapple get`.
#
#   zarrita.sh DAPPLE
set -eu
dapple=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
server=
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund zarrita
cp "$here/zarrita.mjs" .
node zarrita.mjs make # dense.csv, words.csv, sparse.mtx
"$dapple" convert -q --tile 7x11 dense.csv dense.dbdf
"$dapple" convert -q sparse.mtx sparse.dbdf
"$dapple" convert -q --pack sparse.mtx packed.dbdf
"$dapple" dataset append -q --no-sync set dense.dbdf dense.dbdf
"$dapple" serve -q dense.dbdf sparse.dbdf packed.dbdf words.csv set >address &
server=$!
for _ in $(seq 100); do [ -s address ] && break || sleep 0.1; done
for name in dense sparse packed words set; do
  file=$name.dbdf
  [ -e "$file" ] || file=$name
  [ -e "$file" ] || file=$name.csv
  "$dapple" get --json "$file" >"$name.json"
done
node zarrita.mjs compare "$(cat address)"
