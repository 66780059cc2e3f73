#!/usr/bin/env python3
"""Compares the part of OMPT that src/preload/openmp declares with the headers of LLVM's runtimes.

usage: python3 -m scripts.check.check_ompt

Reads omp-tools.h of the package cmeel-libomp of PyPI, which goes to build/ompt only, and of each libomp-dev of Debian
that is installed: no part of them becomes part of Timeloom. Fails if a number or a parameter differs.
"""

import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "ompt"
PACKAGE = "cmeel-libomp==21.1.8"
DEBIAN = "/usr/lib/llvm-*/lib/clang/*/include/omp-tools.h"

# Timeloom's enumerations, the start of OMPT's names, and for each of Timeloom's values the rest of OMPT's name.
ENUMERATIONS = (
    ("Event", "ompt_callback_", {
        "kThreadBegin": "thread_begin", "kThreadEnd": "thread_end", "kParallelBegin": "parallel_begin",
        "kParallelEnd": "parallel_end", "kTaskCreate": "task_create", "kTaskSchedule": "task_schedule",
        "kImplicitTask": "implicit_task", "kMutexReleased": "mutex_released", "kWork": "work", "kMasked": "masked",
        "kSyncRegion": "sync_region", "kMutexAcquire": "mutex_acquire", "kMutexAcquired": "mutex_acquired",
        "kNestLock": "nest_lock"}),
    ("Thread", "ompt_thread_", {
        "kInitial": "initial", "kWorker": "worker", "kOther": "other", "kUnknown": "unknown"}),
    ("Endpoint", "ompt_scope_", {"kBegin": "begin", "kEnd": "end", "kBeginEnd": "beginend"}),
    ("Sync", "ompt_sync_region_", {
        "kBarrier": "barrier", "kBarrierImplicit": "barrier_implicit", "kBarrierExplicit": "barrier_explicit",
        "kBarrierImplementation": "barrier_implementation", "kTaskwait": "taskwait", "kTaskgroup": "taskgroup",
        "kReduction": "reduction", "kBarrierImplicitWorkshare": "barrier_implicit_workshare",
        "kBarrierImplicitParallel": "barrier_implicit_parallel", "kBarrierTeams": "barrier_teams"}),
    ("Work", "ompt_work_", {
        "kLoop": "loop", "kSections": "sections", "kSingleExecutor": "single_executor",
        "kSingleOther": "single_other", "kWorkshare": "workshare", "kDistribute": "distribute",
        "kTaskloop": "taskloop", "kScope": "scope"}),
    ("Mutex", "ompt_mutex_", {
        "kLock": "lock", "kTestLock": "test_lock", "kNestLock": "nest_lock", "kTestNestLock": "test_nest_lock",
        "kCritical": "critical", "kAtomic": "atomic", "kOrdered": "ordered"}),
    ("TaskStatus", "ompt_task", {
        "kComplete": "_complete", "kYield": "_yield", "kCancel": "_cancel", "kDetach": "_detach",
        "kEarlyFulfill": "_early_fulfill", "kLateFulfill": "_late_fulfill", "kSwitch": "_switch",
        "kTaskwaitComplete": "wait_complete"}),
)  # fmt: skip
# Values that only newer headers have.
LOOPS = {"kLoopStatic": "loop_static", "kLoopDynamic": "loop_dynamic", "kLoopGuided": "loop_guided",
         "kLoopOther": "loop_other"}  # fmt: skip
FLAGS = {"kTaskInitial": "ompt_task_initial", "kTaskExplicit": "ompt_task_explicit",
         "kTaskTaskwait": "ompt_task_taskwait"}  # fmt: skip
FUNCTIONS = {
    "ThreadBegin": "ompt_callback_thread_begin_t", "ThreadEnd": "ompt_callback_thread_end_t",
    "ParallelBegin": "ompt_callback_parallel_begin_t", "ParallelEnd": "ompt_callback_parallel_end_t",
    "TaskCreate": "ompt_callback_task_create_t", "TaskSchedule": "ompt_callback_task_schedule_t",
    "ImplicitTask": "ompt_callback_implicit_task_t", "WorkEvent": "ompt_callback_work_t",
    "Masked": "ompt_callback_masked_t", "SyncRegion": "ompt_callback_sync_region_t",
    "MutexAcquire": "ompt_callback_mutex_acquire_t", "MutexEvent": "ompt_callback_mutex_t",
    "NestLock": "ompt_callback_nest_lock_t", "Lookup": "ompt_function_lookup_t", "SetCallback": "ompt_set_callback_t",
}  # fmt: skip
PRELUDE = """\
#include <cstddef>
#include <type_traits>
#include <omp-tools.h>
#include "preload/openmp/ompt_interface.hpp"
using namespace timeloom::ompt;
template <typename A, typename B> constexpr bool alike = false;
template <typename R, typename... A, typename S, typename... B>
constexpr bool alike<R(A...), S(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B) || std::is_void_v<R> != std::is_void_v<S>) {
    return false;
  } else {
    return ((sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>) && ...);
  }
}();
static_assert(sizeof(Data) == sizeof(ompt_data_t));
static_assert(sizeof(StartToolResult) == sizeof(ompt_start_tool_result_t));
static_assert(offsetof(StartToolResult, initialize) == offsetof(ompt_start_tool_result_t, initialize));
static_assert(offsetof(StartToolResult, finalize) == offsetof(ompt_start_tool_result_t, finalize));
static_assert(offsetof(StartToolResult, tool) == offsetof(ompt_start_tool_result_t, tool_data));
"""


def headers() -> list[pathlib.Path]:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(WORK), PACKAGE]
    subprocess.run(command, check=True)
    for wheel in WORK.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(WORK, [name for name in archive.namelist() if "/include/" in name])
    return [*WORK.glob("*/include/omp-tools.h"), *sorted(pathlib.Path("/").glob(DEBIAN[1:]))]


def check_text(newer: bool) -> str:
    lines = [PRELUDE]
    for ours, start, members in ENUMERATIONS:
        extra = LOOPS if newer and ours == "Work" else {}
        lines += [f"static_assert(int({ours}::{k}) == int({start}{v}));" for k, v in {**members, **extra}.items()]
    lines += [f"static_assert({ours} == {theirs});" for ours, theirs in FLAGS.items()]
    lines += [f"static_assert(alike<{o}, std::remove_pointer_t<{t}>>);" for o, t in FUNCTIONS.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    failed = False
    found = headers()
    for header in found:
        # Alone: beside Debian's are Clang's own headers, which GCC cannot use.
        alone = WORK / "include"
        alone.mkdir(exist_ok=True)
        shutil.copy(header, alone)
        source = WORK / "check.cpp"
        source.write_text(check_text("ompt_work_loop_static" in header.read_text()))
        command = ["c++", "-std=c++20", "-fsyntax-only", "-w", f"-I{ROOT / 'src'}", f"-isystem{alone}"]
        wrong = subprocess.run([*command, str(source)], check=False).returncode != 0
        print(f"OMPT of {header}: {'differs' if wrong else 'as declared'}")
        failed = failed or wrong
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
