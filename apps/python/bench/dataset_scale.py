"""How data sets scale, by simulation: sizes of states, and what happens when many commit at once.

    dataset_scale.py        prints the tables of lib/dataset/SCALE.md

Writers share a store that creates an object only if its name is free. An attempt reads the latest
state, merges, and creates the next one; who comes second waits for a random time and tries again.
"""

import heapq
import random

ENTRY, STATISTICS, PART, HEAD = 64, 64, 128, 400  # bytes


def state_bytes(parts, tiles, statistics=True):
    """Of the file."""
    return HEAD + parts * PART + tiles * (ENTRY + STATISTICS * statistics)


def attempt_seconds(size, tiles, latency, bandwidth):
    """Reading a state, merging it, and creating the next one."""
    return 3 * latency + 2 * size / bandwidth + tiles * 150e-9


def contend(writers, commits, seconds, seed=1):
    """Let each writer make some commits, one after the other.

    Returns the time of all, the longest wait of one commit, and attempts per commit.
    """
    rng = random.Random(seed)
    events = [(rng.random() * seconds, w) for w in range(writers)]  # when an attempt starts
    heapq.heapify(events)
    left, tries, since = [commits] * writers, [0] * writers, [start for start, _ in events]
    since = dict((w, start) for start, w in events)
    last, longest, attempts, ends = 0.0, 0.0, 0, []
    while events:
        start, w = heapq.heappop(events)
        if w >= 0:  # reads the latest state now, creates the next one later
            attempts += 1
            heapq.heappush(events, (start + seconds * (0.9 + rng.random() * 0.2), -1 - w))
            tries[w] += 1
            ends.append((w, start))
            continue
        w = -1 - w
        began = next(at for one, at in reversed(ends) if one == w)
        if last > began:  # somebody was faster
            wait = rng.random() * min(0.001 * 2 ** min(tries[w], 6), 0.064)
            heapq.heappush(events, (start + wait, w))
            continue
        last = start
        longest = max(longest, start - since[w])
        left[w] -= 1
        tries[w] = 0
        if left[w]:
            since[w] = start
            heapq.heappush(events, (start, w))
        ends = [pair for pair in ends if pair[0] != w]
    return last, longest, attempts / (writers * commits)


def main():
    """Print all."""
    print("| parts | tiles | a state with statistics | without |")
    for parts, tiles in ((1_000, 10**6), (10_000, 10**6), (10_000, 10**7), (10_000, 10**9)):
        sizes = (state_bytes(parts, tiles, known) / 1e6 for known in (True, False))
        print(f"| {parts:,} | {tiles:,} | " + " | ".join(f"{size:,.0f} MB" for size in sizes) + " |")
    print("| writers at once | tiles | store | s for all | longest wait | attempts each |")
    stores = (("local", 20e-6, 2e9), ("network", 1e-3, 500e6), ("objects", 30e-3, 200e6))
    for writers, tiles in ((64, 1_280), (64, 10**6), (1_000, 10**6)):
        for store, latency, bandwidth in stores:
            size = state_bytes(1_000, tiles)
            seconds = attempt_seconds(size, tiles, latency, bandwidth)
            total, longest, attempts = contend(writers, 1, seconds)
            figures = f"{total:.1f} | {longest:.1f} | {attempts:.1f}"
            print(f"| {writers:,} | {tiles:,} | {store} | {figures} |")


if __name__ == "__main__":
    main()
