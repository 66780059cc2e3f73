"""Writes an OTF2 archive as another tool would: with the Python bindings of OTF2.

    echo '{"THREAD": [[TIME, REGION], [TIME, null], ...]}' | /usr/bin/python3 foreign_archive.py DIRECTORY

A region is entered, null leaves the innermost one. Times are milliseconds.
"""

import json
import sys

import otf2


def write_archive(directory, threads):
    with otf2.writer.open(directory, timer_resolution=1000) as trace:
        definitions = trace.definitions
        root = definitions.system_tree_node("node17")
        process = definitions.location_group("Process", system_tree_parent=root)
        regions = {}
        for name, events in threads.items():
            writer = trace.event_writer(name, group=process)
            open_regions = []
            for time, region in events:
                if region is not None:
                    if region not in regions:
                        line = 10 * (len(regions) + 1)
                        regions[region] = definitions.region(
                            region, source_file="/src/heat/solver.py", begin_line_number=line,
                            end_line_number=line + 5)
                    open_regions.append(regions[region])
                    writer.enter(time, open_regions[-1])
                else:
                    writer.leave(time, open_regions.pop())


if __name__ == "__main__":
    write_archive(sys.argv[1], json.load(sys.stdin))
