// The binary answers of docs/formats/view-http.md.
import { type Bundle, type Bundled, type CallRange, type CallRef, type Calls, COLUMNS, type Exchange, type Found, type Gathering, type GpuTimes, type Links, type LinksRange, type Memory, type MemoryQuestion, type MessageRange, type Paths, type Profile, type Sampled, type Search, type Selection, type Tile, type TileKey, type Timed, type Values, type ValuesRange } from "../model";
import { CAUSES } from "../causes";
import { SourceError } from "./source";

/** Reads an answer from start to end; arrays are views of it. */
export class Reader {
  private at = 0;

  constructor(private readonly buffer: ArrayBuffer) {}

  /** The bytes that follow. */
  get left(): number {
    return this.buffer.byteLength - this.at;
  }

  private take(bytes: number): number {
    const from = this.at;
    if (from + bytes > this.buffer.byteLength) throw new SourceError("An answer is shorter than it says.", "Reload the page.");
    this.at += bytes;
    return from;
  }

  u32(): number {
    return new DataView(this.buffer).getUint32(this.take(4), true);
  }

  f64(): number {
    return new DataView(this.buffer).getFloat64(this.take(8), true);
  }

  bytes(count: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(count), count);
  }

  /** Numbers in which -1 stands for NONE. */
  numbers(count: number): Int32Array {
    return new Int32Array(this.buffer, this.take(4 * count), count);
  }

  times(count: number): Float64Array {
    return new Float64Array(this.buffer, this.take(8 * count), count);
  }

  pad(): void {
    this.at = Math.ceil(this.at / 8) * 8;
  }
}

class Writer {
  private readonly view: DataView;
  private at = 0;

  constructor(bytes: number) {
    this.view = new DataView(new ArrayBuffer(bytes));
  }

  u32(...values: number[]): this {
    return this.list(values);
  }

  list(values: readonly number[]): this {
    for (const value of values) this.view.setUint32(this.at, value, true), (this.at += 4);
    return this;
  }

  f64(...values: number[]): this {
    for (const value of values) this.view.setFloat64(this.at, value, true), (this.at += 8);
    return this;
  }

  bytes(values: Uint8Array): this {
    new Uint8Array(this.view.buffer).set(values, this.at);
    this.at += values.length;
    return this;
  }

  get body(): ArrayBuffer {
    return this.view.buffer as ArrayBuffer;
  }
}

const HIGH = 2 ** 32;

export function tilesRequest(keys: readonly TileKey[]): ArrayBuffer {
  const writer = new Writer(24 * keys.length);
  for (const key of keys) writer.u32(key.track, key.level, key.index % HIGH, Math.floor(key.index / HIGH), 0, key.rows);
  return writer.body;
}

export function mixturesRequest(keys: readonly TileKey[]): ArrayBuffer {
  const writer = new Writer(keys.reduce((bytes, { members }) => bytes + 16 + 4 * members!.length, 0));
  for (const { level, index, members } of keys) writer.u32(level, index % HIGH, Math.floor(index / HIGH), members!.length).list(members!);
  return writer.body;
}

export function tilesAnswer(reader: Reader, count: number): Tile[] {
  return Array.from({ length: count }, () => {
    const rows = reader.u32(), allRows = reader.u32();
    const exact = reader.u32() === 1;
    const causes = reader.u32() === 1;
    return { rows, allRows, exact, off: reader.bytes(COLUMNS), waiting: reader.bytes(COLUMNS), cause: causes ? reader.bytes(COLUMNS) : new Uint8Array(COLUMNS), region: reader.numbers(rows * COLUMNS), cover: reader.bytes(rows * COLUMNS) };
  });
}

export function callsRequest(ranges: readonly CallRange[]): ArrayBuffer {
  const writer = new Writer(32 * ranges.length);
  for (const range of ranges) writer.u32(range.track, 0, range.depths, range.limit).f64(range.begin, range.end);
  return writer.body;
}

export function callsAnswer(reader: Reader, count: number): Calls[] {
  return Array.from({ length: count }, () => {
    const size = reader.u32(), complete = reader.u32() === 1;
    reader.f64();
    const begin = reader.times(size), end = reader.times(size);
    const [, region, depth] = [padded(reader, size), padded(reader, size), padded(reader, size)];
    return { count: size, complete, begin, end, region, depth };
  });
}

function padded(reader: Reader, count: number): Int32Array {
  const result = reader.numbers(count);
  reader.pad();
  return result;
}

export function pathsAnswer(reader: Reader): Paths {
  const count = reader.u32();
  reader.u32();
  return { parent: reader.numbers(count), region: reader.numbers(count) };
}

export function tableRequest(selection: Selection): ArrayBuffer {
  const tracks = selection.tracks ?? [];
  return new Writer(24 + 4 * tracks.length).f64(selection.begin, selection.end).u32(tracks.length, 0).list(tracks).body;
}

export function tableAnswer(reader: Reader): Profile {
  const count = reader.u32();
  reader.u32();
  const path = padded(reader, count);
  const [visits, cutBegin, cutEnd, own, waiting, inclusive, min, max] = Array.from({ length: 8 }, () => reader.times(count));
  return { count, path, visits, cutBegin, cutEnd, own, waiting, causes: reader.left > 0 ? causesOf(reader, waiting) : [], inclusive, min, max };
}

/** The known causes follow; the rest is unknown. */
function causesOf(reader: Reader, waiting: Float64Array): Float64Array[] {
  const known = CAUSES.slice(1).map(() => reader.times(waiting.length));
  return [waiting.map((ticks, i) => ticks - known.reduce((sum, of) => sum + of[i], 0)), ...known];
}

export function gpuAnswer(reader: Reader): GpuTimes {
  const count = reader.u32(), complete = reader.u32() === 1;
  return { complete, path: padded(reader, count), starts: reader.times(count), ticks: reader.times(count) };
}

export function samplesAnswer(reader: Reader): Sampled {
  const count = reader.u32(), more = reader.u32();
  const sums = { complete: true, path: padded(reader, count), starts: reader.times(count), ticks: reader.times(count) };
  return { ...sums, added: { parent: padded(reader, more), region: padded(reader, more) }, functions: new TextDecoder().decode(reader.bytes(reader.left)).split("\n") };
}

export function timedAnswer(reader: Reader): Timed {
  const count = reader.u32();
  reader.u32();
  const [samples, first, last, ticks, most] = Array.from({ length: 5 }, () => reader.times(count));
  const [track, hit, region, line] = Array.from({ length: 4 }, () => padded(reader, count));
  return { count, samples, first, last, ticks, most, track, hit, region, line, functions: new TextDecoder().decode(reader.bytes(reader.left)).split("\n") };
}

export const memoryRequest = ({ amount, process, time }: MemoryQuestion): ArrayBuffer => new Writer(16).u32(amount, process).f64(time).body;

export function memoryAnswer(reader: Reader): Memory {
  const count = reader.u32(), exact = reader.u32() === 1, live = reader.f64(), two = (): [number, number] => [reader.f64(), reader.f64()];
  return { complete: true, exact, live, own: two(), outside: two(), path: padded(reader, count), starts: reader.times(count), ticks: reader.times(count), error: reader.times(count) };
}

export function callRequest(track: number, depth: number, time: number): ArrayBuffer {
  return new Writer(16).u32(track, depth).f64(time).body;
}

export const regionRequest = (region: number): ArrayBuffer => new Writer(4).u32(region).body;

export function valuesRequest(ranges: readonly ValuesRange[]): ArrayBuffer {
  const writer = new Writer(24 * ranges.length);
  for (const range of ranges) writer.u32(range.track, range.metric).f64(range.begin, range.end);
  return writer.body;
}

export function valuesAnswer(reader: Reader, count: number): Values[] {
  return Array.from({ length: count }, () => {
    const size = reader.u32();
    reader.u32();
    const [begin, end, min, max, mean, last] = Array.from({ length: 6 }, () => reader.times(size));
    return { count: size, begin, end, min, max, mean, last };
  });
}

export const linksRequest = ({ track, begin, end, limit }: LinksRange): ArrayBuffer => new Writer(24).u32(track, limit).f64(begin, end).body;

const KINDS = ["creates", "awaited", "wakes", "launches", "takes"] as const;

export function linksAnswer(reader: Reader): Links {
  const count = reader.u32(), complete = reader.u32() === 1;
  const from = reader.times(count), to = reader.times(count);
  const [fromTrack, toTrack, kind] = [padded(reader, count), padded(reader, count), padded(reader, count)];
  const links = Array.from({ length: count }, (_, i) => ({ kind: KINDS[kind[i]] ?? "wakes", from: from[i], to: to[i], fromTrack: fromTrack[i], toTrack: toTrack[i] }));
  return { links, complete };
}

export function messagesRequest({ begin, end, tracks, limit, columns }: MessageRange): ArrayBuffer {
  const list = tracks ?? [];
  return new Writer(32 + 4 * list.length).u32(limit, columns).f64(begin, end).u32(list.length, 0).list(list).body;
}

/** Items of an answer, field by field: the 64-bit fields first, then the 32-bit fields. */
function bundledAnswer<T>(reader: Reader, reals: readonly (keyof T)[], numbers: readonly (keyof T)[]): Bundled<T> {
  const size = reader.u32(), complete = reader.u32() === 1, count = reader.f64();
  const columns = [...reals.map((key) => [key, reader.times(size)] as const), ...numbers.map((key) => [key, Uint32Array.from(padded(reader, size))] as const)];
  const items = Array.from({ length: size }, (_, i) => Object.fromEntries(columns.map(([key, values]) => [key, values[i]])) as T);
  return { items, count, complete };
}

export const messagesAnswer = (reader: Reader): Bundled<Bundle> =>
  bundledAnswer(reader, ["count", "sent", "lastSent", "received", "lastReceived", "bytes", "waitedSender", "waitedReceiver"], ["fromTrack", "toTrack", "communicator", "tag"]);

export const collectivesAnswer = (reader: Reader): Bundled<Gathering> =>
  bundledAnswer(reader, ["count", "begin", "end", "waited", "sent", "received"], ["track", "communicator", "kind", "operation"]);

export const matrixAnswer = (reader: Reader): Bundled<Exchange> =>
  bundledAnswer(reader, ["count", "bytes", "waitedSender", "waitedReceiver"], ["sender", "receiver"]);

export function findRequest(search: Search): ArrayBuffer {
  const tracks = search.tracks ?? [], regions = search.regions ?? [];
  const parameters = search.parameter?.parameters ?? [], text = new TextEncoder().encode(search.parameter?.value ?? "");
  const more = search.parameter ? 4 + 4 * parameters.length + text.length : 0;
  const writer = new Writer(48 + 4 * (tracks.length + regions.length) + more)
    .u32(["earliest", "latest", "longest"].indexOf(search.order), search.limit)
    .f64(search.begin, search.end, search.shortest, Number.MAX_SAFE_INTEGER)
    .u32(tracks.length, regions.length).list(tracks).list(regions);
  return search.parameter ? writer.u32(parameters.length).list(parameters).bytes(text).body : writer.body;
}

export function findAnswer(reader: Reader): Found {
  const count = reader.u32(), complete = reader.u32() === 1;
  const begin = reader.times(count), end = reader.times(count);
  const track = padded(reader, count), depth = padded(reader, count);
  padded(reader, count);
  const region = padded(reader, count);
  const calls: CallRef[] = Array.from({ length: count }, (_, i) => ({ track: track[i], depth: depth[i], begin: begin[i], end: end[i], region: region[i] }));
  return { calls, complete };
}
