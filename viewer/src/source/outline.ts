// A run of which a page contains only the outline, without calls: tiles down to a level, and sums by time step.
// Sections 9 to 12 of docs/formats/view-http.md.
import {
  type Bundle, type Bundled, type CallDetails, type CallRange, type Calls, COLUMNS, type Counter, type Exchange, FIRST_PROCESS, type Found, type Gathering, type GpuTimes, type Links,
  type MessageRange, NONE, type Outline, type Paths, type Profile, type Run, type Selection, type Auxiliary, type SourceText, type Tile, type TileKey, type Values, type ValuesRange,
} from "../model";
import { CAUSES } from "../causes";
import { firstWhere } from "../sorted";
import { emptyTile, mixtureOf } from "./cells";
import { type Lane, LaneBuilder } from "./lane";
import { MemorySource } from "./memory";
import { bundlesIn, gatheringsIn, matrixOf, type Talk } from "./messages";
import { resample } from "./resample";
import { NO_CALLS, NO_GPU, NOT_HERE, type Source, SourceError, sourceInside, WHERE_CALLS_ARE } from "./source";
import { Sums } from "./sums";
import { damaged, Varints } from "./varints";

const FULL = 255;

/** The values of a counter, with neighbours joined. */
export interface Summary {
  readonly counter: Counter;
  readonly values: Values;
}

export interface Parts {
  readonly outline: Outline;
  readonly allValues: boolean;
  readonly tiles: readonly Uint8Array[];
  readonly sums: readonly Uint8Array[];
  readonly summaries: readonly Summary[];
  readonly sources: Readonly<Record<number, SourceText>> | null;
  readonly talk: Talk;
  readonly longest: readonly Longest[];
}

/** The longest calls of a location, callers before callees; all callers of each are among them. */
export interface Longest {
  readonly track: number;
  readonly calls: Calls;
}

interface Packed {
  readonly exact: boolean;
  readonly bytes: Uint8Array;
}

export class OutlineSource implements Source {
  private readonly packed = new Map<string, Packed>();
  private readonly sums: readonly Sums[];
  private readonly coarsest: number;
  /** The run with its longest calls alone. */
  private readonly longest: MemorySource;
  /** The locations with such calls. */
  private readonly tracksWithCalls: ReadonlySet<number>;

  constructor(private readonly description: Run, private readonly callPaths: Paths, private readonly parts: Parts) {
    this.coarsest = parts.tiles.reduce((most, section) => Math.max(most, this.unpack(section)), parts.outline.finest);
    this.sums = parts.sums.map((section) => new Sums(section, parts.outline.step, callPaths));
    if (![...this.sums, ...parts.longest].every(({ track }) => description.locations[track])) throw damaged();
    const lanes = description.locations.map(() => NOTHING);
    for (const { track, calls } of parts.longest) lanes[track] = laneOf(calls, description.regions.length);
    this.longest = new MemorySource(description, callPaths, lanes);
    this.tracksWithCalls = new Set(parts.longest.map(({ track }) => track));
  }

  /** Returns the coarsest level of a section. */
  private unpack(section: Uint8Array): number {
    if (section.byteLength < 4) throw damaged();
    const track = new DataView(section.buffer, section.byteOffset, section.byteLength).getUint32(0, true);
    let coarsest = 0;
    for (const reader = new Varints(section, 4); !reader.atEnd;) {
      const level = reader.next(), index = reader.next(), exact = reader.next() === 1;
      this.packed.set(`${track}/${level}/${index}`, { exact, bytes: reader.take(reader.next()) });
      coarsest = Math.max(coarsest, level);
    }
    return coarsest;
  }

  async run(): Promise<Run> {
    return this.description;
  }

  async paths(): Promise<Paths> {
    return this.callPaths;
  }

  async tiles(keys: readonly TileKey[]): Promise<Tile[]> {
    return keys.map((key) => this.tile(key));
  }

  /** Beyond the available levels, the data of the nearest one. */
  private tile(key: TileKey): Tile {
    const { members, ...each } = key;
    if (members) return mixtureOf(this.description, (rows) => members.map((track) => this.tile({ ...each, track, rows })));
    const { finest } = this.parts.outline, width = 4 ** key.level, begin = key.index * width * COLUMNS;
    if (key.level < finest) {
      const index = Math.floor(begin / (4 ** finest * COLUMNS)), size = 4 ** finest;
      const coarse = this.tile({ ...key, level: finest, index }), tile = resample({ tiles: [coarse], begin: index * size * COLUMNS, width: size }, begin, width);
      return this.tracksWithCalls.has(key.track) ? sharper(tile, coarse, this.longest.tile({ ...key, level: finest, index }), this.longest.tile(key), (column) => Math.floor((begin + column * width) / size) - index * COLUMNS) : tile;
    }
    // One tile of the coarsest level covers the whole run; beside a longer run, coarser tiles are requested.
    if (key.level > this.coarsest) return resample({ tiles: [this.tile({ ...key, level: this.coarsest, index: 0 })], begin: 0, width: 4 ** this.coarsest }, begin, width);
    const packed = this.packed.get(`${key.track}/${key.level}/${key.index}`);
    if (!packed) return { ...emptyTile(Math.min(key.rows, 1), 1), exact: key.track < FIRST_PROCESS };
    return tileOf(packed, key.rows);
  }

  async calls(ranges: readonly CallRange[]): Promise<Calls[]> {
    const none = { begin: new Float64Array(), end: new Float64Array(), region: new Int32Array(), depth: new Int32Array() };
    return ranges.map(() => ({ count: 0, complete: false, ...none }));
  }

  /** Covers whole steps: those that the selection touches. */
  async profile({ begin, end, tracks }: Selection): Promise<Profile> {
    const mine = this.sums.filter(({ track }) => !tracks?.length || tracks.includes(track));
    return Sums.profile(mine, this.callPaths, this.description, begin, end);
  }

  /** One of the longest calls: its own time, and the calls inside it, are not known. */
  async call(track: number, depth: number, time: number): Promise<CallDetails | null> {
    const details = await this.longest.call(track, depth, time);
    return details && { ...details, sums: null };
  }

  async source(region: number): Promise<SourceText> {
    return sourceInside(this.parts.sources, this.description, region);
  }

  async auxiliary(): Promise<Auxiliary> {
    const { summaries, allValues, talk } = this.parts;
    return { counters: summaries.map(({ counter }) => counter), links: 0, complete: allValues, messages: talk.facts };
  }

  readonly memory = NOT_HERE.memory;
  readonly samples = NOT_HERE.samples;
  readonly estimates = NOT_HERE.estimates;

  async gpu(): Promise<GpuTimes> {
    return NO_GPU;
  }

  async values(ranges: readonly ValuesRange[]): Promise<Values[]> {
    return ranges.map((range) => {
      const found = this.parts.summaries.find(({ counter }) => counter.track === range.track && counter.metric === range.metric);
      return found ? within(found.values, range.begin, range.end) : within(EMPTY, 0, 0);
    });
  }

  async links(): Promise<Links> {
    return { links: [], complete: false };
  }

  async messages(range: MessageRange): Promise<Bundled<Bundle>> {
    return bundlesIn(this.parts.talk, range);
  }

  async collectives(range: MessageRange): Promise<Bundled<Gathering>> {
    return gatheringsIn(this.parts.talk, range);
  }

  async matrix(range: MessageRange): Promise<Bundled<Exchange>> {
    return matrixOf(this.parts.talk, this.description.locations, range);
  }

  async keep(): Promise<string | null> {
    return null;
  }

  async find(): Promise<Found> {
    throw new SourceError(NO_CALLS, WHERE_CALLS_ARE);
  }
}

const NOTHING: Lane = new LaneBuilder().finish(0);

function laneOf(calls: Calls, regions: number): Lane {
  const builder = new LaneBuilder(), ends: number[] = [];
  for (let call = 0; call < calls.count; call++) {
    while (ends.length > calls.depth[call]) builder.leave(ends.pop()!);
    if (ends.length !== calls.depth[call] || calls.region[call] >= regions) throw damaged();
    builder.enter(calls.begin[call], NONE, calls.region[call]);
    ends.push(calls.end[call]);
  }
  while (ends.length) builder.leave(ends.pop()!);
  return builder.finish(0);
}

/** The known part of a coarse cell is where its long calls are; the rest of it is spread over the rest. `long` and `fine`
    are the tiles of the long calls like `coarse` and like `tile`. */
function sharper(tile: Tile, coarse: Tile, long: Tile, fine: Tile, cellOf: (column: number) => number): Tile {
  const region = tile.region.slice(), cover = tile.cover.slice();
  // The first row, the innermost calls, needs all calls.
  for (let row = 1; row < Math.min(tile.rows, long.rows); row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const at = row * COLUMNS + column, cell = row * COLUMNS + cellOf(column), known = long.cover[cell], here = fine.cover[at] ?? 0;
      if (!known) continue;
      // Both are rounded up.
      const rest = known >= FULL - 1 ? 0 : Math.max(0, coarse.cover[cell] - known - 1) / (FULL - known), other = (FULL - here) * rest;
      cover[at] = Math.min(FULL, Math.ceil(here + other));
      if (here >= other) region[at] = fine.region[at] ?? NONE;
    }
  }
  return { ...tile, region, cover };
}

/** Added to the number of rows: src/view/index/stored_tiles.cpp. */
const WITH_CAUSES = 256;

function tileOf({ exact, bytes }: Packed, wanted: number): Tile {
  const reader = new Varints(bytes);
  const allRows = reader.next(), head = reader.next(), causes = head >= WITH_CAUSES, there = causes ? head - WITH_CAUSES : head, rows = Math.min(wanted, there);
  const tile = { ...emptyTile(rows, allRows), exact };
  const runs = (end: number, take: (from: number, to: number, part: number) => void) => {
    for (let at = 0; at < end;) {
      const columns = reader.next();
      if (columns === 0 || at + columns > end) throw damaged();
      take(at, (at += columns), reader.byte());
    }
  };
  for (const row of [tile.off, tile.waiting, ...(causes ? [tile.cause] : [])]) runs(COLUMNS, (from, to, part) => row.fill(part, from, to));
  if (tile.cause.some((cause) => cause >= CAUSES.length)) throw damaged();
  runs(rows * COLUMNS, (from, to, cover) => {
    tile.cover.fill(cover, from, to);
    tile.region.fill(reader.next() + NONE, from, to);
  });
  return tile;
}

const EMPTY: Values = { count: 0, begin: new Float64Array(), end: new Float64Array(), min: new Float64Array(), max: new Float64Array(), mean: new Float64Array(), last: new Float64Array() };

/** The values that touch [from, to), and one more on each side. */
function within(values: Values, from: number, to: number): Values {
  const first = Math.max(0, firstWhere(values.count, (i) => values.end[i] >= from) - 1);
  const last = Math.min(values.count, firstWhere(values.count, (i) => values.begin[i] > to) + 1);
  const of = (key: Exclude<keyof Values, "count">) => values[key].slice(first, last);
  return { count: Math.max(0, last - first), begin: of("begin"), end: of("end"), min: of("min"), max: of("max"), mean: of("mean"), last: of("last") };
}
