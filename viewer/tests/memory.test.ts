import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMNS, NONE } from "../src/model";
import { byFunction, byModule, callTree, type Node, ownTime } from "../src/profile";
import { random } from "../src/source/generated";
import { MemorySource } from "../src/source/memory";
import { allCalls, type Made, ownByTick, randomRun } from "./random_run";

const sourceOf = (made: Made) => new MemorySource(made.run, made.paths, made.lanes);

test("tiles hold what covers most of each cell", async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const made = randomRun(seed, 1, 60);
    const lane = made.lanes[0];
    for (const [level, index] of [[0, 0], [0, 1], [1, 0], [2, 0]]) {
      const [tile] = await sourceOf(made).tiles([{ track: 0, level, index, rows: 99 }]);
      const width = 4 ** level;
      const inside = allCalls(made).filter((call) => call.begin < (index + 1) * COLUMNS * width && (call.end > index * COLUMNS * width || call.begin >= index * COLUMNS * width));
      assert.equal(tile.rows, 1 + inside.reduce((most, call) => Math.max(most, call.depth + 1), 0));
      for (let column = 0; column < COLUMNS; column++) {
        const begin = (index * COLUMNS + column) * width;
        const sums = ownByTick(lane, begin, begin + width);
        const most = Math.max(0, ...sums.values()), sum = [...sums.values()].reduce((a, b) => a + b, 0);
        const region = tile.region[column], cover = tile.cover[column];
        if (sum > 0) {
          assert.equal(sums.get(region), most, `seed ${seed}, level ${level}, column ${column}`);
          assert.equal(cover, Math.ceil((255 * sum) / width));
        } else {
          assert.equal(cover > 0, lane.begin.some((time, i) => time >= begin && time < begin + width && lane.end[i] === time));
        }
        for (let depth = 0; depth < tile.rows - 1; depth++) {
          let covered = 0;
          for (let call = 0; call < lane.count; call++) {
            if (lane.depth[call] === depth) covered += Math.max(0, Math.min(lane.end[call], begin + width) - Math.max(lane.begin[call], begin));
          }
          const cell = (depth + 1) * COLUMNS + column;
          if (covered) assert.equal(tile.cover[cell], Math.ceil((255 * covered) / width));
          else assert.ok(tile.cover[cell] <= 1);
          assert.equal(tile.region[cell] === NONE, tile.cover[cell] === 0);
        }
      }
    }
  }
});

test("profiles of ranges are sums of the calls in them", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const made = randomRun(seed);
    const chance = random(seed + 1000);
    const from = Math.floor(chance() * made.run.length), to = from + 1 + Math.floor(chance() * (made.run.length - from));
    const tracks = seed % 3 ? null : [1];
    const profile = await sourceOf(made).profile({ begin: from, end: to, tracks });
    const inside = allCalls(made).filter((call) => (!tracks || tracks.includes(call.track)) && call.begin < to && (call.end > from || call.begin >= from));
    assert.equal(profile.visits.reduce((a, b) => a + b, 0), inside.length);
    assert.equal(profile.cutBegin.reduce((a, b) => a + b, 0), inside.filter((call) => call.begin < from).length);
    assert.equal(profile.cutEnd.reduce((a, b) => a + b, 0), inside.filter((call) => call.end > to).length);
    const rows = byFunction(profile, made.paths, made.run.regions);
    for (const row of rows) {
      const mine = inside.filter((call) => call.region === row.key);
      const lengths = mine.map((call) => Math.min(call.end, to) - Math.max(call.begin, from));
      assert.equal(row.visits, mine.length);
      assert.equal(row.min, Math.min(...lengths));
      assert.equal(row.max, Math.max(...lengths));
      const outermost = mine.filter((call) => !mine.some((other) => other.track === call.track && other.depth < call.depth && other.begin <= call.begin && other.end >= call.end && encloses(made, other, call)));
      assert.equal(row.total, outermost.reduce((sum, call) => sum + Math.min(call.end, to) - Math.max(call.begin, from), 0));
      const own = made.lanes.reduce((sum, lane, track) => sum + (!tracks || tracks.includes(track) ? ownByTick(lane, from, to).get(row.key as number) ?? 0 : 0), 0);
      assert.equal(row.own, own);
    }
    assert.equal(rows.reduce((sum, row) => sum + row.own, 0), ownTime(profile));
    assert.equal(byModule(profile, made.paths, made.run.regions).reduce((sum, row) => sum + row.visits, 0), inside.length);
    const tree = callTree(profile, made.paths, made.run.regions);
    const add = (node: Node): number => node.own + node.children.reduce((sum, child) => sum + add(child), 0);
    assert.equal(add(tree), ownTime(profile));
    assert.equal(tree.total, ownTime(profile));
  }
});

/** Whether one call is among the callers of another, also when both have no duration. */
function encloses(made: Made, outer: { track: number; depth: number; begin: number; end: number }, inner: { track: number; depth: number; begin: number; end: number }): boolean {
  const lane = made.lanes[inner.track];
  for (let call = 0; call < lane.count; call++) {
    if (lane.depth[call] !== inner.depth || lane.begin[call] !== inner.begin || lane.end[call] !== inner.end) continue;
    for (let up = lane.parent[call]; up !== NONE; up = lane.parent[up]) if (lane.depth[up] === outer.depth && lane.begin[up] === outer.begin && lane.end[up] === outer.end) return true;
  }
  return false;
}

test("calls of a range are those that touch it, in order", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const made = randomRun(seed);
    const begin = made.run.length * 0.3, end = made.run.length * 0.4;
    const [calls] = await sourceOf(made).calls([{ track: 1, depths: 3, limit: 1000, begin, end }]);
    const wanted = allCalls(made).filter((call) => call.track === 1 && call.depth < 3 && call.begin < end && (call.end > begin || call.begin >= begin));
    assert.deepEqual(Array.from(calls.begin), wanted.map((call) => call.begin));
    assert.deepEqual(Array.from(calls.depth), wanted.map((call) => call.depth));
    assert.equal(calls.complete, true);
    if (wanted.length < 2) continue;
    const [few] = await sourceOf(made).calls([{ track: 1, depths: 3, limit: 1, begin, end }]);
    assert.deepEqual([few.count, few.complete], [1, false]);
  }
});

test("each call is found at its place, with its callers and what is inside", async () => {
  const made = randomRun(5);
  for (const call of allCalls(made).filter((one) => one.end > one.begin)) {
    const details = await sourceOf(made).call(call.track, call.depth, call.end - 1);
    assert.equal(details?.begin, call.begin);
    assert.equal(details.stack.length, call.depth);
    assert.deepEqual(details.stack.map((caller) => caller.depth), Array.from({ length: call.depth }, (_, i) => i));
    assert.ok(details.sums!.own <= call.end - call.begin && details.sums!.own >= 0);
  }
  assert.equal(await sourceOf(made).call(0, 90, 5), null);
});

test("finding: earliest, latest and longest of some functions and durations", async () => {
  const made = randomRun(9);
  const source = sourceOf(made);
  const search = { begin: 100, end: 2000, shortest: 5, limit: 1000, tracks: null, regions: [1, 2] };
  const wanted = allCalls(made).filter((call) => call.begin >= 100 && call.begin < 2000 && call.end - call.begin >= 5 && [1, 2].includes(call.region));
  const early = await source.find({ ...search, order: "earliest" });
  assert.equal(early.calls.length, wanted.length);
  assert.deepEqual((await source.find({ ...search, order: "latest" })).calls, [...early.calls].reverse());
  const longest = (await source.find({ ...search, order: "longest", limit: 1 })).calls[0];
  assert.equal(longest.end - longest.begin, Math.max(...wanted.map((call) => call.end - call.begin)));
  assert.deepEqual((await source.find({ ...search, order: "earliest", limit: 2 })).complete, false);
});
