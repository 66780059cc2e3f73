// Tiles made of calls in memory.
import { CAUSES, mainCause, suspensionIn } from "../causes";
import { COLUMNS, NONE, type Run, type Tile } from "../model";
import { eachIn, eachWait, type Lane } from "./lane";
import { waitedIn } from "./waited";

/** Builds a row of a tile from calls in order of time: exact sums of the column being filled. */
class Row {
  private column = NONE;
  private readonly sums = new Map<number, number>();

  constructor(private readonly tile: Tile, private readonly row: number, private readonly width: number) {}

  add(column: number, region: number, time: number): void {
    if (column !== this.column) this.flush();
    this.column = column;
    this.sums.set(region, (this.sums.get(region) ?? 0) + time);
  }

  flush(): void {
    let best = NONE, most = -1, sum = 0;
    for (const [region, time] of this.sums) {
      sum += time;
      if (time > most) [best, most] = [region, time];
    }
    if (this.sums.size) {
      const cell = this.row * COLUMNS + this.column;
      this.tile.region[cell] = best;
      this.tile.cover[cell] = Math.min(255, Math.max(1, Math.ceil((255 * sum) / this.width)));
    }
    this.sums.clear();
  }
}

/** A tile without calls. */
export function emptyTile(rows: number, allRows = rows): Tile {
  return {
    rows, allRows, exact: true, off: new Uint8Array(COLUMNS), waiting: new Uint8Array(COLUMNS), cause: new Uint8Array(COLUMNS), region: new Int32Array(rows * COLUMNS).fill(NONE), cover: new Uint8Array(rows * COLUMNS),
  };
}

/** Calls `fill` for each column that [from, to) touches, with the time inside it. */
function columns(from: number, to: number, begin: number, width: number, fill: (column: number, time: number) => void): void {
  const first = Math.max(0, Math.floor((from - begin) / width));
  const last = Math.min(COLUMNS - 1, Math.max(first, Math.ceil((to - begin) / width) - 1));
  for (let column = first; column <= last; column++) {
    const left = begin + column * width;
    fill(column, Math.max(0, Math.min(to, left + width) - Math.max(from, left)));
  }
}

/** Columns of `width` ticks, starting at `begin`; at most `wanted` rows. */
export function tileOf(lane: Lane, begin: number, width: number, wanted: number): Tile {
  const end = begin + width * COLUMNS;
  let deepest = 0;
  eachIn(lane, begin, end, (call) => (deepest = Math.max(deepest, lane.depth[call] + 1)));
  const count = Math.min(wanted, deepest + 1);
  const tile = emptyTile(count, deepest + 1);
  const rows = Array.from({ length: count }, (_, row) => new Row(tile, row, width));
  const own = (region: number, from: number, to: number) => columns(from, to, begin, width, (column, time) => rows[0].add(column, region, time));
  const open: number[] = [];
  let at = begin;
  // The time up to `time` belongs to the innermost open call.
  const advance = (time: number) => {
    while (open.length) {
      const inner = open[open.length - 1];
      const to = Math.min(lane.end[inner], time, end);
      if (to > at || lane.end[inner] === lane.begin[inner]) own(lane.region[inner], at, to);
      at = Math.max(at, to);
      if (lane.end[inner] > time || at >= end) break;
      open.pop();
    }
    at = Math.max(at, Math.min(time, end));
  };
  eachIn(lane, begin, end, (call) => {
    advance(Math.max(begin, lane.begin[call]));
    open.push(call);
    const depth = lane.depth[call];
    if (depth + 1 < count) {
      columns(Math.max(lane.begin[call], begin), Math.min(lane.end[call], end), begin, width, (column, time) => rows[depth + 1].add(column, lane.region[call], time));
    }
  });
  advance(end);
  for (const row of rows) row.flush();
  fillOff(tile, lane, begin, width);
  fillWaiting(tile, lane, begin, width);
  return tile;
}

function fillOff(tile: Tile, lane: Lane, begin: number, width: number): void {
  const sums = new Float64Array(COLUMNS);
  for (let i = 0; i < lane.off.length; i += 2) {
    if (lane.off[i] >= begin + width * COLUMNS || lane.off[i + 1] <= begin) continue;
    columns(lane.off[i], lane.off[i + 1], begin, width, (column, time) => (sums[column] += time));
  }
  sums.forEach((time, column) => (tile.off[column] = Math.ceil((255 * time) / width)));
}

function fillWaiting(tile: Tile, lane: Lane, begin: number, width: number): void {
  const sums = new Float64Array(COLUMNS), causes = new Float64Array(COLUMNS * CAUSES.length);
  eachWait(lane, begin, begin + width * COLUMNS, (wait) => {
    columns(Math.max(begin, wait.begin), wait.end, begin, width, (column) => {
      const ticks = waitedIn(wait, begin + column * width, begin + (column + 1) * width);
      sums[column] += ticks;
      causes[column * CAUSES.length + wait.cause] += ticks;
    });
  });
  sums.forEach((ticks, column) => (tile.waiting[column] = Math.ceil((255 * ticks) / width)));
  fillCauses(tile, causes);
}

/** The main cause of each column, from the sums by column and cause. */
export function fillCauses(tile: Tile, sums: Float64Array): void {
  for (let column = 0; column < COLUMNS; column++) tile.cause[column] = mainCause(sums.subarray(column * CAUSES.length, (column + 1) * CAUSES.length));
}

/** The row with the suspension of a task in a column; -1: none. Row 0 only counts where the others are not there. */
function suspendedRow({ rows, region, cover }: Tile, column: number, regions: Run["regions"]): number {
  let most = -1;
  for (let row = rows - 1; row >= 0 && (row > 0 || most < 0); row--) {
    const at = row * COLUMNS + column;
    if (regions[region[at]]?.suspended && (most < 0 || cover[at] > cover[most * COLUMNS + column])) most = row;
  }
  return most;
}

/** The waiting part of a column, in 1/255, and its cause. A suspended task waits, too: for what the functions around it tell. */
export function waitingIn(tile: Tile, column: number, { regions, causes }: Run, suspends: boolean): [number, number] {
  const row = suspends ? suspendedRow(tile, column, regions) : -1;
  const suspended = row < 0 ? 0 : Math.min(tile.cover[column], tile.cover[row * COLUMNS + column]);
  if (suspended <= tile.waiting[column]) return [tile.waiting[column], tile.cause[column]];
  const around = Array.from({ length: Math.max(0, row - 1) }, (_, i) => tile.region[(row - 1 - i) * COLUMNS + column]);
  return [suspended, causes ? suspensionIn(regions, around) : 0];
}

/** Whether tasks are suspended in the run, and waiting was measured. */
export const hasSuspensions = (run: Run): boolean => run.waiting && run.regions.some(({ suspended }) => suspended);

/** The same as the server's: rows of a tile in which the suspension of a task is looked for. */
const MOST_ROWS = 129;

/** The tile of several tracks, from their tiles with a number of rows, in which suspended tasks wait. */
export function mixtureOf(run: Run, tilesOf: (rows: number) => readonly Tile[]): Tile {
  const suspends = hasSuspensions(run);
  return sumOfTiles(tilesOf(suspends ? MOST_ROWS : 1), suspends ? run : undefined);
}

/** The tile of several tracks: the mean of their coverage, and the region that covers most. With `run`, the waiting includes suspended tasks. */
export function sumOfTiles(tiles: readonly Tile[], run?: Run): Tile {
  const result = emptyTile(1), causes = new Float64Array(COLUMNS * CAUSES.length), mean = (sum: number) => Math.ceil(sum / Math.max(1, tiles.length));
  for (let column = 0; column < COLUMNS; column++) {
    const sums = new Map<number, number>();
    let sum = 0, best = NONE, most = 0;
    for (const tile of tiles) {
      const cover = tile.cover[column];
      if (!cover) continue;
      sums.set(tile.region[column], (sums.get(tile.region[column]) ?? 0) + cover);
      sum += cover;
    }
    // Of equal ones the first counts; a Map keeps the order of insertion.
    for (const [region, total] of sums) if (total > most) [best, most] = [region, total];
    result.region[column] = best;
    result.cover[column] = mean(sum);
    let off = 0, waiting = 0;
    for (const tile of tiles) {
      const [part, cause] = run ? waitingIn(tile, column, run, true) : [tile.waiting[column], tile.cause[column]];
      (off += tile.off[column]), (waiting += part), (causes[column * CAUSES.length + cause] += part);
    }
    (result.off[column] = mean(off)), (result.waiting[column] = mean(waiting));
  }
  fillCauses(result, causes);
  return result;
}
