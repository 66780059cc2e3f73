#!/usr/bin/env python3
"""Writes seeds of the fuzzers: small spools, profiles, settings, filters and rules with everything in
them, and questions of the viewer's page.

usage: tests/fuzz/make_seeds.py [--archive NAME ANCHOR]

Written from docs/formats/spool.md, cube.md and view-http.md alone, so that a mistake in the
pages or in the readers shows. With --archive, the OTF2 archive of an anchor file becomes the seed
NAME of fuzz_otf2, and nothing else is written.
"""

import pathlib
import struct
import sys
import zlib

from spool_seeds import packed_segment_seeds, seeds


def cube_anchor(metrics, tree, locations=2):
    """`tree`: a list of (region, parameter, children)."""
    text = '<?xml version="1.0" encoding="UTF-8"?>\n\n<cube version="4.4">\n'
    text += '<attr key="Score-P::DefinitionCounters::Parameter" value="6"/>\n<metrics>\n'
    for number, (name, dtype, kind) in enumerate(metrics):
        text += f'<metric id="{number}" type="{kind}"><uniq_name>{name}</uniq_name>'
        text += f"<dtype>{dtype}</dtype></metric>\n"
    text += "</metrics>\n<program>\n"
    for number, (name, paradigm, role) in enumerate((
            ("p", "measurement", "artificial"), ("f &lt;", "user:m", "function"),
            ("instance=1", "user", "unknown"), ("COLLAPSE", "user", "unknown"))):
        text += f'<region id="{number}" mod="" begin="1" end="-1"><name>{name}</name>'
        text += f"<paradigm>{paradigm}</paradigm><role>{role}</role></region>\n"
    numbers = iter(range(100))

    def cnodes(nodes):
        result = ""
        for of, parameter, children in nodes:
            result += f'<cnode id="{next(numbers)}" calleeId="{of}">'
            if parameter:
                result += f'<parameter partype="{parameter}" parkey="k" parvalue="1" />'
            result += cnodes(children) + "</cnode>"
        return result

    text += cnodes(tree) + '\n</program>\n<system><systemtreenode Id="0"><name>m</name>'
    text += '<class>machine</class><locationgroup Id="0"><name>P</name><rank>0</rank>'
    text += "<type>process</type>"
    for number in range(locations):
        text += f'<location Id="{number}"><name>t</name><rank>{number}</rank>'
        text += "<type>thread</type></location>"
    return text + "</locationgroup></systemtreenode></system>\n</cube>\n"


def cube_index(rows):
    if rows is None:
        return b"CUBEX.INDEX" + struct.pack("<IHB", 1, 0, 3)
    return b"CUBEX.INDEX" + struct.pack("<IHBI", 1, 0, 1, len(rows)) + struct.pack(
        f"<{len(rows)}I", *rows)


def cube_compressed(rows):
    head, streams = b"ZCUBEX.DATA" + struct.pack("<Q", len(rows)), b""
    for number, row in enumerate(rows):
        stream = zlib.compress(row, 1)
        head += struct.pack("<QQQ", number * len(row), len(streams), len(stream))
        streams += stream
    return head + streams


def cube_members(*members):
    return b"\1" + b"".join(struct.pack("<H", len(one)) + one for one in members)


def cube_seeds():
    core = (("visits", "UINT64", "EXCLUSIVE"), ("time", "DOUBLE", "INCLUSIVE"))
    tree = [(0, None, [(1, None, [(1, "numeric", []), (2, None, [(1, None, [])])]),
                       (3, "string", [])])]
    anchor = cube_anchor(core, tree).encode()
    visits = struct.pack("<12Q", 1, 0, *range(2, 12))
    times = struct.pack("<12d", 99, 90, 80, 70, 8, 7, 6, 5, 4, 3, 2, 1)
    yield "dense", cube_members(anchor, cube_index(None), b"CUBEX.DATA" + visits,
                                cube_index(None), b"CUBEX.DATA" + times)
    yield "sparse", cube_members(anchor, cube_index([1, 4]), b"CUBEX.DATA" + visits[:32],
                                 cube_index(range(6)), b"CUBEX.DATA" + times)
    yield "compressed", cube_members(anchor, cube_index([0, 3]),
                                     cube_compressed([visits[:16], visits[16:32]]),
                                     cube_index([0]), cube_compressed([times[:16]]))
    every = [(f"m{i}", dtype, "SIMPLE" if i == 2 else "EXCLUSIVE") for i, dtype in enumerate(
        ("TAU_ATOMIC", "NDOUBLES(2)", "INT8", "MINDOUBLE", "COMPLEX", "HISTOGRAM(3)"))]
    yield "types", cube_members(cube_anchor(every, tree, 1).encode(), cube_index([5]),
                                b"CUBEX.DATA" + bytes(36), cube_index([0, 1]),
                                b"CUBEX.DATA" + bytes(range(32)))
    file = b""
    for name, content in (("0.data", b"CUBEX.DATA" + visits), ("0.index", cube_index(None)),
                          ("anchor.xml", anchor)):
        header = name.encode().ljust(124, b"\0") + b"%011o\0" % len(content)
        header = (header.ljust(156, b"\0") + b"0").ljust(257, b"\0") + b"ustar\0" + b"00"
        file += header.ljust(512, b"\0") + content
        file += bytes((len(content) // 512 + 1) * 512 - len(content))
    yield "file", b"\0" + file + bytes(1024)


def question(name, *words, layout="<"):
    body = struct.pack(layout, *words)
    head = f"POST /api/{name} HTTP/1.1\r\nHost: localhost:80\r\nX-Timeloom-Token: token\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def question_seeds():
    """About messages and metrics: all, some joined, of a track, and with limits that are refused."""
    for name in ("messages", "collectives", "matrix"):
        yield name, b"".join((
            question(name, 1000, 64, 0.0, 1e9, 0, 0, layout="<2I2d2I"),
            question(name, 3, 4, 900.0, 20_000.5, 0, 0, layout="<2I2d2I"),
            question(name, 1000, 1, 900.0, 900.0, 1, 0, 1, layout="<2I2d3I"),
            question(name, 10_001, 3, -1.0, float("nan"), 2, 0, 1, layout="<2I2d3I"),
        ))  # fmt: skip
    yield "values", b"".join((
        question("values", 1, 0, 1000.0, 1100.0, 0, 0, 0.0, 1e9, layout="<2I2d2I2d"),
        question("values", 0, 1, 0.0, 1e9, layout="<2I2d"),
        question("values", 2, 0, 0.0, 1e9, layout="<2I2d"),
    ))


def words(first, *texts):
    return bytes([first]) + b"".join(text.encode() + b"\0" for text in texts)


def settings_seeds():
    """Each type of a setting, flags of the interpreter, each kind of program, and wrong words."""
    yield "words", words(0, "-u", "-Xdev", "--buffer-size=64k", "--exclude", "a.*,tests/*",
                         "--include=app", "--instrumenter", "frame", "-o", "run", "-m", "app", "--fast")
    yield "window", words(0, "--from", "app.main", "--after=3", "--until=2s", "--overhead", "5%", "a.py")
    yield "command", words(0, "-OIc", "print(1)", "x")
    yield "program", words(0, "--program=./solve", "-n", "4")
    yield "misspelt", words(0, "--exclud", "a")
    yield "together", words(0, "--profile", "--no-weave", "--async-tasks", "--thread-locks=3", "-")
    yield "variables", words(1, "TIMELOOM_EXCLUDE=numpy,  *.load", "TIMELOOM_MAX_SIZE=2 GiB", "TIMELOOM_MAX_DEPTH=9",
                             "TIMELOOM_IO=posix", "TIMELOOM_BUFER_SIZE=1M", "HOME=/home/me")
    yield "wrong", words(1, "TIMELOOM_MAX_SIZE=99999999999T", "TIMELOOM_METRIC_RUSAGE=all")


def filter_seeds():
    begin, end = "SCOREP_REGION_NAMES_BEGIN\n", "SCOREP_REGION_NAMES_END\n"
    files = "SCOREP_FILE_NAMES_BEGIN # files\r\n EXCLUDE */site-packages/* /usr/*\nINCLUDE *.py\nSCOREP_FILE_NAMES_END\n"
    names = begin + "EXCLUDE * \nINCLUDE main solver.* MANGLED solver.Matrix.dot\\ [a-z]?\n" + end
    yield "both", "\0".join((files + names, "solver.*", "solver.step", "*a*b?", "xaxbx", "tests/*", "tests/a", "")).encode()
    yield "classes", "\0".join((names, "[!a-c]\\*", "d*", "[[:alpha:]", "[", "\\", "\\", "a\\", "a", "")).encode()
    yield "modules", "\0".join((begin + end, "solver", "solver.step", "stdlib", "os", "site-packages", "np", "")).encode()
    yield "open", b"SCOREP_REGION_NAMES_BEGIN\nEXCLUDE a\\\n"
    yield "unexpected", b"EXCLUDE a\nSCOREP_FILE_NAMES_END\n"


def rule_seeds():
    for name, rule in (("total", "total(solve) < 2s"), ("share", "any self(*.load) <= 12.5%"),
                       ("region", 'region "a \\"b\\"" mean >= 3.5 ms'), ("never", "visits('debug.*') == 0"),
                       ("run", "overhead < 5%"), ("ranks", "efficiency >= 80%"), ("huge", "wall < 1e308min"),
                       ("wrong", "total solve < 2"), ("of_the_run", "all threads(x) < 3")):
        yield name, b"\0" + rule.encode()
    yield "file", b'\1# rules\nrules = [\n  "total(f) < 2s",  # a comment\n  "visits(load) <= 3",\n]\n'
    yield "file_wrong", b"\1rules = [1]\n[other]\na = 1979-05-27T07:32:00Z\n"
    yield "file_cut", b'\1rules = ["total(f) < 2s'


def omnitrace_seeds():
    lines = """# a comment
$DIR = $env:HOME/out
OMNITRACE_OUTPUT_PATH = ${DIR}/%tag%
OMNITRACE_TRACE = true  # and a trace
ROCPROFSYS_PROFILE=ON
OMNITRACE_TRACE_PERIODS = 1:2.5:1:monotonic
OMNITRACE_TIMEMORY_COMPONENTS = wall_clock, peak_rss
OMNITRACE_TIMING_UNITS = usec
OMNITRACE_MAX_DEPTH = 7
"""
    yield "lines", b"\0" + lines.encode()
    doubled = "$A = 0123456789abcdef\n" + "$A = $A$A$A$A$A$A$A$A\n" * 12 + "OMNITRACE_OUTPUT_PREFIX = $A\n"
    yield "doubled", b"\0" + doubled.encode()
    yield "json", b"""\1{"omnitrace": {"settings": {
  "OMNITRACE_TRACE": {"value": true}, "OMNITRACE_TIMEMORY_COMPONENTS": ["wall_clock", "cpu_clock"],
  "OMNITRACE_TRACE_DELAY": 1.5, "OMNITRACE_MAX_DEPTH": null, "other": "word"}}}"""
    yield "json_deep", b"\1" + b'{"a":' * 300 + b"1" + b"}" * 300
    yield "json_lists", b'\1{"OMNITRACE_TRACE": ' + b"[" * 300 + b"]" * 300 + b"}"
    yield "xml", b"""\2<?xml version="1.0"?><!-- both forms --><timemory_xml><omnitrace>
<OMNITRACE_TRACE><name>trace</name><value>true</value></OMNITRACE_TRACE>
<OMNITRACE_OUTPUT_PREFIX a="1">a&amp;b<![CDATA[<c>]]></OMNITRACE_OUTPUT_PREFIX>
<OMNITRACE_TIMEMORY_COMPONENTS><value><value0>wall_clock</value0><value1>peak_rss</value1></value></OMNITRACE_TIMEMORY_COMPONENTS>
<OMNITRACE_DEBUG/></omnitrace></timemory_xml>"""
    yield "xml_wrong", b"\2<a><b></a>&none;"


def scorep_seeds():
    def variables(**values):
        return b"".join(f"SCOREP_{name}={value}".encode() + b"\0" for name, value in values.items())

    yield "all", variables(ENABLE_TRACING="true", ENABLE_PROFILING="no", TOTAL_MEMORY="16M", FILTERING_FILE="a b.filter",
                           METRIC_RUSAGE="ru_stime,ru_utime", EXPERIMENT_DIRECTORY="it's", VERBOSE="1")
    yield "unmet", variables(CUDA_ENABLE="runtime,kernel", PROFILING_MAX_CALLPATH_DEPTH="0", MEMORY_RECORDING="on",
                             TIMER="clock_gettime", ENABLE_TRACNG="1")
    yield "wrong", variables(TOTAL_MEMORY="-1", ENABLE_TRACING="perhaps")


ARCHIVE = ("{}.otf2", "{}.def", "{}.marker", *(f"{{}}/{location}.{kind}" for location in (0, 1, 1 << 32)
                                               for kind in ("def", "evt")))  # fmt: skip


def archive_seed(anchor):
    """The files of an archive in the order in which fuzz_otf2 takes them apart."""
    files = (anchor.parent / name.format(anchor.stem) for name in ARCHIVE)
    contents = [file.read_bytes() if file.exists() else b"" for file in files]
    return b"".join(struct.pack("<H", len(one)) + one for one in contents)


def elf_symbol(name, kind, binding, section, value, size):
    return struct.pack("<IBBHQQ", name, binding << 4 | kind, 0, section, value, size)


def elf_object(symbols_kind=2, link=b"grid.debug\0\0\7\0\0\0"):
    """A small library: a note with a build id, symbols, the name of a debug file."""
    names = b"\0.text\0.note\0.symtab\0.strtab\0.gnu_debuglink\0"
    strings = b"\0plain\0_ZN4grid4stepEi.cold\0__heat_MOD_step._omp_fn.0\0plain@@GRID_1\0"
    place = [strings.index(one) for one in (b"plain", b"_ZN", b"__heat", b"plain@@")]
    symbols = bytes(24) + b"".join([
        elf_symbol(place[0], 2, 1, 1, 0x1000, 0x10), elf_symbol(place[1], 2, 0, 1, 0x1010, 0),
        elf_symbol(place[2], 2, 2, 1, 0x1008, 4), elf_symbol(place[3], 10, 1, 1, 0x1000, 0),
    ])  # fmt: skip
    note = struct.pack("<III", 4, 8, 3) + b"GNU\0" + bytes(range(8))
    parts = [(b".text", 1, 0x1000, b"\x90" * 32, 0, 0), (b".note", 7, 0, note, 0, 0),
             (b".symtab", symbols_kind, 0, symbols, 4, 24), (b".strtab", 3, 0, strings, 0, 0),
             (b".gnu_debuglink", 1, 0, link, 0, 0), (b"", 3, 0, names, 0, 0)]  # fmt: skip
    body, sections = b"", bytes(64)
    for name, kind, address, content, to, entry in parts:
        sections += struct.pack("<IIQQQQIIQQ", names.index(name), kind, 0, address, 64 + len(body), len(content),
                                to, 0, 4, entry)  # fmt: skip
        body += content
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(parts) + 1, 6)
    return head + body + sections


def symbols_seeds():
    yield "library", elf_object()
    yield "stripped", elf_object(symbols_kind=11, link=b"")
    yield "cut", elf_object()[:-70]
    yield "other", b"#!/bin/sh\n"


def write_seeds(target, named):
    folder = pathlib.Path(__file__).parent / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in named:
        (folder / name).write_bytes(data)


def main():
    if sys.argv[1:2] == ["--archive"]:
        write_seeds("fuzz_otf2", [(sys.argv[2], archive_seed(pathlib.Path(sys.argv[3])))])
        return
    write_seeds("fuzz_spool_reader", seeds())
    write_seeds("fuzz_spool_weave", seeds())
    write_seeds("fuzz_packed_segment", packed_segment_seeds())
    write_seeds("fuzz_cube", cube_seeds())
    write_seeds("fuzz_symbols", symbols_seeds())
    write_seeds("fuzz_view_request", question_seeds())
    write_seeds("fuzz_settings", settings_seeds())
    write_seeds("fuzz_filter", filter_seeds())
    write_seeds("fuzz_rules", rule_seeds())
    write_seeds("fuzz_omnitrace_settings", omnitrace_seeds())
    write_seeds("fuzz_scorep_settings", scorep_seeds())


if __name__ == "__main__":
    main()
