// The answers of docs/formats/view-http.md, made of a source in memory: what a server would send.
import { type Bundle, type Bundled, COLUMNS, type Gathering, type Paths } from "../src/model";
import type { MemorySource } from "../src/source/memory";
import type { Made } from "./random_run";


export class Bytes {
  private parts: Uint8Array[] = [];
  private size = 0;

  raw(bytes: Uint8Array): this {
    this.parts.push(bytes);
    this.size += bytes.length;
    return this;
  }

  u32(...values: number[]): this {
    return this.raw(new Uint8Array(Uint32Array.from(values, (value) => value >>> 0).buffer));
  }

  f64(values: ArrayLike<number>): this {
    return this.raw(new Uint8Array(Float64Array.from(values).buffer));
  }

  list(values: ArrayLike<number>): this {
    return this.u32(...Array.from(values)).pad();
  }

  pad(): this {
    return this.raw(new Uint8Array((8 - (this.size % 8)) % 8));
  }

  get buffer(): ArrayBuffer {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) all.set(part, at), (at += part.length);
    return all.buffer;
  }
}

export function description({ run }: Made): unknown {
  return {
    version: 1, title: run.title, program: null, host: null, creator: "", start_ns: null, ticks_per_second: run.ticksPerSecond, length: run.length,
    events: run.events, losses: run.losses, cost: null, waiting: run.waiting, causes: run.causes, processes: run.processes, tracks: run.locations, markers: run.markers, communicators: run.communicators,
    regions: run.regions.map((region) => ({ name: region.name, file: region.file, line: region.line, group: region.module, called: region.called })),
  };
}

export function pathsBytes(paths: Paths): ArrayBuffer {
  return new Bytes().u32(paths.parent.length, 0).raw(new Uint8Array(paths.parent.slice().buffer)).raw(new Uint8Array(paths.region.slice().buffer)).pad().buffer;
}

function bundledBytes<T>({ items, count, complete }: Bundled<T>, reals: (keyof T)[], numbers: (keyof T)[]): ArrayBuffer {
  const out = new Bytes().u32(items.length, Number(complete)).f64([count]);
  const of = (key: keyof T) => items.map((item) => item[key] as number);
  for (const key of reals) out.f64(of(key));
  for (const key of numbers) out.list(of(key));
  return out.buffer;
}

export const messagesBytes = (found: Bundled<Bundle>): ArrayBuffer =>
  bundledBytes(found, ["count", "sent", "lastSent", "received", "lastReceived", "bytes", "waitedSender", "waitedReceiver"], ["fromTrack", "toTrack", "communicator", "tag"]);
export const collectivesBytes = (found: Bundled<Gathering>): ArrayBuffer =>
  bundledBytes(found, ["count", "begin", "end", "waited", "sent", "received"], ["track", "communicator", "kind", "operation"]);

/** The answer to a request, whose length is checked. */
export async function answer(made: Made, source: MemorySource, name: string, body: ArrayBuffer | null): Promise<ArrayBuffer | string> {
  const view = new DataView(body ?? new ArrayBuffer(0));
  const u32 = (at: number) => view.getUint32(at, true), f64 = (at: number) => view.getFloat64(at, true);
  const list = (at: number, count: number) => Array.from({ length: count }, (_, i) => u32(at + 4 * i));
  const out = new Bytes();
  if (name === "progress") return JSON.stringify({ state: "ready", events: 1, events_total: 1, message: "" });
  if (name === "run") return JSON.stringify(description(made));
  if (name === "paths") return pathsBytes(made.paths);
  if (name === "tiles") {
    const keys = Array.from({ length: view.byteLength / 24 }, (_, i) => ({ track: u32(24 * i), level: u32(24 * i + 4), index: u32(24 * i + 8) + u32(24 * i + 12) * 2 ** 32, rows: u32(24 * i + 20) }));
    for (const tile of await source.tiles(keys)) {
      const causes = tile.cause.some((cause) => cause > 0);
      out.u32(tile.rows, tile.allRows, 1, Number(causes)).raw(tile.off).raw(tile.waiting).raw(causes ? tile.cause : new Uint8Array()).raw(new Uint8Array(tile.region.buffer)).raw(tile.cover);
      if (tile.region.length !== tile.rows * COLUMNS) throw new Error("wrong tile");
    }
  } else if (name === "calls") {
    const ranges = Array.from({ length: view.byteLength / 32 }, (_, i) => ({ track: u32(32 * i), depths: u32(32 * i + 8), limit: u32(32 * i + 12), begin: f64(32 * i + 16), end: f64(32 * i + 24) }));
    for (const calls of await source.calls(ranges)) out.u32(calls.count, Number(calls.complete)).f64([0]).f64(calls.begin).f64(calls.end).list(calls.region).list(calls.region).list(calls.depth);
  } else if (name === "table") {
    const tracks = list(24, u32(16));
    if (view.byteLength !== 24 + 4 * tracks.length) throw new Error("wrong length");
    const table = await source.profile({ begin: f64(0), end: f64(8), tracks: tracks.length ? tracks : null });
    out.u32(table.count, 1).list(table.path);
    for (const values of [table.visits, table.cutBegin, table.cutEnd, table.own, table.waiting, table.inclusive, table.min, table.max, ...table.causes.slice(1)]) out.f64(values);
  } else if (name === "call") {
    const details = await source.call(u32(0), u32(4), f64(8)), sums = details?.sums;
    return JSON.stringify(details ? { call: { ...details, ...sums, own_waiting: sums?.ownWaiting, own_causes: sums?.ownCauses, sums: undefined, stack: undefined, path: 0 }, stack: details.stack } : { call: null });
  } else if (name === "side") {
    return JSON.stringify(await source.auxiliary());
  } else if (name === "messages" || name === "collectives" || name === "matrix") {
    const tracks = list(32, u32(24));
    if (view.byteLength !== 32 + 4 * tracks.length) throw new Error("wrong length");
    const range = { limit: u32(0), columns: u32(4), begin: f64(8), end: f64(16), tracks: tracks.length ? tracks : null };
    if (name === "messages") return messagesBytes(await source.messages(range));
    if (name === "collectives") return collectivesBytes(await source.collectives(range));
    return bundledBytes(await source.matrix(range), ["count", "bytes", "waitedSender", "waitedReceiver"], ["sender", "receiver"]);
  } else if (name === "source") {
    return JSON.stringify(await source.source(u32(0)));
  } else if (name === "find") {
    const [tracks, regions] = [list(48, u32(40)), list(48 + 4 * u32(40), u32(44))];
    if (view.byteLength !== 48 + 4 * (tracks.length + regions.length)) throw new Error("wrong length");
    const order = (["earliest", "latest", "longest"] as const)[u32(0)];
    const found = await source.find({ order, limit: u32(4), begin: f64(8), end: f64(16), shortest: f64(24), tracks: tracks.length ? tracks : null, regions: regions.length ? regions : null });
    const of = (key: "begin" | "end" | "track" | "depth" | "region") => found.calls.map((call) => call[key]);
    out.u32(found.calls.length, Number(found.complete)).f64(of("begin")).f64(of("end")).list(of("track")).list(of("depth")).list(of("region")).list(of("region"));
  }
  return out.buffer;
}
