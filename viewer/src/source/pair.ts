// Two runs presented as one: the rows of the first, then the rows of the second, on one time axis.
import {
  type Bundle, type Bundled, type CallDetails, type CallRange, type CallRef, type Calls, type CallSums, COLUMNS, type Exchange, FIRST_PROCESS, FIRST_RUN, type Found, type Gathering, type GpuTimes, type Links, type LinksRange,
  type MessageRange, NONE, type ParameterIs, type Paths, type Profile, type Run,
  type Search, type Selection, type Auxiliary, type SourceText, type Tile, type TileKey, type Values, type ValuesRange, WHOLE_RUN,
} from "../model";
import { CAUSES } from "../causes";
import { sumOfTiles } from "./cells";
import { resample } from "./resample";
import { NO_GPU, NOT_HERE, type Source, SourceError } from "./source";
import { OneRun, unifyPaths, unifyRegions, unifyRuns } from "./unify";

/** The point of alignment: the start, or the n-th call of a function in each run. */
export interface Alignment {
  /** Empty: the start. */
  readonly func: string;
  readonly n: number;
}

const never = new AbortController().signal;
/** The highest number of a call to which runs can be aligned: a search returns no more calls. */
export const MOST_NTH = 10_000;

/** The data that do not depend on the alignment. */
export class Pair {
  private readonly sides: readonly OneRun[];
  private readonly regions: Run["regions"];
  private readonly callPaths: Paths;

  private constructor(private readonly sources: readonly Source[], runs: readonly Run[], paths: readonly Paths[]) {
    this.sides = runs.map((run, n) => new OneRun(run, paths[n]));
    this.sides[1].scale = runs[0].ticksPerSecond / runs[1].ticksPerSecond;
    this.regions = unifyRegions(this.sides);
    this.callPaths = unifyPaths(this.sides, this.regions.length);
  }

  static async of(sources: readonly Source[], runs: readonly Run[]): Promise<Pair> {
    return new Pair(sources, runs, await Promise.all(sources.map((source) => source.paths())));
  }

  /** Throws SourceError if a run has no such call. */
  async aligned(alignment: Alignment): Promise<{ source: Source; run: Run }> {
    const times = alignment.func ? await Promise.all(this.sides.map((_, n) => this.nthCall(n, alignment))) : [0, 0];
    const latest = Math.max(...times);
    const run = unifyRuns(this.sides, this.regions, times.map((time) => latest - time));
    return { run, source: new PairSource(this.sources, this.sides, this.callPaths, run) };
  }

  /** The start of the aligned call in a run, in ticks of the common axis. */
  private async nthCall(which: number, { func, n }: Alignment): Promise<number> {
    const side = this.sides[which], letter = "AB"[which];
    const idsOf = (is: (name: string) => boolean) => this.regions.filter((region) => is(region.name)).flatMap((region) => side.regionsOf.get(region.id) ?? []);
    // Rows and tables show names without their modules.
    const exact = idsOf((name) => name === func), regions = exact.length ? exact : idsOf((name) => name.endsWith(`.${func}`));
    if (!regions.length) throw new SourceError(`Run ${letter} never calls ${func}.`, "Choose a function that both runs call.");
    const search = { order: "earliest" as const, limit: n, begin: 0, end: side.run.length + 1, shortest: 0, tracks: null, regions };
    const { calls } = await this.sources[which].find(search, never);
    if (calls.length < n) throw new SourceError(`Run ${letter} calls ${func} ${calls.length === 1 ? "once" : `${calls.length} times`}, not ${n} times.`, "Choose a smaller number.");
    return calls[n - 1].begin * side.scale;
  }
}

class PairSource implements Source {
  constructor(private readonly sources: readonly Source[], private readonly sides: readonly OneRun[], private readonly callPaths: Paths, private readonly description: Run) {}

  async run(): Promise<Run> {
    return this.description;
  }

  async paths(): Promise<Paths> {
    return this.callPaths;
  }

  async tiles(keys: readonly TileKey[], signal: AbortSignal): Promise<Tile[]> {
    const needs = keys.map((key) => this.needOf(key));
    const tiles = await Promise.all(this.sources.map((source, n) => {
      const wanted = needs.flatMap((list) => list.filter((need) => need.side === n).flatMap((need) => need.keys));
      return wanted.length ? source.tiles(wanted, signal) : [];
    }));
    const next = this.sides.map(() => 0);
    return needs.map((list, i) => {
      const made = list.map((need) => {
        const mine = tiles[need.side].slice(next[need.side], (next[need.side] += need.keys.length));
        return this.moved(keys[i], need, mine);
      });
      return made.length === 1 ? made[0] : sumOfTiles(made);
    });
  }

  /** The tiles of each side from which the common tile is made. */
  private needOf(key: TileKey): Need[] {
    if (key.track === WHOLE_RUN) return this.sides.flatMap((_, n) => this.needOf({ ...key, track: FIRST_RUN + n }));
    const { members } = key, place = members ? members[0] : key.track;
    const side = place >= FIRST_RUN ? place - FIRST_RUN : this.sides.findLastIndex((one) =>
      (place >= FIRST_PROCESS ? place - FIRST_PROCESS >= one.firstProcess : place >= one.firstTrack));
    const { scale, toOwn, firstTrack, firstProcess } = this.sides[side];
    const track = members ? key.track : place >= FIRST_RUN ? WHOLE_RUN : place - (place >= FIRST_PROCESS ? firstProcess : firstTrack);
    const own = members && { members: members.map((member) => member - firstTrack) };
    const level = scale === 1 ? key.level : Math.min(28, Math.max(0, Math.floor(key.level - Math.log(scale) / Math.log(4))));
    const size = 4 ** level * COLUMNS, begin = key.index * 4 ** key.level * COLUMNS;
    const first = Math.floor(toOwn(begin) / size), last = Math.ceil(toOwn(begin + 4 ** key.level * COLUMNS) / size);
    const indices = Array.from({ length: last - first }, (_, i) => first + i);
    return [{ side, level, first, last, keys: indices.filter((index) => index >= 0).map((index) => ({ track, level, index, rows: key.rows, ...own })) }];
  }

  private moved(key: TileKey, need: Need, tiles: readonly Tile[]): Tile {
    const side = this.sides[need.side], width = 4 ** need.level;
    const named = tiles.map((tile) => ({ ...tile, region: tile.region.map((region) => (region === NONE ? NONE : side.regionOf[region])) }));
    const at = side.toOwn(key.index * 4 ** key.level * COLUMNS), step = 4 ** key.level / side.scale;
    if (step === width && at === need.first * width * COLUMNS && named.length) return named[0];
    const missing = need.last - need.first - named.length;
    return resample({ tiles: [...Array<null>(missing).fill(null), ...named], begin: need.first * width * COLUMNS, width }, at, step);
  }

  async calls(ranges: readonly CallRange[], signal: AbortSignal): Promise<Calls[]> {
    const result: Calls[] = [];
    await Promise.all(this.sides.map(async (side, n) => {
      const mine = ranges.flatMap((range, i) => (side.owns(range.track) ? [i] : []));
      if (!mine.length) return;
      const asked = mine.map((i) => ({ ...ranges[i], ...this.ownRange(side, ranges[i]), track: ranges[i].track - side.firstTrack }));
      const answers = await this.sources[n].calls(asked, signal);
      answers.forEach((calls, k) => {
        result[mine[k]] = { ...calls, begin: calls.begin.map(side.toShared), end: calls.end.map(side.toShared), region: calls.region.map((region) => (region === NONE ? NONE : side.regionOf[region])) };
      });
    }));
    return result;
  }

  async profile(selection: Selection, signal: AbortSignal): Promise<Profile> {
    const parts = await Promise.all(this.sides.map(async (side, n) => {
      const tracks = this.ownTracks(side, selection.tracks);
      return tracks === "none" ? null : this.sources[n].profile({ ...this.ownRange(side, selection), tracks }, signal);
    }));
    return this.sum(parts);
  }

  async call(track: number, depth: number, time: number, signal: AbortSignal): Promise<CallDetails | null> {
    const n = this.sides.findIndex((side) => side.owns(track)), side = this.sides[n];
    if (!side) return null;
    const found = await this.sources[n].call(track - side.firstTrack, depth, Math.max(0, Math.round(side.toOwn(time))), signal);
    return found && { ...found, ...this.shared(side, found), sums: found.sums && scaled(found.sums, side.scale), stack: found.stack.map((caller) => this.shared(side, caller)) };
  }

  /** From the later run, if that has the function. */
  async source(region: number, signal: AbortSignal): Promise<SourceText> {
    const n = this.sides.findLastIndex((side) => side.regionsOf.has(region));
    return this.sources[n].source(this.sides[n].regionsOf.get(region)![0], signal);
  }

  async auxiliary(): Promise<Auxiliary> {
    const both = await Promise.all(this.sources.map((source) => source.auxiliary()));
    return {
      counters: both.flatMap(({ counters }, n) => counters.map((one) => ({ ...one, track: one.track + this.sides[n].firstTrack, metric: one.metric + this.firstMetric(n) }))),
      links: both[0].links + both[1].links, complete: both.every((side) => side.complete),
      messages: {
        ...(Object.fromEntries((["count", "collectives", "unmatched", "backwards"] as const).map((key) => [key, both[0].messages[key] + both[1].messages[key]])) as Record<"count" | "collectives" | "unmatched" | "backwards", number>),
        complete: both.every((side) => side.messages.complete),
      },
    };
  }

  private firstMetric(n: number): number {
    return n === 0 ? 0 : this.sides[0].run.metrics.length;
  }

  readonly memory = NOT_HERE.memory;
  readonly samples = NOT_HERE.samples;
  readonly estimates = NOT_HERE.estimates;

  async gpu(): Promise<GpuTimes> {
    return NO_GPU;
  }

  async values(ranges: readonly ValuesRange[], signal: AbortSignal): Promise<Values[]> {
    const result: Values[] = [];
    await Promise.all(this.sides.map(async (side, n) => {
      const mine = ranges.flatMap((range, i) => (side.owns(range.track) ? [i] : []));
      if (!mine.length) return;
      const asked = mine.map((i) => ({ ...this.ownRange(side, ranges[i]), track: ranges[i].track - side.firstTrack, metric: ranges[i].metric - this.firstMetric(n) }));
      const answers = await this.sources[n].values(asked, signal);
      answers.forEach((values, k) => (result[mine[k]] = { ...values, begin: values.begin.map(side.toShared), end: values.end.map(side.toShared) }));
    }));
    return result;
  }

  async links(range: LinksRange, signal: AbortSignal): Promise<Links> {
    const n = this.sides.findIndex((side) => side.owns(range.track)), side = this.sides[n];
    const found = await this.sources[n].links({ ...range, ...this.ownRange(side, range), track: range.track - side.firstTrack }, signal);
    return {
      ...found, links: found.links.map((link) => ({
        kind: link.kind, from: side.toShared(link.from), to: side.toShared(link.to), fromTrack: link.fromTrack + side.firstTrack, toTrack: link.toTrack + side.firstTrack,
      })),
    };
  }

  /** Combines the message data of both sides. */
  private async both<T>(range: MessageRange, ask: (source: Source, range: MessageRange) => Promise<Bundled<T>>, shared: (side: OneRun, item: T) => T): Promise<Bundled<T>> {
    const answers = await Promise.all(this.sides.map(async (side, n): Promise<Bundled<T>> => {
      const tracks = this.ownTracks(side, range.tracks);
      if (tracks === "none") return { items: [], count: 0, complete: true };
      const found = await ask(this.sources[n], { ...range, ...this.ownRange(side, range), tracks });
      return { ...found, items: found.items.map((item) => shared(side, item)) };
    }));
    return { items: answers.flatMap(({ items }) => items), count: answers[0].count + answers[1].count, complete: answers.every(({ complete }) => complete) };
  }

  private communicator(side: OneRun, communicator: number): number {
    return communicator + (side === this.sides[0] ? 0 : this.sides[0].run.communicators.length);
  }

  messages(range: MessageRange, signal: AbortSignal): Promise<Bundled<Bundle>> {
    return this.both(range, (source, own) => source.messages(own, signal), (side, one) => ({
      ...one, sent: side.toShared(one.sent), lastSent: side.toShared(one.lastSent), received: side.toShared(one.received), lastReceived: side.toShared(one.lastReceived),
      waitedSender: one.waitedSender * side.scale, waitedReceiver: one.waitedReceiver * side.scale,
      fromTrack: one.fromTrack + side.firstTrack, toTrack: one.toTrack + side.firstTrack, communicator: this.communicator(side, one.communicator),
    }));
  }

  collectives(range: MessageRange, signal: AbortSignal): Promise<Bundled<Gathering>> {
    return this.both(range, (source, own) => source.collectives(own, signal), (side, one) => ({
      ...one, begin: side.toShared(one.begin), end: side.toShared(one.end), waited: one.waited * side.scale,
      track: one.track + side.firstTrack, communicator: this.communicator(side, one.communicator),
    }));
  }

  matrix(range: MessageRange, signal: AbortSignal): Promise<Bundled<Exchange>> {
    return this.both(range, (source, own) => source.matrix(own, signal), (side, one) => ({
      ...one, waitedSender: one.waitedSender * side.scale, waitedReceiver: one.waitedReceiver * side.scale,
      sender: one.sender + side.firstProcess, receiver: one.receiver + side.firstProcess,
    }));
  }

  async keep(): Promise<string | null> {
    return null;
  }

  async find(search: Search, signal: AbortSignal): Promise<Found> {
    const answers = await Promise.all(this.sides.map(async (side, n): Promise<Found> => {
      const tracks = this.ownTracks(side, search.tracks);
      const regions = search.regions && search.regions.flatMap((region) => side.regionsOf.get(region) ?? []);
      const parameter = search.parameter && this.ownParameter(side, search.parameter);
      if (tracks === "none" || regions?.length === 0 || parameter?.parameters.length === 0) return { calls: [], complete: true };
      const found = await this.sources[n].find({ ...search, ...this.ownRange(side, search), shortest: Math.ceil(search.shortest / side.scale), tracks, regions, ...(parameter ? { parameter } : {}) }, signal);
      return { ...found, calls: found.calls.map((call) => this.shared(side, call)) };
    }));
    const early = (a: CallRef, b: CallRef) => a.begin - b.begin || a.track - b.track || a.depth - b.depth;
    const order = { earliest: early, latest: (a: CallRef, b: CallRef) => early(b, a), longest: (a: CallRef, b: CallRef) => b.end - b.begin - (a.end - a.begin) || early(a, b) };
    const calls = answers.flatMap((answer) => answer.calls).sort(order[search.order]);
    return { calls: calls.slice(0, search.limit), complete: calls.length <= search.limit && answers.every((answer) => answer.complete) };
  }

  private ownParameter(side: OneRun, { parameters, value }: ParameterIs): ParameterIs {
    const names = parameters.map((parameter) => this.description.parameters[parameter]);
    return { value, parameters: names.map((name) => side.run.parameters.indexOf(name)).filter((parameter) => parameter >= 0) };
  }

  private ownRange(side: OneRun, range: { begin: number; end: number }): { begin: number; end: number } {
    return { begin: Math.max(0, Math.ceil(side.toOwn(range.begin))), end: Math.max(0, Math.ceil(side.toOwn(range.end))) };
  }

  private ownTracks(side: OneRun, tracks: readonly number[] | null): number[] | null | "none" {
    if (!tracks?.length) return null;
    const mine = tracks.filter((track) => side.owns(track)).map((track) => track - side.firstTrack);
    return mine.length === 0 ? "none" : mine.length === side.run.locations.length ? null : mine;
  }

  private shared(side: OneRun, { track, depth, begin, end, region }: CallRef): CallRef {
    return { track: track + side.firstTrack, depth, begin: side.toShared(begin), end: side.toShared(end), region: region === NONE ? NONE : side.regionOf[region] };
  }

  /** Combines the sums by call path of both sides. */
  private sum(parts: readonly (Profile | null)[]): Profile {
    const places = new Map<number, number>();
    parts.forEach((part, n) => part?.path.forEach((path) => places.set(this.sides[n].pathOf[path], 0)));
    const path = Int32Array.from(places.keys()).sort();
    path.forEach((one, i) => places.set(one, i));
    const zeros = () => new Float64Array(path.length);
    const causes = this.description.causes ? CAUSES.map(() => zeros()) : [];
    const result = { count: path.length, path, causes, visits: zeros(), cutBegin: zeros(), cutEnd: zeros(), own: zeros(), waiting: zeros(), inclusive: zeros(), min: zeros().fill(Infinity), max: zeros() };
    parts.forEach((part, n) => {
      const { scale, pathOf } = this.sides[n];
      for (let i = 0; part && i < part.count; i++) {
        const at = places.get(pathOf[part.path[i]])!;
        for (const key of ["visits", "cutBegin", "cutEnd"] as const) result[key][at] += part[key][i];
        for (const key of ["own", "waiting", "inclusive"] as const) result[key][at] += part[key][i] * scale;
        // All waiting of a run without causes is of cause 0.
        causes.forEach((sums, cause) => (sums[at] += (part.causes.length ? part.causes[cause][i] : cause ? 0 : part.waiting[i]) * scale));
        result.min[at] = Math.min(result.min[at], part.min[i] * scale);
        result.max[at] = Math.max(result.max[at], part.max[i] * scale);
      }
    });
    return result;
  }
}

/** In the ticks of the pair. */
function scaled({ own, ownWaiting, waiting, ownCauses, causes, calls }: CallSums, scale: number): CallSums {
  const each = (ticks: number) => ticks * scale;
  return { own: each(own), ownWaiting: each(ownWaiting), waiting: each(waiting), ownCauses: ownCauses.map(each), causes: causes.map(each), calls };
}

interface Need {
  readonly side: number;
  readonly level: number;
  /** Tiles from `first` up to `last` (exclusive); tiles below 0 are empty and not requested. */
  readonly first: number;
  readonly last: number;
  readonly keys: readonly TileKey[];
}
