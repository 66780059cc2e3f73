import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_ESTIMATES, NONE } from "../src/model";
import { causeWords, mainCauseWords, NO_CAUSES, ofCause } from "../src/causes";
import { byFunction, byModule, callees, callers, causesBelow, errorsByModule, estimated, gpuProfile, histogram, callTree, inverted, largestFirst, merged, type Node, pruned, waitingBelow, weighted, withEstimates, without } from "../src/profile";
import { nameFilter } from "../src/source/match";
import { generated } from "../src/source/generated";
import { LaneBuilder } from "../src/source/lane";
import { MemorySource } from "../src/source/memory";
import { boxesOf } from "../src/timeline/flame";
import { allCalls, randomRun } from "./random_run";

test("callers and callees of a function are those of its calls", async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const made = randomRun(seed);
    const whole = { begin: 0, end: made.run.length + 1, tracks: null };
    const profile = await new MemorySource(made.run, made.paths, made.lanes).profile(whole);
    for (let region = 0; region < 6; region++) {
      const from = new Map<number, number>(), to = new Map<number, number>();
      for (const lane of made.lanes) {
        for (let call = 0; call < lane.count; call++) {
          const caller = lane.parent[call] === NONE ? NONE : lane.region[lane.parent[call]];
          if (lane.region[call] === region) from.set(caller, (from.get(caller) ?? 0) + 1);
          if (caller === region) to.set(lane.region[call], (to.get(lane.region[call]) ?? 0) + 1);
        }
      }
      const counts = (list: readonly { region: number; visits: number }[]) => new Map(list.map((one) => [one.region, one.visits]));
      assert.deepEqual(counts(callers(profile, made.paths, region)), new Map([...counts(callers(profile, made.paths, region)).keys()].map((key) => [key, from.get(key)])));
      assert.equal(callers(profile, made.paths, region).length, from.size);
      assert.equal(callees(profile, made.paths, region).length, to.size);
      for (const { region: key, visits } of callees(profile, made.paths, region)) assert.equal(visits, to.get(key));
    }
    assert.equal(byFunction(profile, made.paths, made.run.regions).reduce((sum, row) => sum + row.visits, 0), allCalls(made).length);
  }
});

test("time on GPUs belongs to the calls that started the work, and is in their callers", async () => {
  const builder = new LaneBuilder(), paths = { parent: Int32Array.from([NONE, 0, 1, 0]), region: Int32Array.from([0, 1, 2, 2]) };
  const call = (path: number, begin: number, inside: () => void) => (builder.enter(begin, path, paths.region[path]), inside(), builder.leave(begin + 10));
  call(0, 0, () => {
    call(1, 10, () => call(2, 12, () => builder.launch(13, 500)));
    call(3, 40, () => builder.launch(41, 70));
    call(3, 60, () => builder.launch(61, 7));
  });
  const source = new MemorySource((await generated().run()), paths, [builder.finish(100)]);
  const whole = await source.gpu({ begin: 0, end: 61, tracks: null });
  assert.deepEqual([[...whole.path], [...whole.starts], [...whole.ticks], whole.complete], [[2, 3], [1, 1], [500, 70], true]);
  assert.deepEqual([...(await source.gpu({ begin: 0, end: 99, tracks: [1] })).path], [], "another row");
  const tree = callTree(gpuProfile(await source.gpu({ begin: 0, end: 99, tracks: [0] }), paths), paths, []), [outer] = tree.children;
  assert.deepEqual([tree.total, outer.total, outer.own], [577, 577, 0]);
  assert.deepEqual(outer.children.map(({ region, total, own, visits }) => [region, total, own, visits]), [[1, 500, 0, 0], [2, 77, 77, 2]]);
  assert.deepEqual(inverted(tree).children.map(({ region, total }) => [region, total]), [[2, 577]]);
});

test("a call tree is left with what leads to some functions, and with all below them", async () => {
  const made = randomRun(5);
  const root: Node = callTree(await new MemorySource(made.run, made.paths, made.lanes).profile({ begin: 0, end: made.run.length, tracks: null }), made.paths, made.run.regions);
  const leaves = (node: Node, way: readonly number[] = []): string[] => (node.children.length ? node.children.flatMap((child) => leaves(child, [...way, child.region])) : [way.join()]);
  for (let region = 0; region < 6; region++) {
    const { root: left, through } = pruned(root, (one) => one === region);
    assert.deepEqual(leaves(left).filter(Boolean), leaves(root).filter((way) => way.split(",").includes(String(region))).filter(Boolean));
    assert.equal(left.total, root.total);
    for (const node of through) assert.ok(node.region !== region && node.children.length > 0);
  }
});

test("a call tree that is deeper than the browser's stack is left with what is sought", () => {
  const deep = 20_000;
  let root: Node = { region: 1, visits: 1, own: 1, waiting: 0, causes: NO_CAUSES, total: 1, children: [] };
  for (let i = 0; i < deep; i++) root = { region: i === deep - 1 ? NONE : 0, visits: 1, own: 0, waiting: 0, causes: NO_CAUSES, total: 1, children: [root] };
  const { root: left, through } = pruned(root, (region) => region === 1);
  assert.equal(through.size, deep - 1);
  let node = left, depth = 0;
  for (; node.children.length; node = node.children[0]) depth++;
  assert.deepEqual([depth, node.region], [deep, 1]);
  assert.deepEqual(pruned(root, () => false).root.children, []);
});

test("names are told by a part, by the end of their file's name, or by an expression", () => {
  const told = (text: string) => [["a.Slab.relax", "/x/stencil.py"], ["b.relaxed", "/x/b.py"]].map(([name, file]) => nameFilter(text)(name, file));
  assert.deepEqual(told("RELAX"), [true, true]);
  assert.deepEqual(told(" stencil.py "), [true, false]);
  assert.deepEqual(told("/relax$/"), [true, false]);
  assert.deepEqual(told("> 5 ms"), [false, false]);
  assert.throws(() => nameFilter("/[/"), /not a regular expression/);
});

test("durations are counted in steps of 1, 2 and 5", () => {
  assert.deepEqual(histogram([]), []);
  assert.deepEqual(histogram([0]), [{ from: 0, to: 1, count: 1 }]);
  assert.deepEqual(histogram([3, 4.9, 5, 30]), [{ from: 2, to: 5, count: 2 }, { from: 5, to: 10, count: 1 }, { from: 10, to: 20, count: 0 }, { from: 20, to: 50, count: 1 }]);
});

test("boxes of a flame graph are as wide as their calls and inside their callers", async () => {
  const made = randomRun(4);
  const root: Node = callTree(await new MemorySource(made.run, made.paths, made.lanes).profile({ begin: 0, end: made.run.length, tracks: null }), made.paths, made.run.regions);
  const boxes = boxesOf(root, 0);
  const count = (node: Node): number => 1 + node.children.reduce((sum, child) => sum + count(child), 0);
  assert.equal(boxes.length, count(root));
  for (const box of boxes) {
    assert.ok(Math.abs(box.width - box.node.total / root.total) < 1e-12);
    for (const child of boxes.filter((other) => box.node.children.includes(other.node))) {
      assert.ok(child.left >= box.left - 1e-12 && child.left + child.width <= box.left + box.width + 1e-12);
    }
  }
  assert.ok(boxesOf(root, 0.2).every((box) => box.width >= 0.2));
});

/** A tree written as [region, own, waiting, children]. */
type Short = [number, number, number, Short[]?];

function treeFrom([region, own, waiting, inner = []]: Short): Node {
  const children = inner.map(treeFrom);
  return { region, visits: 1, own, waiting, causes: ofCause(region < 0 ? 0 : region, waiting), total: own + children.reduce((sum, child) => sum + child.total, 0), children };
}

const shape = ({ region, total, children }: Node): unknown => [region, total, ...children.map(shape)];

test("a tree by work or by waiting has their sums, and nothing without any", () => {
  const tree = treeFrom([NONE, 0, 0, [[1, 5, 1, [[2, 10, 9], [3, 1, 0]]], [4, 2, 0]]]);
  assert.deepEqual(shape(weighted(tree, "time")), [NONE, 18, [1, 16, [2, 10], [3, 1]], [4, 2]]);
  assert.deepEqual(shape(weighted(tree, "work")), [NONE, 8, [1, 6, [2, 1], [3, 1]], [4, 2]]);
  assert.deepEqual(shape(weighted(tree, "waiting")), [NONE, 10, [1, 10, [2, 9]]]);
  assert.deepEqual(shape(tree), [NONE, 18, [1, 16, [2, 10], [3, 1]], [4, 2]], "the tree itself stays");
  assert.equal(waitingBelow(tree).get(tree.children[0]), 10);
  assert.deepEqual(causesBelow(tree).get(tree), [0, 1, 9, 0, 0, 0, 0, 0]);
  assert.deepEqual(weighted(tree, "work").children[0].causes, []);
});

test("the causes of waiting follow the trees, and add up", () => {
  const tree = treeFrom([NONE, 0, 0, [[1, 5, 1, [[7, 2, 1, [[2, 3, 2]]], [2, 4, 3]]]]]);
  assert.deepEqual(without(tree, (region) => region === 7).children[0].causes, [0, 1, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual(merged(tree, 2).causes, [0, 0, 5, 0, 0, 0, 0, 0]);
  assert.deepEqual(inverted(tree).causes, [0, 1, 5, 0, 0, 0, 0, 1]);
  assert.equal(causeWords([1, 0, 6, 0, 0, 0, 0, 3]), "gil 60.0 %, time 30.0 %, unknown 10.0 %");
  assert.deepEqual([mainCauseWords([0, 0, 96, 4]), mainCauseWords([0, 0, 6, 4]), mainCauseWords([])], ["gil", "gil 60 %", ""]);
});

test("hidden functions give their time to their callers", () => {
  const tree = treeFrom([NONE, 0, 0, [[1, 5, 0, [[9, 2, 1, [[2, 3, 0], [9, 1, 0]]], [2, 4, 0]]], [9, 7, 0]]]);
  const left = without(tree, (region) => region === 9);
  assert.deepEqual(shape(left), [NONE, 22, [1, 15, [2, 7]]]);
  assert.deepEqual([left.own, left.children[0].own, left.children[0].waiting], [7, 8, 1]);
});

test("from callees to callers, and one function between both, recursion counted once", () => {
  const tree = treeFrom([NONE, 0, 0, [[1, 1, 0, [[2, 4, 2, [[2, 3, 0, [[3, 1, 0]]]]]]], [5, 0, 0, [[2, 6, 0]]]]]);
  const up = inverted(tree);
  assert.equal(up.total, 15);
  assert.deepEqual(shape(up.children[0]), [2, 13, [5, 6], [1, 4], [2, 3, [1, 3]]]);
  assert.deepEqual(shape(inverted(tree, 2)), [NONE, 14, [2, 14, [1, 8], [5, 6]]]);
  assert.equal(inverted(tree, 2).waiting, 2);
  assert.deepEqual(shape(merged(tree, 2)), [2, 14, [2, 4, [3, 1]]]);
});

test("bytes of call paths come with the most first, and are in their callers", () => {
  const paths = { parent: Int32Array.from([NONE, 0, 1, 0]), region: Int32Array.from([5, 6, 7, 7]) };
  const memory = { complete: true, path: Int32Array.from([1, 2, 3]), starts: Float64Array.from([1, 4, 1]), ticks: Float64Array.from([10, 300, 10]) };
  assert.deepEqual(largestFirst(memory), [1, 0, 2]);
  const root = callTree(gpuProfile(memory, paths), paths, []);
  assert.equal(root.total, 320);
  const [outer] = root.children;
  assert.deepEqual([outer.own, outer.total, outer.visits], [0, 320, 0]);
  assert.deepEqual(outer.children.map(({ region, own, total, visits }) => [region, own, total, visits]), [[6, 10, 310, 1], [7, 10, 10, 1]]);
});

test("samples outside all calls are in no tree", () => {
  const paths = { parent: Int32Array.from([NONE]), region: Int32Array.from([5]) };
  assert.equal(callTree(gpuProfile({ complete: true, path: Int32Array.from([0, NONE]), starts: Float64Array.from([1, 9]), ticks: Float64Array.from([7, 900]) }, paths), paths, []).total, 7);
});

test("estimates of call paths are in the call tree and the modules, with their errors", () => {
  const paths = { parent: Int32Array.of(NONE, 0, 0), region: Int32Array.of(0, 1, 2) };
  const zeros = new Float64Array(3);
  const profile = { count: 3, path: Int32Array.of(0, 1, 2), visits: Float64Array.of(1, 5, 1), own: Float64Array.of(50, 10, 40), inclusive: Float64Array.of(100, 10, 40), cutBegin: zeros, cutEnd: zeros, waiting: zeros, causes: [], min: Float64Array.of(100, 1, 40), max: Float64Array.of(100, 3, 40) };
  const modules = ["app", "lib", "lib"].map((module, id) => ({ ...randomRun(1).run.regions[0], id, module }));
  const estimates = {
    functions: [],
    paths: [{ path: 0, own: 20, own_error: 6, total: 100, total_error: 0 }, { path: 1, own: 30, own_error: 3, total: 40, total_error: 5 }, { path: 3, own: 10, own_error: 4, total: 10, total_error: 4 }, { path: 4, own: 7, own_error: 0, total: 7, total_error: 12 }],
    added: { parent: [1, NONE], region: [2, 2] },
  };
  const [all, grown] = estimated(profile, paths, estimates);
  const [root] = callTree(all, grown, modules, estimates).children;
  assert.deepEqual([root.own, root.total, root.guess?.own_error], [20, 100, 6]);
  const [given, exact] = root.children;
  assert.deepEqual([given.own, given.total, given.visits, given.guess?.total_error, given.children[0].own, given.children[0].visits, exact.guess], [30, 40, 5, 5, 10, 0, undefined]);
  assert.deepEqual(byModule(all, grown, modules).map(({ key, own, total, visits, min }) => [key, own, total, visits, min]), [["lib", 87, 87, 6, 1], ["app", 20, 100, 1, 100]]);
  const errors = errorsByModule(paths, modules, estimates);
  assert.deepEqual(["lib", "app"].map((key) => [errors.get(key)?.own_error, errors.get(key)?.total_error]), [[5, 13], [6, 0]]);
  assert.deepEqual(estimated(profile, paths, NO_ESTIMATES), [profile, paths]);
});

test("estimates take the place of times, also of functions without a recorded call", () => {
  const row = { key: 1, visits: 3, cut: 1, own: 10, waiting: 2, causes: NO_CAUSES, total: 30, min: 1, max: 20 };
  const other = { ...row, key: 2, own: 40 };
  const estimate = { own_error: 1, total_error: 0, samples: 9 };
  const rows = withEstimates([row, other], [{ region: 1, own: 4, total: 30, ...estimate }, { region: 8, own: 26, total: 27, ...estimate }]);
  assert.deepEqual(rows.map(({ key, own, total, visits, waiting }) => [key, own, total, visits, waiting]), [[2, 40, 30, 3, 2], [8, 26, 27, 0, 0], [1, 4, 30, 3, 2]]);
});
