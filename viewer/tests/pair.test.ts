// Two runs behind one source: the same numbers as each alone, on one axis.
import assert from "node:assert/strict";
import { test } from "node:test";
import { change, pairRows, pairTree, scopesOf } from "../src/compare";
import { COLUMNS, FIRST_PROCESS, FIRST_RUN, NONE, type Profile, WHOLE_RUN } from "../src/model";
import { byFunction, callTree } from "../src/profile";
import { MemorySource } from "../src/source/memory";
import { Pair } from "../src/source/pair";
import { resample } from "../src/source/resample";
import { emptyTile } from "../src/source/cells";
import { titlesOf } from "../src/source/unify";
import { randomRun } from "./random_run";

const never = new AbortController().signal;

/** Two random runs; the second counts time in ticks of half the length. */
async function made(ticks = 1) {
  const [a, b] = [randomRun(1, 3, 120, 6), randomRun(2, 2, 90, 8)];
  const after = { ...b.run, ticksPerSecond: b.run.ticksPerSecond * ticks };
  const sources = [new MemorySource(a.run, a.paths, a.lanes), new MemorySource(after, b.paths, b.lanes)];
  return { a, b, sources, pair: await Pair.of(sources, [a.run, after]) };
}

/** By names, so that numbers do not matter. */
function named(profile: Profile, paths: { region: Int32Array; parent: Int32Array }, regions: readonly { name: string }[]) {
  const name = (path: number): string => (path === NONE ? "" : `${name(paths.parent[path])}/${regions[paths.region[path]].name}`);
  return new Map(Array.from({ length: profile.count }, (_, i) => [name(profile.path[i]), [profile.visits, profile.cutBegin, profile.cutEnd, profile.own, profile.inclusive, profile.min, profile.max].map((values) => values[i])]));
}

test("each run keeps its numbers, on the common axis", async () => {
  const { a, b, pair } = await made();
  const { source, run } = await pair.aligned({ func: "module0.f2", n: 3 });
  assert.deepEqual(run.parts.map((part) => [part.letter, part.firstTrack, part.tracks]), [["A", 0, 3], ["B", 3, 2]]);
  assert.equal(Math.min(...run.parts.map((part) => part.begin)), 0);
  const search = { order: "earliest" as const, limit: 3, begin: 0, end: 1e9, shortest: 0, regions: [2] };
  const thirds = await Promise.all(run.parts.map(async (_, n) => (await source.find({ ...search, tracks: n ? [3, 4] : [0, 1, 2] }, never)).calls[2]));
  assert.equal(thirds[0].begin, thirds[1].begin);
  const paths = await source.paths();
  for (const [n, one] of [a, b].entries()) {
    const { begin } = run.parts[n], alone = new MemorySource(one.run, one.paths, one.lanes);
    for (const [from, to] of [[0, one.run.length], [100, 400], [333, 334]]) {
      const mine = await source.profile({ begin: begin + from, end: begin + to, tracks: n ? [3, 4] : [0, 1, 2] }, never);
      assert.deepEqual(named(mine, paths, run.regions), named(await alone.profile({ begin: from, end: to, tracks: null }), one.paths, one.run.regions));
    }
    const [own] = await alone.calls([{ track: 1, depths: 9, limit: 1000, begin: 50, end: 900 }]);
    const [shared] = await source.calls([{ track: run.parts[n].firstTrack + 1, depths: 9, limit: 1000, begin: begin + 50, end: begin + 900 }], never);
    assert.deepEqual([...shared.begin], [...own.begin].map((time) => time + begin));
    assert.deepEqual([...shared.region].map((region) => run.regions[region].name), [...own.region].map((region) => one.run.regions[region].name));
    const first = await source.call(run.parts[n].firstTrack, 0, shared.begin[0], never), same = await alone.call(0, 0, own.begin[0]);
    assert.deepEqual(first?.sums, same?.sums);
    assert.equal(first && first.begin, same && same.begin + begin);
  }
});

test("streams of each run are fed by its own threads", async () => {
  const [a, b] = [randomRun(1, 3, 20), randomRun(2, 2, 20)], fed = ({ run }: typeof a) => ({ ...run, locations: run.locations.map((one, id) => ({ ...one, feeder: id ? 0 : null })) });
  const pair = await Pair.of([a, b].map(({ run, paths, lanes }) => new MemorySource(run, paths, lanes)), [fed(a), fed(b)]);
  const { run } = await pair.aligned({ func: "", n: 1 });
  assert.deepEqual(run.locations.map(({ feeder }) => feeder), [null, 0, 0, null, 3]);
});

test("tiles of the second run are those of its own axis, moved", async () => {
  const { b, pair } = await made();
  for (const n of [1, 2, 5]) {
    const { source, run } = await pair.aligned({ func: "module1.f1", n });
    const { begin } = run.parts[1], lanes = new MemorySource(b.run, b.paths, b.lanes);
    for (const [level, index] of [[0, 0], [0, 3], [1, 1], [2, 0]]) {
      const [tile, process, whole] = await source.tiles([{ track: 3, level, index, rows: 5 }, { track: FIRST_PROCESS + 1, level, index, rows: 1 }, { track: FIRST_RUN + 1, level, index, rows: 1 }], never);
      const [fine] = await lanes.calls([{ track: 0, depths: 4, limit: 10_000, begin: 0, end: b.run.length + 1 }]);
      for (let row = 1; row < tile.rows; row++) {
        const covered = (first: number, columns: number) => {
          const from = (index * COLUMNS + first) * 4 ** level - begin, to = from + columns * 4 ** level;
          let time = 0;
          for (let i = 0; i < fine.count; i++) if (fine.depth[i] === row - 1) time += Math.max(0, Math.min(fine.end[i], to) - Math.max(fine.begin[i], from));
          return (255 * time) / 4 ** level;
        };
        const cells = [...tile.cover.slice(row * COLUMNS, (row + 1) * COLUMNS)];
        if (level === 0) cells.forEach((cell, column) => assert.ok(Math.abs(cell - covered(column, 1)) <= 1));
        const sum = cells.reduce((all, cell) => all + cell, 0);
        assert.ok(Math.abs(sum - covered(0, COLUMNS)) <= COLUMNS + 2 * 255, `${sum} instead of ${covered(0, COLUMNS)}`);
      }
      assert.deepEqual(process, whole);
    }
    const [sum] = await source.tiles([{ track: WHOLE_RUN, level: 3, index: 0, rows: 1 }], never);
    assert.ok(sum.cover.some((part) => part > 0));
  }
});

test("ticks of another length are those of the first run", async () => {
  const { b, pair } = await made(2);
  const { source, run } = await pair.aligned({ func: "", n: 1 });
  assert.equal(run.parts[1].length, b.run.length / 2);
  const [calls] = await source.calls([{ track: 3, depths: 9, limit: 1000, begin: 0, end: 1e9 }], never);
  assert.deepEqual([...calls.begin], [...b.lanes[0].begin.slice(0, calls.count)].map((time) => time / 2));
  const [tile] = await source.tiles([{ track: 3, level: 2, index: 0, rows: 2 }], never);
  assert.ok(tile.cover.some((part) => part > 0));
});

test("a function is found by the end of its name, as rows show it", async () => {
  const { pair } = await made();
  await pair.aligned({ func: "f2", n: 1 });
  await assert.rejects(pair.aligned({ func: "2", n: 1 }), /Run A never calls 2/);
});

test("a run without the call is told", async () => {
  const { pair } = await made();
  await assert.rejects(pair.aligned({ func: "module1.f7", n: 1 }), /Run A never calls module1.f7/);
  await assert.rejects(pair.aligned({ func: "module0.f2", n: 5000 }), /Run A calls module0.f2 \d+ times, not 5000/);
});

test("columns are put together by their shares", () => {
  const tile = emptyTile(1);
  tile.cover.fill(0).set([255, 0, 255, 255]);
  tile.region.set([3, NONE, 3, 4]);
  const half = resample({ tiles: [tile], begin: 0, width: 4 }, 2, 4);
  assert.deepEqual([...half.cover.slice(0, 4)], [128, 128, 255, 128]);
  assert.deepEqual([...half.region.slice(0, 4)], [3, 3, 3, 4]);
  const before = resample({ tiles: [null, tile], begin: -1024, width: 4 }, -8, 4);
  assert.deepEqual([...before.cover.slice(0, 5)], [0, 0, 255, 0, 255]);
});

test("rows and trees of both", async () => {
  const { pair } = await made();
  const { source, run } = await pair.aligned({ func: "", n: 1 });
  const paths = await source.paths(), all = { begin: 0, end: run.length + 1, tracks: null };
  const [before, after] = await Promise.all(scopesOf(run, all).map((scope) => source.profile(scope, never)));
  const rows = pairRows(byFunction(before, paths, run.regions), byFunction(after, paths, run.regions)), merged = byFunction(await source.profile(all, never), paths, run.regions);
  assert.deepEqual(rows.map((pairOf) => pairOf.key).sort(), merged.map((row) => row.key).sort());
  for (const { key, before: a, after: b } of rows) assert.equal((a?.own ?? 0) + (b?.own ?? 0), merged.find((row) => row.key === key)!.own);
  const tree = pairTree(before, after, paths);
  assert.equal(tree.before.total, callTree(before, paths, run.regions).total);
  assert.equal(tree.after.total, callTree(after, paths, run.regions).total);
  assert.equal(tree.total, callTree(await source.profile(all, never), paths, run.regions).total);
  assert.deepEqual([change(1, 1), change(0, 2), change(2, 0), change(0, 0)], [0, 1, -1, 0]);
});

test("rows of one run stand for those of the same names in the other", async () => {
  const { pair } = await made();
  const { run } = await pair.aligned({ func: "", n: 1 });
  const of = (tracks: number[] | null) => scopesOf(run, { begin: 0, end: 9, tracks }).map((scope) => scope.tracks);
  assert.deepEqual(of(null), [[0, 1, 2], [3, 4]]);
  assert.deepEqual(of([1]), [[1], [4]]);
  assert.deepEqual(of([4]), [[1], [4]]);
  assert.deepEqual(of([0, 4]), [[0], [4]]);
  assert.deepEqual(of([2]), [[2], []]);
});

test("titles say what tells the runs apart", async () => {
  const titles = (a: string, b: string) => titlesOf([a, b].map((title) => ({ ...randomRun(1).run, title })));
  assert.deepEqual(titles("python3 a.py -n 5 -t 4", "python3 a.py -n 5 -t 2"), ["… -t 4", "… -t 2"]);
  assert.deepEqual(titles("a.py", "a.py"), ["a.py", "a.py"]);
  const [before, after] = ["/runs/before", "/runs/after/"].map((path) => ({ ...randomRun(1).run, title: "a.py", path }));
  assert.deepEqual(titlesOf([before, after]), ["before: a.py", "after: a.py"]);
  assert.deepEqual(titles("python3 a.py", "python3 b.py"), ["python3 a.py", "python3 b.py"]);
});
