// The outline inside a page answers as all calls in memory do, for whole steps and its levels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMNS, FIRST_PROCESS, type Run, type Tile, WHOLE_RUN } from "../src/model";
import { decode } from "../src/source/embedded";
import type { Lane } from "../src/source/lane";
import { MemorySource } from "../src/source/memory";
import { type Source, SourceError } from "../src/source/source";
import { Viewing } from "../src/state/view";
import { random } from "../src/source/generated";
import { type Made, randomRun } from "./random_run";
import { Bytes, description, pathsBytes } from "./server";

const never = new AbortController().signal;
const STEP = 3, FINEST = 1, COARSEST = 3;

const inMemory = (made: Made) => new MemorySource(made.run, made.paths, made.lanes, null, made.talk);

function varints(...values: number[]): number[] {
  return values.flatMap((value) => {
    const bytes: number[] = [];
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    return [...bytes, value];
  });
}

function tileBytes(tile: Tile): number[] {
  const bytes = varints(tile.allRows, tile.rows + 256);
  for (const row of [tile.off, tile.waiting, tile.cause]) row.forEach((part) => bytes.push(1, part));
  // Runs of two columns at most, and of one row.
  for (let cell = 0; cell < tile.cover.length;) {
    const two = cell % 2 === 0 && tile.cover[cell] === tile.cover[cell + 1] && tile.region[cell] === tile.region[cell + 1];
    bytes.push(...varints(two ? 2 : 1), tile.cover[cell], ...varints(tile.region[cell] + 1));
    cell += two ? 2 : 1;
  }
  return bytes;
}

async function tiles(made: Made, track: number): Promise<Uint8Array> {
  const bytes: number[] = [];
  for (let level = FINEST; level <= COARSEST; level++) {
    for (let index = 0; index * COLUMNS * 4 ** level <= made.run.length; index++) {
      const tile = tileBytes((await inMemory(made).tiles([{ track, level, index, rows: 99 }]))[0]);
      bytes.push(...varints(level, index, track < FIRST_PROCESS ? 1 : 0, tile.length), ...tile);
    }
  }
  return new Uint8Array(new Bytes().u32(track).raw(Uint8Array.from(bytes)).buffer);
}

/** The calls of a lane that lie in one step, and those that lie in more. */
function sorted(lane: Lane, step: number): { short: Map<number, number[]>; long: number[] } {
  const short = new Map<number, number[]>(), long: number[] = [];
  for (let call = 0; call < lane.count; call++) {
    const place = Math.floor(lane.begin[call] / step);
    if (lane.end[call] > (place + 1) * step) long.push(call);
    else short.set(place, [...(short.get(place) ?? []), call]);
  }
  return { short, long };
}

/** One number if no cause is known. */
function waitingBytes(causes: readonly number[]): number[] {
  if (causes.slice(1).every((ticks) => ticks === 0)) return varints(causes[0]);
  return [0, causes.reduce((bits, ticks, cause) => bits + (ticks ? 2 ** cause : 0), 0), ...varints(...causes.filter((ticks) => ticks))];
}

async function sums(made: Made, track: number): Promise<Uint8Array> {
  const lane = made.lanes[track], step = 4 ** STEP, nodes = [...new Set(lane.path)];
  const { short, long } = sorted(lane, step);
  const bytes = varints(long.length);
  let begin = 0, written = 0;
  for (const call of long) {
    bytes.push(...varints(nodes.indexOf(lane.path[call]), lane.begin[call] - begin, lane.end[call] - lane.begin[call]));
    begin = lane.begin[call];
  }
  for (let place = 0; place * step <= made.run.length; place++) {
    const table = await inMemory(made).profile({ begin: place * step, end: (place + 1) * step, tracks: [track] });
    const list: number[] = [];
    let last = 0;
    nodes.forEach((path, node) => {
      const row = table.path.indexOf(path), calls = (short.get(place) ?? []).filter((call) => lane.path[call] === path);
      const own = table.own[row] ?? 0, waiting = table.waiting[row] ?? 0, lengths = calls.map((call) => lane.end[call] - lane.begin[call]);
      if (!own && !calls.length) return;
      const [min, max] = [Math.min(...lengths), Math.max(...lengths)], one = calls.length === 1;
      list.push(...varints((node - last) * 4 + (waiting ? 2 : 0) + (one ? 1 : 0), own), ...(waiting ? waitingBytes(table.causes.map((ticks) => ticks[row])) : []));
      if (one) list.push(...varints(min));
      else list.push(...varints(calls.length, calls.length, ...(calls.length ? [min, max - min] : [])));
      last = node;
    });
    if (!list.length) continue;
    bytes.push(...varints(place - written, list.length), ...list);
    written = place;
  }
  return new Uint8Array(new Bytes().u32(track, nodes.length, ...nodes).raw(Uint8Array.from(bytes)).buffer);
}

/** The calls of a lane that are at least as long as this, as a section. */
function longest(made: Made, track: number, least: number): Uint8Array {
  const lane = made.lanes[track], calls = [...lane.begin.keys()].filter((call) => lane.end[call] - lane.begin[call] >= least);
  const bytes = new Bytes().u32(track, 0, calls.length, calls.length === lane.count ? 1 : 0).f64([2 ** 53 - 1]).f64(calls.map((call) => lane.begin[call])).f64(calls.map((call) => lane.end[call]));
  for (const of of [lane.path, lane.region, lane.depth]) bytes.list(calls.map((call) => of[call]));
  return new Uint8Array(bytes.buffer);
}

async function packed(made: Made, run: Run = made.run, least = Infinity): Promise<ArrayBuffer> {
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const out = new Bytes();
  const section = (tag: number, content: Uint8Array) => out.raw(new Uint8Array(new Bytes().u32(tag, content.length).raw(content).pad().buffer));
  section(1, json(description({ ...made, run })));
  section(2, new Uint8Array(pathsBytes(made.paths)));
  for (const track of [...made.lanes.keys(), FIRST_PROCESS, WHOLE_RUN]) section(9, await tiles(made, track));
  for (const track of made.lanes.keys()) section(10, await sums(made, track));
  const whole = [[10, 20], [20, 30], [1, 2], [3, 4], [2, 3], [3, 4]].reduce((bytes, numbers) => bytes.f64(numbers), new Bytes().u32(1, 0).f64([50]).u32(2, 0));
  section(11, new Uint8Array(whole.buffer));
  if (least < Infinity) for (const track of made.lanes.keys()) section(15, longest(made, track, least));
  section(12, json({ finest: FINEST, step: STEP, all_values: true }));
  section(0, new Uint8Array());
  return out.buffer;
}

async function outlineOf(made: Made, run?: Run, least?: number): Promise<Source> {
  return decode(await packed(made, run, least));
}

test("the longest calls are drawn where they are, and their callers are known", async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const made = randomRun(seed, 2, 60), memory = inMemory(made), keys = made.lanes.map((_, track) => ({ track, level: 0, index: 0, rows: 99 }));
    const [truth, all, some] = [await memory.tiles(keys), await (await outlineOf(made, made.run, 0)).tiles(keys, never), await (await outlineOf(made, made.run, 12)).tiles(keys, never)];
    truth.forEach((tile, track) => {
      const below = (values: Uint8Array | Int32Array) => Array.from(values.slice(COLUMNS, tile.rows * COLUMNS));
      assert.deepEqual([below(all[track].cover), below(all[track].region)], [below(tile.cover), below(tile.region)], "all calls: the exact picture");
      const lane = made.lanes[track], long = [...lane.begin.keys()].filter((call) => lane.end[call] - lane.begin[call] >= 12);
      for (const call of long) for (let column = lane.begin[call]; column < Math.min(COLUMNS, lane.end[call]); column++) {
        const at = (lane.depth[call] + 1) * COLUMNS + column;
        assert.deepEqual([some[track].cover[at], some[track].region[at]], [255, lane.region[call]]);
      }
      assert.ok(long.length > 0 && long.length < lane.count);
    });
    const outline = await outlineOf(made, made.run, 12), lane = made.lanes[0];
    for (let call = 0; call < lane.count; call++) {
      const found = await outline.call(0, lane.depth[call], lane.begin[call], never), expected = await memory.call(0, lane.depth[call], lane.begin[call]);
      // A call without duration may begin at the same time.
      if (expected!.end - expected!.begin < 12) continue;
      assert.deepEqual([found!.begin, found!.end, found!.region, found!.stack], [expected!.begin, expected!.end, expected!.region, expected!.stack]);
      assert.equal(found!.sums, null, "calls inside are not known");
    }
  }
});

test("longest calls without their callers are damage", async () => {
  const made = randomRun(2, 1, 60), lane = made.lanes[0], deep = lane.depth.findIndex((depth) => depth > 0);
  const one = (of: Float64Array | Int32Array) => Float64Array.of(of[deep]);
  const alone: Made = { ...made, lanes: [{ ...lane, count: 1, begin: one(lane.begin), end: one(lane.end), depth: Int32Array.from(one(lane.depth)), path: Int32Array.from(one(lane.path)), region: Int32Array.from(one(lane.region)) }] };
  const section = new Uint8Array(new Bytes().u32(15, longest(alone, 0, 0).length).raw(longest(alone, 0, 0)).pad().raw(new Uint8Array(8)).buffer);
  const whole = new Uint8Array(await packed(made));
  assert.throws(() => decode(new Bytes().raw(whole.slice(0, -8)).raw(section).buffer), SourceError);
});

test("profiles of whole steps are those of all calls", async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const made = randomRun(seed, 3, 60), outline = await outlineOf(made), chance = random(seed), step = 4 ** STEP;
    const steps = Math.floor(made.run.length / step) + 1;
    for (let round = 0; round < 25; round++) {
      const first = round ? Math.floor(chance() * steps) : 0, end = round ? first + 1 + Math.floor(chance() * (steps - first)) : steps;
      for (const tracks of [null, [1], [0, 2]]) {
        const asked = { begin: first * step, end: end * step, tracks };
        const expected = await inMemory(made).profile(asked);
        assert.deepEqual(await outline.profile(asked, never), expected, `seed ${seed}, steps ${first} to ${end}`);
        // What lies between steps is widened to whole ones.
        assert.deepEqual(await outline.profile({ ...asked, begin: asked.begin + 1, end: asked.end - 1 }, never), expected);
      }
    }
  }
});

test("regions that nobody has called have times, but no visits", async () => {
  const made = randomRun(1, 3, 60), run = { ...made.run, regions: made.run.regions.map((region) => ({ ...region, called: region.id !== 0 })) };
  const all = { begin: 0, end: made.run.length, tracks: null };
  const called = await inMemory(made).profile(all);
  const isCalled = (path: number) => made.paths.region[path] !== 0;
  const expected = { ...called };
  for (const name of ["visits", "cutBegin", "cutEnd", "min", "max"] as const) expected[name] = called[name].map((value, i) => (isCalled(called.path[i]) ? value : 0));
  assert.ok(expected.visits.includes(0) && expected.visits.some((visits) => visits > 0));
  const [outline, memory] = [await outlineOf(made, run), inMemory({ ...made, run })];
  assert.deepEqual(await memory.profile(all), expected);
  assert.deepEqual(await outline.profile(all, never), expected);
});

test("tiles of its levels are those of all calls, and others are made of them", async () => {
  for (let seed = 1; seed <= 2; seed++) {
    const made = randomRun(seed, 3, 60), outline = await outlineOf(made);
    const places = [FINEST, 2, COARSEST].flatMap((level) => [0, 1, 7].map((index) => ({ level, index })));
    const keys = [0, 1, 2, FIRST_PROCESS, WHOLE_RUN].flatMap((track) => places.map((place) => ({ track, ...place, rows: 4 })));
    const expected = (await inMemory(made).tiles(keys)).map((tile, i) => ({ ...tile, exact: keys[i].track < FIRST_PROCESS }));
    assert.deepEqual(await outline.tiles(keys, never), expected);
    const [one, fine, coarse, above] = await outline.tiles([{ track: 0, level: FINEST, index: 0, rows: 9 }, { track: 0, level: 0, index: 1, rows: 9 }, { track: 0, level: COARSEST + 1, index: 0, rows: 9 }, { track: 0, level: COARSEST, index: 0, rows: 9 }], never);
    for (let column = 0; column < COLUMNS; column++) {
      assert.equal(fine.region[column], one.region[64 + Math.floor(column / 4)]);
      assert.equal(fine.cover[column], one.cover[64 + Math.floor(column / 4)]);
    }
    // Far above its levels, as beside a run that is a million times as long.
    const [far, beside] = await outline.tiles([0, 1].map((index) => ({ track: 0, level: COARSEST + 10, index, rows: 9 })), never);
    assert.deepEqual([far.region[0], Array.from(far.cover.slice(0, 2))], [above.region[above.cover.slice(0, COLUMNS).findIndex((cover) => cover === Math.max(...above.cover.slice(0, COLUMNS)))], [1, 0]]);
    assert.equal(Math.max(...beside.cover), 0);
    assert.equal(coarse.rows, above.rows);
    assert.equal(coarse.exact || fine.exact, false);
    for (let column = 0; column < 64; column++) assert.equal(coarse.cover[column], Math.ceil([0, 1, 2, 3].reduce((sum, i) => sum + above.cover[4 * column + i], 0) / 4));
  }
});

test("what is not in an outline is not made up", async () => {
  const made = randomRun(1, 3, 40), outline = await outlineOf(made);
  const run = await outline.run(() => {});
  assert.deepEqual(run.outline, { finest: FINEST, step: 4 ** STEP });
  await assert.rejects(outline.find({ order: "earliest", limit: 9, begin: 0, end: 999, shortest: 0, tracks: null, regions: null }, never), SourceError);
  assert.equal(await outline.call(0, 0, 50, never), null);
  const [calls] = await outline.calls([{ track: 0, depths: 9, limit: 9, begin: 0, end: 999 }], never);
  assert.deepEqual([calls.count, calls.complete], [0, false]);
  const side = await outline.auxiliary();
  assert.deepEqual(side.counters, [{ track: 1, metric: 0, values: 50 }]);
  const [all, first] = await outline.values([{ track: 1, metric: 0, begin: 0, end: 999 }, { track: 1, metric: 0, begin: 0, end: 5 }], never);
  assert.deepEqual([all.count, Array.from(all.mean)], [2, [2, 3]]);
  assert.deepEqual([first.count, Array.from(first.begin), Array.from(first.max)], [1, [10], [3]]);
});

test("selections are of whole steps where there is an outline", async () => {
  const run = await (await outlineOf(randomRun(2, 3, 40))).run(() => {});
  const viewing = new Viewing(run), step = 4 ** STEP;
  viewing.select({ begin: step + 1, end: 3 * step - 1, tracks: [1] });
  assert.deepEqual(viewing.scope(), { begin: step, end: 3 * step, tracks: [1] });
  viewing.select({ begin: step + 1, end: run.length, tracks: null });
  assert.deepEqual(viewing.scope(), { begin: step, end: run.length, tracks: null });
  viewing.select(null);
  viewing.show({ begin: 5, end: step - 1 });
  assert.deepEqual(viewing.scope(), { begin: 0, end: step, tracks: null });
});

test("a damaged outline is told", async () => {
  const made = randomRun(2, 1, 10);
  const whole = await packed(made);
  for (let size = 0; size < whole.byteLength - 8; size += 13) {
    assert.throws(() => decode(whole.slice(0, size)), SourceError);
  }
});
