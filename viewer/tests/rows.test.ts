// The rows: their tree, which of them are unfolded at first, and their height.
import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMNS, type Location, type Run } from "../src/model";
import { generated } from "../src/source/generated";
import { emptyTile } from "../src/source/cells";
import { Viewing } from "../src/state/view";
import { activityOf, askedOf, hiddenIn, levelsIn, workIn } from "../src/timeline/activity";
import { deepest } from "../src/timeline/rows";
import { fitted, fittedRuns } from "../src/timeline/fitting";
import { depthOf, layOut, lineOf, lineTop, type Room, rowAt, siblingsOf, visible } from "../src/timeline/layout";
import { type Branch, FIRST_DEVICE, FIRST_FOLDER, FIRST_IDLE, treeOf } from "../src/timeline/tree";

const roomFor = (trees: readonly Branch[], height: number, talk = false): Room => ({ fits: fitted(trees, height, { talk }), needs: new Map(), talk });

test("rows are moved among the rows of the same parent, and stay where they were put", async () => {
  const run = await generated().run(), trees = treeOf(run), room = roomFor(trees, 2000);
  const viewing = new Viewing(run);
  const siblings = (row: number) => siblingsOf(trees, row, viewing.view);
  const move = (row: number, place: number) => viewing.move(row, siblings(row), place, false);
  const threads = () => layOut(trees, viewing.view, room).rows.slice(1, 5).map((row) => row.id);
  assert.deepEqual(siblings(2).slice(0, 4), [0, 1, 2, 3]);
  move(3, 0);
  move(2, 0);
  assert.deepEqual(threads(), [2, 3, 0, 1]);
  move(2, 3);
  assert.deepEqual(threads(), [3, 0, 1, 2]);
  move(0x80000003, 0);
  assert.deepEqual(layOut(trees, viewing.view, room).rows.filter((row) => row.kind === "process").map((row) => row.id), [0x80000003, 0x80000000]);
  assert.deepEqual(threads().length && siblings(2).slice(0, 4), [3, 0, 1, 2]);
  viewing.pin(1);
  viewing.pin(2);
  viewing.move(2, viewing.view.pinned, 0, true);
  assert.deepEqual(viewing.view.pinned, [2, 1]);
  assert.deepEqual(siblings(12345), []);
});

test("rows are a tree of processes, threads and tasks", async () => {
  const run = await generated().run(), trees = treeOf(run), room = roomFor(trees, 2000);
  const viewing = new Viewing(run);
  const names = () => layOut(trees, viewing.view, room).rows.map((row) => "  ".repeat(row.indent) + row.name);
  assert.deepEqual(names(), [
    "plate.py", "  MainThread", "  Thread-1 (solve)", "  Thread-2 (solve)", "  Thread-3 (solve)", "  ForkPoolWorker-1", "  ForkPoolWorker-2", "service.py", "  MainThread", "  Tasks",
  ]);
  viewing.store.set({ filter: "task-4" });
  assert.deepEqual(names(), ["service.py", "  Tasks", "    Task-4", "    Task-40"]);
  viewing.store.set({ filter: "", sort: "activity" });
  assert.equal(names()[0], "plate.py");
  viewing.fold(FIRST_FOLDER + 3, true);
  assert.equal(names().length, 10 + 40);
  viewing.store.set({ sort: "order" });
  const lanes = layOut(trees, viewing.view, room).rows.slice(10);
  assert.deepEqual(lanes.flatMap((row) => row.locations).sort((a, b) => a - b), run.locations.flatMap((location, id) => (location.kind === "task" ? [id] : [])));
  for (const lane of lanes) lane.locations.forEach((id, i) => assert.ok(i === 0 || run.locations[lane.locations[i - 1]].end <= run.locations[id].begin));
  viewing.pin(2);
  const layout = layOut(trees, viewing.view, room);
  assert.deepEqual(layout.pinned.map((row) => row.id), [2]);
  const seen = visible(layout, 300, 400);
  assert.equal(seen.at(-1)!.y, 300);
  assert.equal(rowAt(seen, 301)!.id, 2);
  assert.ok(seen.slice(0, -1).every((row) => row.y < 700 && row.y + row.height > 300 + layout.pinnedHeight));
});

const thread = (name: string, process = 0, depth = 4, events = 10): Location => ({ name, process, kind: "thread", events, begin: 0, end: 100, depth });

async function runOf(locations: Location[], processes = 1): Promise<Run> {
  const run = await generated().run();
  return { ...run, locations, processes: Array.from({ length: processes }, (_, id) => ({ ...run.processes[0], name: `rank ${id}`, pid: id, parent: null })) };
}

const activity = (run: Run, work: number[], hidden: number[] = []) => ({ work: Float64Array.from(work), hidden: Uint8Array.from(run.locations, (_, id) => hidden[id] ?? 0), levels: Float64Array.from(run.locations, ({ depth }) => depth), regions: new Float64Array(run.regions.length) });
const named = (trees: readonly Branch[], view: Viewing, room: Room) => layOut(trees, view.view, room).rows.map((row) => `${"  ".repeat(row.indent)}${row.name}${row.lines ? ` ${row.lines}` : ""}`);

test("a process with one thread is one row", async () => {
  const run = await runOf([thread("MainThread"), thread("MainThread", 1), thread("MainThread", 2), thread("pump", 2)], 3), trees = treeOf(run);
  assert.deepEqual(named(trees, new Viewing(run), roomFor(trees, 1000)), ["rank 0 4", "rank 1 4", "rank 2", "  MainThread 4", "  pump 4"]);
});

test("all processes are there at first sight; what does not fit is folded, the busiest is unfolded first", async () => {
  const run = await runOf(Array.from({ length: 8 }, (_, id) => thread("MainThread", id, 10)), 8), trees = treeOf(run, [], activity(run, [1, 2, 9, 3, 4, 8, 1, 1]));
  const view = new Viewing(run), layout = layOut(trees, view.view, roomFor(trees, 540));
  assert.deepEqual(layout.rows.map((row) => row.lines), [4, 4, 5, 4, 4, 4, 0, 0]);
  assert.ok(layout.height <= 540 && layout.rows.length === 8);
  assert.deepEqual(layOut(trees, view.view, roomFor(trees, 2000)).rows.map((row) => row.lines), Array(8).fill(10));
  assert.ok(layOut(trees, view.view, roomFor(trees, 10)).rows.every((row) => !row.open));
  assert.equal(layOut(trees.slice(0, 1), view.view, roomFor(trees.slice(0, 1), 10)).rows[0].lines, 4, "a single row is unfolded in any window");
  assert.ok(layOut(trees, view.view, roomFor(trees, 520, true)).height <= 520, "with room for collective operations, too");
  view.foldAll("all");
  assert.ok(layOut(trees, view.view, roomFor(trees, 520)).rows.every((row) => row.open));
  view.fold(0, false);
  assert.equal(layOut(trees, view.view, roomFor(trees, 520)).rows[0].open, false);
  view.foldAll("none");
  assert.ok(layOut(trees, view.view, roomFor(trees, 520)).rows.every((row) => !row.open));
  assert.equal(fittedRuns(trees.slice(0, 2), 200, { talk: false }, 2).size, 2, "each run unfolds something");
});

test("threads that hardly work are in one folder at the end, the first thread never", async () => {
  const names = ["MainThread", "io", "worker-1", "profile", "worker-2", "watch"], run = await runOf(names.map((name) => thread(name)));
  const trees = treeOf(run, [], activity(run, [0, 0, 900, 2, 1000, 0]));
  assert.deepEqual(trees.map((tree) => tree.name), ["MainThread", "worker-1", "worker-2", "Idle threads"]);
  assert.deepEqual([trees[3].id, trees[3].detail, trees[3].locations], [FIRST_IDLE, "3", [1, 3, 5]]);
  assert.deepEqual(treeOf(run).map((tree) => tree.name), names, "without knowledge of the work none is hidden");
});

test("many threads alike are a group, threads of OpenMP are one however few", async () => {
  const run = await runOf([thread("MainThread"), ...Array.from({ length: 200 }, (_, i) => thread(`thread-${i}`)), thread("libgomp thread 2"), thread("libgomp thread 3"), thread("io")]);
  const trees = treeOf(run), view = new Viewing(run);
  assert.deepEqual(trees.map(({ name, kind, detail }) => [name, kind, detail]), [
    ["MainThread", "location", ""], ["thread-…", "folder", "200 threads"], ["libgomp thread …", "folder", "2 threads"], ["io", "location", ""],
  ]);
  view.fold(trees[1].id, true);
  const ids = layOut(trees, view.view, roomFor(trees, 1000)).rows.map((row) => row.id);
  assert.equal(new Set(ids).size, ids.length, "rows have numbers of their own");
});

test("streams of GPUs stand below the threads, the ones of a device in one folder", async () => {
  const stream = (name: string, process = 0): Location => ({ ...thread(name, process, 1), kind: "stream" });
  const run = await runOf([stream("CUDA[0:7]"), thread("MainThread"), stream("CUDA[0:13]"), stream("CUDA[1:7]"), thread("io"), stream("NVTX of thread 7")]);
  const trees = treeOf(run, [], activity(run, [0, 9, 0, 0, 9, 0]));
  assert.deepEqual(trees.map(({ name, kind, detail, locations }) => [name, kind, detail, locations]), [
    ["MainThread", "location", "", [1]], ["io", "location", "", [4]], ["CUDA[0]", "folder", "2 streams", [0, 2]], ["CUDA[1:7]", "location", "", [3]], ["NVTX of thread 7", "location", "", [5]],
  ]);
  assert.deepEqual(named(trees, new Viewing(run), roomFor(trees, 1000)), ["MainThread 4", "io 4", "CUDA[0]", "  CUDA[0:7] 1", "  CUDA[0:13] 1", "CUDA[1:7] 1", "NVTX of thread 7 1"]);
});

test("streams stand below the thread that feeds them, in any order of the rows", async () => {
  const stream = (name: string, feeder: number, process = 0): Location => ({ ...thread(name, process, 1), kind: "stream", feeder });
  const run = await runOf([thread("MainThread"), thread("backward"), thread("io"), thread("watch"), stream("CUDA[0:7]", 1), stream("CUDA[0:13]", 1), stream("CUDA[0:20]", 0), stream("CUDA[1:7]", 9)]);
  const trees = treeOf(run, [], activity(run, [900, 2, 2, 1, 0, 0, 0, 0])), viewing = new Viewing(run);
  const rows = () => named(trees, viewing, roomFor(trees, 1000));
  assert.deepEqual(rows(), ["MainThread 4", "  CUDA[0:20] 1", "backward 4", "  CUDA[0]", "    CUDA[0:7] 1", "    CUDA[0:13] 1", "Idle threads", "CUDA[1:7] 1"]);
  assert.deepEqual(trees.find((row) => row.name === "Idle threads")!.locations, [2, 3], "a thread that feeds a stream is not idle");
  viewing.store.set({ sort: "name" });
  assert.deepEqual(rows(), ["backward 4", "  CUDA[0]", "    CUDA[0:7] 1", "    CUDA[0:13] 1", "CUDA[1:7] 1", "Idle threads", "MainThread 4", "  CUDA[0:20] 1"]);
  assert.deepEqual(siblingsOf(trees, 6, viewing.view), [], "a row that follows another is not moved alone");
  assert.ok(siblingsOf(trees, 0, viewing.view).every((id) => ![6, FIRST_DEVICE + 4].includes(id)));
});

test("streams of a thread in a group stand below the group", async () => {
  const run = await runOf([thread("MainThread"), ...Array.from({ length: 60 }, (_, i) => thread(`worker-${i}`)), { ...thread("CUDA[0:7]", 0, 1), kind: "stream", feeder: 31 }]);
  const trees = treeOf(run);
  assert.deepEqual(trees.map(({ name, follows }) => [name, follows]), [["MainThread", undefined], ["worker-…", undefined], ["CUDA[0:7]", trees[1].id]]);
});

test("frames of the library above the user's first are on one line", async () => {
  const run = await generated().run();
  const regions = run.regions.map((region, id) => ([6, 7, 8].includes(id) ? { ...region, file: "/usr/lib/python3.13/threading.py" } : region)), tile = emptyTile(6);
  [6, 7, 8, 2, 3].forEach((region, row) => tile.region.fill(region, (row + 1) * COLUMNS, (row + 2) * COLUMNS - row));
  tile.cover.fill(255, COLUMNS);
  assert.equal(hiddenIn(tile, { ...run, regions }, 9), 2);
  assert.equal(hiddenIn(tile, { ...run, regions }, 3), 1, "one level stays below");
  tile.region[2 * COLUMNS + 9] = 2;
  assert.equal(hiddenIn(tile, { ...run, regions }, 9), 2, "a short call of another function there");
  tile.region.fill(2, 2 * COLUMNS, 2 * COLUMNS + 90);
  assert.equal(hiddenIn(tile, { ...run, regions }, 9), 0, "another function there");
  const none = emptyTile(5), library = run.regions.map((region, id) => ({ ...region, file: "/usr/lib/python3.13/x.py", idle: false, module: id === 6 || id === 7 ? "threading" : "statistics" }));
  [6, 7, 8, 9].forEach((region, row) => none.region.fill(region, (row + 1) * COLUMNS, (row + 2) * COLUMNS));
  none.cover.fill(255, COLUMNS);
  assert.equal(hiddenIn(none, { ...run, regions: library }, 9), 1, "no user's function: what starts the thread is hidden, no more");
  const one = await runOf([thread("MainThread", 0, 9)]), trees = treeOf(one, [], activity(one, [1], [2]));
  const [row] = layOut(trees, new Viewing(one).view, roomFor(trees, 1000)).rows;
  assert.deepEqual([row.lines, [0, 1, 2, 3, 8].map((depth) => lineOf(row, depth)), [0, 1, 6].map((line) => depthOf(row, line))], [7, [0, 0, 0, 1, 6], [0, 3, 8]]);
  assert.ok(lineTop(row, 8) > 0 && lineTop(row, 2) === lineTop(row, 0) && lineTop(row, 9) === -1);
});

test("the inside of an import needs no lines", () => {
  const tile = emptyTile(5), imports = Uint8Array.of(0, 1, 0), key = { track: 0, level: 0, index: 0, rows: 5 }, all = { begin: 0, end: COLUMNS };
  [0, 1, 2, 2].forEach((region, row) => tile.region.fill(region, (row + 1) * COLUMNS, (row + 1) * COLUMNS + 10));
  tile.region.fill(0, COLUMNS + 10, 2 * COLUMNS);
  assert.equal(levelsIn(tile, imports), 2);
  assert.equal(levelsIn(tile, Uint8Array.of(0, 0, 0)), 4);
  assert.deepEqual([deepest({ key, tile, calls: null }, all, imports), deepest({ key, tile, calls: null }, { begin: 20, end: 30 }, imports)], [2, 1]);
  assert.equal(deepest({ key, tile: { ...tile, rows: 3, allRows: 9 }, calls: null }, all, imports), 8, "more may be below");
  const calls = { count: 4, complete: true, begin: Float64Array.of(0, 1, 2, 50), end: Float64Array.of(99, 40, 9, 60), region: Int32Array.of(0, 1, 2, 2), depth: Int32Array.of(0, 1, 2, 1) };
  assert.deepEqual([deepest({ key, tile, calls }, all, imports), deepest({ key, tile, calls }, all, Uint8Array.of(0, 0, 0)), deepest({ key, tile, calls }, { begin: 70, end: 80 }, imports)], [2, 3, 1]);
});

test("rows are as high as the visible range needs", async () => {
  const run = await runOf([thread("MainThread", 0, 20)]), trees = treeOf(run), room = { ...roomFor(trees, 1000), needs: new Map([[0, 3]]) };
  assert.equal(layOut(trees, new Viewing(run).view, room).rows[0].lines, 3);
});

test("the work of a location is the time in calls in which it did not wait", async () => {
  const source = generated(), run = await source.run(), found = await activityOf(source, run);
  assert.ok(found && found.work.length === run.locations.length);
  const most = found.regions.indexOf(found.regions.reduce((most, time) => Math.max(most, time), 0));
  assert.equal(run.regions[most].name, "plate.Slab.relax");
  const alike = await runOf([thread("MainThread"), ...Array.from({ length: 200 }, (_, i) => thread(`thread-${i}`)), thread("io")]);
  assert.deepEqual(askedOf(alike), [0, 201], "members of a group are not asked");
  const tile = emptyTile(1), idle = run.regions.findIndex((region) => region.idle);
  tile.region.fill(0, 0, 3);
  tile.cover.set([255, 255, 1]);
  tile.waiting.set([0, 254, 0]);
  assert.ok(Math.abs(workIn(tile, run) - 254 / 255) < 1e-9);
  tile.region[0] = idle;
  assert.equal(workIn(tile, run), 0);
  tile.waiting[0] = 155;  // a queue's reader that works in a third of each column
  assert.ok(Math.abs(workIn(tile, run) - 99 / 255) < 1e-9);
});

test("a location with one counter and no calls is the row of the counter", async () => {
  const metric = (name: string) => ({ name, unit: "bytes", description: "", type: "uint64" as const });
  const metrics = (name: string): Location => ({ ...thread(name, 0, 0), kind: "metrics" });
  const run = { ...(await runOf([thread("MainThread"), metrics("Process memory usage"), metrics("CUDA[0]"), metrics("CUDA[1]")])), metrics: ["Process memory usage", "gpu_power", "gpu_memory_in_use"].map(metric) };
  const trees = treeOf(run, [[1, 0], [2, 1], [2, 2], [3, 2]].map(([track, metric]) => ({ track, metric, values: 5 })));
  assert.deepEqual(trees.map(({ name, kind, locations, inner }) => [name, kind, locations, inner.map((row) => row.name)]), [
    ["MainThread", "location", [0], []], ["Process memory usage", "counter", [1], []], ["CUDA[0]", "location", [2], ["gpu_power", "gpu_memory_in_use"]], ["CUDA[1]: gpu_memory_in_use", "counter", [3], []],
  ]);
});

test("calls are unfolded before the counters of a device", async () => {
  const metrics: Location = { ...thread("CUDA[0]", 0, 0), kind: "metrics" }, names = ["gpu_utilization", "gpu_power", "gpu_memory_in_use"];
  const run = { ...(await runOf([thread("MainThread", 0, 12), metrics, thread("worker", 0, 12)])), metrics: names.map((name) => ({ name, unit: "", description: "", type: "uint64" as const })) };
  const trees = treeOf(run, names.map((_, metric) => ({ track: 1, metric, values: 5 }))), rows = (room: number) => named(trees, new Viewing(run), roomFor(trees, room));
  assert.equal(trees[2].detail, "3 counters");
  assert.deepEqual(rows(190), ["MainThread 4", "worker 4", "CUDA[0]"]);
  assert.deepEqual(rows(330), ["MainThread 4", "worker 4", "CUDA[0] 1", ...names.map((name) => `  ${name}`)]);
  assert.deepEqual(rows(900), ["MainThread 12", "worker 12", "CUDA[0] 1", ...names.map((name) => `  ${name}`)]);
});

test("metrics of single calls have no rows, the memory of a device has one", async () => {
  const metric = (name: string) => ({ name, unit: "ns", description: "", type: "uint64" as const });
  const run = { ...(await runOf([thread("MainThread", 0, 9)])), metrics: ["gpu_time", "gpu_memory", "gpu_queue_time"].map(metric) };
  const [main] = treeOf(run, [0, 1, 2].map((metric) => ({ track: 0, metric, values: 5 })));
  assert.deepEqual(main.inner.map((row) => row.name), ["gpu_memory"]);
});
