// Asks the server of a run and the page that holds the same run inside random questions, and compares all answers.
//
// usage: node build/tests/compare_sources.mjs URL FILE ROUNDS
//
// Of a page that has only an outline of the run, the questions are those that it can answer: whole steps, its levels of tiles.
//
// URL is what `timeloom view --no-browser RUN` prints, FILE what `timeloom view --html FILE RUN` writes. scripts/pages/viewer.py
// --compare does all of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { COLUMNS, FIRST_PROCESS, type MessageRange, type Outline, type Run, type Tile, WHOLE_RUN } from "../src/model";
import { isDeepStrictEqual } from "node:util";
import { open } from "../src/source/embedded";
import { random } from "../src/source/generated";
import { HttpSource } from "../src/source/http";
import type { Source } from "../src/source/source";

const never = new AbortController().signal;

function serverAt(url: string): HttpSource {
  const [base, fragment] = url.split("#");
  const fetchHere = globalThis.fetch;
  globalThis.fetch = ((path: string, options: RequestInit) => fetchHere(base + path, options)) as typeof fetch;
  return new HttpSource(/t=([\w-]+)/.exec(fragment)![1]);
}

/** Single samples, with the names of the functions that they hit in place of numbers, which are of one answer. */
async function samples(source: Source, run: Run, range: MessageRange): Promise<unknown> {
  if (!run.samples || !page.sampled) return null;
  const { functions, hit, ...rest } = await source.sampled!(range, never);
  return { ...rest, hit: Array.from(hit, (one) => functions[one - run.regions.length] ?? one) };
}

/** What a round asks where a page has an outline: the same for both sources. */
async function outlined(source: Source, run: Run, { finest, step }: Outline, seed: number): Promise<Record<string, unknown>> {
  const chance = random(seed);
  const below = (n: number) => Math.floor(chance() * n);
  const steps = Math.floor(run.length / step) + 1, first = below(steps), count = 1 + Math.floor((steps - first) * chance() ** 4);
  const [begin, end] = seed === 1 ? [0, steps * step] : [first * step, (first + count) * step];
  const track = () => below(run.locations.length);
  const tracks = chance() < 0.3 ? null : [track(), track()];
  let coarsest = finest;
  while (COLUMNS * 4 ** coarsest <= run.length) coarsest++;
  const keys = [track(), track(), track(), WHOLE_RUN, FIRST_PROCESS].map((one) => {
    const level = finest + below(coarsest - finest + 1);
    return { track: one, level, index: below(Math.floor(run.length / (COLUMNS * 4 ** level)) + 2), rows: 1 + below(30) };
  });
  const talk = { begin, end, tracks, limit: 1 + below(below(2) ? 8 : 500), columns: 2 ** below(9) };
  const { counters, messages } = await source.auxiliary();
  return {
    tiles: await source.tiles(keys, never), profile: await source.profile({ begin, end, tracks }, never), counters, talk: messages,
    values: await source.values(counters.slice(0, 64).map(({ track, metric }) => ({ track, metric, begin: 0, end: run.length })), never),
    messages: await source.messages(talk, never), collectives: await source.collectives(talk, never), matrix: await source.matrix(talk, never),
    samples: await samples(source, run, talk), longest: await longCall(source, seed),
  };
}

/** One of the longest calls, which an outline has with its callers. */
async function longCall(source: Source, seed: number): Promise<unknown> {
  const { track, depth, begin } = sought[seed % sought.length], call = await source.call(track, depth, begin, never);
  return call && [call.track, call.depth, call.begin, call.end, call.region, call.stack];
}

/** What a round asks: the same for both sources. */
async function answers(source: Source, run: Run, seed: number): Promise<Record<string, unknown>> {
  const chance = random(seed);
  const below = (n: number) => Math.floor(chance() * n);
  const length = Math.max(1, Math.floor(run.length * chance() ** 6)), begin = below(Math.max(1, run.length - length)), end = begin + length;
  const level = below(15), index = Math.floor(begin / (COLUMNS * 4 ** level));
  const track = () => below(run.locations.length);
  const tracks = chance() < 0.3 ? null : [track()];
  const keys = [track(), track(), WHOLE_RUN, FIRST_PROCESS].map((one) => ({ track: one, level, index, rows: 1 + below(30) }));
  const members = [track(), track()], mixed = { track: 2 ** 34, level, index, rows: 1, members };
  const range = { track: track(), depths: 1 + below(20), limit: 1 + below(3000), begin, end };
  const search = { limit: 1 + below(200), begin, end, shortest: below(2) ? 0 : below(100_000), tracks, regions: below(2) ? null : [below(run.regions.length)] };
  const talk = { begin, end, tracks, limit: 1 + below(below(2) ? 8 : 500), columns: 2 ** below(9) };
  const profile = await source.profile({ begin, end, tracks }, never);
  const call = await source.call(track(), below(6), begin, never);
  const side = await source.auxiliary(), counters = side.counters.filter(() => below(side.counters.length) < 8);
  return {
    tiles: await source.tiles([...keys, mixed], never), profile: profile.count ? profile : { ...profile, causes: [] }, calls: await source.calls([range], never),
    earliest: await source.find({ ...search, order: "earliest" }, never), latest: await source.find({ ...search, order: "latest" }, never),
    longest: await source.find({ ...search, order: "longest" }, never),
    gpu: await source.gpu({ begin, end, tracks }, never), side, values: await source.values(counters.map(({ track, metric }) => ({ track, metric, begin, end })), never), messages: await source.messages(talk, never), collectives: await source.collectives(talk, never), matrix: await source.matrix(talk, never),
    samples: await samples(source, run, talk),
    call: call && { ...call, parameters: [] },  // a page does not hold them
  };
}

const [url, file, rounds] = process.argv.slice(2);
const server = serverAt(url);
const page = await open(/id="timeloom-data">([^<]*)</.exec(readFileSync(file, "latin1"))![1]);
const run = await server.run(() => {});
const inside = await page.run(() => {});
for (const key of ["regions", "locations", "processes", "length", "ticksPerSecond", "losses", "markers", "communicators", "metrics"] as const) assert.deepEqual(inside[key], run[key], key);
assert.deepEqual(await page.paths(), await server.paths());
const { calls: sought } = await server.find({ order: "longest", limit: 100, begin: 0, end: run.length + 1, shortest: 1, tracks: null, regions: null }, never);
for (let seed = 1; seed <= Number(rounds); seed++) {
  const ask = (source: Source) => (inside.outline ? outlined(source, run, inside.outline, seed) : answers(source, run, seed));
  const [expected, given] = [await ask(server), await ask(page)];
  const tiles = given["tiles"] as Tile[];
  // Of coarse tiles the server knows one of those that took most of a cell, which need not be the same.
  if (!inside.outline) (expected["tiles"] as Tile[]).forEach((tile, i) => tile.exact || (tiles[i] = { ...tiles[i], exact: false, region: tile.region }));
  for (const name of Object.keys(expected)) assert.ok(isDeepStrictEqual(given[name], expected[name]), `${name} of round ${seed} differ`);
}
console.log(`${rounds} rounds${inside.outline ? " about an outline" : ""}: no answer differs`);
