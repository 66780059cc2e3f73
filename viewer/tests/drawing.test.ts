import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, DARK_THEME, hex, LIGHT_THEME, pixel, textOver, textUpon, waitingColour } from "../src/colour";
import { causeKey, COLOURINGS, isLibrary, LIBRARIES, Painting, rankKey, WAITS } from "../src/palette";
import { COLUMNS, FIRST_PROCESS, NONE, type Region, type TileKey } from "../src/model";
import { generated } from "../src/source/generated";
import { emptyTile } from "../src/source/cells";
import { isEmpty, parseQuery, regionsOf } from "../src/source/match";
import { SourceError } from "../src/source/source";
import { csv } from "../src/save";
import { Cache } from "../src/timeline/cache";
import { suspensionIn } from "../src/causes";
import { barsOf, crowd } from "../src/timeline/crowd";
import { inLane, lanesOf, memberAt } from "../src/timeline/lanes";
import { Line } from "../src/timeline/lines";
import { slots } from "../src/timeline/renderer";
import { between, waitingOf } from "../src/timeline/waiting";
import { levelFor } from "../src/timeline/scale";

const background = pixel("#ffffff");
const colours = Uint32Array.of(pixel("#ff0000"), pixel("#00ff00"));
const range = { begin: 0, end: 100 };

function lineOf(calls: [number, number, number][], width: number): Line {
  const line = new Line(width, background, colours);
  line.clear();
  const of = (part: 0 | 1 | 2) => calls.map((call) => call[part]);
  const exact = { count: calls.length, complete: true, begin: Float64Array.from(of(0)), end: Float64Array.from(of(1)), region: Int32Array.from(of(2)), depth: new Int32Array(calls.length) };
  const key: TileKey = { track: 0, level: 0, index: 0, rows: 2 };
  const tile = { rows: 2, allRows: 2, exact: true, off: new Uint8Array(COLUMNS), waiting: new Uint8Array(COLUMNS), cause: new Uint8Array(COLUMNS), region: new Int32Array(2 * COLUMNS).fill(NONE), cover: new Uint8Array(2 * COLUMNS) };
  line.draw([{ key, tile, calls: exact }], key, 1, range);
  return line;
}

test("wide calls end with a gap, so that equal neighbours are two", () => {
  const line = lineOf([[0, 50, 0], [50, 100, 0]], 100);
  assert.deepEqual([line.regions[0], line.regions[48], line.regions[49], line.regions[50], line.regions[98]], [0, 0, NONE, 0, 0]);
  assert.equal(line.pixels[49], background);
  assert.equal(line.pixels[10], colours[0]);
});

test("calls thinner than a pixel are as strong as what they cover, and never vanish", () => {
  const one = lineOf([[10, 10.01, 0]], 10).pixels[1];
  const many = lineOf(Array.from({ length: 9 }, (_, i): [number, number, number] => [10 + i, 10.9 + i, 0]), 10).pixels[1];
  const green = (colour: number) => (colour >> 8) & 255;
  assert.ok(one !== background && green(one) > green(many) && green(many) > 0);
  assert.equal(lineOf([[10, 10, 1]], 10).regions[1], 1);
  const { parts } = lineOf([[10, 12, 0], [20, 100, 1]], 10);
  assert.deepEqual([parts[1].toFixed(3), parts[2]], ["0.200", 1], "and the waiting drawn upon them");
});

test("a coarser picture stays until the finer is there", async () => {
  const source = generated();
  const run = await source.run();
  let changes = 0;
  const cache = new Cache(source, () => changes++, (error) => assert.fail(error));
  const coarse = { track: 0, level: 12, index: 0, rows: 5 }, fine = { track: 0, level: 11, index: 1, rows: 5 };
  assert.deepEqual(cache.pieces(coarse), []);
  cache.fetch();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(changes, 1);
  assert.deepEqual(cache.pieces(fine).map((piece) => piece.key), [coarse]);
  cache.fetch();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(cache.pieces(fine).map((piece) => piece.key), [fine]);
  assert.ok(run.length > 4 ** 11 * COLUMNS);
});

test("what is fetched ahead is fetched once, and only when nothing else is", async () => {
  let asked = 0;
  const source = generated();
  const tiles = source.tiles.bind(source);
  source.tiles = (keys) => ((asked += keys.length), tiles(keys));
  const cache = new Cache(source, () => {}, (error) => assert.fail(error));
  const keys = [0, 1].map((track) => ({ track, level: 11, index: 0, rows: 3 }));
  const settle = () => new Promise((resolve) => setTimeout(resolve, 50));
  cache.pieces({ ...keys[0], index: 1 });
  cache.fetch();
  cache.prefetch(keys);
  assert.equal(asked, 1);
  await settle();
  cache.prefetch(keys);
  await settle();
  cache.prefetch(keys);
  await settle();
  assert.equal(asked, 3);
  assert.deepEqual(cache.pieces(keys[1]).map((piece) => piece.key), [keys[1]]);
});

test("slots cover a range with columns of at most two pixels", () => {
  const keys = slots(0, 1, { begin: 1e6, end: 5e6 }, 1000);
  const width = 4 ** levelFor(4000) * COLUMNS;
  assert.ok(keys[0].index * width <= 1e6 && (keys.at(-1)!.index + 1) * width >= 5e6);
  assert.deepEqual(keys.map((key) => key.index), keys.map((_, i) => keys[0].index + i));
});

test("a crowd of locations is counted by column", () => {
  const location = (begin: number, end: number) => ({ name: "", process: 0, kind: "task" as const, events: 2, begin, end, depth: 1 });
  assert.deepEqual(Array.from(crowd([location(0, 50), location(40, 60), location(99, 99), location(200, 300)], [0, 1, 2, 3], range, 10)), [1, 1, 1, 1, 2, 1, 0, 0, 0, 1]);
  assert.deepEqual([...barsOf(Float64Array.of(0, 1, 100, 50), 20)], [0, 2, 20, 10]);
});

test("locations share a lane when they are not there at the same time", () => {
  const at = (begin: number, end: number) => ({ name: "", process: 0, kind: "task" as const, events: 2, begin, end, depth: 1 });
  const locations = [at(0, 10), at(5, 20), at(10, 12), at(12, 30), at(40, 50)];
  const lanes = lanesOf(locations, [0, 1, 2, 3, 4]);
  assert.deepEqual(lanes, [[0, 2, 3, 4], [1]]);
  assert.deepEqual(inLane(locations, lanes[0], 11, 35), [1, 3]);
  assert.deepEqual([memberAt(locations, lanes[0], 11, 1), memberAt(locations, lanes[0], 35, 2), memberAt(locations, lanes[0], 38, 3)], [2, -1, 4]);
});

test("texts upon all colours are legible", async () => {
  const run = await generated().run();
  for (const theme of [LIGHT_THEME, DARK_THEME]) {
    const painted = COLOURINGS.flatMap((by) => [0, 1, 2].flatMap((process) => new Painting(theme, run, by, "").of(process)));
    const waiting = Object.values(theme.waiting).flatMap((colour) => [colour, hex(between(pixel(colour), theme))]);
    for (const colour of [...painted, ...waiting]) assert.ok(contrast(colour, textUpon(colour)) >= 4.5, `${colour} ${contrast(colour, textUpon(colour))}`);
    assert.ok(contrast(theme.text, theme.background) >= 7 && contrast(theme.faint, theme.background) >= 4.5 && contrast(theme.accent, theme.background) >= 3);
  }
});

test("a text upon light and dark pixels has a rim", () => {
  assert.deepEqual(textOver(new Set([pixel("#ffffff"), pixel("#d0d0d0")])), { colour: "#000000", rim: null });
  assert.deepEqual(textOver(new Set([pixel("#101010")])), { colour: "#ffffff", rim: null });
  assert.notEqual(textOver(new Set([pixel("#2f9c80"), pixel("#1a1f24")])).rim, null);
});

test("hues are the user's functions, greys the libraries, and the legend fades what it has not selected", async () => {
  const run = await generated().run();
  const regions = run.regions.map((region) => (region.module.startsWith("json") || region.module === "threading" ? { ...region, file: "/usr/lib/python3.13/x.py" } : region));
  const painting = new Painting(LIGHT_THEME, { ...run, regions }, "function", "");
  const id = (name: string) => regions.findIndex((region) => region.name === name);
  assert.deepEqual(["json.dumps", "threading.Condition.wait", "plate.Slab.relax"].map((name) => painting.keys[id(name)]), [LIBRARIES, causeKey(3), "plate.Slab.relax"]);
  assert.equal(painting.styles[id("threading.Condition.wait")], waitingColour(LIGHT_THEME, "lock"));
  const own = regions.flatMap((region, i) => (isLibrary(region) || region.idle ? [] : [painting.styles[i]]));
  assert.ok(own.length > 10 && new Set(own.slice(0, 12)).size === 12, "functions of one module differ");
  const lit = new Painting(LIGHT_THEME, { ...run, regions }, "function", "plate.Slab.relax");
  assert.equal(lit.styles[id("plate.Slab.relax")], painting.styles[id("plate.Slab.relax")]);
  assert.ok(contrast(lit.styles[id("json.dumps")], LIGHT_THEME.track) < contrast(painting.styles[id("json.dumps")], LIGHT_THEME.track));
  const kernel = { ...regions[0], file: "", module: "CUDA kernels" };
  assert.ok(!isLibrary(kernel) && isLibrary({ ...kernel, module: "CUDA" }), "kernels have hues, calls of CUDA are grey");
  const work = Float64Array.from(regions, (_, i) => (i === id("work.factor") ? 9 : 1));
  const alone = new Painting(LIGHT_THEME, { ...run, regions: regions.map((region, i) => (i === id("work.factor") ? region : { ...region, file: "" })) }, "function", "");
  assert.equal(new Painting(LIGHT_THEME, { ...run, regions }, "function", "", work).base("work.factor"), alone.base("work.factor"), "the busiest has the hue of its name");
  const ranks = new Painting(LIGHT_THEME, run, "rank", rankKey(1));
  assert.notDeepEqual(ranks.of(0), ranks.of(1));
  assert.equal(waitingColour(LIGHT_THEME, "a word of later versions"), waitingColour(LIGHT_THEME));
});

test("libraries have hues in runs in which they do nearly all", async () => {
  const run = await generated().run(), regions = run.regions.map((region) => ({ ...region, file: "" }));
  const greys = (some: readonly Region[], work?: Float64Array) => new Painting(LIGHT_THEME, { ...run, regions: some }, "function", "", work).keys.includes(LIBRARIES);
  assert.ok(!greys(regions));
  const user = regions.findIndex(({ idle }) => !idle), mixed = regions.map((region, i) => (i === user ? { ...region, file: "/home/me/app.py" } : region));
  const work = (part: number) => Float64Array.from(regions, (_, i) => (i === user ? part : (100 - part) / (regions.length - 1)));
  assert.deepEqual([greys(mixed), greys(mixed, work(6)), greys(mixed, work(4)), greys(mixed, work(0))], [true, true, false, false]);
});

test("what a person searches for", async () => {
  assert.deepEqual(parseQuery("  relax > 50 ms"), { text: "relax", regex: false, longer: 50e6, parameter: null });
  assert.deepEqual(parseQuery("/a > b/"), { text: "a > b", regex: true, longer: 0, parameter: null });
  assert.deepEqual(parseQuery(">1.5us"), { text: "", regex: false, longer: 1500, parameter: null });
  assert.deepEqual(parseQuery("f n = 1000 > 2 s"), { text: "f", regex: false, longer: 2e9, parameter: { name: "n", value: "1000" } });
  assert.deepEqual(parseQuery("key=\"a b\""), { text: "", regex: false, longer: 0, parameter: { name: "key", value: "a b" } });
  assert.ok(isEmpty(parseQuery("  ")));
  const { regions } = await generated().run();
  const names = (text: string) => (regionsOf(parseQuery(text), regions) ?? []).map((region) => regions[region].name);
  assert.deepEqual(names("SLAB."), ["plate.Slab.relax", "plate.Slab.measure_change"]);
  assert.deepEqual(names("/^json\\.enc.*iter/"), ["json.encoder._iterencode"]);
  assert.deepEqual(names("pool.py"), ["multiprocessing.pool.worker"]);
  assert.equal(regionsOf(parseQuery("> 1 s"), regions), null);
  assert.throws(() => regionsOf(parseQuery("/[/"), regions), SourceError);
  for (const nonsense of ["> 50", "> 5 bananas", "< 5 ms", ">", "=", "n =", "= 5", "/relax", "relax >", "> 1.2.3 ms"]) assert.throws(() => parseQuery(nonsense), /is not understood/, nonsense);
  for (const name of ["a.<module>", "f.<locals>.g", "<lambda>", "/home/u/plate.py"]) assert.equal(parseQuery(name).text, name);
});

test("tables are saved as spreadsheets read them", () => {
  assert.equal(csv([["a", 1, 0.5], ['say "x", y', "line\nbreak", ""]]), 'a,1,0.5\r\n"say ""x"", y","line\nbreak",\r\n');
});

test("the waiting part of a pixel is the waiting part of the calls that cover it", async () => {
  const run = await generated().run(), tile = emptyTile(1);
  tile.cover.fill(255, 0, 2), (tile.cover[2] = 51);
  tile.waiting.set([255, 51, 51]);
  const slot = { track: 0, level: 0, index: 0, rows: 1 };
  tile.cause.set([3, 6, 0]);
  const { shares, causes } = waitingOf([[slot, [{ key: slot, tile, calls: null }]]], { begin: 0, end: 4 }, 4, run);
  assert.deepEqual(Array.from(shares, (share) => Number(share.toFixed(3))), [1, 0.2, 1, 0]);
  assert.deepEqual([...causes], [3, 6, 0, 0]);
  const all = waitingOf([[slot, [{ key: slot, tile, calls: null }]]], { begin: 0, end: 4 }, 1, run);
  assert.deepEqual([...all.causes], [3], "the cause of most");
});

test("a suspended task waits in all functions around it, for what the functions of its loop tell", async () => {
  const known = await generated().run(), slot = { track: 0, level: 0, index: 0, rows: 3 };
  const regions = known.regions.map((region, id) => ({ ...region, suspended: id === 2, suspends: id === 1 ? 5 : 0, loop: id === 1 }));
  const tile = emptyTile(3);
  // By column: suspended, suspended for two fifths, and at work.
  for (const [row, cells] of [[[2, 255], [0, 255], [0, 255]], [[1, 255], [1, 255], [1, 255]], [[2, 255], [2, 102], [0, 255]]].entries()) {
    for (const [column, [region, cover]] of cells.entries()) (tile.region[row * COLUMNS + column] = region), (tile.cover[row * COLUMNS + column] = cover);
  }
  const of = (one: typeof tile, run: typeof known) => {
    const { shares, causes } = waitingOf([[slot, [{ key: slot, tile: one, calls: null }]]], { begin: 0, end: 3 }, 3, run);
    return [...shares].map((share, x) => [Number(share.toFixed(3)), causes[x]]);
  };
  assert.deepEqual(of(tile, { ...known, regions }), [[1, 5], [0.4, 5], [0, 0]]);
  assert.deepEqual(of(tile, { ...known, regions, causes: false }), [[1, 0], [0.4, 0], [0, 0]], "in a run without causes");
  assert.deepEqual(of({ ...tile, rows: 1 }, { ...known, regions }), [[1, 0], [0, 0], [0, 0]], "on one line, the innermost function is not there");
  const mean = { ...emptyTile(1), region: tile.region.slice(0, COLUMNS), cover: tile.cover.slice(0, COLUMNS) };
  mean.waiting.set([51, 51]), mean.cause.set([5, 5]);
  const process = { ...slot, track: FIRST_PROCESS, rows: 1 };
  const { shares, causes } = waitingOf([[process, [{ key: process, tile: mean, calls: null }]]], { begin: 0, end: 3 }, 3, { ...known, regions });
  assert.deepEqual([...shares].map((share, x) => [Number(share.toFixed(3)), causes[x]]), [[0.2, 5], [0.2, 5], [0, 0]], "of a process, the tile tells what part of its tasks is suspended");
  // 0 is the task, 1 awaits a process, 2 the kernel's message; 3 is the suspension.
  const chain = known.regions.map((region, id) => ({ ...region, suspended: id === 3, suspends: [0, 4, 6, 0][id] ?? 0, loop: id === 1 || id === 2 }));
  assert.deepEqual([suspensionIn(chain, [2, 1, 0]), suspensionIn(chain, [2, 0, 1]), suspensionIn(chain, [0, 1]), suspensionIn(chain, [])], [4, 6, 0, 0], "the outermost before the program's own");
  const deep = emptyTile(5);
  [3, 0, 1, 2, 3].forEach((region, row) => (deep.region.fill(region, row * COLUMNS, row * COLUMNS + 3), deep.cover.fill(255, row * COLUMNS, row * COLUMNS + 3)));
  assert.deepEqual(of(deep, { ...known, regions: chain }), [[1, 4], [1, 4], [1, 4]]);
  assert.deepEqual(of(tile, { ...known, regions, waiting: false }), [[0, 0], [0, 0], [0, 0]], "in a run without waiting");
});

test("waiting has the colours of its causes, which the legend can select", async () => {
  const run = await generated().run(), { regions } = run, id = regions.findIndex((region) => region.idle);
  const painting = new Painting(LIGHT_THEME, run, "function", "");
  assert.deepEqual([painting.keys[id], painting.styles[id], painting.base(causeKey(3))], [causeKey(3), LIGHT_THEME.waiting["lock"], LIGHT_THEME.waiting["lock"]]);
  const lit = new Painting(LIGHT_THEME, run, "function", causeKey(6));
  assert.equal(lit.waiting[6], painting.waiting[6]);
  assert.ok(lit.waiting.every((colour, cause) => cause === 6 || colour !== painting.waiting[cause]), "other causes fade");
  assert.ok(lit.styles.every((colour, region) => colour !== painting.styles[region]), "and so do functions");
  const without = new Painting(LIGHT_THEME, { ...run, causes: false }, "function", "");
  assert.deepEqual([without.keys[id], without.styles[id]], [WAITS, waitingColour(LIGHT_THEME)], "in a run without causes, waiting has one colour");
});
