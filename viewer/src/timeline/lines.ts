// One line of pixels: the content of a row at one depth.
import { blend, type Pixel } from "../colour";
import { type Calls, COLUMNS, NONE, type TileKey } from "../model";
import type { Piece } from "./cache";
import { type Range, span } from "./scale";

/** Calls narrower than this (in device pixels) are summed up by pixel. */
const THIN = 1.5;
/** Calls at least this wide have a gap after them, so that neighbours stay distinct; others have a faint edge. */
const GAP_FROM = 4;
const EDGE = 0.55;
/** Even the shortest call is visible: the least part of its colour. */
export const FAINTEST = 0.25;

/** The colour of an item that covers a part of a pixel. */
export const faded = (background: Pixel, colour: Pixel, part: number): Pixel => (part < 1 ? blend(background, colour, FAINTEST + (1 - FAINTEST) * part) : colour);

export class Line {
  readonly pixels: Uint32Array;
  /** The item at each pixel; NONE: none, or a gap. */
  readonly regions: Int32Array;
  /** The part of each pixel that its item covers, where there is one. */
  readonly parts: Float32Array;
  private readonly sums: Float32Array;

  constructor(readonly width: number, private readonly background: Pixel, public colours: Uint32Array) {
    this.pixels = new Uint32Array(width);
    this.regions = new Int32Array(width);
    this.parts = new Float32Array(width);
    this.sums = new Float32Array(width);
  }

  clear(): void {
    this.pixels.fill(this.background);
    this.regions.fill(NONE);
  }

  /** Draws row `row` of the pieces (0: exclusive times; 1 + d: depth d) at the slot, inside `part`. */
  draw(pieces: readonly Piece[], slot: TileKey, row: number, range: Range, part: Range = range): void {
    const width = 4 ** slot.level * COLUMNS;
    for (const piece of pieces) {
      const pieceWidth = 4 ** piece.key.level * COLUMNS;
      const begin = Math.max(slot.index * width, piece.key.index * pieceWidth, part.begin);
      const end = Math.min((slot.index + 1) * width, (piece.key.index + 1) * pieceWidth, part.end);
      const left = this.clip((begin - range.begin) * (this.width / span(range)));
      const right = this.clip((end - range.begin) * (this.width / span(range)));
      if (right <= left) continue;
      if (piece.calls && row > 0) this.drawCalls(piece.calls, row - 1, range, left, right);
      else if (row < piece.tile.rows) this.drawTile(piece, row, range, left, right);
    }
  }

  /** Draws an item with a known position only, with a gap after it. */
  block(begin: number, end: number, colour: Pixel, range: Range): void {
    const scale = this.width / span(range);
    const left = this.clip((begin - range.begin) * scale), right = this.clip((end - range.begin) * scale);
    this.pixels.fill(colour, left, Math.max(left + 1, right - 1));
  }

  /** Ends the drawing up to a time with a gap. */
  gap(end: number, range: Range): void {
    const x = this.clip((end - range.begin) * (this.width / span(range))) - 1;
    if (x < 0 || x >= this.width - 1) return;
    this.pixels[x] = this.background;
    this.regions[x] = NONE;
  }

  /** The first pixel whose centre is at `x` or later. */
  private clip(x: number): number {
    return Math.min(this.width, Math.max(0, Math.ceil(x - 0.5)));
  }

  private drawTile(piece: Piece, row: number, range: Range, left: number, right: number): void {
    const column = 4 ** piece.key.level;
    const perPixel = span(range) / this.width;
    const offset = piece.key.index * COLUMNS;
    const { region, cover } = piece.tile;
    for (let x = left; x < right; x++) {
      const first = Math.floor((range.begin + x * perPixel) / column) - offset;
      const last = Math.max(first, Math.ceil((range.begin + (x + 1) * perPixel) / column) - 1 - offset);
      let best = NONE, most = 0, sum = 0, columns = 0;
      for (let c = Math.max(first, 0); c <= Math.min(last, COLUMNS - 1); c++) {
        const part = cover[row * COLUMNS + c];
        sum += part;
        columns++;
        if (part > most) [best, most] = [region[row * COLUMNS + c], part];
      }
      if (best !== NONE) this.set(x, best, sum / columns / 255);
      else (this.pixels[x] = this.background), (this.regions[x] = NONE);
    }
  }

  private drawCalls(calls: Calls, depth: number, range: Range, left: number, right: number): void {
    this.pixels.fill(this.background, left, right);
    this.regions.fill(NONE, left, right);
    const list = atDepth(calls, depth);
    const scale = this.width / span(range);
    const thin: number[] = [];
    for (let i = firstAfter(calls, list, range.begin + (left - 1) / scale); i < list.length; i++) {
      const call = list[i];
      const from = (calls.begin[call] - range.begin) * scale, to = (calls.end[call] - range.begin) * scale;
      if (from >= right) break;
      if (to - from < THIN) this.addThin(from, to, calls.region[call], left, right, thin);
      else this.fill(Math.round(from), Math.round(to), calls.region[call], left, right);
    }
    for (const x of thin) {
      this.set(x, this.regions[x], Math.min(1, this.sums[x]));
      this.sums[x] = 0;
    }
  }

  private fill(from: number, to: number, region: number, left: number, right: number): void {
    const first = Math.max(from, left), last = Math.min(to, right);
    if (last <= first) return;
    this.pixels.fill(this.colours[region], first, last);
    this.regions.fill(region, first, last);
    this.parts.fill(1, first, last);
    if (to > right) return;
    const wide = to - from >= GAP_FROM;
    this.pixels[last - 1] = wide ? this.background : blend(this.background, this.colours[region], EDGE);
    if (wide) this.regions[last - 1] = NONE;
  }

  private addThin(from: number, to: number, region: number, left: number, right: number, thin: number[]): void {
    const x = Math.floor(from);
    if (x < left || x >= right) return;
    if (this.sums[x] === 0) thin.push(x);
    this.sums[x] += Math.max(to - from, 1e-6);
    this.regions[x] = region;
  }

  private set(x: number, region: number, part: number): void {
    this.regions[x] = region;
    this.parts[x] = part;
    this.pixels[x] = faded(this.background, this.colours[region], part);
  }
}

const depths = new WeakMap<Calls, number[][]>();

/** The calls at a depth, in order; they do not overlap. */
export function atDepth(calls: Calls, depth: number): readonly number[] {
  let lists = depths.get(calls);
  if (!lists) {
    lists = [];
    for (let call = 0; call < calls.count; call++) (lists[calls.depth[call]] ??= []).push(call);
    depths.set(calls, lists);
  }
  return lists[depth] ?? [];
}

/** The first index of a list whose call ends after `time`. */
export function firstAfter(calls: Calls, list: readonly number[], time: number): number {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls.end[list[middle]] < time) low = middle + 1; else high = middle;
  }
  return low;
}
