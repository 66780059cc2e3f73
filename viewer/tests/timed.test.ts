// Samples at their times: each, or joined by columns; their bars in a row, and the one under the pointer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE, type Timed } from "../src/model";
import { generated, random } from "../src/source/generated";
import { remembering } from "../src/source/generated_memory";
import type { Source } from "../src/source/source";
import { isOfRun, timedIn } from "../src/source/timed";
import { Viewing } from "../src/state/view";
import { fitted } from "../src/timeline/fitting";
import { isOnSamples, layOut, rowAt, SAMPLES } from "../src/timeline/layout";
import { hitsAt, laneOf, sampleBarsOf, SampleCache, sampledIn } from "../src/timeline/sampled";
import { treeOf } from "../src/timeline/tree";

const REGIONS = 4;

/** Random samples of three locations: hits are the regions 0 to 3 and two functions of libraries. */
function randomTimed(seed: number, count: number): Timed {
  const chance = random(seed), below = (n: number) => Math.floor(chance() * n);
  const all = Array.from({ length: count }, () => ({ track: below(3), first: below(1000), ticks: 1 + below(9), hit: below(REGIONS + 3) - 1, region: below(REGIONS), line: below(50) })).sort((a, b) => a.track - b.track || a.first - b.first);
  const reals = (of: (one: (typeof all)[0]) => number) => Float64Array.from(all, of), numbers = (of: (one: (typeof all)[0]) => number) => Int32Array.from(all, of);
  const ones = reals(() => 1), times = reals((one) => one.first);
  return { count, samples: ones, most: ones, first: times, last: times, ticks: reals((one) => one.ticks), track: numbers((one) => one.track), hit: numbers((one) => one.hit), region: numbers((one) => one.region), line: numbers((one) => one.line), functions: ["libm: sin", "libc: write", ""] };
}

const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);

test("samples of a range are told one by one up to the limit, and by column beyond it", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const all = randomTimed(seed, 300), inside = (i: number) => all.first[i] >= 200 && all.first[i] < 700 && all.track[i] !== 1;
    const places = Array.from({ length: 300 }, (_, i) => i).filter(inside);
    const range = { begin: 200, end: 700, tracks: [0, 2], columns: 8 };
    const alone = timedIn(all, { ...range, limit: 300 });
    assert.deepEqual([[...alone.first], [...alone.hit], [...alone.line], [...alone.region]], [all.first, all.hit, all.line, all.region].map((of) => places.map((i) => of[i])));
    const joined = timedIn(all, { ...range, limit: 20 });
    assert.ok(joined.count <= 16 && sum(joined.samples) === places.length && sum(joined.ticks) === sum(places.map((i) => all.ticks[i])));
    for (let item = 0; item < joined.count; item++) {
      const column = (time: number) => Math.floor(((time - 200) * 8) / 500);
      const members = places.filter((i) => all.track[i] === joined.track[item] && column(all.first[i]) === column(joined.first[item]));
      const times = (hit: number) => members.filter((i) => all.hit[i] === hit).length, most = Math.max(...members.map((i) => times(all.hit[i])));
      assert.deepEqual([joined.samples[item], joined.first[item], joined.last[item], joined.most[item], times(joined.hit[item])], [members.length, all.first[members[0]], all.first[members.at(-1)!], most, most]);
    }
  }
});

test("samples of another run are known", () => {
  const all = randomTimed(3, 50);
  assert.ok(isOfRun(all, REGIONS, 3));
  assert.ok(!isOfRun(all, REGIONS, 2));
  assert.ok(!isOfRun({ ...all, hit: all.hit.map(() => REGIONS + 3) }, REGIONS, 3));
  assert.ok(!isOfRun({ ...all, region: all.region.map(() => -2) }, REGIONS, 3));
  assert.ok(!isOfRun({ ...all, track: all.track.map((track) => 2 - track) }, REGIONS, 3), "they are in order");
});

test("a sample alone is a tick at its time; joined ones are as high as their part of the time", () => {
  const all = randomTimed(5, 40), range = { begin: 0, end: 1000 };
  const lane = laneOf(all, 1, range);
  assert.ok(lane.alone && lane.end > lane.first && lane.first > 0);
  const { items, heights } = sampleBarsOf(lane, range, 1000);
  for (let item = lane.first; item < lane.end; item++) assert.ok(all.first[items[all.first[item]]] === all.first[item], "the last one of a pixel");
  assert.ok([...items].every((item) => item === NONE || (item >= lane.first && item < lane.end)));
  assert.ok(heights.every((height) => height === 1));
  assert.ok(!laneOf(all, 7, range).end || laneOf(all, 7, range).first === laneOf(all, 7, range).end, "no samples");

  const columns = 4096, whole = { begin: 0, end: columns * 10 }, two = Float64Array.of(2, 2), zero = Int32Array.of(0, 0);
  const joined = laneOf({ ...all, count: 2, samples: two, most: two, first: Float64Array.of(1, 20_485), last: Float64Array.of(9, 20_489), ticks: Float64Array.of(40, 10), track: zero, hit: zero, region: zero, line: zero }, 0, whole);
  const bars = sampleBarsOf(joined, whole, 1024);
  assert.deepEqual([bars.items[0], bars.items[1], bars.items[512]], [0, NONE, 1]);
  assert.deepEqual([bars.heights[0], bars.heights[512]], [1, 0.4]);
});

test("the sample under the pointer has its function and its time", () => {
  const all = randomTimed(8, 30), range = { begin: 0, end: 1000 }, lane = laneOf(all, 2, range);
  for (let item = lane.first; item < lane.end; item++) {
    const hits = hitsAt(lane, range, 1000, all.first[item], REGIONS)!;
    assert.equal(hits.time, all.first[item]);
    assert.equal(hits.name, hits.hit < REGIONS ? "" : all.functions[hits.hit - REGIONS]);
  }
  assert.equal(hitsAt(laneOf(all, 9, range), range, 1000, 5, REGIONS), null);
  assert.equal(hitsAt(lane, range, 1000, all.first[lane.end - 1] + 5, REGIONS), null);
});

test("threads have room for samples in a run that has them, and in no other", async () => {
  const source = await remembering(), run = await source.run(() => {}), plain: Source = generated(), without = await plain.run(() => {});
  const rowsOf = (of: typeof run, sampled: ReadonlySet<number>) => {
    const trees = treeOf(of), below = { talk: false, sampled };
    return layOut(trees, { ...new Viewing(of).view, folding: "all" }, { fits: fitted(trees, 900, below), needs: new Map(), ...below }).rows;
  };
  const rows = rowsOf(run, sampledIn(run, source)), same = rowsOf(run, new Set());
  rows.forEach((row, i) => assert.equal(row.height - same[i].height, row.kind === "location" && run.locations[row.id].kind === "thread" ? SAMPLES : 0));
  const thread = rows.find((row) => row.samples)!;
  assert.equal(thread.samples, thread.height - SAMPLES);
  assert.ok(isOnSamples(thread, thread.y + thread.samples) && !isOnSamples(thread, thread.y + thread.samples - 1));
  assert.equal(rowAt(rows, thread.y + thread.samples)!.id, thread.id);
  assert.equal(sampledIn(without, plain).size, 0);
  assert.equal(sampledIn(run, plain).size, 0, "a source without single samples");
  assert.ok(same.every((row) => !row.samples));
});

test("samples are fetched once for a range that has all of them, and again where more can be told", async () => {
  const all = randomTimed(9, 60), asked: number[] = [];
  let changes = 0;
  const source = { sampled: async (range: Parameters<typeof timedIn>[1]) => (asked.push(range.end - range.begin), timedIn(all, range.begin === 0 ? { ...range, limit: 5, columns: 4 } : range)) };
  const cache = new SampleCache({ ...generated(), ...source } as never, () => changes++);
  const settled = async () => { while (cache.busy) await new Promise((resolve) => setTimeout(resolve, 10)); };
  const whole = { begin: 0, end: 1000 }, part = { begin: 400, end: 500 };
  assert.equal(cache.of(0, whole), null);
  assert.equal(cache.of(1, whole), null);
  await settled();
  assert.deepEqual([changes, asked.length], [1, 1]);
  assert.equal(cache.of(0, whole)!.alone, false);
  assert.equal(cache.of(0, part)!.alone, false, "the coarse ones stay until then");
  await settled();
  const lane = cache.of(0, part)!;
  assert.ok(lane.alone && cache.known(0) === lane);
  cache.of(0, { begin: 440, end: 460 });
  assert.ok(!cache.busy && asked.length === 2, "each sample is known");
  cache.renew(true);
  const old = cache.of(0, part)!;
  assert.deepEqual([sampleBarsOf(old, part, 100), old.alone], [sampleBarsOf(lane, part, 100), true], "the old ones are drawn until the new ones are there");
  await settled();
  assert.notEqual(cache.of(0, part), old);
  assert.deepEqual([asked.length, cache.busy], [3, false]);
  cache.renew(false);
  assert.equal(cache.known(0), undefined);
});
