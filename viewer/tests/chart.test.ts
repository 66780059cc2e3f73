// Bands of values.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Values } from "../src/model";
import { bandsOf, extremes, highest, measuredAt } from "../src/timeline/chart";
import { measuredText, valueText } from "../src/format";
import { LaneBuilder } from "../src/source/lane";
import { linksOf, MemorySource } from "../src/source/memory";
import { MetricValues } from "../src/source/series";
import { randomRun } from "./random_run";

function valuesOf(...pairs: [number, number][]): Values {
  const time = Float64Array.from(pairs, ([at]) => at), value = Float64Array.from(pairs, ([, one]) => one);
  return { count: pairs.length, begin: time, end: time, min: value, max: value, mean: value, last: value };
}

const columns = (...args: Parameters<typeof bandsOf>) => bandsOf(...args).map((band) => band && [band.top, band.bottom]);

test("a value stays until the next, the last until the end, and steps are lines", () => {
  const range = { begin: 0, end: 100 }, two = valuesOf([10, 0], [50, 10]);
  assert.deepEqual(columns(two, range, 10, 11, 75), [null, [10, 10], [10, 10], [10, 10], [10, 10], [0, 10], [0, 0], [0, 0], null, null]);
  assert.deepEqual(columns(two, { begin: 20, end: 40 }, 4, 11, 75), Array(4).fill([6, 6]));
  assert.deepEqual(extremes(valuesOf([10, 3], [50, 10], [90, 20]), { begin: 20, end: 60 }), [3, 10]);
  assert.deepEqual(columns(valuesOf([10, 5]), range, 10, 11, 10)[1], [6, 6]);
  assert.deepEqual([valueText(1234567), valueText(-5), valueText(0.123456789)], ["1,234,567", "−5", "0.123457"]);
  assert.deepEqual([measuredText(110e6, "bytes"), measuredText(1234, "items"), measuredText(7, "")], ["110 MB", "1,234 items", "7"]);
});

test("before its first value a counter has neither a band nor extremes", () => {
  const late = valuesOf([50, 3], [60, 4]), before = { begin: 0, end: 40 };
  assert.equal(extremes(late, before), null);
  assert.deepEqual(bandsOf(late, before, 3, 11, 75), [null, null, null]);
});

test("the highest of the columns is the first with the largest value", () => {
  const bands = bandsOf(valuesOf([10, 2], [30, 9], [50, 4], [70, 9]), { begin: 0, end: 100 }, 10, 11, 90);
  assert.deepEqual(highest(bands), { x: 3, top: 0 });
});

test("the mean of a column is that over time", () => {
  const bands = bandsOf(valuesOf([0, 0], [15, 10]), { begin: 0, end: 20 }, 1, 11, 20);
  assert.deepEqual(bands, [{ top: 0, bottom: 10, mean: 8 }]);
});

test("of many values neighbours are summed up, and few of them are there one by one", () => {
  const value = (i: number) => (i * 7919) % 1000;
  const values = new MetricValues(Array.from({ length: 20_000 }, (_, i) => [10 * i, value(i)]).flat());
  const all = values.in(0, 1e9);
  assert.equal(all.count, 2500);
  const first = [0, 1, 2, 3, 4, 5, 6, 7].map(value);
  assert.deepEqual([all.begin[0], all.end[0], all.min[0], all.max[0], all.last[0]], [0, 70, Math.min(...first), Math.max(...first), value(7)]);
  assert.equal(all.mean[0], first.reduce((sum, one) => sum + one) / 8);
  const few = values.in(95_000, 95_010);
  assert.deepEqual([...few.begin], [94_990, 95_000, 95_010, 95_020]);
  assert.deepEqual(measuredAt(few, 95_015), { min: value(9501), mean: value(9501), max: value(9501) });
  assert.equal(measuredAt(few, 5), null);
});

test("values, parameters and links of a page", async () => {
  const lane = (track: number) => {
    const builder = new LaneBuilder();
    builder.enter(0, 0, 0);
    builder.give(0, "7");
    builder.sample(0, 5, 1.5);
    builder.sample(0, 9, 2.5);
    builder.happen({ kind: track ? "begin" : "create", number: 3n, time: 4 + track });
    builder.happen({ kind: track ? "end" : "wait", number: 3n, time: track ? 8 : 9 });
    builder.happen({ kind: track ? "woken" : "wakes", number: 3n, time: track ? 12 : 11 });
    builder.happen({ kind: "wakes", number: BigInt(4 + track), time: 13 });
    builder.happen({ kind: track ? "work" : "call", number: 3n, time: track ? 17 : 14 });
    if (track) builder.happen({ kind: "work", number: 3n, time: 18 });
    return builder.finish(20);
  };
  const made = randomRun(1), lanes = [lane(0), lane(1)];
  const source = new MemorySource({ ...made.run, locations: made.run.locations.slice(0, 2) }, made.paths, lanes);
  assert.deepEqual((await source.auxiliary()).counters, [{ track: 0, metric: 0, values: 2 }, { track: 1, metric: 0, values: 2 }]);
  assert.deepEqual([...(await source.values([{ track: 1, metric: 0, begin: 6, end: 20 }]))[0].last], [1.5, 2.5]);
  assert.deepEqual([...(await source.values([{ track: 1, metric: 0, begin: 0, end: 6 }]))[0].last], [1.5, 2.5]);
  assert.deepEqual(linksOf(lanes), [{ kind: "creates", from: 4, to: 5, fromTrack: 0, toTrack: 1 }, { kind: "awaited", from: 8, to: 9, fromTrack: 1, toTrack: 0 }, { kind: "wakes", from: 11, to: 12, fromTrack: 0, toTrack: 1 },
    { kind: "launches", from: 14, to: 17, fromTrack: 0, toTrack: 1 }, { kind: "launches", from: 14, to: 18, fromTrack: 0, toTrack: 1 }]);
  const kinds = async (track: number, begin: number, end: number, limit = 9) => (await source.links({ track, begin, end, limit })).links.map((link) => link.kind);
  assert.deepEqual(await kinds(0, 0, 20), ["creates", "awaited", "wakes", "launches", "launches"]);
  assert.deepEqual(await kinds(0, 12, 13), ["creates", "awaited"], "the wake is over");
  assert.deepEqual(await kinds(1, 12, 17), ["creates", "awaited", "wakes", "launches"]);
  assert.deepEqual(await kinds(1, 12, 20, 2), ["creates", "awaited"]);
  assert.deepEqual((await source.call(0, 0, 3))?.parameters, [{ name: "n", value: "7" }]);
  const search = { order: "earliest" as const, limit: 9, begin: 0, end: 99, shortest: 0, tracks: null, regions: null };
  assert.equal((await source.find({ ...search, parameter: { parameters: [0], value: "7" } })).calls.length, 2);
  assert.equal((await source.find({ ...search, parameter: { parameters: [0], value: "8" } })).calls.length, 0);
});
