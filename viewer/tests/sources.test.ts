// The same questions to all sources have the same answers.
import { runOf } from "../src/source/describe";
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { FIRST_PROCESS, NONE, WHOLE_RUN } from "../src/model";
import { decode, open } from "../src/source/embedded";
import { HttpSource } from "../src/source/http";
import { MemorySource } from "../src/source/memory";
import { type Source, SourceError } from "../src/source/source";
import { type Made, randomRun } from "./random_run";
import { answer, Bytes, collectivesBytes, description, messagesBytes, pathsBytes } from "./server";

const never = new AbortController().signal;

/** The file of a run: section "Inside a file" of the format. */
function packed(made: Made): ArrayBuffer {
  const section = (tag: number, content: Uint8Array) => new Uint8Array(new Bytes().u32(tag, content.length).raw(content).pad().buffer);
  const out = new Bytes().raw(section(1, new TextEncoder().encode(JSON.stringify(description(made))))).raw(section(2, new Uint8Array(pathsBytes(made.paths))));
  made.events.forEach((events, track) => {
    const nodes = [...new Set(events.flatMap((event) => (event.enter ? [event.enter.path] : [])))];
    const bytes: number[] = [];
    const varint = (value: number) => {
      for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
      bytes.push(value);
    };
    const stack: number[] = [];
    let last = 0;
    for (const event of events) {
      varint((event.time - last) * 4 + (event.enter ? 0 : event.waited ? 2 : 1));
      last = event.time;
      if (event.waited) { varint(15), varint(event.cause ?? 0), varint(event.waited); continue; }
      if (!event.enter) { stack.pop(); continue; }
      const here = stack.at(-1) ?? NONE;
      varint(nodes.filter((path) => made.paths.parent[path] === here).indexOf(event.enter.path));
      stack.push(event.enter.path);
    }
    out.raw(section(3, new Uint8Array(new Bytes().u32(track, nodes.length, ...nodes).raw(Uint8Array.from(bytes)).buffer)));
  });
  const { facts, messages, collectives } = made.talk, whole = { count: 0, complete: true };
  out.raw(section(6, new TextEncoder().encode(JSON.stringify(facts))));
  out.raw(section(7, new Uint8Array(messagesBytes({ ...whole, items: messages })))).raw(section(8, new Uint8Array(collectivesBytes({ ...whole, items: collectives }))));
  return out.raw(section(0, new Uint8Array())).buffer;
}

const inMemory = (made: Made) => new MemorySource(made.run, made.paths, made.lanes, null, made.talk);

function served(made: Made): HttpSource {
  const source = inMemory(made);
  globalThis.fetch = (async (url: string, options: RequestInit) => {
    assert.equal((options.headers as Record<string, string>)["X-Timeloom-Token"], "key");
    return new Response(await answer(made, source, url.replace(/^api\//, ""), options.body as ArrayBuffer | null));
  }) as typeof fetch;
  return new HttpSource("key");
}

async function everything(source: Source): Promise<unknown[]> {
  const run = await source.run(() => {});
  const range = { begin: Math.floor(run.length * 0.2), end: Math.floor(run.length * 0.7) };
  const keys = [0, 1, 2, WHOLE_RUN, FIRST_PROCESS].flatMap((track) => [0, 2, 5].map((level) => ({ track, level, index: level ? 0 : 3, rows: track ? 1 + level : 3 })));
  const answers: unknown[] = [run.regions, run.locations, run.length];
  answers.push(await source.paths(), await source.tiles(keys, never));
  answers.push(await source.calls([{ track: 0, depths: 4, limit: 30, ...range }, { track: 2, depths: 9, limit: 9999, ...range }], never));
  for (const tracks of [null, [1], [0, 2]]) {
    answers.push(await source.profile({ ...range, tracks }, never));
    for (const order of ["earliest", "latest", "longest"] as const) answers.push(await source.find({ ...range, order, limit: 20, shortest: 3, tracks, regions: tracks && [1, 3] }, never));
  }
  answers.push(await source.auxiliary());
  for (const tracks of [null, [1], [0, 2]]) {
    for (const limit of [1, 5, 17, 1000]) {
      const asked = { ...range, tracks, limit, columns: 16 };
      answers.push(await source.messages(asked, never), await source.collectives(asked, never), await source.matrix(asked, never));
    }
  }
  for (let time = 0; time < run.length; time += 97) answers.push(await source.call(1, time % 5, time, never));
  return answers;
}

test("names do not turn the text around them", () => {
  const turned = "\u202eyp.live", named = { version: 1, program: turned, losses: [], markers: [], regions: [{ name: turned }], processes: [{ name: turned }], tracks: [{ name: turned }] };
  const run = runOf(named);
  assert.deepEqual([run.title, run.regions[0].name, run.processes[0].name, run.locations[0].name], Array(4).fill("?yp.live"));
});

test("data of another version are refused with the remedy", () => {
  assert.throws(() => runOf({ version: 2 }), { message: "This page is of another version than its data.", advice: "Reload the page, or make the file anew." });
});

test("the server and the data inside a page answer as the calls in memory", async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const made = randomRun(seed);
    const expected = await everything(inMemory(made));
    for (const source of [served(made), decode(packed(made))]) {
      const answers = await everything(source);
      answers.forEach((given, i) => assert.deepEqual(given, expected[i], `answer ${i} of seed ${seed}`));
    }
  }
});

test("the data of a page are unpacked", async () => {
  const made = randomRun(3);
  const source = await open(gzipSync(new Uint8Array(packed(made))).toString("base64"));
  assert.deepEqual((await source.run(() => {})).locations, made.run.locations);
});

test("calls beyond the limit of call paths keep their regions", () => {
  // One node, beyond the limit, in which all calls are: regions 2, inside it 4, beside it 2.
  const made = randomRun(1, 1, 4);
  const limited: Made = { ...made, paths: { parent: Int32Array.of(NONE, 0), region: Int32Array.of(0, NONE) } };
  const section = (tag: number, content: Uint8Array) => new Uint8Array(new Bytes().u32(tag, content.length).raw(content).pad().buffer);
  const events = [0, 0, /* enter root */ 4 * 4, 0, 2, /* inside: region 2 */ 4 * 4, 0, 4, /* inside that: region 4 */ 4 * 4 + 1, 4 * 4 + 1, 4 * 4, 0, 2, 5, 5];
  const bytes = new Bytes().raw(section(1, new TextEncoder().encode(JSON.stringify(description(limited))))).raw(section(2, new Uint8Array(pathsBytes(limited.paths))))
    .raw(section(3, new Uint8Array(new Bytes().u32(0, 2, 0, 1).raw(Uint8Array.from(events)).buffer))).raw(section(0, new Uint8Array())).buffer;
  return decode(bytes).calls([{ track: 0, depths: 9, limit: 9, begin: 0, end: 999 }], never).then(([calls]) => {
    assert.deepEqual(Array.from(calls.region), [0, 2, 4, 2]);
    assert.deepEqual(Array.from(calls.depth), [0, 1, 2, 1]);
    assert.deepEqual(Array.from(calls.end), [22, 16, 12, 21]);
  });
});

test("damaged data are told, wherever they end", async () => {
  const made = randomRun(2, 1, 10);
  const whole = packed(made);
  for (let size = 0; size < whole.byteLength - 8; size += 3) assert.throws(() => decode(whole.slice(0, size)), SourceError);
  await assert.rejects(open("no base64!"), SourceError);
  await assert.rejects(open(Buffer.from("no gzip").toString("base64")), SourceError);
});

test("problems of the server are told in words", async () => {
  const failing = (response: () => Response | Promise<Response>) => {
    globalThis.fetch = (async () => response()) as typeof fetch;
    return new HttpSource("").paths();
  };
  await assert.rejects(failing(() => new Response("no", { status: 401 })), /no valid key/);
  await assert.rejects(failing(() => new Response("limit is 0\n", { status: 400 })), /^Error: limit is 0$/);
  await assert.rejects(failing(() => { throw new TypeError("Failed to fetch"); }), /does not answer/);
});

test("memory and samples are read from the server, and memory from the data inside a page", async () => {
  const made = randomRun(4);
  const held = new Bytes().u32(2, 0).f64([500, 30, 3, 40, 4]).list([0, 1]).f64([1, 2]).f64([100, 200]).f64([0, 12]).buffer;
  const expected = { complete: true, exact: false, live: 500, own: [30, 3], outside: [40, 4], path: Int32Array.of(0, 1), starts: Float64Array.of(1, 2), ticks: Float64Array.of(100, 200), error: Float64Array.of(0, 12) };
  const asked: [string, ArrayBuffer][] = [];
  globalThis.fetch = (async (url: string, options: RequestInit) => {
    asked.push([url, options.body as ArrayBuffer]);
    return new Response(url === "api/memory" ? held : new Bytes().u32(1, 1).list([7]).f64([3]).f64([900]).list([1]).list([6]).raw(new TextEncoder().encode("libm: sin\nlibc: ß\n")).buffer);
  }) as typeof fetch;
  const source = new HttpSource("key"), whole = { begin: 0, end: 9, tracks: null };
  assert.deepEqual(await source.memory({ amount: 3, process: 1, time: 77 }, never), expected);
  assert.deepEqual(await source.memory({ amount: 1, process: NONE, time: 0 }, never), expected);
  assert.deepEqual(asked, [["api/memory", new Bytes().u32(3, 1).f64([77]).buffer], ["api/memory", new Bytes().u32(1, NONE).f64([0]).buffer]]);
  assert.deepEqual(await source.samples(whole, never), { complete: true, path: Int32Array.of(7), starts: Float64Array.of(3), ticks: Float64Array.of(900), added: { parent: Int32Array.of(1), region: Int32Array.of(6) }, functions: ["libm: sin", "libc: ß", ""] });
  globalThis.fetch = (async (url: string, options: RequestInit) => {
    asked.push([url, options.body as ArrayBuffer]);
    return new Response(new Bytes().u32(1, 0).f64([2, 10, 20, 900, 1]).list([3]).list([7]).list([NONE]).list([4]).raw(new TextEncoder().encode("libm: sin\n")).buffer);
  }) as typeof fetch;
  assert.deepEqual(await source.sampled({ begin: 1, end: 9, tracks: [3], limit: 5, columns: 6 }, never), {
    count: 1, samples: Float64Array.of(2), first: Float64Array.of(10), last: Float64Array.of(20), ticks: Float64Array.of(900), most: Float64Array.of(1),
    track: Int32Array.of(3), hit: Int32Array.of(7), region: Int32Array.of(-1), line: Int32Array.of(4), functions: ["libm: sin", ""],
  });
  assert.deepEqual(asked.at(-1), ["api/sampled", new Bytes().u32(5, 6).f64([1, 9]).u32(1, 0).u32(3).buffer]);
  globalThis.fetch = (async () => new Response(JSON.stringify({ functions: [{ region: 1, own: 2, own_error: 3, total: 4, total_error: 5, samples: 6 }], paths: [{ path: 7, own: 2 }], added: { parent: [3], region: [1] } }))) as typeof fetch;
  const { functions, paths, added } = await source.estimates(whole, never);
  assert.deepEqual([...functions.map((one) => [one.region, one.own_error, one.total_error]), paths[0].path, added.parent, added.region], [[1, 3, 5], 7, [3], [1]]);

  const section = (tag: number, content: Uint8Array) => new Uint8Array(new Bytes().u32(tag, content.length).raw(content).pad().buffer);
  const page = (amount: number, path: number) => {
    const answer = new Bytes().f64([amount]).u32(1, 1).f64([0, 0, 0, 0, 0]).list([path]).f64([1]).f64([9]).f64([0]).buffer;
    return decode(new Bytes().raw(new Uint8Array(packed(made)).slice(0, -8)).raw(section(13, new Uint8Array(answer))).raw(section(0, new Uint8Array())).buffer);
  };
  assert.deepEqual((await page(2, 1).memory({ amount: 2, process: NONE, time: 0 }, never)).ticks, Float64Array.of(9));
  assert.throws(() => page(2, made.paths.parent.length), SourceError);
  await assert.rejects(page(2, 1).memory({ amount: 3, process: 0, time: 5 }, never), /held at an instant are not in this page/);
  await assert.rejects(page(2, 1).samples(whole, never), /Samples are not in this page/);
  assert.deepEqual((await page(2, 1).estimates(whole, never)).functions, []);
  assert.equal(page(2, 1).sampled, undefined, "single samples are not in every file");
  const sampledRun = new Bytes().raw(section(1, new TextEncoder().encode(JSON.stringify({ ...(description(made) as object), samples: true })))).raw(section(2, new Uint8Array(pathsBytes(made.paths)))).raw(section(0, new Uint8Array())).buffer;
  assert.equal((await decode(sampledRun).run(() => {})).facts.at(-1), "single samples are not in this file");
  assert.ok(!(await page(2, 1).run(() => {})).facts.includes("single samples are not in this file"));
  const timed = (track: number) => {
    const answer = new Bytes().u32(1, 0).f64([1, 10, 10, 900, 1]).list([track]).list([made.run.regions.length]).list([NONE]).list([4]).raw(new TextEncoder().encode("libm: sin\n")).buffer;
    return decode(new Bytes().raw(new Uint8Array(packed(made)).slice(0, -8)).raw(section(14, new Uint8Array(answer))).raw(section(0, new Uint8Array())).buffer);
  };
  assert.deepEqual((await timed(0).sampled!({ begin: 0, end: 99, tracks: [0], limit: 9, columns: 9 }, never)).ticks, Float64Array.of(900));
  assert.throws(() => timed(made.run.locations.length), SourceError);
});
