"""The part of bench/RESULTS.md on the estimates of the overhead and on wrapper libraries."""

import statistics
from collections.abc import Callable

from limits import Figures

HEADING = "## The estimated overhead and the measured cost"
PROMISED = 1.07  # of the plain program, with --overhead 5%

# The benchmarks, with a description of each in Markdown.
SCRIPTS = {
    "truth.py": "The estimate beside the difference in CPU time, as a share of the plain program's (quartiles in "
    "brackets), and the verdicts of `timeloom check 'overhead < 5%'`.",
    "promise.py": "CPU time with `--overhead 5%`, and without a limit, as multiples of the plain program's, and how "
    "many of the ten functions with the longest own time remain among them, where the time of functions that were "
    "given up is estimated from samples.",
    "compensation.py": "`timeloom report --compensate` for functions with known times, in nanoseconds a call.",
    "sampling.py": "The share of the time that Timeloom sees in other functions than a sampler of the plain program "
    "does, as measured and compensated; `floor` is the sampler's own uncertainty.",
    "native.py": "Wrapper libraries and ranks: the time that a recorded operation adds, relative to a recorded call of "
    "Python; instructions of wrappers outside of a measurement; the records of N ranks and the cost of weaving them.",
}
WRITE_OVER_CALL, MPI_OVER_CALL, DORMANT = 3, 4, 10  # at most
FUNCTION_OVER_CLOCK = 36 / 27  # at most, of the nanoseconds
# These look for other libraries, or name what a later measurement must know (docs/wrappers.md).
WITHOUT_LIMIT = ("MPI_Initialized", "MPI_Finalized", "MPI_Comm_dup", "MPI_Comm_split")


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def verdict(holds: bool | None) -> str:
    return {True: "yes", False: "**no**", None: "–"}[holds]


def truth_table(figures: Figures) -> list[str]:
    rows = []
    for name, one in figures.items():
        parts = ("added_s", "added_low_s", "added_high_s", "estimated_s")
        share = [f"{one[part] / one['plain_s']:.1%}" for part in parts]
        verdicts = ", ".join(f"{word} {count}" for word, count in one["verdicts"].items())
        rows.append([name, f"{one['plain_s']:g}", f"{share[0]} ({share[1]} to {share[2]})", share[3],
                     verdict(one["holds"]), verdicts])  # fmt: skip
    return table(["program", "plain, s", "measured", "estimated", "holds", "verdicts"], rows)


def promise_table(figures: Figures) -> list[str]:
    rows = [
        [name, f"{one['plain_s']:g}", f"{one['unlimited_ratio']:.3f}", f"{one['limited_ratio']:.3f}",
         verdict(one["limited_ratio"] <= PROMISED), f"{one['given_up']}", f"{one['first_kept']} of {one['first']}"]
        for name, one in figures.items()
    ]  # fmt: skip
    head = ["program", "plain, s", "no limit", "5 %", f"at most {PROMISED}", "given up", "first functions kept"]
    return table(head, rows)


def compensation_table(figures: Figures) -> list[str]:
    rows = [
        [f"`{name}`", *(f"{one[key]:g}" for key in ("true_ns", "measured_ns", "compensated_ns")), verdict(one["holds"])]
        for name, one in figures.items()
    ]
    return table(["function", "plain", "measured", "compensated", "within 10 % from 1 µs on"], rows)


SHARES = ("measured", "compensated", "floor")


def sampling_table(figures: Figures) -> list[str]:
    rows = [
        [name, f"{one['samples']}", *(f"{one[key]:.1%}" for key in SHARES), verdict(one["holds"])]
        for name, one in figures.items()
    ]
    return table(["program", "samples", *SHARES, "no worse"], rows)


def native_table(figures: Figures) -> list[str]:
    added = {"a pwrite of one byte": (figures["write_over_call"], WRITE_OVER_CALL)}
    for name, ratio in (figures["mpi_call_over_call"] or {}).items():
        added[f"MPI, one byte: {name}"] = (ratio, MPI_OVER_CALL)
    rows = [[name, f"{ratio:.2f} calls", f"{most}", verdict(ratio <= most)] for name, (ratio, most) in added.items()]
    dormant = [count for name, count in figures["instructions"].items() if name not in WITHOUT_LIMIT]
    rows.append(["a wrapper that records nothing", f"{min(dormant)} to {max(dormant)} instructions", f"{DORMANT}",
                 verdict(max(dormant) <= DORMANT)])  # fmt: skip
    function = figures.get("function_ns")
    if function:
        ratio = function["recorded"] / function["clock"]
        measured = f"{function['recorded']:.0f} ns, {ratio:.2f} of reading the clock twice"
        rows.append(["an instrumented C function", measured, f"{FUNCTION_OVER_CLOCK:.2f}",
                     verdict(ratio <= FUNCTION_OVER_CLOCK)])  # fmt: skip
    for one in figures["ranks"]:
        recorded = f"{one['record_files']} files of {one['record_bytes'] / 1e6:.1f} MB recorded"
        whole = f"{one['weave_peak_bytes'] / 1e6:.0f} MB of memory and {one['weave_seconds']:.3f} s"
        last = f"{one['joining_peak_bytes'] / 1e6:.0f} MB and {one['joining_seconds']:.3f} s"
        converted = f"where ranks convert: {one['convert_seconds']:.3f} s each, then {last}"
        woven = f"{one['result_files']} woven, in {whole}; {converted}"
        rows.append([f"{one['ranks']} ranks, {one['calls']:,} calls each", f"{recorded}, {woven}", "–", "–"])
    return table(["", "measured", "at most", "holds"], rows)


TABLES: dict[str, Callable[[Figures], list[str]]] = {
    "truth.py": truth_table,
    "promise.py": promise_table,
    "compensation.py": compensation_table,
    "sampling.py": sampling_table,
    "native.py": native_table,
}


def lines_of(version: str, figures: dict[str, Figures]) -> list[str]:
    """The section of one interpreter: `figures` by the name of the benchmark."""
    lines = [f"### Python {version}", ""]
    for script, text in SCRIPTS.items():
        lines += [f"`{script}`: {text}", "", *TABLES[script](figures[script]), ""]
    of_truth = figures["truth.py"].values()
    ratios = [one["estimated_s"] / one["added_s"] for one in of_truth]
    holding = sum(one["holds"] for one in of_truth)
    lines += [f"The estimate is {min(ratios):.2f} to {max(ratios):.2f} of the measured cost (median "
              f"{statistics.median(ratios):.2f}); {holding} of {len(ratios)} hold.", ""]  # fmt: skip
    return lines
