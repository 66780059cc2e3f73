// Computes a tile on one time axis from tiles on another.
import { CAUSES, mainCause } from "../causes";
import { COLUMNS, NONE, type Tile } from "../model";

/** Consecutive tiles with columns of length `width`; the first starts at `begin`. Null: empty. */
export interface Strip {
  readonly tiles: readonly (Tile | null)[];
  readonly begin: number;
  readonly width: number;
}

/** The tile whose columns are [at + c * step, at + (c + 1) * step) of the strip. The covered part of a column counts as
 * spread over all of it, which moves borders by less than a column. The function is the one that covers most. */
export function resample(strip: Strip, at: number, step: number): Tile {
  const there = strip.tiles.filter((tile) => tile !== null);
  const rows = there.reduce((most, tile) => Math.max(most, tile.rows), 0), allRows = there.reduce((most, tile) => Math.max(most, tile.allRows), 0);
  const result = { rows, allRows, exact: false, off: new Uint8Array(COLUMNS), waiting: new Uint8Array(COLUMNS), cause: new Uint8Array(COLUMNS), region: new Int32Array(rows * COLUMNS).fill(NONE), cover: new Uint8Array(rows * COLUMNS) };
  for (let column = 0; column < COLUMNS; column++) {
    const from = (at + column * step - strip.begin) / strip.width, to = from + step / strip.width;
    const sums = new Float64Array(rows), most = new Float64Array(rows);
    const causes = new Float64Array(CAUSES.length);
    let off = 0, waiting = 0;
    for (let cell = Math.max(0, Math.floor(from)); cell < to && cell < strip.tiles.length * COLUMNS; cell++) {
      const part = Math.min(cell + 1, to) - Math.max(cell, from), tile = strip.tiles[Math.floor(cell / COLUMNS)];
      if (!tile || !(part > 0)) continue;
      off += part * tile.off[cell % COLUMNS];
      waiting += part * tile.waiting[cell % COLUMNS];
      causes[tile.cause[cell % COLUMNS]] += part * tile.waiting[cell % COLUMNS];
      for (let row = 0; row < tile.rows; row++) {
        const place = row * COLUMNS + (cell % COLUMNS), cover = part * tile.cover[place];
        sums[row] += cover;
        if (cover > most[row]) (most[row] = cover), (result.region[row * COLUMNS + column] = tile.region[place]);
      }
    }
    const all = step / strip.width;
    result.off[column] = Math.min(255, Math.ceil(off / all - 1e-9));
    result.cause[column] = mainCause(causes);
    result.waiting[column] = Math.min(255, Math.ceil(waiting / all - 1e-9));
    for (let row = 0; row < rows; row++) result.cover[row * COLUMNS + column] = Math.min(255, Math.ceil(sums[row] / all - 1e-9));
  }
  return result;
}
