"""Writes src/preload/mpi/functions.inc: a wrapper for each function of MPI.

The list of functions comes from the standard itself, in the package pympistandard from PyPI. Only this script needs it:
pip install pympistandard && python3 -m scripts.generate_mpi_wrappers
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "src" / "preload" / "mpi" / "functions.inc"



def words(text: str) -> list[str]:
    return text.split()


# Added after MPI 3.1, like all functions whose name ends in _c: some libraries lack them.
LATE = set(
    words("""
    Allgather_init Allgatherv_init Allreduce_init Alltoall_init Alltoallv_init Alltoallw_init
    Barrier_init Bcast_init Buffer_flush Buffer_iflush Comm_attach_buffer Comm_create_from_group
    Comm_detach_buffer Comm_flush_buffer Comm_idup_with_info Comm_iflush_buffer Exscan_init
    Gather_init Gatherv_init Get_hw_resource_info Group_from_session_pset Info_create_env
    Info_get_string Intercomm_create_from_groups Isendrecv Isendrecv_replace
    Neighbor_allgather_init Neighbor_allgatherv_init Neighbor_alltoall_init
    Neighbor_alltoallv_init Neighbor_alltoallw_init Parrived Pready Pready_list Pready_range
    Precv_init Psend_init Reduce_init Reduce_scatter_block_init Reduce_scatter_init
    Remove_error_class Remove_error_code Remove_error_string Request_get_status_all
    Request_get_status_any Request_get_status_some Scan_init Scatter_init Scatterv_init
    Session_attach_buffer Session_call_errhandler Session_create_errhandler Session_detach_buffer
    Session_finalize Session_flush_buffer Session_get_errhandler Session_get_info
    Session_get_nth_pset Session_get_num_psets Session_get_pset_info Session_iflush_buffer
    Session_init Session_set_errhandler Status_get_error Status_get_source Status_get_tag
    Status_set_error Status_set_source Status_set_tag Type_get_value_index
    """)
)

# Functions with which a program finds out whether there is MPI, conversions, clocks, the interface for tools, and
# functions with a variable number of arguments.
LEFT_OUT = re.compile(
    r"Get_version|Get_library_version|Abi_.*|T_.*|Pcontrol|Wtime|Wtick|Aint_.*|"
    r".*_(c2f|f2c|toint|fromint|c2f08|f082c|f082f|f2f08)"
)

# The functions of src/preload/mpi/*.hpp that record the events of a call, by its name.
NOTED = {
    "send": "Send Bsend Ssend Rsend",
    "recv": "Recv",
    "mrecv": "Mrecv",
    "sendrecv": "Sendrecv",
    "sendrecv_replace": "Sendrecv_replace",
    "isend": "Isend Ibsend Issend Irsend",
    "irecv": "Irecv",
    "imrecv": "Imrecv",
    "isendrecv": "Isendrecv",
    "isendrecv_replace": "Isendrecv_replace",
    "mprobe": "Mprobe",
    "improbe": "Improbe",
    "start": "Start",
    "startall": "Startall",
    "wait": "Wait",
    "waitany": "Waitany",
    "waitall": "Waitall",
    "waitsome": "Waitsome",
    "test": "Test",
    "testany": "Testany",
    "testall": "Testall",
    "testsome": "Testsome",
    "cancel": "Cancel",
    "one_sided::put": "Put Rput Accumulate Raccumulate",
    "one_sided::get": "Get Rget",
    "one_sided::get_accumulate": "Get_accumulate Rget_accumulate",
    "one_sided::fetch_and_op": "Fetch_and_op",
    "one_sided::compare_and_swap": "Compare_and_swap",
    "file_access::sync": "File_sync",
}
# The same for the functions that read and write files, where {} stands for the operation.
TRANSFERS = {
    "at_position": "File_{0} File_{0}_all File_{0}_shared File_{0}_ordered",
    "at_offset": "File_{0}_at File_{0}_at_all",
    "begin_at_position": "File_i{0} File_i{0}_all File_i{0}_shared",
    "begin_at_offset": "File_i{0}_at File_i{0}_at_all",
    "first_half": "File_{0}_all_begin File_{0}_ordered_begin",
    "first_half_at": "File_{0}_at_all_begin",
    "second_half": "File_{0}_all_end File_{0}_ordered_end File_{0}_at_all_end",
}
COLLECTIVES = words(
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv "
    "Alltoallw Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan"
)
BETWEEN_NEIGHBOURS = words("allgather allgatherv alltoall alltoallv alltoallw")
# Functions whose wrappers also act while nothing is measured, since later calls refer to the objects that they create.
ALWAYS = {
    "initialise": "Init Init_thread",
    "finalize": "Finalize",
    "abort_job": "Abort",
    "made": "Comm_dup Comm_dup_with_info Comm_split Comm_split_type Comm_create Cart_create "
    "Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_merge",
    "made_by_group": "Comm_create_group",
    "made_between": "Intercomm_create",
    "spawned": "Comm_spawn",
    "spawned_multiple": "Comm_spawn_multiple",
    "idup": "Comm_idup Comm_idup_with_info",
    "freed": "Comm_free Comm_disconnect",
    "named": "Comm_set_name",
    "send_init": "Send_init Bsend_init Ssend_init Rsend_init",
    "recv_init": "Recv_init",
    "request_free": "Request_free",
    "file_access::open": "File_open",
    "file_access::close": "File_close",
}
# Functions whose wrappers also act while nothing is measured, since the call goes to the caller's library.
ASKED = words("Initialized Finalized Session_init")

HANDLES = words("Comm Datatype Errhandler File Group Info Message Op Request Session Win")


def by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: noted for noted, names in table.items() for name in names.split()}


def transfers() -> dict[str, str]:
    found = {}
    for noted, names in TRANSFERS.items():
        for operation in ("read", "write"):
            chosen = "" if noted.startswith("first") else f"<IoOperation::k{operation.capitalize()}>"
            for name in names.format(operation).split():
                found[name] = f"file_access::{noted}{chosen}"
    return found


NOTED_BY_NAME = by_name(NOTED) | transfers()
ALWAYS_BY_NAME = by_name(ALWAYS)


def type_of(parameter: Any) -> str:
    """The C type, with handles as wide as a register; pointers to types that differ between libraries are void*."""
    base = str(parameter.base_type).removeprefix("MPI_")
    pointer = parameter.pointer_level > 0 or parameter.array != ""
    values = {"int": "int", "Count": "Count", "Offset": "Count", "Aint": "Aint", "Fint": "int"}
    if not pointer:
        return "Handle" if base in HANDLES else values[base]
    constant = "const " if parameter.constant else ""
    simple = base in ("int", "Count", "char") and parameter.pointer_level + (
        parameter.array != ""
    ) == 1 and "][" not in parameter.array
    return f"{constant}{base if simple else 'void'}*"


def role_of(name: str) -> str:
    plain = name.removesuffix("_c").removesuffix("_init")
    plain = plain[1:].capitalize() if re.match(r"I[a-z]", plain) else plain
    table = [
        (r"Barrier", "kBarrier"),
        (r"Bcast|Scatterv?", "kOneToAll"),
        (r"Gatherv?|Reduce", "kAllToOne"),
        (r"Allgatherv?|Allreduce|Alltoall[vw]?|Reduce_scatter(_block)?", "kAllToAll"),
        (r"Scan|Exscan|Neighbor_.*|neighbor_.*", "kCollective"),
        (r"File_.*", "kFileIo"),
        (r"R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate|Win_.*|"
         r"Fetch_and_op|Compare_and_swap", "kRma"),
        (r"[BSRMP]?(send|recv).*|(Send|Recv).*|M?[Pp]robe|Wait.*|Test(|any|all|some)|Start(|all)|"
         r"Cancel|Request_.*|Pready.*|Parrived", "kPointToPoint"),
    ]  # fmt: skip
    for pattern, role in table:
        if re.fullmatch(pattern, plain):
            return role
    made = ("made", "made_by_group", "made_between", "spawned", "spawned_multiple", "idup", "freed")
    return "kCollective" if ALWAYS_BY_NAME.get(name) in made else "kWrapper"


def body_of(name: str, parameters: list[Any], arguments: list[str]) -> str:
    plain = name.removesuffix("_c")
    noted = NOTED_BY_NAME.get(plain) or ALWAYS_BY_NAME.get(plain)
    given = ["call", "real"]
    if plain in COLLECTIVES:
        noted = "collective::" + plain.lower()
        given.append("Now{}")
    elif plain[1:].capitalize() in COLLECTIVES and plain[0] == "I":
        noted = "collective::" + plain[1:]
        given.append("Later{request}")
    begin, _, operation = plain.partition("eighbor_")
    if begin in ("N", "In") and operation in BETWEEN_NEIGHBOURS:
        noted = "neighbours::" + operation
        given.append("Now{}" if begin == "N" else "Later{request}")
    if noted in ("made", "idup"):
        comms = [one.name for one in parameters if str(one.base_type) == "MPI_Comm"]
        given += [comms[0], comms[-1]]
    if noted is None:
        return f"real({', '.join(arguments)})"
    return f"{noted}({', '.join(given + arguments)})"


def wrapper_of(expression: Any) -> str | None:
    name = str(expression.name).removeprefix("MPI_")
    text = str(expression)
    if LEFT_OUT.fullmatch(name) or not text.startswith("int "):
        return None
    parameters = list(expression.parameters)
    arguments = [one.name for one in parameters]
    declared = ", ".join(f"{type_of(one)} {one.name}" for one in parameters)
    late = name in LATE or name.endswith("_c")
    always = name.removesuffix("_c") in ALWAYS_BY_NAME or name in ASKED
    kind = "TIMELOOM_MPI" + ("_LATE" if late else "") + ("_ALWAYS" if always else "")
    listed = f"({declared}), ({', '.join(arguments)})"
    return f"{kind}({name}, {role_of(name)}, {listed}, {body_of(name, parameters, arguments)})"


def wrappers() -> list[str]:
    import pympistandard  # type: ignore[import-not-found]

    pympistandard.use_api_version()
    lines = []
    for procedure in pympistandard.all_iso_c_procedures():
        lines.append(wrapper_of(procedure.express.iso_c))
        if procedure.has_embiggenment():
            lines.append(wrapper_of(procedure.express.embiggen.iso_c))
    return sorted({line for line in lines if line is not None}, key=lambda line: line.split(",")[0])


def main() -> int:
    head = "// Made by scripts/generate_mpi_wrappers.py from the standard's list; see wrappers.cpp.\n"
    TARGET.write_text(head + "".join(line + "\n" for line in wrappers()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
