// What a program runs to open a file and to look at a first block, kept together.
//
// A program that did something else in between finds none of this code in the processor's caches,
// and would wait for each page and each line of it as it comes there. So it lies in one run of
// bytes, 14 KiB, and not on 27 pages of the library, and is asked for at once (opening after 60 ms
// of idling: 1.9 times three preads; with less code 1.7, in one run 1.62, asked for at once 1.53;
// back to back that costs 0.05). So are the addresses of the functions of other libraries, and then
// these functions (62.7 us after 20 ms of idling, 57.8 so and with an object that is small; AMD
// EPYC of family 25, model 17).
#pragma once

// In front of a function on the way from a path to the cells of a first block, in files of dapple's
// own writer. What such a function needs only to fail belongs into one of its own.
#define DAPPLE_OPENING __attribute__((section("dapple_opening")))

namespace dapple::detail {

/// Asks for that run of bytes, and for where the functions of other libraries are; returns at once.
void ask_for_opening() noexcept;
/// Asks for those functions. For after a system call, when their addresses have come.
DAPPLE_OPENING void ask_for_functions() noexcept;

}  // namespace dapple::detail
