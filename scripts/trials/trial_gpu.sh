#!/usr/bin/env bash
# Tries `timeloom run --gpu` on a machine with a GPU of NVIDIA, without a network.
#
# usage: scripts/trials/trial_gpu.sh WHEEL OUT [PART...]   (WHEEL: also a directory that has the packages)
#
# Installs the wheel into a separate directory, and runs programs with python3's libraries, each
# plain and measured. The output of the commands goes to OUT/log, useful runs to OUT/runs.tar.gz.
# A check that fails prints a line that begins with FAILED; the last line counts them. Parts: cupy waits torch
# profiler loop killed nosync fork graph launches triton jax numba sanitizer counters; all without one.
set -u
WHEEL=$(realpath "$1") OUT=$(realpath "$2")
shift 2
WORK=$(mktemp -d)
export PYTHONPATH=$WORK/site PYTHONUNBUFFERED=1
mkdir -p "$WORK/site"
if [ -d "$WHEEL" ]; then
  cp -r "$WHEEL/." "$WORK/site"
else
  python3 -m pip install -q --no-index --no-deps --target "$WORK/site" "$WHEEL" || exit 1
fi
cd "$WORK" || exit 1
exec > >(tee "$OUT/log") 2>&1
TIMELOOM=("$WORK/site/timeloom/bin/timeloom")
failed=0

title() { printf '\n== %s (%s)\n' "$1" "$(date +%T)"; }
check() { # what, then a command
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what" && failed=$((failed + 1)); fi
}
measured() { # name, then the program with its arguments
  local name=$1
  shift
  timeout 60 python3 -m timeloom --gpu --keep-spool --output "$name" "$@" 2>"$name.stderr"
  local status=$?
  echo "status $status"
  grep -v '^$' "$name.stderr" | tail -${LINES_OF_STDERR:-6}
  return $status
}
report() { timeout 60 "${TIMELOOM[@]}" report "$1" --gpu 2>&1 | cut -c1-150 | head -"${2:-40}"; }

report_has() { # run, an expression of Python about `report`, the numbers of report --gpu
  "${TIMELOOM[@]}" report "$1" --gpu --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
sys.exit(not eval(sys.argv[1]))' "$2"
}
has_kernels() { # run, how many
  "${TIMELOOM[@]}" report "$1" --gpu --json | python3 -c '
import json, sys
counted = sum(row["times"] for row in json.load(sys.stdin)["kernels"])
print("kernels", counted)
sys.exit(counted != int(sys.argv[1]))' "$2"
}

cupy() {
  title cupy
  cat >cupy_streams.py <<'PY'
import cupy, numpy
def fill(stream, n):
    with stream:
        a = cupy.asarray(numpy.ones(n, dtype=numpy.float32))
        for _ in range(20):
            a = a * 2 + 1
        return cupy.asnumpy(a)
def main():
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    for _ in range(3):
        for stream in streams:
            fill(stream, 1 << 22)
    for stream in streams:
        stream.synchronize()
    pinned = cupy.cuda.alloc_pinned_memory(1 << 24)
    cupy.cuda.runtime.memset(cupy.zeros(1 << 20, dtype=cupy.uint8).data.ptr, 0, 1 << 20)
main()
PY
  measured cupy cupy_streams.py
  report cupy
  "${TIMELOOM[@]}" report cupy | head -30
}

waits() {
  title "waits, idle time, memory, NVTX"
  cat >waits.py <<'PY'
import time, cupy
def load():
    return [cupy.zeros(1 << 24, dtype=cupy.float32) for _ in range(4)]
def prepare():
    time.sleep(0.02)
def step(arrays, stream, other, event):
    with stream:
        for array in arrays:
            array *= 2
        event.record(stream)
    other.wait_event(event)
    event.synchronize()
def main():
    cupy.cuda.set_allocator(None)  # a cudaMalloc for each array
    arrays = load()
    stream, other = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    event = cupy.cuda.Event(disable_timing=True)
    cupy.cuda.nvtx.RangePush("train")
    for _ in range(5):
        step(arrays, stream, other, event)
        prepare()
    cupy.cuda.nvtx.RangePop()
    stream.synchronize()
    cupy.cuda.Device().synchronize()
main()
PY
  measured waits waits.py
  report waits 60
  "${TIMELOOM[@]}" report waits --gpu --json >waits.json
  check "Python waits for an event of a stream" report_has waits \
    'any(str(row["for"]).startswith("an event in CUDA[0:") and row["seconds"] > 0 for row in report["waiting"])'
  check "Python waits for a stream and for the device" report_has waits \
    '{"all streams of CUDA[0]"} < {row["for"] for row in report["waiting"]}'
  check "the GPU is idle while the program prepares" report_has waits \
    'any(str(row["region"]).endswith("prepare") and row["seconds"] > 0.08 for row in report["idle"])'
  check "load() holds 256 MiB at the peak" report_has waits \
    'any(str(row["function"]).endswith("load") and row["peak_bytes"] == 1 << 28 for row in report["memory"])'
  check "busy and waits for Python are shares of the run" report_has waits \
    '0 < report["busy"] and 0 < report["waits_for_python"] and report["busy"] + report["waits_for_python"] < 1'
  check "a range of NVTX" report_has waits '[(row["name"], row["times"]) for row in report["ranges"]] == [("train", 1)]'
}

torch_program() {
  cat >torch_loop.py <<'PY'
import sys, json, os, signal
import torch
def step(model, data, target, optimizer):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
    return loss
def train(steps, until=None):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
    data, target = torch.randn(256, 512).cuda(), torch.randn(256, 512).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        loss = step(model, data, target, optimizer)
    torch.cuda.synchronize()
    return loss.item()
def profiled(path, steps):
    with torch.profiler.profile() as profile:
        train(steps)
    profile.export_chrome_trace(path)
    events = json.load(open(path))["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime" and "correlation" in e.get("args", {})}
    early = sum(k["args"]["correlation"] in calls and k["ts"] < calls[k["args"]["correlation"]]["ts"] - 1 for k in kernels)
    late = [k["ts"] - calls[k["args"]["correlation"]]["ts"] for k in kernels if k["args"]["correlation"] in calls]
    copies = sum(e.get("cat") in ("gpu_memcpy", "gpu_memset") for e in events)
    print("profiler: kernels", len(kernels), "copies and sets", copies, "before their call", early,
          "most after it us", round(max(late)) if late else None, "gpu us", round(sum(k["dur"] for k in kernels)))
what = sys.argv[1]
if what == "train":
    train(int(sys.argv[2])); train(int(sys.argv[2]))
elif what == "profiled":
    train(5); profiled("first.json", int(sys.argv[2])); profiled("second.json", int(sys.argv[2]))
elif what in ("timed", "timed-profiled"):
    import time, contextlib
    train(20)
    for _ in range(3):
        begin = time.perf_counter()
        with torch.profiler.profile() if what == "timed-profiled" else contextlib.nullcontext():
            train(300)
        print(round(time.perf_counter() - begin, 3), end=" s ")
    print()
elif what == "early":
    profiled("first.json", int(sys.argv[2])); train(5)
elif what == "killed":
    import threading
    train(1)
    threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    while True:
        train(10)
PY
}

torch() {
  title torch
  torch_program
  measured torch torch_loop.py train 20
  report torch 60
  "${TIMELOOM[@]}" report torch | head -40
}

profiler() {
  title "torch.profiler within"
  torch_program
  python3 -c 'import torch, pathlib; print(torch.__version__, *sorted(p.name for p in pathlib.Path(torch.__file__).parent.glob("lib/libtorch_c*.so")))'
  for library in $(python3 -c 'import torch, pathlib; print(*pathlib.Path(torch.__file__).parent.glob("lib/libtorch_c*.so"))'); do
    readelf -W --dyn-syms "$library" 2>/dev/null | grep -o ' cupti[A-Za-z_0-9]*' | sort -u | tr '\n' ' '
  done
  echo
  python3 torch_loop.py profiled 20 | tee plain.txt
  measured profiled torch_loop.py profiled 20 | tee inside.txt
  report profiled 12
  check "Timeloom has what ran before torch.profiler began" has_kernels profiled 90
  # Times differ between runs.
  check "torch.profiler has all its kernels" diff <(grep -o 'kernels.*call [0-9]*' plain.txt) <(grep -o 'kernels.*call [0-9]*' inside.txt)
  measured early torch_loop.py early 20
  [ -d torch ] || measured torch torch_loop.py train 20
  "${TIMELOOM[@]}" report torch --gpu --json >torch.json
  check "as many kernels and copies as torch.profiler counts, in as much time" python3 - <<'PY'
import json, re
words = re.search(r"kernels (\d+) copies and sets (\d+) .* gpu us (\d+)", open("plain.txt").read().splitlines()[-1])
kernels, copies, microseconds = map(int, words.groups())
report = json.load(open("torch.json"))
ours = [sum(row["times"] for row in report[name]) for name in ("kernels", "copies")]
time = sum(row["seconds"] for row in report["kernels"]) * 1e6
print("torch.profiler", kernels, copies, microseconds, "us; timeloom, of two such loops", *ours, round(time), "us")
raise SystemExit(ours != [2 * kernels, 2 * copies] or not 0.8 < time / 2 / microseconds < 1.2)
PY
}

loop() {
  title "300 steps of training: plain, timeloom, timeloom --gpu, torch.profiler"
  torch_program
  for _ in 1 2; do
    python3 torch_loop.py timed
    python3 -m timeloom --force --output loop torch_loop.py timed 2>/dev/null
    python3 -m timeloom --force --gpu --output loop torch_loop.py timed 2>/dev/null
    python3 torch_loop.py timed-profiled 2>/dev/null
  done
}

killed() {
  title killed
  torch_program
  measured killed torch_loop.py killed
  report killed 12
}

nosync() {
  title "end without synchronising"
  cat >nosync.py <<'PY'
import cupy
a = cupy.random.rand(8000, 8000)
for _ in range(6):
    b = a @ a
PY
  measured nosync nosync.py
  report nosync 12
}

fork() {
  title "DataLoader by fork and spawn"
  cat >loader.py <<'PY'
import sys, torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.full((8,), float(i))
def main(method):
    torch.zeros(1).cuda()
    loader = torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=2, multiprocessing_context=method)
    print(method, sum(batch.cuda().sum().item() for batch in loader))
if __name__ == "__main__":
    main(sys.argv[1])
PY
  for method in fork spawn; do
    measured $method loader.py $method
    report $method 8
  done
}

graph() {
  title "CUDA graph"
  cat >graph.py <<'PY'
import torch
def main():
    x = torch.randn(1024, 1024, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3): y = (x @ x).relu() + 1
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x @ x).relu() + 1
    for _ in range(10): graph.replay()
    torch.cuda.synchronize()
main()
PY
  measured graph graph.py
  report graph 16
  check "ten launches of one graph" report_has graph '[row["launches"] for row in report["graphs"]] == [10]'
}

launches() {
  title "10^5 empty launches"
  cat >empty.cu <<'CU'
#include <chrono>
__global__ void empty() {}
extern "C" double launch(int n) {
  empty<<<1, 1>>>();
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) empty<<<1, 1>>>();
  cudaDeviceSynchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
CU
  cat >empty.py <<'PY'
import ctypes
launch = ctypes.CDLL("./empty.so").launch
launch.restype = ctypes.c_double
print("launches", *(round(launch(100000), 3) for _ in range(3)), "s")
PY
  nvcc -O2 -shared -Xcompiler -fPIC -cudart static -o empty.so empty.cu || return
  python3 empty.py
  measured launches empty.py
  python3 empty.py
  report launches 8
}

other() { # name, program
  title "$1"
  measured "$1" "$2"
  report "$1" 10
}
triton() {
  cat >triton_add.py <<'PY'
import torch, triton, triton.language as tl
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
x = torch.ones(1 << 20, device="cuda"); out = torch.empty_like(x)
for _ in range(10): add[(1 << 10,)](x, x, out, x.numel(), BLOCK=1024)
print(out.sum().item())
PY
  other triton triton_add.py
}
jax() {
  cat >jax_loop.py <<'PY'
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((1024, 1024))
for _ in range(10): print(float(f(x)), end=" ")
PY
  XLA_PYTHON_CLIENT_PREALLOCATE=false other jax jax_loop.py
}
numba() {
  cat >numba_loop.py <<'PY'
import numpy
from numba import cuda
@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size: a[i] *= 2
a = cuda.to_device(numpy.ones(1 << 20))
for _ in range(10): double[4096, 256](a)
print(a.copy_to_host().sum())
PY
  other numba numba_loop.py
}
sanitizer() {
  title "compute-sanitizer beside us"
  timeout 60 compute-sanitizer python3 -m timeloom --gpu --output sanitizer cupy_streams.py 2>&1 | tail -8
}

counters() {
  title "counters of NVML, and the choice among records"
  cat >busy.py <<'PY'
import time, cupy
a = cupy.random.rand(4096, 4096, dtype=cupy.float32)
end = time.monotonic() + 4
while time.monotonic() < end:
    b = a @ a
    cupy.cuda.Device().synchronize()
PY
  measured counters busy.py
  report counters 40
  check "utilisation, memory in use and power are read ten times a second" report_has counters \
    '(lambda rows: len(rows) == 4 and all(25 <= row["values"] <= 60 for row in rows.values())
      and rows["gpu_utilization"]["most"] > 50 and rows["gpu_memory_in_use"]["mean"] > 64 << 20
      and 20_000 < rows["gpu_power"]["most"] < 2_000_000)({row["counter"]: row for row in report["counters"]})'
  check "no line about NVML" bash -c '! grep TL152 counters.stderr'
  measured kernels --gpu-records kernel,memcpy busy.py
  check "kernels without calls and counters" report_has kernels \
    'report["kernels"] and not report["callers"] and not report["counters"]'
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for part in ${*:-cupy waits torch profiler loop killed nosync fork graph launches triton jax numba sanitizer counters}; do $part; done
tar czf "$OUT/runs.tar.gz" --exclude ring --ignore-failed-read cupy graph killed ./*.json ./*.stderr 2>/dev/null
echo "checks that failed: $failed"
