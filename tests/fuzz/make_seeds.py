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

MASK = (1 << 64) - 1


def fnv(data, value=2166136261):
    for byte in data:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def mix(value, part):
    value = ((value ^ part) * 0xFF51AFD7ED558CCD) & MASK
    return value ^ (value >> 32)


def segment_check(location, sequence, base):
    value = 0x9E3779B97F4A7C15
    for part in (location, sequence, base):
        value = mix(value, part)
    return value


def records_check(words):
    lanes = [1, 2, 3, 4]
    for i, word in enumerate(words):
        lanes[i % 4] = ((lanes[i % 4] ^ word) * 0x9FB21C651E98DF25) & MASK
    value = len(words)
    for lane in lanes:
        value = mix(value, lane)
    return value


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def definition(kind, payload):
    head = struct.pack("<IHH", len(payload), kind, 0)
    return head + struct.pack("<I", fnv(payload, fnv(head))) + payload


def definitions(ended_log=None):
    head = b"\x01TLDEFS1" + struct.pack("<HH", 2, 1)
    parts = [
        head + struct.pack("<I", fnv(head)),
        definition(2, struct.pack("<QQQ", 1000, 5000, 1_700_000_000_000_000_000)),
        definition(1, struct.pack("<Q", 42) + text("node") + text("app") + text("/bin/python")
                   + struct.pack("<I", 1) + text("app.py")),
        definition(4, struct.pack("<I", 1) + text("m:f") + text("m:f") + text("/m.py") + text("m")
                   + struct.pack("<IIBB", 3, 9, 2, 1)),
        definition(4, struct.pack("<I", 2) + text("m:g") + text("m:g") + text("/m.py") + text("m")
                   + struct.pack("<IIBB", 12, 0, 1, 1)),
        definition(5, struct.pack("<IQ", 0, 42) + text("Master thread")),
        definition(5, struct.pack("<IQ", 1, 43) + text("Thread 1")),
        definition(3, struct.pack("<I", 0) + text("hello")),
        definition(6, struct.pack("<I", 0) + text("text") + b"\x03"),
        definition(6, struct.pack("<I", 1) + text("n") + b"\x00"),
        definition(7, struct.pack("<I", 0) + text("rss") + text("B") + text("") + b"\x01"),
        definition(8, struct.pack("<IQ", 0, 1020) + text("here")),
        definition(9, text("key") + text("value")),
        definition(2, struct.pack("<QQQ", 9000, 13000, 1_700_000_000_000_008_000)),
    ]  # fmt: skip
    if ended_log is not None:
        parts.append(definition(10, struct.pack("<QQ", 3, len(ended_log))))
    return b"".join(parts)


def code_definitions():
    """Regions with addresses: one in an object that is there, one in an object that is not, one without an object."""
    def region(key, name):
        return definition(4, struct.pack("<I", key) + text(name) * 2 + text("") + text("libm.so")
                          + struct.pack("<IIBB", 0, 0, 2, 1))

    def address(key, of, construct=""):
        return definition(19, struct.pack("<IIQ", key, of, 0x1139) + text(construct))

    return b"".join([
        definition(21, struct.pack("<I", 0) + text("/proc/self/exe") + text("") + struct.pack("<Qq", 1, 1)),
        definition(21, struct.pack("<I", 1) + text("/lib/libm.so") + text("0badcafe") + bytes(16)),
        region(1, "0x1139 in exe"), address(1, 0),
        region(2, "!$omp parallel"), address(2, 1, "!$omp parallel"),
        region(3, "0x1139 in libm.so"), address(3, 7),
    ])  # fmt: skip


def parallel_definition():
    """The region that the teams of a run have, so that the run is known to have them."""
    name = text("!$omp parallel @m.c:3")
    return definition(4, struct.pack("<I", 3) + name * 2 + text("/m.c") + text("m") + struct.pack("<IIBB", 3, 0, 8, 18))


def enter(region, delta):
    return [1 | region << 2 | delta << 28]


def leave(region, delta):
    return [2 | region << 2 | delta << 28]


def extended(kind, delta, *words):
    return [3 | kind << 2 | len(words) << 10 | delta << 28, *words]


# A team of two threads, as the thread that makes it and as its second member; tasks of the team.
TEAM = (
    enter(1, 0) + extended(18, 1, 7, 2) + extended(20, 2, 7, 0) + enter(2, 3) + extended(22, 4, 9)
    + extended(23, 5, 9) + leave(2, 6) + extended(24, 7, 9) + extended(23, 8, 0) + extended(21, 9, 7)
    + extended(19, 10, 7) + leave(1, 11)
)  # fmt: skip
MEMBER = extended(20, 2, 7, 1) + enter(2, 3) + leave(2, 9) + extended(21, 10, 7)
# Numbers that nobody has made, a member twice, a team that is joined before it is forked.
STRAY_TEAM = (
    extended(19, 0, 3) + extended(20, 1, 4, 2**32 - 1) + extended(20, 1, 4, 2**32 - 1) + extended(18, 2, 3, 0)
    + extended(23, 3, 2**63) + extended(24, 4, 5) + extended(21, 5, 99)
)  # fmt: skip

STORY = (
    enter(1, 0) + extended(2, 5, 1, 7) + extended(5, 6, 0, 0) + enter(2, 10)
    + extended(6, 12, 0, 4096) + leave(2, 20) + extended(7, 25) + extended(8, 30)
    + extended(1, 0, 5000) + enter(2, 1) + leave(2, 2) + leave(1, 3)
)  # fmt: skip


def segment(state, location, sequence, base, words, sealed=True):
    check = segment_check(location, sequence, base)
    size, records = len(words) * 8, records_check(words)
    seal = mix(mix(check, size), records)
    if not sealed:
        size, records, seal = (size if state == 2 else 0), 0, 0
    head = struct.pack(
        "<4sIIIQQQQQQ", b"LSEG", state, location, size, sequence, base, check, records, seal, 0
    )
    return head + struct.pack(f"<{len(words)}Q", *words)


def varint(value):
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def packed_body(words):
    """The streams of packed records, none of them compressed; regions below 256, times since the record before."""
    streams, last, open_regions, expected, i = {}, 0, [], {}, 0

    def put(stream, *data):
        streams[stream] = streams.get(stream, b"") + b"".join(data)

    def zigzag(kind, place, word):
        difference = (word - expected.get((kind, place), 0)) % 2**64
        expected[kind, place] = word
        return varint(((difference << 1) ^ (2**64 - 1 if difference >> 63 else 0)) % 2**64)

    while i < len(words):
        kind, payload, delta = words[i] & 3, words[i] >> 2 & 0x3FFFFFF, words[i] >> 28
        since, last = (delta - last) % 2**36, delta
        rest = (since - 248) >> 8 if since >= 248 else 0
        size = (rest.bit_length() + 7) // 8
        put(3, bytes([since if since < 248 else 248 + size]))
        if since >= 248:
            put(4, bytes([(since - 248) & 255]))
            put(5, rest.to_bytes(size, "little"))
        i += 1
        if kind == 1:
            open_regions.append(payload)
            put(0, b"\3")
            put(1, bytes([payload]))
        elif kind == 2 and open_regions and open_regions[-1] == payload:
            open_regions.pop()
            put(0, b"\0")
        elif kind == 2:
            open_regions.clear()
            put(0, b"\2")
            put(2, varint(payload))
        else:
            sub, count = payload & 255, payload >> 8 & 255
            behind = words[i : i + count]
            i += count
            put(0, b"\1")
            put(6, bytes([sub]))
            put(7, bytes([count]))
            for place, word in enumerate(behind):
                put(8 + 2 * sub + (place > 0), zigzag(sub, 0 if place == 0 else 1 + (behind[0] + place) % 16, word))
    streams = {key: data for key, data in sorted(streams.items()) if data}
    head = bytes([len(streams)]) + b"".join(
        bytes([key]) + 2 * varint(len(data)) for key, data in streams.items()
    )
    return head + b"".join(streams.values())


def packed_segment(location, sequence, base, words):
    check, size, records = segment_check(location, sequence, base), len(words) * 8, records_check(words)
    body = packed_body(words)
    seal = mix(mix(mix(check, size), records), len(body))
    head = struct.pack(
        "<4sIIIQQQQQQ", b"LPAK", len(body), location, size, sequence, base, check, records, seal, 0
    )
    return head + body + bytes(-len(body) % 8)


def ring(*segments):
    head = b"\x01TLRING1" + struct.pack("<II", 3, 4096)
    head += struct.pack("<IIQ", len(segments), fnv(head), 2)
    return head + b"".join(one.ljust(4096, b"\0") for one in segments)


def seed(flags, defs, log, ring_bytes):
    return struct.pack("<BHH", flags, len(defs), len(log)) + defs + log + ring_bytes


def seeds():
    log = segment(2, 0, 0, 1000, STORY) + segment(2, 1, 0, 1100, STORY)
    log += segment(2, 0, 1, 7000, enter(1, 0) + leave(1, 9))
    live = ring(
        segment(1, 0, 2, 8000, enter(1, 0) + enter(2, 5), sealed=False),
        segment(2, 1, 1, 8100, STORY[:1], sealed=False),
        b"",
    ).rstrip(b"\0")
    for flags in (0, 1):
        yield f"ended-{flags}", seed(flags, definitions(log), log, b"")
        yield f"killed-{flags}", seed(flags, definitions(), log, live)
        yield f"young-{flags}", seed(flags, definitions(), b"", live)
        yield f"code-{flags}", seed(flags, definitions() + code_definitions(), log, b"")
        packed = packed_segment(0, 0, 1000, STORY) + segment(2, 1, 0, 1100, STORY)
        packed += packed_segment(0, 1, 7000, enter(1, 0) + leave(1, 9))
        yield f"packed-{flags}", seed(flags, definitions(packed), packed, b"")
        teams = segment(2, 0, 0, 1000, TEAM) + segment(2, 1, 0, 1000, MEMBER)
        yield f"teams-{flags}", seed(flags, definitions(teams), teams, b"")
        stray = segment(2, 0, 0, 1000, STRAY_TEAM) + packed_segment(1, 0, 1100, TEAM + STRAY_TEAM)
        yield f"stray_teams-{flags}", seed(flags, definitions(stray), stray, b"")
        yield f"openmp-{flags}", seed(flags, definitions() + parallel_definition(), teams, b"")
        yield f"stray_openmp-{flags}", seed(flags, definitions() + parallel_definition(), stray + teams, b"")
    yield "empty", b""


def packed_segment_seeds():
    def raw(words):
        return struct.pack(f"<{len(words)}Q", *words)

    for name, records in (("story", STORY * 3), ("team", TEAM), ("stray", STRAY_TEAM), ("calls", (enter(5, 9) + leave(5, 12)) * 40)):
        yield f"words_{name}", b"p" + raw(records)
        yield f"body_{name}", b"u" + struct.pack("<H", len(records)) + packed_body(records)
    yield "body_claims", b"u" + struct.pack("<H", 65535) + packed_body(STORY)


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
