// A run whose calls are all in memory: from a page that contains the data, or generated.
import {
  type Bundle, type Bundled, type CallDetails, type CallRange, type CallRef, type Calls, COLUMNS, type Exchange, FIRST_PROCESS, type Found, type Gathering, type GpuTimes, type Link, type Links, type LinksRange,
  type MessageRange, type Paths, type Profile, type Run,
  type Search, type Selection, type Auxiliary, type SourceText, type Tile, type TileKey, type Values, type ValuesRange, WHOLE_RUN,
} from "../model";
import { CAUSES } from "../causes";
import { emptyTile, mixtureOf, tileOf } from "./cells";
import { eachIn, eachWait, type Happening, type Lane, lowerBound, openAt } from "./lane";
import { bundlesIn, gatheringsIn, matrixOf, SILENCE, type Talk } from "./messages";
import { MetricValues } from "./series";
import { NOT_HERE, type Source, sourceInside } from "./source";
import { profileOf } from "./sums";
import { taskLinks } from "./tasks";

/** The same limit as the server's. */
const MOST_COUNTERS = 512;
const NO_VALUES: readonly number[] = [];

export class MemorySource implements Source {
  /** REQUIRES: a lane for each location of the run. */
  constructor(
    private readonly description: Run, private readonly callPaths: Paths, private readonly lanes: readonly Lane[],
    private readonly sources: Readonly<Record<number, SourceText>> | null = null, private readonly talk: Talk = SILENCE,
  ) {}

  async run(): Promise<Run> {
    return this.description;
  }

  async paths(): Promise<Paths> {
    return this.callPaths;
  }

  async tiles(keys: readonly TileKey[]): Promise<Tile[]> {
    return keys.map((key) => this.tile(key));
  }

  async calls(ranges: readonly CallRange[]): Promise<Calls[]> {
    return ranges.map((range) => this.callsIn(range));
  }

  async profile(selection: Selection): Promise<Profile> {
    const { begin: from, end: to } = selection;
    const size = this.callPaths.parent.length;
    const sums = { visits: 0, cutBegin: 0, cutEnd: 0, own: 0, waiting: 0, inclusive: 0, min: Infinity, max: 0 };
    type Name = keyof typeof sums;
    const all = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, new Float64Array(size).fill(value)])) as Record<Name, Float64Array>;
    const causes = this.description.causes ? CAUSES.map(() => new Float64Array(size)) : [];
    for (const lane of this.selected(selection.tracks)) {
      eachIn(lane, from, to, (call) => {
        const path = lane.path[call];
        const inside = Math.min(lane.end[call], to) - Math.max(lane.begin[call], from);
        all.visits[path]++;
        if (lane.begin[call] < from) all.cutBegin[path]++;
        if (lane.end[call] > to) all.cutEnd[path]++;
        all.own[path] += inside;
        const parent = lane.parent[call];
        if (parent >= 0) all.own[lane.path[parent]] -= inside;
        if (parent < 0 || lane.path[parent] !== path) all.inclusive[path] += inside;
        all.min[path] = Math.min(all.min[path], inside);
        all.max[path] = Math.max(all.max[path], inside);
      });
      eachWait(lane, from, to, (wait, ticks) => {
        all.waiting[lane.path[wait.call]] += ticks;
        if (causes.length) causes[wait.cause][lane.path[wait.call]] += ticks;
      });
    }
    return profileOf(all, causes, this.callPaths, this.description.regions);
  }

  readonly memory = NOT_HERE.memory;
  readonly samples = NOT_HERE.samples;
  readonly estimates = NOT_HERE.estimates;

  async gpu({ begin, end, tracks }: Selection): Promise<GpuTimes> {
    const sums = new Map<number, [starts: number, ticks: number]>();
    for (const { gpu } of this.selected(tracks)) {
      for (let i = 0; i < gpu.length; i += 3) {
        if (gpu[i] < begin || gpu[i] >= end) continue;
        const [starts, ticks] = sums.get(gpu[i + 1]) ?? [0, 0];
        sums.set(gpu[i + 1], [starts + 1, ticks + gpu[i + 2]]);
      }
    }
    const path = Int32Array.from([...sums.keys()].sort((a, b) => a - b)), of = (n: 0 | 1) => Float64Array.from(path, (key) => sums.get(key)![n]);
    return { complete: true, path, starts: of(0), ticks: of(1) };
  }

  async call(track: number, depth: number, time: number): Promise<CallDetails | null> {
    const lane = this.lanes[track];
    const call = lane && callAt(lane, depth, time);
    if (call === undefined) return null;
    const stack: CallRef[] = [];
    for (let outer = lane.parent[call]; outer >= 0; outer = lane.parent[outer]) stack.unshift(refOf(track, lane, outer));
    let ownWaiting = 0, waiting = 0;
    const ownCauses = this.description.causes ? CAUSES.map(() => 0) : [], causes = [...ownCauses];
    eachWait(lane, lane.begin[call], lane.end[call], (wait, ticks) => {
      if (wait.call < call || wait.call >= lane.next[call]) return;
      waiting += ticks;
      if (causes.length) causes[wait.cause] += ticks;
      if (wait.call !== call) return;
      ownWaiting += ticks;
      if (causes.length) ownCauses[wait.cause] += ticks;
    });
    return { ...refOf(track, lane, call), sums: { own: lane.own[call], ownWaiting, waiting, ownCauses, causes, calls: lane.next[call] - call - 1 }, parameters: this.givenTo(lane, call), stack };
  }

  async source(region: number): Promise<SourceText> {
    return sourceInside(this.sources, this.description, region);
  }

  async auxiliary(): Promise<Auxiliary> {
    const counters = this.lanes.flatMap((lane, track) => [...lane.values].map(([metric, values]) => ({ track, metric, values: values.length / 2 })));
    counters.sort((a, b) => a.track - b.track || a.metric - b.metric);
    return { counters: counters.slice(0, MOST_COUNTERS), links: this.allLinks.length, complete: counters.length <= MOST_COUNTERS, messages: this.talk.facts };
  }

  private readonly series = new Map<readonly number[], MetricValues>();

  async values(ranges: readonly ValuesRange[]): Promise<Values[]> {
    return ranges.map(({ track, metric, begin, end }) => {
      const pairs = this.lanes[track]?.values.get(metric) ?? NO_VALUES;
      let known = this.series.get(pairs);
      if (!known) this.series.set(pairs, (known = new MetricValues(pairs)));
      return known.in(begin, end);
    });
  }

  async links({ track, begin, end, limit }: LinksRange): Promise<Links> {
    const has = (onTrack: number, time: number, kind: Link["kind"]) => onTrack === track && (kind === "creates" || kind === "awaited" || (begin <= time && time <= end));
    const mine = this.allLinks.filter((link) => has(link.fromTrack, link.from, link.kind) || has(link.toTrack, link.to, link.kind));
    return { links: mine.slice(0, limit), complete: mine.length <= limit };
  }

  async messages(range: MessageRange): Promise<Bundled<Bundle>> {
    return bundlesIn(this.talk, range);
  }

  async collectives(range: MessageRange): Promise<Bundled<Gathering>> {
    return gatheringsIn(this.talk, range);
  }

  async matrix(range: MessageRange): Promise<Bundled<Exchange>> {
    return matrixOf(this.talk, this.description.locations, range);
  }

  async keep(): Promise<string | null> {
    return null;
  }

  private givenTo(lane: Lane, call: number): CallDetails["parameters"] {
    return (lane.parameters.get(call) ?? []).map(({ parameter, value }) => ({ name: this.description.parameters[parameter] ?? "", value }));
  }

  async find(search: Search): Promise<Found> {
    const wanted = search.regions && new Set(search.regions);
    const found: CallRef[] = [];
    this.lanes.forEach((lane, track) => {
      if (search.tracks?.length && !search.tracks.includes(track)) return;
      for (let call = lowerBound(lane, search.begin); call < lane.count && lane.begin[call] < search.end; call++) {
        if (wanted && !wanted.has(lane.region[call])) continue;
        if (search.parameter && !lane.parameters.get(call)?.some((given) => search.parameter!.parameters.includes(given.parameter) && given.value === search.parameter!.value)) continue;
        if (lane.end[call] - lane.begin[call] >= search.shortest) found.push(refOf(track, lane, call));
      }
    });
    const early = (a: CallRef, b: CallRef) => a.begin - b.begin || a.track - b.track || a.depth - b.depth;
    const length = (call: CallRef) => call.end - call.begin;
    found.sort(search.order === "longest" ? (a, b) => length(b) - length(a) || early(a, b) : search.order === "latest" ? (a, b) => early(b, a) : early);
    return { calls: found.slice(0, search.limit), complete: found.length <= search.limit };
  }

  private knownLinks: readonly Link[] | null = null;

  private get allLinks(): readonly Link[] {
    const { parameters, ticksPerSecond } = this.description;
    return (this.knownLinks ??= [...linksOf(this.lanes), ...taskLinks(this.lanes, parameters, ticksPerSecond)].sort(inOrder));
  }

  tile(key: TileKey): Tile {
    const width = 4 ** key.level, begin = key.index * width * COLUMNS;
    if (key.track < FIRST_PROCESS) {
      const lane = this.lanes[key.track];
      return lane ? tileOf(lane, begin, width, key.rows) : emptyTile(0);
    }
    const process = key.track - FIRST_PROCESS;
    const members = this.lanes.filter((_, track) => key.members ? key.members.includes(track) : key.track === WHOLE_RUN || this.description.locations[track].process === process);
    return mixtureOf(this.description, (rows) => members.map((lane) => tileOf(lane, begin, width, rows)));
  }

  private callsIn(range: CallRange): Calls {
    const lane = this.lanes[range.track];
    const found: number[] = [];
    let complete = true;
    eachIn(lane, range.begin, range.end, (call) => {
      if (lane.depth[call] >= range.depths) return;
      if (found.length < range.limit) found.push(call); else complete = false;
    });
    return {
      count: found.length, complete,
      begin: Float64Array.from(found, (call) => lane.begin[call]), end: Float64Array.from(found, (call) => lane.end[call]),
      region: Int32Array.from(found, (call) => lane.region[call]), depth: Int32Array.from(found, (call) => lane.depth[call]),
    };
  }

  private selected(tracks: readonly number[] | null): Lane[] {
    return this.lanes.filter((_, track) => !tracks?.length || tracks.includes(track));
  }
}

const inOrder = (a: Link, b: Link): number => a.to - b.to || a.toTrack - b.toTrack || a.from - b.from || a.fromTrack - b.fromTrack;

/** Links creations with the starts of the created, ends with the calls that waited for them, wakes with the places where
    the tasks continue, and calls with the work that they launched; sorted by the second. */
export function linksOf(lanes: readonly Lane[]): Link[] {
  const places = { create: [], begin: [], end: [], wait: [], wakes: [], woken: [], call: [], work: [] } as Record<Happening["kind"], { number: string; track: number; time: number }[]>;
  lanes.forEach((lane, track) => lane.happenings.forEach(({ kind, number, time }) => places[kind].push({ number: String(number), track, time })));
  const firsts = (list: { number: string; track: number; time: number }[]) => new Map([...list].reverse().map((place) => [place.number, place]));
  const [begins, ends, goesOn, calls] = [firsts(places.begin), firsts(places.end), firsts(places.woken), firsts(places.call)];
  const links: Link[] = [];
  for (const { number, track, time } of places.create) {
    const begin = begins.get(number);
    if (begin) links.push({ kind: "creates", from: time, to: begin.time, fromTrack: track, toTrack: begin.track });
  }
  for (const { number, track, time } of places.wakes) {
    const woken = goesOn.get(number);
    if (woken) links.push({ kind: "wakes", from: time, to: woken.time, fromTrack: track, toTrack: woken.track });
  }
  for (const { number, track, time } of places.work) {
    const call = calls.get(number);
    if (call) links.push({ kind: "launches", from: call.time, to: time, fromTrack: call.track, toTrack: track });
  }
  for (const { number, track, time } of places.wait) {
    const end = ends.get(number);
    if (end) links.push({ kind: "awaited", from: end.time, to: time, fromTrack: end.track, toTrack: track });
  }
  return links.sort(inOrder);
}

function refOf(track: number, lane: Lane, call: number): CallRef {
  return { track, depth: lane.depth[call], begin: lane.begin[call], end: lane.end[call], region: lane.region[call] };
}

/** The call at a depth with begin <= time < end, or starting at `time` without duration. */
function callAt(lane: Lane, depth: number, time: number): number | undefined {
  for (let call = lowerBound(lane, time); call < lane.count && lane.begin[call] === time; call++) if (lane.depth[call] === depth) return call;
  return openAt(lane, time).find((call) => lane.depth[call] === depth);
}
