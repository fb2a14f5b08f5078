// Compiling a loop for several vector widths.
#pragma once

// Before a function: compiles it for several instruction sets, among which the loader chooses. Not
// under sanitizers, whose runtime is not initialised yet when the loader calls the resolver.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DAPPLE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAPPLE_VECTORS
#endif
