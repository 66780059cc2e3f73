// Bands of values.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Values } from "../src/model";
import { bandsOf, extremes } from "../src/timeline/chart";
import { valueText } from "../src/format";
import { LaneBuilder } from "../src/source/lane";
import { linksOf, MemorySource } from "../src/source/memory";
import { randomRun } from "./random_run";

function valuesOf(...pairs: [number, number][]): Values {
  const time = Float64Array.from(pairs, ([at]) => at), value = Float64Array.from(pairs, ([, one]) => one);
  return { count: pairs.length, begin: time, end: time, min: value, max: value, mean: value, last: value };
}

test("a value stays until the next, and steps are lines", () => {
  const bands = bandsOf(valuesOf([10, 0], [50, 10]), { begin: 0, end: 100 }, 10, 11);
  assert.deepEqual(bands.map((band) => band && [band.top, band.bottom]), [null, [10, 10], [10, 10], [10, 10], [10, 10], [0, 10], null, null, null, null]);
  assert.deepEqual(extremes(valuesOf([10, 3], [50, 10], [90, 20]), { begin: 20, end: 60 }), [3, 10]);
  assert.deepEqual(bandsOf(valuesOf([10, 5]), { begin: 0, end: 100 }, 10, 11)[1], { top: 6, bottom: 6 });
  assert.deepEqual([valueText(1234567), valueText(-5), valueText(0.123456789)], ["1,234,567", "−5", "0.123457"]);
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
    return builder.finish(20);
  };
  const made = randomRun(1), lanes = [lane(0), lane(1)];
  const source = new MemorySource({ ...made.run, locations: made.run.locations.slice(0, 2) }, made.paths, lanes);
  assert.deepEqual((await source.side()).counters, [{ track: 0, metric: 0, values: 2 }, { track: 1, metric: 0, values: 2 }]);
  assert.deepEqual([...(await source.values([{ track: 1, metric: 0, begin: 6, end: 20 }]))[0].last], [1.5, 2.5]);
  assert.deepEqual([...(await source.values([{ track: 1, metric: 0, begin: 0, end: 6 }]))[0].last], [1.5]);
  assert.deepEqual(linksOf(lanes), [{ kind: "creates", from: 4, to: 5, fromTrack: 0, toTrack: 1 }, { kind: "awaited", from: 8, to: 9, fromTrack: 1, toTrack: 0 }]);
  assert.deepEqual((await source.call(0, 0, 3))?.parameters, [{ name: "n", value: "7" }]);
  const search = { order: "earliest" as const, limit: 9, begin: 0, end: 99, shortest: 0, tracks: null, regions: null };
  assert.equal((await source.find({ ...search, parameter: { parameters: [0], value: "7" } })).calls.length, 2);
  assert.equal((await source.find({ ...search, parameter: { parameters: [0], value: "8" } })).calls.length, 0);
});
