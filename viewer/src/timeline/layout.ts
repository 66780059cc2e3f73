// The list of rows from the top down, with their heights. Pixels are CSS pixels.
import { firstWhere } from "../sorted";
import type { Sort, View } from "../state/view";
import { type Branch, byName } from "./tree";

export const LINE = 18;
export const FOLDED = 22;
export const PADDING = 5;
export const COUNTER_HEIGHT = 46;
/** The room for bars of collective operations below the calls. */
export const TALK = 8;
/** The room for samples below the calls. */
export const SAMPLES = 10;
/** The maximum of levels of calls. */
export const MOST_LEVELS = 1000;

export interface Row {
  /** The number of the row in the data; folders have separate numbers. */
  readonly id: number;
  /** A lane has many locations, one after the other. */
  readonly kind: "process" | "folder" | "lane" | "location" | "metrics" | "counter";
  readonly name: string;
  readonly detail: string;
  readonly indent: number;
  readonly open: boolean;
  readonly canOpen: boolean;
  readonly pinned: boolean;
  /** Locations at and below the row. */
  readonly locations: readonly number[];
  /** Lines of calls; 0: one line with the innermost calls. */
  readonly lines: number;
  readonly levels: number;
  readonly few: number;
  /** Depths beyond the first that have no line of their own. */
  readonly hidden: number;
  /** Shows all levels, also the insides of imports. */
  readonly tall: boolean;
  /** For a counter: its metric. */
  readonly metric: number;
  /** The top of the samples in the row; 0: it has none. */
  readonly samples: number;
  readonly y: number;
  readonly height: number;
}

/** True if a row shows calls, or stands for rows with calls. */
export const hasCalls = ({ kind }: Row) => kind !== "counter" && kind !== "metrics";

/** The room that rows have below their calls. */
export interface Below {
  /** For collective operations. */
  readonly talk: boolean;
  /** The locations with room for samples; absent: none. */
  readonly sampled?: ReadonlySet<number>;
}

const hasSamples = ({ id, kind }: Pick<Branch, "id" | "kind">, { sampled }: Below) => kind === "location" && sampled?.has(id) === true;

const heightOfCalls = (lines: number) => (lines > 1 ? lines * LINE + PADDING : FOLDED);

/** The height of a row with this many lines of calls. */
export function heightOf(branch: Pick<Branch, "id" | "kind">, lines: number, below: Below): number {
  const { kind } = branch;
  if (kind === "counter") return COUNTER_HEIGHT;
  return heightOfCalls(lines) + (hasSamples(branch, below) ? SAMPLES : 0) + (below.talk && (kind === "location" || kind === "process") ? TALK : 0);
}

/** The selected order, with moved rows at the positions that they were given, and rows that follow others below them. */
function ordered(branches: readonly Branch[], view: Pick<View, "sort" | "moved">): readonly Branch[] {
  const followers = branches.filter((branch) => branch.follows !== undefined);
  if (!followers.length) return leading(branches, view);
  const leaders = leading(branches.filter((branch) => branch.follows === undefined), view);
  return leaders.flatMap((leader) => [leader, ...followers.filter((branch) => branch.follows === leader.id)]);
}

function leading(branches: readonly Branch[], { sort, moved }: Pick<View, "sort" | "moved">): readonly Branch[] {
  const all = sorted(branches, sort);
  if (!moved.size || !all.some((branch) => moved.has(branch.id))) return all;
  const placed = all.filter((branch) => moved.has(branch.id)).sort((a, b) => moved.get(a.id)! - moved.get(b.id)!);
  const result = all.filter((branch) => !moved.has(branch.id));
  for (const branch of placed) result.splice(moved.get(branch.id)!, 0, branch);
  return result;
}

/** The rows with the same parent in order, including the row itself; empty: the row does not exist, or follows another. */
export function siblingsOf(branches: readonly Branch[], id: number, view: View): number[] {
  const here = ordered(branches, view).filter((branch) => branch.follows === undefined);
  if (here.some((branch) => branch.id === id)) return here.map((branch) => branch.id);
  for (const branch of branches) {
    const found = siblingsOf(insideOf(branch, view), id, view);
    if (found.length) return found;
  }
  return [];
}

const insideOf = (branch: Branch, view: View) => (branch.lanes && view.filter.trim() === "" && view.sort === "order" ? branch.lanes() : branch.inner);

function sorted(branches: readonly Branch[], sort: Sort): readonly Branch[] {
  if (sort === "activity") return [...branches].sort((a, b) => b.busy - a.busy);
  if (sort === "name") return [...branches].sort(byName);
  return branches;
}

function matches(branch: Branch, filter: string): boolean {
  return branch.name.toLowerCase().includes(filter) || branch.detail.toLowerCase().includes(filter) || branch.inner.some((inner) => matches(inner, filter));
}

export interface Layout {
  /** Rows that stay at the top; `rows` start below them. */
  readonly pinned: readonly Row[];
  readonly rows: readonly Row[];
  readonly pinnedHeight: number;
  readonly height: number;
}

/** What a layout depends on besides the tree. */
export interface Room extends Below {
  /** The rows that are unfolded at first, with their most lines. */
  readonly fits: ReadonlyMap<number, number>;
  /** The number of lines that a location needs in the visible range; absent: all. */
  readonly needs: ReadonlyMap<number, number>;
}

const isOpen = (branch: Branch, { folds, folding }: View, { fits }: Room): boolean =>
  folds.get(branch.id) ?? (folding === "all" || branch.open || (folding === "fit" && fits.has(branch.id)));

/** The rows: first the pinned ones, then the unfolded part of the tree. */
export function layOut(trees: readonly Branch[], view: View, room: Room): Layout {
  const rows: Row[] = [];
  const filter = view.filter.trim().toLowerCase();
  let y = 0;
  const add = (branch: Branch, indent: number, pinned: boolean) => {
    const open = isOpen(branch, view, room);
    const tall = view.tall.has(branch.id), fitting = !view.folds.has(branch.id) && view.folding === "fit";
    const levels = Math.min(tall ? branch.levels : fitting ? room.fits.get(branch.id) ?? branch.few : branch.few, MOST_LEVELS);
    const lines = branch.kind === "location" && open ? Math.max(1, Math.min(levels, tall ? levels : room.needs.get(branch.id) ?? levels)) : 0;
    const height = heightOf(branch, lines, room), samples = hasSamples(branch, room) ? heightOfCalls(lines) : 0;
    const canOpen = (branch.kind === "location" && branch.levels > 1) || branch.inner.length > 0;
    const { id, kind, name, detail, locations, few } = branch, hidden = tall ? 0 : branch.hidden;
    rows.push({ id, kind, name, detail, locations, indent, open, canOpen, pinned, lines, levels: branch.levels, few, hidden, tall, metric: branch.metric ?? -1, samples, y, height });
    y += height;
    return open;
  };
  const walk = (branches: readonly Branch[], indent: number, shown: boolean) => {
    for (const branch of ordered(branches, view)) {
      const named = shown || (filter !== "" && (branch.name.toLowerCase().includes(filter) || branch.detail.toLowerCase().includes(filter)));
      if (filter && !named && !matches(branch, filter)) continue;
      const place = branch.follows === undefined ? indent : indent + 1, open = add(branch, place, false);
      const inner = insideOf(branch, view);
      if (inner.length && (open || (filter && !named))) walk(inner, place + 1, named);
    }
  };
  for (const id of view.pinned) {
    const branch = search(trees, id);
    if (branch) add(branch, 0, true);
  }
  const pinned = rows.splice(0);
  const pinnedHeight = y;
  walk(trees, 0, filter === "");
  return { pinned, rows, pinnedHeight, height: y };
}

function search(branches: readonly Branch[], id: number): Branch | null {
  for (const branch of branches) {
    const found = branch.id === id ? branch : search(branch.inner, id);
    if (found) return found;
  }
  return null;
}

/** The rows that [top, bottom) touches. REQUIRES: rows are sorted from the top down. */
function touched(rows: readonly Row[], top: number, bottom: number): Row[] {
  const result: Row[] = [];
  for (let i = firstWhere(rows.length, (place) => rows[place].y + rows[place].height > top); i < rows.length && rows[i].y < bottom; i++) result.push(rows[i]);
  return result;
}

/** The rows in a window of the layout: the pinned ones last, because they lie above the others. */
export function visible(layout: Layout, top: number, height: number): Row[] {
  const below = touched(layout.rows, top + layout.pinnedHeight, top + height);
  return [...below, ...layout.pinned.map((row) => ({ ...row, y: row.y + top }))];
}

/** The line of a call in an unfolded row; it may be beyond the last. */
export const lineOf = (row: Row, depth: number): number => (depth <= row.hidden ? 0 : depth - row.hidden);

/** The depth of the calls on a line. */
export const depthOf = (row: Row, line: number): number => (line === 0 ? 0 : line + row.hidden);

/** The top of a call's line in a row, or -1 if the row does not show its depth. */
export function lineTop(row: Row, depth: number): number {
  if (!row.lines) return row.y + 3;
  const line = lineOf(row, depth);
  return line < row.lines ? (row.lines > 1 ? row.y + 2 + line * LINE : row.y + 3) : -1;
}

/** True for a position of the layout among the samples of a row. */
export const isOnSamples = (row: Row, y: number): boolean => row.samples > 0 && y >= row.y + row.samples && y < row.y + row.samples + SAMPLES;

/** The row at a position of the layout. */
export function rowAt(rows: readonly Row[], y: number): Row | undefined {
  for (let i = rows.length - 1; i >= 0; i--) if (y >= rows[i].y && y < rows[i].y + rows[i].height) return rows[i];
  return undefined;
}
