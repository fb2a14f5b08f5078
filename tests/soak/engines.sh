#!/usr/bin/env bash
# Runs Ray and Spark (which wants Java 17) on data sets, in a venv of their own.
#
#   engines.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
venv=$build/engines-venv
[ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check "ray[data]" "pyspark>=4.0" numpy pandas pyarrow pytest
cd "$(dirname "$0")"
export PYTHONPATH=$build/apps/python PYTHONDONTWRITEBYTECODE=1 SPARK_LOCAL_IP=127.0.0.1
export PYSPARK_PYTHON=$venv/bin/python
export RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0 RAY_DATA_DISABLE_PROGRESS_BARS=1
examples=../../apps/examples/python
"$venv/bin/python" $examples/ray_data_set.py --rows 100000
"$venv/bin/python" $examples/spark_data_set.py --rows 100000
"$venv/bin/python" -m pytest -q -p no:cacheprovider engines.py
