// The picture of the rows: pixels of tiles and calls, then names on top.
import { blend, functionColour, pixel, textUpon, type Theme } from "../colour";
import { shortName, valueText } from "../format";
import { COLUMNS, NONE, type Run, type TileKey } from "../model";
import type { Cache, Piece } from "./cache";
import { bandColour, bandsOf, drawBands, extremes, type ValuesCache } from "./chart";
import { crowd, drawCrowd } from "./crowd";
import { inLane } from "./lanes";
import { LINE, type Row } from "./layout";
import { Line } from "./lines";
import { levelFor, type Range, span } from "./scale";
import { Innermost, pale, paler, waitingOf } from "./waiting";

/** The visible part of the rows. */
export interface Frame {
  readonly range: Range;
  readonly rows: readonly Row[];
  /** The first visible pixel of the rows. */
  readonly top: number;
  /** The end of the pinned rows. */
  readonly pinnedBottom: number;
}

/** The slots beside the visible ones, and the coarser ones that contain them: for the next move and the next zoom. */
export function around(frame: Frame, width: number, whole: Range): TileKey[] {
  const { range } = frame;
  const half = span(range) / 2;
  const wide = { begin: range.begin - half, end: range.end + half };
  const keys = frame.rows.filter((row) => row.kind === "location" || row.kind === "process").flatMap((row) => {
    const rows = row.lines ? row.lines + 1 : 1;
    return [...slots(row.id, rows, wide, 2 * width), ...slots(row.id, rows, wide, width)];
  });
  return keys.filter((key) => key.index * 4 ** key.level * COLUMNS < whole.end);
}

const SMALLEST_LABEL = 26;
/** Narrower locations in a lane only show that they exist. */
const SMALLEST_MEMBER = 12;
const HATCH = 7;

/** The slots of tiles that a range touches. */
export function slots(track: number, rows: number, range: Range, width: number): TileKey[] {
  const level = Math.min(levelFor(span(range) / width), 28);
  const size = 4 ** level * COLUMNS;
  const keys: TileKey[] = [];
  for (let index = Math.max(0, Math.floor(range.begin / size)); index * size < range.end; index++) keys.push({ track, level, index, rows });
  return keys;
}

/** The start of a text that fits into a width, or "". */
export function shortened(context: CanvasRenderingContext2D, text: string, room: number, width: number): string {
  let count = Math.floor((room / width) * text.length);
  while (count >= 3 && context.measureText(text.slice(0, count) + "…").width > room) count--;
  return count < 3 ? "" : text.slice(0, count) + "…";
}

/** Receives the picture as rectangles of one colour and words, in CSS pixels. */
export interface Recorder {
  run(x: number, y: number, width: number, height: number, colour: number): void;
  label(x: number, y: number, words: string, colour: string): void;
}

export class Renderer {
  private image: ImageData | null = null;
  private buffer = new Uint32Array(0);
  private line: Line | null = null;
  private colours = new Uint32Array(0);
  private styles: string[] = [];
  private texts: string[] = [];
  private theme: Theme | null = null;
  private recorder: Recorder | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly cache: Cache, private readonly run: Run, private readonly values: ValuesCache) {}

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.styles = this.run.regions.map((region) => functionColour(theme, region.name, region.module, region.idle));
    this.colours = Uint32Array.from(this.styles, pixel);
    this.texts = this.styles.map(textUpon);
    this.line = null;
  }

  styleOf(region: number): string {
    return this.styles[region] ?? this.theme!.nothing;
  }

  paint(frame: Frame, ratio: number): void {
    const { width, height } = this.canvas;
    if (!width || !height || !this.theme) return;
    this.prepare(width, height);
    const context = this.canvas.getContext("2d", { alpha: false })!;
    this.buffer.fill(pixel(this.theme.background));
    const labels: (() => void)[] = [];
    for (const row of frame.rows) this.paintRow(row, frame, ratio, labels, context);
    context.putImageData(this.image!, 0, 0);
    context.font = `${Math.round(11.5 * ratio)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (const label of labels) label();
  }

  /** Draws again, and returns what was drawn. */
  record(frame: Frame, recorder: Recorder): void {
    const ratio = window.devicePixelRatio || 1;
    this.recorder = recorder;
    this.paint(frame, ratio);
    this.recorder = null;
  }

  private recordLine(pixels: Uint32Array, from: number, to: number, ratio: number): void {
    const nothing = pixel(this.theme!.track);
    for (let x = 0, begin = 0; x < pixels.length; begin = x) {
      while (x < pixels.length && pixels[x] === pixels[begin]) x++;
      if (pixels[begin] !== nothing) this.recorder!.run(begin / ratio, from / ratio, (x - begin) / ratio, (to - from) / ratio, pixels[begin]);
    }
  }

  private prepare(width: number, height: number): void {
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.buffer = new Uint32Array(this.image.data.buffer);
    }
    if (this.line?.width !== width) this.line = new Line(width, pixel(this.theme!.track), this.colours);
  }

  private paintRow(row: Row, frame: Frame, ratio: number, labels: (() => void)[], context: CanvasRenderingContext2D): void {
    const top = Math.round((row.y - frame.top) * ratio), bottom = Math.round((row.y + row.height - frame.top) * ratio);
    this.fill(top, bottom, pixel(this.theme!.track));
    this.recorder?.run(0, top / ratio, this.canvas.width / ratio, (bottom - top) / ratio - 1, pixel(this.theme!.track));
    if (row.kind === "counter") return this.paintCounter(row, frame, top, bottom, ratio, labels, context);
    const wanted = row.kind === "folder" || row.kind === "lane" || row.kind === "metrics" ? [] : slots(row.id, row.lines ? row.lines + 1 : 1, frame.range, this.canvas.width);
    const found = wanted.map((slot): [TileKey, Piece[]] => [slot, this.cache.pieces(slot)]);
    const first = row.lines ? 1 : 0;
    const place = (index: number) => {
      const y = row.lines > 1 ? row.y + (index - 1) * LINE + 2 : row.y + 3;
      return { y, from: Math.round((y - frame.top) * ratio), to: Math.round((y - frame.top + LINE - 1) * ratio) };
    };
    const innermost = new Innermost(this.canvas.width);
    for (let index = first; index <= row.lines; index++) {
      const { y, from, to } = place(index);
      if (to <= 0) continue;
      const line = this.line!;
      line.clear();
      if (row.kind === "folder") {
        const { range } = frame;
        drawCrowd(line.pixels, crowd(this.run.locations, row.locations, range, line.width), pixel(this.theme!.track), pixel(this.theme!.faint));
      }
      if (row.kind === "lane") this.drawLane(line, row, frame.range, ratio);
      for (const [slot, pieces] of found) line.draw(pieces, slot, index, frame.range);
      innermost.add(index, line.regions);
      // The first invisible line shows that calls continue below.
      if (from >= this.canvas.height) break;
      this.copy(line.pixels, from, to);
      if (this.recorder) this.recordLine(line.pixels, from, to, ratio);
      if (row.pinned || y >= frame.pinnedBottom) this.label(line, from, to, ratio, labels, context);
    }
    this.drawWaiting(waitingOf(found, frame.range, this.canvas.width), innermost, place, ratio);
    for (const [slot, pieces] of found) for (const piece of pieces) this.hatch(piece, slot, frame.range, top, bottom);
    this.fill(bottom - Math.max(1, Math.round(ratio)), bottom, pixel(this.theme!.line));
  }

  /** A chart with its least and its largest value. */
  private paintCounter(row: Row, frame: Frame, top: number, bottom: number, ratio: number, labels: (() => void)[], context: CanvasRenderingContext2D): void {
    const theme = this.theme!, edge = Math.round(4 * ratio), height = bottom - top - 2 * edge;
    const values = this.values.of(row.id, { track: row.locations[0], metric: row.metric }, frame.range);
    if (values?.count) {
      const bands = bandsOf(values, frame.range, this.canvas.width, height, this.run.locations[row.locations[0]].end);
      drawBands(bands, this.buffer, top + edge, height, theme);
      bands.forEach((band, x) => {
        if (!band || !this.recorder) return;
        this.recorder.run(x / ratio, (top + edge + band.top) / ratio, 1 / ratio, (band.bottom - band.top + 2) / ratio, bandColour(theme));
        this.recorder.run(x / ratio, (top + edge + band.mean) / ratio, 1 / ratio, 2 / ratio, pixel(theme.accent));
      });
      const [least, most] = extremes(values, frame.range);
      const words: [number, number][] = least === most ? [[most, top + height / 2]] : [[most, top + edge + 5 * ratio], [least, bottom - edge - 5 * ratio]];
      for (const [value, y] of words) {
        labels.push(() => {
          const text = valueText(value), wide = context.measureText(text).width + 6 * ratio;
          context.fillStyle = theme.track;
          context.fillRect(2 * ratio, y - 7 * ratio, wide, 14 * ratio);
          context.fillStyle = theme.text;
          context.fillText(text, 5 * ratio, y);
          this.recorder?.label(5, y / ratio, text, theme.text);
        });
      }
    }
    this.fill(bottom - Math.max(1, Math.round(ratio)), bottom, pixel(theme.line));
  }

  /** The locations of a lane: the innermost calls of each, and a gap after it. */
  private drawLane(line: Line, row: Row, range: Range, ratio: number): void {
    const { locations } = this.run;
    const [first, last] = inLane(locations, row.locations, range.begin, range.end);
    const shortest = (SMALLEST_MEMBER * ratio * span(range)) / line.width;
    const faint = blend(pixel(this.theme!.track), pixel(this.theme!.faint), 0.5);
    for (let i = first; i < last; i++) {
      const track = row.locations[i], part = locations[track];
      if (part.end - part.begin < shortest) {
        line.block(part.begin, part.end, faint, range);
        continue;
      }
      const seen = { begin: Math.max(part.begin, range.begin), end: Math.min(part.end, range.end) };
      const width = (line.width * span(seen)) / span(range);
      for (const slot of slots(track, 1, seen, Math.max(1, width))) line.draw(this.cache.pieces(slot), slot, 0, range, seen);
      line.gap(part.end, range);
    }
  }

  private fill(from: number, to: number, colour: number): void {
    const { width, height } = this.canvas;
    const first = Math.max(0, from), last = Math.min(height, to);
    if (last > first) this.buffer.fill(colour, first * width, last * width);
  }

  private copy(pixels: Uint32Array, from: number, to: number): void {
    const { width, height } = this.canvas;
    for (let y = Math.max(0, from); y < Math.min(height, to); y++) this.buffer.set(pixels, y * width);
  }

  /** Marks the upper part of the innermost calls; its height is the waiting share. */
  private drawWaiting(shares: Float32Array, innermost: Innermost, place: (index: number) => { from: number; to: number }, ratio: number): void {
    const { width, height } = this.canvas, background = pixel(this.theme!.track);
    for (let x = 0; x < width; x++) {
      if (shares[x] === 0 || innermost.line[x] === NONE) continue;
      const { from, to } = place(innermost.line[x]), bottom = from + Math.round((to - from) * shares[x]);
      const top = Math.max(0, from), colour = this.buffer[top * width + x];
      if (top >= Math.min(height, bottom) || colour === background) continue;
      for (let y = top; y < Math.min(height, bottom); y++) this.buffer[y * width + x] = paler(colour, background, x, y);
      this.recorder?.run(x / ratio, from / ratio, 1 / ratio, (bottom - from) / ratio, pale(colour, background));
    }
  }

  /** Stripes where recording was off. */
  private hatch(piece: Piece, slot: TileKey, range: Range, top: number, bottom: number): void {
    const { off } = piece.tile;
    if (!off.some((part) => part > 0)) return;
    const { width, height } = this.canvas;
    const scale = width / span(range), column = 4 ** piece.key.level, size = 4 ** slot.level * COLUMNS;
    const left = Math.max(0, Math.round((slot.index * size - range.begin) * scale));
    const right = Math.min(width, Math.round(((slot.index + 1) * size - range.begin) * scale));
    const stripe = pixel(this.theme!.faint), under = pixel(this.theme!.nothing);
    for (let x = left; x < right; x++) {
      const part = off[Math.floor((range.begin + (x + 0.5) / scale) / column) - piece.key.index * COLUMNS] ?? 0;
      if (!part) continue;
      for (let y = Math.max(0, top); y < Math.min(height, bottom); y++) {
        const at = y * width + x;
        this.buffer[at] = blend(this.buffer[at], (x + y) % HATCH < 2 ? stripe : under, (part / 255) * 0.75);
      }
    }
  }

  /** Names of items that are wide enough. */
  private label(line: Line, from: number, to: number, ratio: number, labels: (() => void)[], context: CanvasRenderingContext2D): void {
    const { regions, width } = line;
    const smallest = SMALLEST_LABEL * ratio;
    for (let x = 0, begin = 0; x < width; begin = x) {
      const region = regions[begin];
      while (x < width && regions[x] === region) x++;
      if (region === NONE || x - begin < smallest) continue;
      const left = begin, room = x - begin - 8 * ratio;
      const faint = line.pixels[(left + x) >> 1] !== this.colours[region];
      labels.push(() => {
        const text = this.cut(context, region, room);
        if (!text) return;
        context.fillStyle = faint ? this.theme!.text : this.texts[region];
        context.fillText(text, left + 4 * ratio, (from + to) / 2 + ratio / 2);
        this.recorder?.label(left / ratio + 4, (from + to) / 2 / ratio, text, context.fillStyle);
      });
    }
  }

  private readonly widths = new Map<string, number>();

  private cut(context: CanvasRenderingContext2D, region: number, room: number): string {
    const { name, module } = this.run.regions[region];
    const text = shortName(name, module);
    const key = context.font + text;
    let width = this.widths.get(key);
    if (width === undefined) this.widths.set(key, (width = context.measureText(text).width));
    if (width <= room) return text;
    return shortened(context, text, room, width);
  }
}
