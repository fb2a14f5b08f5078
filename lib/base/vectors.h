// Loops for the widest vectors that the processor at hand has.
#pragma once

// In front of a function: it is compiled for several widths, and the loader picks one. Sanitizers
// are not up yet when it asks.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DAPPLE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAPPLE_VECTORS
#endif
