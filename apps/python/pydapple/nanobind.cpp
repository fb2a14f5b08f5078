// nanobind's own code, compiled from the installed package.
#include <nb_combined.cpp>
