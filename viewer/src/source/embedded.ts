// The data inside a page: the section "Inside a file" of docs/formats/view-http.md.
import { NONE, type Paths, type Run, type SourceText } from "../model";
import { runOf } from "./describe";
import { type Happening, type Lane, LaneBuilder } from "./lane";
import { MemorySource } from "./memory";
import { SourceError } from "./source";
import { SILENCE, type Talk } from "./messages";
import { collectivesAnswer, messagesAnswer, pathsAnswer, Reader } from "./wire";

const ENTER = 0, LEAVE = 1, OTHER = 2;
/** Parameters: int64, uint64, double, string. */
const FIRST_PARAMETER = 2, STRING_PARAMETER = 5, METRIC = 6, WAITING = 15;
const HAPPENINGS: Readonly<Record<number, Happening["kind"]>> = { 11: "create", 12: "begin", 13: "end", 14: "wait" };

/** Texts of parameters by their numbers. */
type Strings = Readonly<Record<string, string>>;

const damaged = () => new SourceError("The data in this page are damaged.", "Make the file again with “timeloom view RUN --html FILE”.");

export async function open(base64: string): Promise<MemorySource> {
  return decode(await unpack(base64));
}

async function unpack(base64: string): Promise<ArrayBuffer> {
  let packed: Uint8Array<ArrayBuffer>;
  try {
    const text = atob(base64.trim());
    packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return await new Response(stream).arrayBuffer();
  } catch {
    throw damaged();
  }
}

/** The source of the sections, without the packing. */
export function decode(data: ArrayBuffer): MemorySource {
  const reader = new Reader(data);
  let run: Run | null = null, paths: Paths | null = null;
  let strings: Strings = {};
  let sources: Record<number, SourceText> | null = null;
  let talk: Talk = SILENCE;
  const lanes: Lane[] = [], tracks: Uint8Array[] = [];
  for (;;) {
    const tag = reader.u32(), size = reader.u32();
    if (tag === 0) break;
    const content = reader.bytes(size);
    reader.pad();
    if (tag === 1) run = runOf(JSON.parse(new TextDecoder().decode(content)));
    if (tag === 2) paths = pathsAnswer(new Reader(content.slice().buffer));
    if (tag === 4) sources = JSON.parse(new TextDecoder().decode(content)) as Record<number, SourceText>;
    if (tag === 5) strings = JSON.parse(new TextDecoder().decode(content)) as Strings;
    if (tag === 6) talk = { ...talk, facts: JSON.parse(new TextDecoder().decode(content)) as Talk["facts"] };
    if (tag === 7) talk = { ...talk, messages: messagesAnswer(new Reader(content.slice().buffer)).items };
    if (tag === 8) talk = { ...talk, collectives: collectivesAnswer(new Reader(content.slice().buffer)).items };
    if (tag === 3) tracks.push(content);
  }
  if (!run || !paths) throw damaged();
  for (const content of tracks) readTrack(content, run, paths, strings, lanes);
  for (let track = 0; track < run.locations.length; track++) lanes[track] ??= new LaneBuilder().finish(0);
  const known = (track: number) => run.locations[track] !== undefined;
  if (!talk.messages.every((one) => known(one.fromTrack) && known(one.toTrack)) || !talk.collectives.every((one) => known(one.track))) throw damaged();
  return new MemorySource(run, paths, lanes, sources, talk);
}

function readTrack(content: Uint8Array, run: Run, paths: Paths, strings: Strings, lanes: Lane[]): void {
  const head = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const track = head.getUint32(0, true), nodes = head.getUint32(4, true);
  if (!run.locations[track] || 8 + 4 * nodes > content.byteLength) throw damaged();
  const list = Array.from({ length: nodes }, (_, node) => head.getInt32(8 + 4 * node, true));
  lanes[track] = new TrackReader(content, 8 + 4 * nodes, run, paths, childrenOf(list, paths), strings).read(run.locations[track].end);
}

/** The call paths that the nodes of a track have as children, by call path; NONE: the outermost. */
function childrenOf(nodes: readonly number[], paths: Paths): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const path of nodes) {
    const parent = paths.parent[path];
    const list = children.get(parent);
    if (list) list.push(path); else children.set(parent, [path]);
  }
  return children;
}

const bits = new DataView(new ArrayBuffer(8));

/** The value that 64 bits stand for. */
function valueOf(value: bigint, type: "int64" | "uint64" | "double"): bigint | number {
  if (type === "uint64") return value;
  if (type === "int64") return BigInt.asIntN(64, value);
  bits.setBigUint64(0, value);
  return bits.getFloat64(0);
}

class TrackReader {
  private readonly lane = new LaneBuilder();
  private readonly stack: number[] = [];
  private time = 0;

  constructor(
    private readonly bytes: Uint8Array, private at: number, private readonly run: Run, private readonly paths: Paths,
    private readonly children: Map<number, number[]>, private readonly strings: Strings,
  ) {}

  read(end: number): Lane {
    while (this.at < this.bytes.length) this.event();
    return this.lane.finish(Math.max(end, this.time));
  }

  private event(): void {
    const word = this.varint();
    const kind = word % 4, before = this.time;
    this.time += (word - kind) / 4;
    if (kind === ENTER) this.enter(this.varint());
    else if (kind === LEAVE) this.leave();
    else if (kind === OTHER) this.other(this.varint(), this.varint(), this.varint64(), before);
    else this.lane.switchRecording(this.time);
  }

  private enter(child: number): void {
    const here = this.stack.length ? this.stack[this.stack.length - 1] : NONE;
    // A call beyond the limit of call paths stays in its node, and says its region itself.
    const path = here !== NONE && this.paths.region[here] === NONE ? here : this.children.get(here)?.[child];
    if (path === undefined) throw damaged();
    const region = this.paths.region[path] === NONE ? this.varint() : this.paths.region[path];
    this.stack.push(path);
    this.lane.enter(this.time, path, region);
  }

  private leave(): void {
    this.stack.pop();
    this.lane.leave(this.time);
  }

  /** Numbers of kinds and types of values are those of src/core/event.hpp. */
  private other(kind: number, ref: number, value: bigint, before: number): void {
    if (kind === WAITING) this.lane.wait(before, this.time, Math.min(Number(value), this.time - before));
    const happening = HAPPENINGS[kind];
    if (happening) this.lane.happen({ kind: happening, number: value, time: this.time });
    else if (kind === METRIC && this.run.metrics[ref]) this.lane.sample(ref, this.time, Number(valueOf(value, this.run.metrics[ref].type)));
    else if (kind >= FIRST_PARAMETER && kind < METRIC && this.run.parameters[ref] !== undefined) {
      const text = kind === STRING_PARAMETER ? this.strings[String(value)] : String(valueOf(value, (["int64", "uint64", "double"] as const)[kind - FIRST_PARAMETER]));
      if (text !== undefined) this.lane.give(ref, text);
    }
  }

  private varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined || shift > 63n) throw damaged();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }

  /** Up to 2^53; shifts would end at 32 bits. */
  private varint(): number {
    let value = 0, scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw damaged();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }
}
