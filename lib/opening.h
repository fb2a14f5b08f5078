// What a program runs to open a file and to look at a first block, kept together.
#pragma once

// In front of a function on the way from a path to the cells of a first block, in files of dapple's
// own writer: all of them lie in one run of bytes, 14 KiB, and not on 27 pages of the library. A
// program that did something else in between finds none of it in the processor's caches, and waits
// for each page and each line as it comes to it (after 60 ms of idling: 61 us, so 58, of which the
// system's part is 39). What such a function needs only to fail belongs into one of its own.
#define DAPPLE_OPENING __attribute__((section("dapple_opening")))
