// Compiling a loop for several vector widths.
#pragma once

// Put before a function: it is compiled for several instruction sets, and the loader picks one.
// Not under sanitizers, whose run-time is not yet initialised when the loader calls the resolver.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DAPPLE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAPPLE_VECTORS
#endif
