// A run that is still recorded: its states in the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallDetails, FIRST_PROCESS, type Run } from "../src/model";
import { LiveSource } from "../src/source/live";
import { pathsOf } from "../src/source/source";
import { callNow } from "../src/state/follow";
import { type Moves, movesOf } from "../src/state/grow";
import { Viewing } from "../src/state/view";
import { Cache } from "../src/timeline/cache";
import { FIRST_COUNTER, FIRST_FOLDER } from "../src/timeline/tree";
import { MemorySource } from "../src/source/memory";
import { description, pathsBytes } from "./server";
import { randomRun } from "./random_run";

const made = randomRun(1), { run } = made;
const process = (pid: number) => ({ ...run.processes[0], pid });
const location = (process: number, name: string, thread = 0) => ({ ...run.locations[0], process, name, thread });
const STAY: Moves = { track: (old) => old, region: (old) => old, row: (old) => old, same: true };
const longer = (length: number): Run => ({ ...run, length });

test("numbers stay if things are only added at the end", () => {
  const more = { ...run, locations: [...run.locations, location(0, "new")], regions: [...run.regions, { ...run.regions[0], name: "new" }] };
  assert.equal(movesOf(run, more).same, true);
  assert.equal(movesOf(run, run).same, true);
});

test("threads keep their process, and rows their threads, when a process comes between", () => {
  const before = { ...run, processes: [process(1), process(2)], locations: [location(0, "a", 1), location(1, "b", 2), location(0, "c", 3)] };
  const after = { ...run, processes: [process(1), process(3), process(2)], locations: [location(0, "a", 1), location(1, "n", 5), location(2, "renamed", 2), location(0, "c", 3), location(0, "d", 6)] };
  const moves = movesOf(before, after);
  assert.equal(moves.same, false);
  assert.deepEqual([0, 1, 2].map(moves.track), [0, 2, 3]);
  assert.deepEqual([2, FIRST_PROCESS + 1, FIRST_FOLDER, FIRST_COUNTER + 65536 + 7].map(moves.row), [3, FIRST_PROCESS + 2, FIRST_FOLDER, FIRST_COUNTER + 2 * 65536 + 7]);
});

test("a new thread comes before the tracks of memory and GPUs", () => {
  const main = location(0, "main", 1), memory = { ...location(0, "memory"), kind: "metrics" as const }, gpu = location(0, "GPU 0"), native = location(0, "worker", 7);
  const before = { ...run, locations: [main, memory, gpu, native] };
  const after = { ...run, locations: [main, location(0, "late", 2), memory, location(0, "GPU 1"), gpu, native] };
  assert.deepEqual([0, 1, 2, 3].map(movesOf(before, after).track), [0, 2, 4, 5]);
});

test("regions of the woven run are found by their names and places", () => {
  const [first, ...others] = run.regions;
  const moves = movesOf(run, { ...run, regions: [...others, first] });
  assert.deepEqual([0, 1, -1].map(moves.region), [run.regions.length - 1, 0, undefined]);
});

test("the picture follows the end until it is paused or moved away", () => {
  const viewing = new Viewing(longer(1000));
  viewing.grow(longer(2000), STAY);
  assert.deepEqual(viewing.view.range, { begin: 0, end: 2000 });  // all stays all
  viewing.show({ begin: 1500, end: 2000 });
  viewing.grow(longer(3000), STAY);
  assert.deepEqual(viewing.view.range, { begin: 2500, end: 3000 });
  viewing.show({ begin: 100, end: 200 });
  viewing.grow(longer(4000), STAY);
  assert.deepEqual([viewing.view.range, viewing.view.following], [{ begin: 100, end: 200 }, false]);
  viewing.toggleFollow();
  assert.deepEqual([viewing.view.range, viewing.view.following], [{ begin: 3900, end: 4000 }, true]);
  viewing.toggleFollow();
  viewing.grow(longer(5000), STAY);
  assert.deepEqual(viewing.view.range, { begin: 3900, end: 4000 });
  viewing.showAll();
  viewing.grow(longer(6000), STAY);
  assert.deepEqual(viewing.view.range, { begin: 0, end: 6000 });
});

test("going back pauses following", () => {
  const second = run.ticksPerSecond, viewing = new Viewing(longer(100 * second));
  viewing.show({ begin: 100, end: 200 });
  viewing.lastMinute();
  viewing.back();
  const kept = viewing.view.range;
  assert.deepEqual([viewing.view.following, viewing.view.window], [false, null]);
  viewing.grow(longer(200 * second), STAY);
  assert.deepEqual(viewing.view.range, kept);
  viewing.forward();
  assert.equal(viewing.view.following, false);
});

test("the last minute is followed", () => {
  const second = run.ticksPerSecond, viewing = new Viewing(longer(10 * second));
  viewing.lastMinute();
  assert.deepEqual(viewing.view.range, { begin: 0, end: 10 * second });
  viewing.showAll();
  assert.equal(viewing.view.window, null);
  viewing.lastMinute();
  viewing.grow(longer(20 * second), STAY);
  assert.deepEqual(viewing.view.range, { begin: 0, end: 20 * second });
  viewing.grow(longer(200 * second), STAY);
  assert.deepEqual(viewing.view.range, { begin: 140 * second, end: 200 * second });
  viewing.showAll();
  viewing.grow(longer(300 * second), STAY);
  assert.deepEqual(viewing.view.range, { begin: 0, end: 300 * second });
});

test("the choices of the user move with their numbers", () => {
  const viewing = new Viewing(run);
  viewing.store.set({ folds: new Map([[0, true], [5, true]]), pinned: [1], selection: { begin: 0, end: 5, tracks: [0, 2] }, call: { track: 1, depth: 0, begin: 0, end: 1, region: 2 }, func: 2 });
  const up = (old: number) => (old < 2 ? old + 1 : undefined);
  viewing.grow(run, { track: up, row: up, region: (old) => old + 3, same: false });
  const { folds, pinned, selection, call, func } = viewing.view;
  assert.deepEqual([[...folds], pinned, selection?.tracks, call?.track, call?.region, func], [[[1, true]], [2], [1], 2, 5, 5]);
});

test("a chosen call is found when its times have moved", async () => {
  const chosen = { track: 1, depth: 2, begin: 100, end: 200, region: 3 };
  const answering = (begin: number, end: number, region: number) => ({
    call: async (track: number, depth: number, time: number) => (time < begin || time >= end ? null : { ...chosen, track, depth, begin, end, region } as CallDetails),
  });
  const now = await callNow(answering(102, 203, 3), chosen);
  assert.deepEqual([now?.begin, now?.end], [102, 203]);
  assert.equal(await callNow(answering(100, 200, 3), chosen), null);
  assert.equal(await callNow(answering(102, 203, 4), chosen), null);
});

test("old tiles are drawn until the new ones are there", async () => {
  let changed: () => void = () => undefined;
  const drawn = () => new Promise<void>((resolve) => { changed = resolve; });
  const source = new MemorySource(run, made.paths, made.lanes);
  const cache = new Cache(source, () => changed(), assert.fail);
  const key = { track: 0, level: 3, index: 0, rows: 4 };
  const fetched = async () => { const ready = drawn(); cache.pieces(key); cache.fetch(); await ready; };
  await fetched();
  const [{ tile }] = cache.pieces(key);
  cache.renew(true);
  assert.equal(cache.pieces(key)[0].tile, tile);
  const ready = drawn();
  cache.fetch();
  await ready;
  assert.notEqual(cache.pieces(key)[0].tile, tile);
  cache.renew(false);
  assert.deepEqual(cache.pieces(key), []);
});

test("questions are about the state that was taken", async () => {
  const asked: string[] = [];
  let state = 0;
  globalThis.fetch = (async (url: string) => {
    asked.push(url);
    if (url === "api/live") return new Response(JSON.stringify({ state: state++, stage: "running", age: 0, look: 0, events: 5, message: "" }));
    if (url.endsWith("/run")) return new Response(JSON.stringify(description(made)));
    return new Response(pathsBytes(made.paths));
  }) as typeof fetch;
  const source = new LiveSource("token"), told: number[] = [];
  await source.run(({ events }) => told.push(events));
  await pathsOf(source);
  await pathsOf(source);
  await source.take(7);
  await pathsOf(source);
  assert.deepEqual(told, [5]);
  assert.deepEqual(asked, ["api/live", "api/live", "api/@1/run", "api/@1/paths", "api/@7/run", "api/@7/paths"]);
});

test("a state that is gone aborts its questions", async () => {
  globalThis.fetch = (async () => new Response("gone", { status: 410 })) as typeof fetch;
  await assert.rejects(new LiveSource("token").paths(), { name: "AbortError" });
});
