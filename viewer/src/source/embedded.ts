// The data inside a page: the section "Inside a file" of docs/formats/view-http.md.
import { CAUSES } from "../causes";
import { type Memory, type MemoryQuestion, type MessageRange, NONE, type Paths, type Run, type SourceText, type Timed } from "../model";
import { addTo } from "../sorted";
import { runOf } from "./describe";
import { type Happening, type Lane, LaneBuilder } from "./lane";
import { MemorySource } from "./memory";
import { SILENCE, type Talk } from "./messages";
import { type Longest, OutlineSource, type Parts, type Summary } from "./outline";
import { NOT_HERE, type Source } from "./source";
import { isOfRun, timedIn } from "./timed";
import { damaged, Varints } from "./varints";
import { callsAnswer, collectivesAnswer, memoryAnswer, messagesAnswer, pathsAnswer, Reader, timedAnswer, valuesAnswer } from "./wire";

const ENTER = 0, LEAVE = 1, OTHER = 2;
/** Parameters: int64, uint64, double, string. */
const FIRST_PARAMETER = 2, UINT_PARAMETER = 3, STRING_PARAMETER = 5, METRIC = 6, WAITING = 15;
/** Parameters that are ends of wakeups instead of properties of a call: src/core/wakeups.hpp. */
const WAKES: Readonly<Record<string, Happening["kind"]>> = { "timeloom::wakes": "wakes", "timeloom::woken": "woken" };
/** Metrics of the two ends of a launch on a GPU, in ns: src/profile/gpu/gpu_launch.hpp. */
const OF_CALL = "gpu_time", OF_WORK = "gpu_queue_time";
const HAPPENINGS: Readonly<Record<number, Happening["kind"]>> = { 11: "create", 12: "begin", 13: "end", 14: "wait" };

/** Texts of parameters by number. */
type Strings = Readonly<Record<string, string>>;

export async function open(base64: string): Promise<Source> {
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

function parsed(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content)) as unknown;
  } catch {
    throw damaged();
  }
}

/** The description may be JSON of another form. */
function described(json: unknown): Run {
  try {
    return runOf(json);
  } catch {
    throw damaged();
  }
}

/** The source of the sections, without packing. */
export function decode(data: ArrayBuffer): Source {
  const reader = new Reader(data);
  let run: Run | null = null, paths: Paths | null = null;
  let strings: Strings = {};
  let sources: Record<number, SourceText> | null = null;
  let talk: Talk = SILENCE;
  let outline: OutlineJson | null = null;
  const memory = new Map<number, Memory>();
  let timed: Timed | null = null;
  const lanes: Lane[] = [], tracks: Uint8Array[] = [], tiles: Uint8Array[] = [], sums: Uint8Array[] = [], summaries: Summary[] = [], longest: Longest[] = [];
  for (;;) {
    const tag = reader.u32(), size = reader.u32();
    if (tag === 0) break;
    const content = reader.bytes(size);
    reader.pad();
    const json = () => parsed(content);
    if (tag === 1) run = described(json());
    if (tag === 2) paths = pathsAnswer(new Reader(content.slice().buffer));
    if (tag === 4) sources = json() as Record<number, SourceText>;
    if (tag === 5) strings = json() as Strings;
    if (tag === 6) talk = { ...talk, facts: json() as Talk["facts"] };
    if (tag === 7) talk = { ...talk, messages: messagesAnswer(new Reader(content.slice().buffer)).items };
    if (tag === 8) talk = { ...talk, collectives: collectivesAnswer(new Reader(content.slice().buffer)).items };
    if (tag === 3) tracks.push(content);
    if (tag === 9) tiles.push(content);
    if (tag === 10) sums.push(content);
    if (tag === 11) summaries.push(summaryOf(new Reader(content.slice().buffer)));
    if (tag === 12) outline = json() as OutlineJson;
    if (tag === 13) {
      const of = new Reader(content.slice().buffer), amount = of.f64();
      memory.set(amount, memoryAnswer(of));
    }
    if (tag === 15) longest.push(longestOf(new Reader(content.slice().buffer)));
    if (tag === 14) timed = timedAnswer(new Reader(content.slice().buffer));
  }
  if (!run || !paths) throw damaged();
  for (const content of tracks) readTrack(content, run, paths, strings, lanes);
  for (let track = 0; track < run.locations.length; track++) lanes[track] ??= new LaneBuilder().finish(0);
  const known = (track: number) => run.locations[track] !== undefined;
  if (!talk.messages.every((one) => known(one.fromTrack) && known(one.toTrack)) || !talk.collectives.every((one) => known(one.track))) throw damaged();
  if (![...memory.values()].every(({ path }) => path.every((one) => one in paths.parent))) throw damaged();
  if (timed && !isOfRun(timed, run.regions.length, run.locations.length)) throw damaged();
  const told = run.samples && !timed ? { ...run, facts: [...run.facts, "single samples are not in this file"] } : run;
  const source: Source = outline ? outlineOf(outline, told, paths, { tiles, sums, summaries, sources, talk, longest }) : new MemorySource(told, paths, lanes, sources, talk);
  const samples = timed;
  if (samples) source.sampled = async (range: MessageRange) => timedIn(samples, range);
  return Object.assign(source, { memory: async (question: MemoryQuestion) => memory.get(question.amount) ?? NOT_HERE.memory(question) });
}

/** The limits of an outline; both are levels of tiles. */
interface OutlineJson {
  readonly finest: number;
  readonly step: number;
  readonly all_values: boolean;
}

function outlineOf({ finest, step, all_values: allValues }: OutlineJson, run: Run, paths: Paths, parts: Omit<Parts, "outline" | "allValues">): Source {
  const outline = { finest, step: 4 ** step };
  return new OutlineSource({ ...run, outline, facts: [...run.facts, "pictures and tables, only the longest calls of each row"] }, paths, { ...parts, outline, allValues });
}

function summaryOf(reader: Reader): Summary {
  const track = reader.u32(), metric = reader.u32(), values = reader.f64();
  return { counter: { track, metric, values }, values: valuesAnswer(reader, 1)[0] };
}

function longestOf(reader: Reader): Longest {
  const track = reader.u32();
  reader.u32();
  return { track, calls: callsAnswer(reader, 1)[0] };
}

function readTrack(content: Uint8Array, run: Run, paths: Paths, strings: Strings, lanes: Lane[]): void {
  const head = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const track = head.getUint32(0, true), nodes = head.getUint32(4, true);
  if (!run.locations[track] || 8 + 4 * nodes > content.byteLength) throw damaged();
  const list = Array.from({ length: nodes }, (_, node) => head.getInt32(8 + 4 * node, true));
  lanes[track] = new TrackReader(new Varints(content, 8 + 4 * nodes), run, run.locations[track].process, paths, childrenOf(list, paths), strings).read(run.locations[track].end);
}

/** The call paths of the children of a track's nodes, by call path; NONE: the outermost. */
function childrenOf(nodes: readonly number[], paths: Paths): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const path of nodes) addTo(children, paths.parent[path], [path]);
  return children;
}

const bits = new DataView(new ArrayBuffer(8));

/** The value encoded in 64 bits. */
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
  /** The start of the stretch whose waiting was read last; several causes of it follow each other. */
  private gap = NONE;

  constructor(
    private readonly events: Varints, private readonly run: Run, private readonly process: number, private readonly paths: Paths,
    private readonly children: Map<number, number[]>, private readonly strings: Strings,
  ) {}

  read(end: number): Lane {
    while (!this.events.atEnd) this.event();
    return this.lane.finish(Math.max(end, this.time));
  }

  private event(): void {
    const word = this.events.next();
    const kind = word % 4, before = this.time;
    this.time += (word - kind) / 4;
    if (this.time > before || kind !== OTHER) this.gap = NONE;
    if (kind === ENTER) this.enter(this.events.next());
    else if (kind === LEAVE) this.leave();
    else if (kind === OTHER) this.other(this.events.next(), this.events.next(), this.events.next64(), before);
    else this.lane.switchRecording(this.time);
  }

  private enter(child: number): void {
    const here = this.stack.length ? this.stack[this.stack.length - 1] : NONE;
    // A call beyond the limit of call paths stays in its node and carries its region.
    const path = here !== NONE && this.paths.region[here] === NONE ? here : this.children.get(here)?.[child];
    if (path === undefined) throw damaged();
    const region = this.paths.region[path] === NONE ? this.events.next() : this.paths.region[path];
    this.stack.push(path);
    this.lane.enter(this.time, path, region);
  }

  private leave(): void {
    this.stack.pop();
    this.lane.leave(this.time);
  }

  private value(metric: number, value: number): void {
    this.lane.sample(metric, this.time, value);
    const { name } = this.run.metrics[metric], entered = this.lane.opened();
    if (name === OF_CALL) this.lane.launch(this.time, Math.round((value * this.run.ticksPerSecond) / 1e9));
    if ((name !== OF_CALL && name !== OF_WORK) || entered === null || this.run.ticksPerSecond !== 1e9) return;
    const call = name === OF_CALL ? entered : this.time - value;
    if (!Number.isSafeInteger(call) || call < 0) return;
    this.lane.happen({ kind: name === OF_CALL ? "call" : "work", number: (BigInt(this.process) << 64n) + BigInt(call), time: this.time });
  }

  private wait(cause: number, ticks: number, before: number): void {
    if (cause >= CAUSES.length) throw damaged();
    if (this.gap === NONE) this.gap = before;
    this.lane.wait(this.gap, this.time, ticks, cause);
  }

  /** The numbers of kinds and types of values in src/core/event.hpp. */
  private other(kind: number, ref: number, value: bigint, before: number): void {
    if (kind === WAITING) return this.wait(ref, Number(value), before);
    this.gap = NONE;
    const happening = kind === UINT_PARAMETER ? WAKES[this.run.parameters[ref]] : HAPPENINGS[kind];
    if (happening) this.lane.happen({ kind: happening, number: value, time: this.time });
    else if (kind === METRIC && this.run.metrics[ref]) this.value(ref, Number(valueOf(value, this.run.metrics[ref].type)));
    else if (kind >= FIRST_PARAMETER && kind < METRIC && this.run.parameters[ref] !== undefined) {
      const text = kind === STRING_PARAMETER ? this.strings[String(value)] : String(valueOf(value, (["int64", "uint64", "double"] as const)[kind - FIRST_PARAMETER]));
      if (text !== undefined) this.lane.give(ref, text);
    }
  }
}
