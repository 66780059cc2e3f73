// The layout of the rows as the view changes: which ones are unfolded, and how high they are.
import { type Auxiliary, type Calls, COLUMNS, type TileKey } from "../model";
import type { Source } from "../source/source";
import type { Viewing } from "../state/view";
import { type Activity, importsOf, levelsIn } from "./activity";
import type { Cache, Piece } from "./cache";
import { fittedRuns } from "./fitting";
import { layOut, type Layout, lineOf, type Room, type Row, siblingsOf } from "./layout";
import { type Frame, rowsOf, slots } from "./renderer";
import { sampledIn } from "./sampled";
import type { Range } from "./scale";
import { type Branch, treeOf } from "./tree";

export class Rows {
  layout: Layout = { pinned: [], rows: [], pinnedHeight: 0, height: 0 };
  private trees: readonly Branch[];
  /** The rows that are unfolded at first; null: the next layout decides. */
  private fits: ReadonlyMap<number, number> | null = null;
  /** Lines that locations need in the visible range. */
  private needs: ReadonlyMap<number, number> = new Map();
  /** Collective operations have room below the calls. */
  private talk = false;
  private sampled: ReadonlySet<number>;
  private madeFor: readonly unknown[] = [];
  /** The last answer of filtered(). */
  private left: { readonly filter: string; readonly trees: readonly Branch[]; readonly locations: readonly number[] | null } | null = null;
  /** By region: 1 for imports, whose insides are not drawn. */
  imports: Uint8Array;
  private counters: Auxiliary["counters"] = [];

  constructor(private readonly viewing: Viewing, private readonly cache: Cache, private activity: Activity | null, private readonly source: Source) {
    this.sampled = sampledIn(viewing.run, source);
    this.trees = treeOf(viewing.run, [], activity);
    this.imports = importsOf(viewing.run);
  }

  /** The run has grown. `refit`: rows are unfolded anew. */
  grow(activity: Activity | null, refit: boolean): void {
    this.activity = activity;
    this.trees = treeOf(this.viewing.run, refit ? [] : this.counters, activity);
    this.imports = importsOf(this.viewing.run);
    this.sampled = sampledIn(this.viewing.run, this.source);
    if (refit) this.counters = [], this.needs = new Map(), this.fit();
  }

  setAuxiliary({ counters, messages }: Auxiliary): void {
    this.counters = counters;
    if (counters.length) this.trees = treeOf(this.viewing.run, counters, this.activity);
    this.talk = messages.collectives > 0;
    // Charts and the room for collective operations are part of what must fit.
    if (counters.length || this.talk) this.fit();
  }

  /** The next layout unfolds what fits into the window as it is then. */
  fit(): void {
    this.fits = null;
    this.madeFor = [];
  }

  /** Returns true if the layout has changed; `height`: of the window. */
  layOut(height: number): boolean {
    const { view, run } = this.viewing;
    const inputs = [view.folding, view.folds, view.tall, view.pinned, view.filter, view.sort, view.moved, this.needs, this.trees];
    if (inputs.length === this.madeFor.length && inputs.every((input, i) => input === this.madeFor[i])) return false;
    this.madeFor = inputs;
    const { talk, sampled } = this;
    this.fits ??= fittedRuns(this.trees, height, { talk, sampled }, run.parts.length);
    const room: Room = { fits: this.fits, needs: this.needs, talk, sampled };
    this.layout = layOut(this.trees, view, room);
    return true;
  }

  siblings(row: number): number[] {
    return siblingsOf(this.trees, row, this.viewing.view);
  }

  /** The locations of the rows that the filter leaves; null: all. */
  filtered(): readonly number[] | null {
    const { view, run } = this.viewing;
    if (!view.filter.trim()) return null;
    if (this.left?.filter === view.filter && this.left.trees === this.trees) return this.left.locations;
    const { rows } = layOut(this.trees, { ...view, folding: "all", folds: new Map(), pinned: [] }, { fits: new Map(), needs: new Map(), talk: false });
    const left = [...new Set(rows.filter((row) => row.kind === "location" || row.kind === "lane").flatMap((row) => row.locations))].sort((a, b) => a - b);
    const locations = left.length === run.locations.length ? null : left;
    this.left = { filter: view.filter, trees: this.trees, locations };
    return locations;
  }

  /** Learns the lines that visible rows need; true: the next layout differs. */
  settle({ rows, range }: Frame, pixels: number): boolean {
    const needs = new Map(this.needs);
    for (const row of rows) {
      const lines = row.kind === "location" && row.lines ? this.linesOf(row, range, pixels) : null;
      if (lines !== null) needs.set(row.id, lines);
    }
    if ([...needs].every(([row, lines]) => this.needs.get(row) === lines)) return false;
    this.needs = needs;
    return true;
  }

  /** The number of lines of a location in a range; null: not known. */
  private linesOf(row: Row, range: Range, pixels: number): number | null {
    let depth = 0;
    for (const slot of slots(row.id, rowsOf(row), range, pixels)) {
      const pieces = this.cache.pieces(slot);
      if (!pieces.length) return null;
      for (const piece of pieces) depth = Math.max(depth, deepest(piece, range, this.imports));
    }
    return Math.max(1, lineOf(row, depth - 1) + 1);
  }
}

/** The levels of calls in a range that are not inside imports; all levels if it has more than the piece. */
export function deepest(piece: Piece, range: Range, imports: Uint8Array): number {
  const { key, tile, calls } = piece, known = calls ? key.rows - 1 : tile.rows - 1, all = tile.allRows - 1;
  const depth = calls ? levelsOf(calls, range, imports) : levelsIn(tile, imports, ...columnsOf(key, range));
  return depth >= known && all > known ? all : depth;
}

function columnsOf({ level, index }: TileKey, { begin, end }: Range): [number, number] {
  const place = (time: number) => Math.min(COLUMNS, Math.max(0, time / 4 ** level - index * COLUMNS));
  return [Math.floor(place(begin)), Math.ceil(place(end))];
}

function levelsOf(calls: Calls, { begin, end }: Range, imports: Uint8Array): number {
  let depth = 0, closed = Infinity;
  // Callers come before callees, so the next call that is not deeper ends an import.
  for (let call = 0; call < calls.count; call++) {
    if (calls.depth[call] <= closed) closed = Infinity;
    if (calls.depth[call] > closed || calls.end[call] < begin || calls.begin[call] > end) continue;
    depth = Math.max(depth, calls.depth[call] + 1);
    if (imports[calls.region[call]]) closed = calls.depth[call];
  }
  return depth;
}
