// Finds the item under a point of the rows.
import { type CallRef, COLUMNS, NONE, type Run } from "../model";
import type { Cache } from "./cache";
import { type Measured, measuredAt, type ValuesCache } from "./chart";
import { memberAt } from "./lanes";
import { depthOf, isOnSamples, LINE, type Row, rowAt } from "./layout";
import { atDepth, firstAfter } from "./lines";
import { type Frame, slotsOf } from "./renderer";
import { toTime } from "./scale";

export interface Hit {
  readonly row: Row;
  readonly time: number;
  /** -1: exclusive times, in rows that are folded or are sums. */
  readonly depth: number;
  readonly region: number;
  /** The covered part of the cell, from 0 to 1; 1 for an exact call. */
  readonly cover: number;
  readonly call: CallRef | null;
  /** For a counter. */
  readonly measured?: Measured;
}

export function hitAt(frame: Frame, cache: Cache, values: ValuesCache, run: Run, imports: Uint8Array, width: number, pixels: number, x: number, y: number): Hit | null {
  const at = y + frame.top;
  const found = rowAt(frame.rows, at);
  if (!found) return null;
  const time = toTime(frame.range, width, x), reach = (2 * (frame.range.end - frame.range.begin)) / width;
  const member = found.kind === "lane" ? memberAt(run.locations, found.locations, time, reach) : -1;
  const row = member < 0 ? found : { ...found, id: member, name: run.locations[member].name };
  if ((found.kind === "lane" && member < 0) || found.kind === "metrics") return null;
  if (found.kind === "counter") {
    const measured = measuredAt(values.known(row.id), time);
    return measured && { row, time, depth: -1, region: NONE, cover: 0, call: null, measured };
  }
  if (isOnSamples(found, at)) return null;
  const depth = row.lines ? depthOf(row, Math.min(row.lines - 1, Math.max(0, Math.floor((at - row.y - 2) / LINE)))) : -1;
  const nothing = { row, time, depth, region: NONE, cover: 0, call: null };
  const slot = slotsOf(row, run, frame.range, pixels).find((key) => time < (key.index + 1) * COLUMNS * 4 ** key.level);
  const pieces = slot ? cache.pieces(slot) : [];
  for (const { key, tile, calls } of pieces.reverse()) {
    if (calls && depth >= 0) {
      const call = nearest(calls, depth, time, reach);
      const inside = (one: number) => (one >= 0 ? imports[calls.region[one]] : 0);
      if (call < 0 || (!row.tall && someDepth(depth, (above) => inside(nearest(calls, above, time, 0))))) return nothing;
      const ref = { track: row.id, depth, begin: calls.begin[call], end: calls.end[call], region: calls.region[call] };
      return { ...nothing, region: ref.region, cover: 1, call: ref };
    }
    const column = Math.floor(time / 4 ** key.level) - key.index * COLUMNS;
    if (column < 0 || column >= COLUMNS || depth + 1 >= tile.rows) continue;
    const cell = (depth + 1) * COLUMNS + column;
    if (!row.tall && someDepth(depth, (above) => imports[tile.region[(above + 1) * COLUMNS + column]])) return nothing;
    return { ...nothing, region: tile.region[cell], cover: tile.cover[cell] / 255 };
  }
  return nothing;
}

/** True if one of the depths above `depth` is an import, whose inside is not drawn. */
function someDepth(depth: number, isImport: (above: number) => number): boolean {
  for (let above = 0; above < depth; above++) if (isImport(above)) return true;
  return false;
}

/** The call at `time`, otherwise the nearest within `reach`. */
function nearest(calls: Parameters<typeof atDepth>[0], depth: number, time: number, reach: number): number {
  const list = atDepth(calls, depth);
  let best = -1, distance = reach;
  for (let i = firstAfter(calls, list, time - reach); i < list.length && calls.begin[list[i]] <= time + reach; i++) {
    const call = list[i];
    const away = Math.max(calls.begin[call] - time, time - calls.end[call], 0);
    if (away < distance || (away === 0 && distance === 0)) [best, distance] = [call, away];
  }
  return best;
}
