"""Games of chance, which soak tests play one after the other until their time is over."""

import datetime
import pathlib
import tempfile
import time
import traceback


def play_all(play, seconds, seed=None):
    """0 if all went well. `play(seed, number, folder)` gives its steps, and raises where one is wrong.

    The seed is the day's unless it is given."""
    seed = seed or datetime.date.today().isoformat()
    end, games, steps = time.monotonic() + float(seconds), 0, 0
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            try:
                steps += play(f"{seed} {games}", games, pathlib.Path(folder))
            except Exception:
                traceback.print_exc()
                print(f"seed {seed!r}, game {games}\n{games} passed, 1 failed")
                return 1
        games += 1
    print(f"{steps} steps, seed {seed!r}\n{games} passed, 0 failed")
    return 0 if steps else 1
