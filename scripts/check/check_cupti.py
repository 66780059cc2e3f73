#!/usr/bin/env python3
"""Compares the declarations of CUPTI, NVTX and NVML in src/gpu/cuda with NVIDIA's headers of several versions.

usage: python3 -m scripts.check.check_cupti

Reads the headers from packages of PyPI (nvidia-cuda-cupti, nvidia-cuda-runtime, nvidia-nvtx, nvidia-nvml-dev), which
go to build/cupti only: no part of them becomes part of Timeloom. Fails if a field has another place or size in one of
them.
"""

import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "cupti"
# For each version: packages, then the newest records of some kinds. The others have one name in all versions.
VERSIONS = {
    "12.9": (
        ("nvidia-cuda-cupti-cu12==12.9.79", "nvidia-cuda-runtime-cu12==12.9.79", "nvidia-nvtx-cu12==12.9.79",
         "nvidia-nvml-dev-cu12==12.9.79"),
        {"Kernel": "Kernel9", "Memcpy": "Memcpy6", "Memset": "Memset4", "Device": "Device5", "Event": "CudaEvent2"},
    ),
    "13.0": (
        ("nvidia-cuda-cupti==13.0.85", "nvidia-cuda-runtime==13.0.96", "nvidia-nvtx==13.0.85",
         "nvidia-nvml-dev==13.0.87"),
        {"Kernel": "Kernel10", "Memcpy": "Memcpy6", "Memset": "Memset4", "Device": "Device5", "Event": "CudaEvent2"},
    ),
    "13.5": (
        ("nvidia-cuda-cupti==13.5.25", "nvidia-cuda-runtime==13.0.96", "nvidia-nvtx==13.5.25",
         "nvidia-nvml-dev==13.5.37"),
        {"Kernel": "Kernel13", "Memcpy": "Memcpy7", "Memset": "Memset5", "Device": "Device6", "Event": "CudaEvent3"},
    ),
}
WORK_FIELDS = {"start": "start", "end": "end", "device": "deviceId", "context": "contextId", "stream": "streamId",
               "correlation": "correlationId"}  # fmt: skip
COPY_FIELDS = {"copy": "copyKind", "source": "srcKind", "target": "dstKind", "bytes": "bytes"}
# Timeloom's records, NVIDIA's (a name in VERSIONS stands for its newest), and the fields that are read.
RECORDS = (
    ("ActivityApi", "API", {"function": "cbid", "start": "start", "end": "end", "thread": "threadId",
                            "correlation": "correlationId"}),
    ("ActivityKernel", "Kernel", {"registers": "registersPerThread", "grid": "gridX", "block": "blockX",
                                  "static_shared": "staticSharedMemory", "dynamic_shared": "dynamicSharedMemory",
                                  "name": "name", "graph": "graphId", **WORK_FIELDS}),
    ("ActivityMemcpy", "Memcpy", {**COPY_FIELDS, **WORK_FIELDS}),
    ("ActivityMemcpyPeer", "MemcpyPtoP4", {**COPY_FIELDS, **WORK_FIELDS}),
    ("ActivityMemset", "Memset", {"bytes": "bytes", **WORK_FIELDS}),
    ("ActivitySynchronization", "Synchronization2", {"type": "type", "start": "start", "end": "end",
                                 "correlation": "correlationId", "context": "contextId", "stream": "streamId",
                                 "event": "cudaEventId"}),
    ("ActivityEvent", "Event", {"correlation": "correlationId", "context": "contextId", "stream": "streamId",
                                     "event": "eventId"}),
    ("ActivityMemory", "Memory4", {"operation": "memoryOperationType", "memory": "memoryKind", "address": "address",
                                   "correlation": "correlationId", "bytes": "bytes", "time": "timestamp",
                                   "device": "deviceId", "context": "contextId"}),
    ("ActivityDevice", "Device", {"memory": "globalMemorySize", "id": "id", "name": "name", "uuid": "uuid",
                                  "mig": "isMigEnabled", "mig_uuid": "migUuid"}),
)  # fmt: skip
KINDS = {"kMemcpy": "MEMCPY", "kMemset": "MEMSET", "kKernel": "KERNEL", "kDriver": "DRIVER", "kRuntime": "RUNTIME",
         "kDevice": "DEVICE", "kConcurrentKernel": "CONCURRENT_KERNEL", "kMemcpyPeer": "MEMCPY2",
         "kEvent": "CUDA_EVENT", "kSynchronization": "SYNCHRONIZATION", "kMemory": "MEMORY2"}  # fmt: skip
NVTX = {
    "NvtxModule": ("NVTX_CB_MODULE_", {"kCore": "CORE", "kCore2": "CORE2"}),
    "NvtxCore": ("NVTX_CBID_CORE_", {f"k{name}": name for name in (
        "MarkEx", "MarkA", "MarkW", "RangeStartEx", "RangeStartA", "RangeStartW", "RangeEnd", "RangePushEx",
        "RangePushA", "RangePushW", "RangePop", "NameCategoryA", "NameCategoryW")}),
    "NvtxCore2": ("NVTX_CBID_CORE2_Domain", {f"k{name}": name for name in (
        "MarkEx", "RangeStartEx", "RangeEnd", "RangePushEx", "RangePop", "NameCategoryA", "NameCategoryW",
        "RegisterStringA", "RegisterStringW", "CreateA", "CreateW")}),
    "NvtxMessage": ("NVTX_MESSAGE_TYPE_", {"kAscii": "ASCII", "kWide": "UNICODE", "kRegistered": "REGISTERED"}),
}  # fmt: skip
NVTX_FIELDS = {"NvtxAttributes": ("nvtxEventAttributes_t", {
    "size": "size", "category": "category", "message_type": "messageType", "message": "message"}),
               "NvtxCallbacks": ("NvtxExportTableCallbacks", {
    "size": "struct_size", "functions": "GetModuleFunctionTable"})}  # fmt: skip
NVML_FIELDS = {"NvmlUtilization": ("nvmlUtilization_t", ("gpu", "memory")),
               "NvmlMemory": ("nvmlMemory_t", ("total", "free", "used"))}  # fmt: skip
# Functions of NVML, by their fields in NvmlFunctions.
NVML_FUNCTIONS = {"init": "nvmlInit_v2", "shutdown": "nvmlShutdown", "device": "nvmlDeviceGetHandleByUUID",
                  "utilization": "nvmlDeviceGetUtilizationRates", "memory": "nvmlDeviceGetMemoryInfo",
                  "power": "nvmlDeviceGetPowerUsage"}  # fmt: skip
# A pointer to a structure of NVIDIA's stands for one to Timeloom's, and an enumeration for its numbers.
SAME_ARGUMENTS = """\
template <typename T> struct Plain { using Type = T; };
template <> struct Plain<nvmlReturn_t> { using Type = int; };
template <> struct Plain<nvmlDevice_t> { using Type = NvmlDevice*; };
template <> struct Plain<nvmlDevice_t*> { using Type = NvmlDevice**; };
template <> struct Plain<nvmlUtilization_t*> { using Type = NvmlUtilization*; };
template <> struct Plain<nvmlMemory_t*> { using Type = NvmlMemory*; };
template <typename F> struct PlainFunction;
template <typename R, typename... As> struct PlainFunction<R (*)(As...)> {
  using Type = typename Plain<R>::Type (*)(typename Plain<As>::Type...);
};
"""
# Only names are needed from this header of the compiler, which no small package contains.
HOST_DEFINES = """\
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __cudart_builtin__
#define __host__
#define __device__
"""


def headers(packages: tuple[str, ...], directory: pathlib.Path) -> list[pathlib.Path]:
    directory.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(directory), *packages]
    subprocess.run(command, check=True)
    for wheel in directory.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory, [name for name in archive.namelist() if "/include/" in name])
    stub = directory / "stub" / "crt"
    stub.mkdir(parents=True, exist_ok=True)
    (stub / "host_defines.h").write_text(HOST_DEFINES)
    return [*directory.glob("nvidia/*/include"), stub.parent]


def check_text(newest: dict[str, str]) -> str:
    lines = ["#include <cstddef>", "#include <cuda.h>", "#include <cupti_activity.h>",
             '#include "gpu/cuda/cupti_interface.hpp"',
             '#include "gpu/cuda/nvtx_interface.hpp"', '#include <nvtx3/nvToolsExt.h>',
             '#include "spool/gpu_format.hpp"', "using namespace timeloom::cuda;"]  # fmt: skip
    for ours, name, fields in RECORDS:
        theirs = "CUpti_Activity" + newest.get(name, name)
        for mine, their in fields.items():
            lines.append(f"static_assert(offsetof({ours}, {mine}) == offsetof({theirs}, {their}));")
            if mine not in ("grid", "block"):  # three fields of NVIDIA's record
                lines.append(f"static_assert(sizeof({ours}::{mine}) == sizeof({theirs}::{their}));")
    lines += [f"static_assert(int(ActivityKind::{k}) == CUPTI_ACTIVITY_KIND_{v});" for k, v in KINDS.items()]
    for ours, (prefix, names) in NVTX.items():
        lines += [f"static_assert(int({ours}::{mine}) == {prefix}{their});" for mine, their in names.items()]
    for ours, (theirs, fields) in NVTX_FIELDS.items():
        lines.append(f"static_assert(sizeof({ours}) == sizeof({theirs}));")
        for mine, their in fields.items():
            lines.append(f"static_assert(offsetof({ours}, {mine}) == offsetof({theirs}, {their}));")
    lines += ["#include <nvml.h>", "#include <type_traits>", '#include "gpu/cuda/nvml_interface.hpp"', SAME_ARGUMENTS]
    for ours, (theirs, members) in NVML_FIELDS.items():
        lines.append(f"static_assert(sizeof({ours}) == sizeof({theirs}));")
        lines += [f"static_assert(offsetof({ours}, {name}) == offsetof({theirs}, {name}));" for name in members]
    for ours, theirs in NVML_FUNCTIONS.items():
        same = f"std::is_same_v<decltype(NvmlFunctions::{ours}), PlainFunction<decltype(&{theirs})>::Type>"
        lines.append(f"static_assert({same});")
    lines += [f"static_assert(kNvml{ours} == NVML_{theirs});"
              for ours, theirs in {"Success": "SUCCESS", "NotSupported": "ERROR_NOT_SUPPORTED"}.items()]  # fmt: skip
    lines.append("static_assert(kNvtxCallbacks == NVTX_ETID_CALLBACKS);")
    for kind, memory in {"Pageable": "PAGEABLE", "Pinned": "PINNED", "Device": "DEVICE", "Managed": "MANAGED"}.items():
        lines.append(f"static_assert(k{kind}Memory == CUPTI_ACTIVITY_MEMORY_KIND_{memory});")
    for kind, word in {"Allocation": "ALLOCATION", "Release": "RELEASE"}.items():
        lines.append(f"static_assert(k{kind} == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_{word});")
    waits = {"kForEvent": "EVENT_SYNCHRONIZE", "kOfQueue": "STREAM_WAIT_EVENT", "kForQueue": "STREAM_SYNCHRONIZE",
             "kForContext": "CONTEXT_SYNCHRONIZE"}  # fmt: skip
    for kind, word in waits.items():
        ours, theirs = f"timeloom::spool::GpuWait::{kind}", f"CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_{word}"
        lines.append(f"static_assert(int({ours}) == {theirs});")
    lines.append("static_assert(timeloom::spool::kGpuNone == CUPTI_SYNCHRONIZATION_INVALID_VALUE);")
    lines.append("static_assert(kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);")
    return "\n".join(lines) + "\n"


def main() -> int:
    failed = False
    for version, (packages, newest) in VERSIONS.items():
        directory = WORK / version
        includes = [f"-isystem{path}" for path in headers(packages, directory)]
        source = directory / "check.cpp"
        source.write_text(check_text(newest))
        command = ["c++", "-std=c++20", "-fsyntax-only", "-w", f"-I{ROOT / 'src'}", *includes, str(source)]
        wrong = subprocess.run(command, check=False).returncode != 0
        print(f"CUPTI {version}: {'differs' if wrong else 'as declared'}")
        failed = failed or wrong
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
