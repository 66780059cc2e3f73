"""Peak memory of weaving a long run: 100 million events by default.

usage: python bench/weave_memory.py [EVENTS] [--threads N] [--locations N] [--scratch DIR]

Prints JSON. Memory is the peak resident size of `timeloom weave`, including pages of mapped files.
Needs about 25 bytes of disk space per event.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import weaving

BYTES_PER_EVENT = 25


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("events", type=int, nargs="?", default=100_000_000)
    parser.add_argument("--threads", type=int, default=1, help="of the weave")
    parser.add_argument("--locations", type=int, default=1, help="threads of the program")
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    free = shutil.disk_usage(arguments.scratch).free
    if free < arguments.events * BYTES_PER_EVENT:
        sys.exit(f"weave_memory.py: {arguments.scratch} has too little space; choose --scratch")
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        run = weaving.record(pathlib.Path(name), arguments.locations, arguments.events)
        taken = weaving.weave(run, arguments.threads)
    figures = {
        "events": arguments.events,
        "weave_peak_mb": round(taken.peak_mb, 1),
        "weave_ns_per_event": round(taken.wall / arguments.events * 1e9, 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
