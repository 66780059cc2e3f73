// The work of each location, the levels at its top that are the same all the time, and the ones that it needs.
import { COLUMNS, type Location, NONE, type Run, type Tile } from "../model";
import { isAbove, isImport, isStarter } from "../palette";
import { workByRegion } from "../profile";
import { pathsOf, type Source } from "../source/source";

export interface Activity {
  /** Ticks in which a location worked, about. */
  readonly work: Float64Array;
  /** The number of levels that are hidden below the first one: frames of the library above the user's first. */
  readonly hidden: Uint8Array;
  /** The number of levels without the insides of imports. */
  readonly levels: Float64Array;
  /** The time of each region in which it worked. */
  readonly regions: Float64Array;
}

/** More locations are not asked one by one: their events count. */
const MOST = 256;
/** Levels of a thread that are looked at: of few threads all that a row shows. */
const LEVELS = 16, ALL_LEVELS = 64, FEW = 48;
/** A level is the same all the time if one function has at least this part of it. */
const NEARLY = 0.95;
/** A location hardly works if it does for less than this part of the busiest one's time. */
const HARDLY = 0.01;

export const worksHardly = (work: number, most: number): boolean => work < HARDLY * most;

/** The locations whose work decides how rows are shown: not the ones of groups, and tasks only if they are few. */
export function askedOf(run: Run): number[] {
  const tasks = run.locations.filter(({ kind }) => kind === "task").length;
  const alike = new Map<string, number>();
  for (const location of run.locations) alike.set(patternOf(location), (alike.get(patternOf(location)) ?? 0) + 1);
  return run.locations.flatMap((location, id) => (location.kind === "task" ? tasks <= FEW_ALIKE : alike.get(patternOf(location))! <= FEW_ALIKE) ? [id] : []);
}

/** More threads of a process with names alike, apart from numbers, are a group. */
export const FEW_ALIKE = 48;

/** Equal for threads of a process whose names are alike. */
const patternOf = ({ process, name }: Location): string => `${process} ${name.replace(/\d+/g, "#")}`;

/** Null: there are too many locations, or no answer. Locations that were not asked count as busy all the time. */
export async function activityOf(source: Source, run: Run): Promise<Activity | null> {
  const { locations } = run, asked = askedOf(run);
  if (asked.length > MOST) return null;
  let level = 0;
  while (COLUMNS * 4 ** level < run.length) level++;
  const result: { -readonly [name in keyof Activity]: Activity[name] } = { work: new Float64Array(locations.length).fill(run.length), hidden: new Uint8Array(locations.length), levels: Float64Array.from(locations, ({ depth }) => depth), regions: new Float64Array(run.regions.length) };
  try {
    const rows = 1 + (asked.length <= FEW ? ALL_LEVELS : LEVELS), imports = importsOf(run);
    const { signal } = new AbortController(), whole = { begin: 0, end: Math.max(run.length, 1), tracks: null };
    const [tiles, paths, profile] = await Promise.all([
      source.tiles(asked.map((track) => ({ track, level, index: 0, rows })), signal), pathsOf(source), locations.length <= MOST ? source.profile(whole, signal) : null,
    ]);
    if (profile) result.regions = workByRegion(profile, paths, run.regions);
    tiles.forEach((tile, i) => {
      const track = asked[i], { depth } = locations[track];
      result.work[track] = workIn(tile, run) * 4 ** level;
      result.hidden[track] = hiddenIn(tile, run, depth);
      if (tile.rows >= Math.min(rows, tile.allRows)) result.levels[track] = levelsIn(tile, imports);
    });
    return result;
  } catch {
    return null;  // the timeline reports the problem
  }
}

/** In columns. */
export function workIn(tile: Tile, run: Run): number {
  let work = 0;
  for (let column = 0; column < COLUMNS && tile.rows; column++) {
    // Where a run does not tell how long a function waited, one that does nothing else waited all the time.
    const waited = tile.waiting[column] || (run.regions[tile.region[column]]?.idle ? tile.cover[column] : 0);
    // Parts are rounded up, so the least part counts as nothing.
    work += Math.max(0, tile.cover[column] - waited - 1);
  }
  return work / 255;
}

/** Levels with one function each all the time, above the user's first; the first of them stays. Where the user's functions
    do not occur, only the levels of what starts threads and runs tasks. */
export function hiddenIn(tile: Tile, run: Run, depth: number): number {
  const ofUser = tile.region.some((id) => {
    const region = run.regions[id];
    return region !== undefined && !region.idle && !isAbove(region);
  });
  const above = (region: number) => run.regions[region] && (ofUser ? isAbove : isStarter)(run.regions[region]);
  let levels = 0;
  for (let row = 1; row < tile.rows && levels < depth - 1; row++) {
    const sums = new Map<number, number>();
    let all = 0;
    for (let cell = row * COLUMNS; cell < (row + 1) * COLUMNS; cell++) {
      if (tile.region[cell] === NONE) continue;
      sums.set(tile.region[cell], (sums.get(tile.region[cell]) ?? 0) + tile.cover[cell]);
      all += tile.cover[cell];
    }
    const [best, most] = [...sums].reduce((one, other) => (other[1] > one[1] ? other : one), [NONE, 0]);
    if (!above(best) || most < NEARLY * all) break;
    levels++;
  }
  return Math.max(0, levels - 1);
}

/** For each region 1 if the calls inside it are the inside of an import. */
export const importsOf = (run: Run): Uint8Array => Uint8Array.from(run.regions, (region) => Number(isImport(region)));

/** The deepest level of a tile that is not inside an import; `from` to `to`: its columns. */
export function levelsIn({ rows, region }: Tile, imports: Uint8Array, from = 0, to = COLUMNS): number {
  let deepest = 0;
  for (let column = from; column < to; column++) {
    for (let row = 1; row < rows && region[row * COLUMNS + column] !== NONE; row++) {
      deepest = Math.max(deepest, row);
      if (imports[region[row * COLUMNS + column]]) break;
    }
  }
  return deepest;
}
