"""Reads an archive of ours with the readers of the OTF2 project and compares.

usage: /usr/bin/python3 readers_test.py MAKE_OTF2_ARCHIVE

Needs otf2-print and, in the Python that runs it, the module otf2 (Debian: otf2-tools,
python3-otf2).
"""

import re
import subprocess
import sys
import tempfile
import unittest

import otf2


def make_archive(program, directory):
    """The expected contents of the archive: kind of line -> list of its fields."""
    done = subprocess.run([program, directory], check=True, capture_output=True, text=True)
    said = {"region": [], "location": [], "event": [], "marker": []}
    for line in done.stdout.splitlines():
        kind, *fields = line.split("\t")
        said[kind].append(tuple(fields))
    return said


def otf2_print(*arguments):
    done = subprocess.run(["otf2-print", *arguments], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout


def python_event(location, event):
    """The event of the Python reader, in the form that make_otf2_archive prints."""
    name = type(event).__name__
    place = (str(location_ids[location]), str(event.time))
    if name in ("Enter", "Leave"):
        return (*place, name, event.region.name)
    if name.startswith("Parameter"):
        value = event.string if name == "ParameterString" else event.value
        return (*place, name, event.parameter.name, str(value))
    if name == "Metric":
        (member,) = event.metric.members
        return (*place, name, member.name, f"{event.values[0]:g}" if
                isinstance(event.values[0], float) else str(event.values[0]))
    if name == "MeasurementOnOff":
        return (*place, name, str(event.measurement_mode).split(".")[-1])
    if name == "ProgramBegin":
        return (*place, name, event.program_name)
    if name == "ProgramEnd":
        return (*place, name, str(event.exit_status))
    return (*place, name)


location_ids = {}


class Readers(unittest.TestCase):
    directory: tempfile.TemporaryDirectory
    said: dict
    anchor: str

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.said = make_archive(program, cls.directory.name)
        cls.anchor = cls.directory.name + "/traces.otf2"

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_otf2_print_validates_it(self):
        for options in (["--silent"], ["--silent", "-Werror"]):
            self.assertEqual(otf2_print(*options, self.anchor).strip(), "=== OTF2-PRINT ===")

    def test_otf2_print_says_every_event(self):
        """In the order of time, which is the order of events in a location."""
        kinds = {"ENTER": "Enter", "LEAVE": "Leave", "METRIC": "Metric",
                 "PARAMETER_INT64": "ParameterInt", "PARAMETER_UINT64": "ParameterUnsignedInt",
                 "PARAMETER_STRING": "ParameterString", "MEASUREMENT_ON_OFF": "MeasurementOnOff",
                 "PROGRAM_BEGIN": "ProgramBegin", "PROGRAM_END": "ProgramEnd"}
        found = []
        for line in otf2_print(self.anchor).splitlines():
            match = re.match(r"([A-Z_0-9]+) +(\d+) +(\d+)  ", line)
            if match:
                kind, location, time = match.groups()
                found.append((location, time, kinds.get(kind, kind)))
        self.assertEqual(sorted(found), sorted(event[:3] for event in self.said["event"]))

    def test_otf2_print_knows_properties_and_markers(self):
        anchor = otf2_print("-A", self.anchor)
        for text in ("TIMELOOM::LOST_EVENTS", "killed by signal 9", "Timeloom 0.1.0", "Großrechner"):
            self.assertIn(text, anchor)
        markers = subprocess.run(["otf2-marker", self.anchor], capture_output=True, text=True)
        for time, text in self.said["marker"]:
            self.assertRegex(markers.stdout, rf"{time}.*{text}")

    def test_otf2_print_knows_teams(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([program, directory, "teams"], check=True, capture_output=True)
            anchor = directory + "/traces.otf2"
            self.assertEqual(otf2_print("--silent", "-Werror", anchor).strip(), "=== OTF2-PRINT ===")
            text, definitions = otf2_print(anchor), otf2_print("-G", anchor)
        kinds = re.findall(r"^(THREAD_[A-Z_]+) +(\d+)", text, re.MULTILINE)
        main = [kind for kind, location in kinds if location == "0"]
        team = ["THREAD_FORK", "THREAD_TEAM_BEGIN", "THREAD_TEAM_END", "THREAD_JOIN"]
        self.assertEqual(main, [*team[:2], "THREAD_TASK_CREATE", *team[2:], *team])
        self.assertEqual(len(kinds), 22)
        self.assertRegex(text, r"THREAD_TASK_SWITCH .*Creating Thread: 0 .*, Generation Number: 9")
        self.assertEqual(len(re.findall(r"^COMM .*Thread team", definitions, re.MULTILINE)), 2)

    def test_python_reader(self):
        with otf2.reader.open(self.anchor) as trace:
            definitions = trace.definitions
            self.assertEqual(definitions.clock_properties.timer_resolution, 2_000_000_000)
            self.assertEqual(definitions.clock_properties.global_offset, 1000)
            self.assertEqual(definitions.clock_properties.trace_length, 5000)
            for location in definitions.locations:
                location_ids[location] = location._ref
            self.assertEqual(
                [(one.name, str(one.number_of_events)) for one in definitions.locations],
                self.said["location"])
            self.assertEqual(
                [(one.name, one.source_file or "", str(one.begin_line_number))
                 for one in definitions.regions], self.said["region"])
            events = [python_event(location, event) for location, event in trace.events]
        self.assertEqual(sorted(events), sorted(self.said["event"]))


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
