#!/bin/sh
# in_mode.sh LIBRARY PROGRAM ARGUMENTS...: runs the program with that library in place of its own.
library=$1
shift
LD_LIBRARY_PATH=$(dirname "$library") exec "$@"
