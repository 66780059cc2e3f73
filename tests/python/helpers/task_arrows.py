"""The arrows between the tasks of engines, as converted files and the viewer show them."""

import struct

from converted import Chrome, Perfetto, converter
from view_client import EVER, Fields, Viewer

KIND_OF_VALUES = 4  # of links, see docs/formats/view-http.md


def arrows_in_chrome(program, run, directory):
    """The start and the end of each arrow, in nanoseconds, sorted."""
    flows = Chrome(converter(program, run, directory)("chrome", name="arrows.json")).flows
    return sorted((ends["s"][1], ends["f"][1]) for (name, _), ends in flows.items() if name == "value")


def arrows_in_perfetto(program, run, directory):
    """The same in a file of Perfetto, where one mark may have the ends of several arrows."""
    flows = Perfetto(converter(program, run, directory)("perfetto", name="arrows.pftrace")).flows
    return sorted((ends["s"][1], ends["f"][1]) for number, ends in flows.items() if number >> 60 == 1)


def arrows_in_viewer(program, run):
    """The same by the viewer's server, of all tracks; each arrow counts once, though both of its tracks have it."""
    arrows = set()
    with Viewer(program, run) as viewer:
        for track in range(len(viewer.wait().description()["tracks"])):
            fields = Fields(viewer.ask("links", struct.pack("<2I2d", track, 10_000, 0, EVER)))
            count, complete = fields.u32(2)
            assert complete == 1
            starts, ends = fields.f64(count), fields.f64(count)
            places = list(zip(fields.u32(count), fields.u32(count), strict=True))
            links = zip(starts, ends, places, fields.u32(count), strict=True)
            arrows |= {(start, end, place) for start, end, place, kind in links if kind == KIND_OF_VALUES}
            assert fields.is_at_end()
        scale = 1e9 / viewer.description()["ticks_per_second"]
    return sorted((round(start * scale), round(end * scale)) for start, end, _ in arrows)


def wanted_arrows(tasks):
    """From the last run of each task that had ended, to each run that takes its value: of timeloom.read(RUN).tasks()."""
    arrows = []
    for task in tasks:
        for need in task["needs"]:
            made = [one["end_s"] for one in tasks if one["key"] == need and one["end_s"] <= task["start_s"] + 1e-3]
            arrows += [(round(max(made) * 1e9), round(task["start_s"] * 1e9))] if made else []
    return sorted(arrows)


def assert_same_arrows(found, wanted):
    """Times may differ by the rounding of ticks to nanoseconds."""
    assert len(found) == len(wanted)
    for (start, end), (wanted_start, wanted_end) in zip(found, wanted, strict=True):
        assert abs(start - wanted_start) <= 2 and abs(end - wanted_end) <= 2
