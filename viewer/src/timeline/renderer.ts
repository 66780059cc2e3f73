// The picture of the rows: pixels of tiles and calls, then names on top.
import { blend, pixel, type Pixel, type Theme, textOver } from "../colour";
import { measuredText, shortName, valueText } from "../format";
import { COLUMNS, FIRST_ALONE, NONE, PROCESS_MEMORY, type Run, type TileKey } from "../model";
import { hasSuspensions } from "../source/cells";
import { importsOf } from "./activity";
import type { Cache, Piece } from "./cache";
import { bandColour, bandsOf, drawBands, extremes, highest, type ValuesCache } from "./chart";
import { barsOf, crowd } from "./crowd";
import { inLane } from "./lanes";
import { depthOf, LINE, type Row, SAMPLES } from "./layout";
import { FAINTEST, faded, Line } from "./lines";
import { Painting } from "../palette";
import { sampleBarsOf, type SampleCache } from "./sampled";
import { levelFor, type Range, span } from "./scale";
import { between, type Found, inStripe, type Waiting, waitingOf } from "./waiting";

/** The visible part of the rows. */
export interface Frame {
  readonly range: Range;
  readonly rows: readonly Row[];
  /** The first visible pixel of the rows. */
  readonly top: number;
  /** The end of the pinned rows. */
  readonly pinnedBottom: number;
  /** Functions whose calls are marked, because they are too many hits to mark each. */
  readonly marked?: ReadonlySet<number> | null;
}

/** The slots beside the visible ones, and the coarser ones that contain them: for the next move and the next zoom. */
export function around(frame: Frame, width: number, whole: Range): TileKey[] {
  const { range } = frame;
  const half = span(range) / 2;
  const wide = { begin: range.begin - half, end: range.end + half };
  const keys = frame.rows.filter((row) => row.kind === "location" || row.kind === "process").flatMap((row) => {
    const rows = rowsOf(row);
    return [...slots(row.id, rows, wide, 2 * width), ...slots(row.id, rows, wide, width)];
  });
  return keys.filter((key) => key.index * 4 ** key.level * COLUMNS < whole.end);
}

const SMALLEST_LABEL = 26;
/** Narrower locations in a lane only show that they exist. */
const SMALLEST_MEMBER = 12;
const HATCH = 7;

/** The rows of tiles that a row shows, and one more, which tells whether it has to be higher. */
export const rowsOf = (row: Row): number => (row.lines ? depthOf(row, row.lines - 1) + 3 : 1);

/** The slots of tiles that a range touches. */
export function slots(track: number, rows: number, range: Range, width: number): TileKey[] {
  const level = Math.min(levelFor(span(range) / width), 28);
  const size = 4 ** level * COLUMNS;
  const keys: TileKey[] = [];
  for (let index = Math.max(0, Math.floor(range.begin / size)); index * size < range.end; index++) keys.push({ track, level, index, rows });
  return keys;
}

const mixed = (track: number, members: readonly number[], range: Range, width: number): TileKey[] => slots(track, 1, range, width).map((key) => ({ ...key, members }));

/** The slots of a row, or of a location in a lane. A task on one line is a mixture, which knows for what it is suspended. */
export function slotsOf(row: Row, run: Run, range: Range, width: number): TileKey[] {
  if (row.kind === "folder") return mixed(row.id, row.locations, range, width);
  const oneLine = row.kind === "lane" || (!row.lines && run.locations[row.id]?.kind === "task");
  return oneLine && hasSuspensions(run) ? mixed(FIRST_ALONE + row.id, [row.id], range, width) : slots(row.id, rowsOf(row), range, width);
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

/** The place of a name, in CSS pixels. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class Renderer {
  /** The names in the picture. */
  places: Place[] = [];
  private image: ImageData | null = null;
  private buffer = new Uint32Array(0);
  private line: Line | null = null;
  private theme: Theme | null = null;
  private painting: Painting | null = null;
  /** The colours of a painting's styles as pixels. */
  private readonly pixels = new WeakMap<readonly string[], Uint32Array>();
  private recorder: Recorder | null = null;
  /** By cause: the colours of waiting, in the stripes and between them. */
  private waiting: readonly Pixel[] = [];
  private pale: readonly Pixel[] = [];

  /** By region, and by pixel while a row is drawn. */
  private readonly imports: Uint8Array;
  private closed = new Uint8Array(0);
  /** By pixel: the cause that the lines above tell. */
  private outer = new Uint8Array(0);

  constructor(private readonly canvas: HTMLCanvasElement, private readonly cache: Cache, private readonly run: Run, private readonly values: ValuesCache, private readonly samples: SampleCache) {
    this.imports = importsOf(run);
  }

  setColours(theme: Theme, painting: Painting): void {
    this.theme = theme;
    this.painting = painting;
    this.waiting = painting.waiting.map(pixel);
    this.pale = this.waiting.map((colour) => between(colour, theme));
    this.line = null;
  }

  private coloursOf(row: Row): Uint32Array {
    const styles = this.painting!.of(this.run.locations[row.locations[0]]?.process ?? 0);
    let pixels = this.pixels.get(styles);
    if (!pixels) this.pixels.set(styles, (pixels = Uint32Array.from(styles, pixel)));
    return pixels;
  }

  paint(frame: Frame, ratio: number): void {
    const { width, height } = this.canvas;
    if (!width || !height || !this.theme) return;
    this.prepare(width, height);
    const context = this.canvas.getContext("2d", { alpha: false })!;
    this.buffer.fill(pixel(this.theme.background));
    const labels: (() => void)[] = [];
    this.places = [];
    for (const row of frame.rows) this.paintRow(row, frame, ratio, labels, context);
    context.putImageData(this.image!, 0, 0);
    context.font = `${Math.round(11.5 * ratio)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (const label of labels) label();
  }

  /** Draws again, and returns the drawn frame. */
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
    if (this.closed.length !== width) (this.closed = new Uint8Array(width)), (this.outer = new Uint8Array(width));
    if (this.line?.width !== width) this.line = new Line(width, pixel(this.theme!.track), new Uint32Array(0));
  }

  private paintRow(row: Row, frame: Frame, ratio: number, labels: (() => void)[], context: CanvasRenderingContext2D): void {
    const top = Math.round((row.y - frame.top) * ratio), bottom = Math.round((row.y + row.height - frame.top) * ratio);
    this.fill(top, bottom, pixel(this.theme!.track));
    this.recorder?.run(0, top / ratio, this.canvas.width / ratio, (bottom - top) / ratio - 1, pixel(this.theme!.track));
    if (row.kind === "counter") return this.paintCounter(row, frame, top, bottom, ratio, labels, context);
    if (row.kind === "folder") return this.paintCrowd(row, frame.range, top, bottom, ratio);
    const found = row.kind === "metrics" ? [] : row.kind === "lane" ? this.foundInLane(row, frame.range, ratio) : this.found(row, frame.range, this.canvas.width);
    const first = row.lines ? 1 : 0;
    const place = (index: number) => {
      const y = row.lines > 1 ? row.y + (index - 1) * LINE + 2 : row.y + 3;
      return { y, from: Math.round((y - frame.top) * ratio), to: Math.round((y - frame.top + LINE - 1) * ratio) };
    };
    const waiting = waitingOf(found, frame.range, this.canvas.width, this.run);
    this.line!.colours = this.coloursOf(row);
    const closed = row.tall || row.lines < 2 ? null : this.closed.fill(0);
    for (let index = first; index <= row.lines; index++) {
      const { y, from, to } = place(index);
      if (to <= 0) continue;
      const line = this.line!;
      line.clear();
      if (row.kind === "lane") this.drawShort(line, row, frame.range, ratio);
      for (const [slot, pieces, part] of found) line.draw(pieces, slot, index && depthOf(row, index - 1) + 1, frame.range, part);
      for (const [, , part] of found) if (part) line.gap(part.end, frame.range);
      if (closed) this.close(line, closed);
      if (this.run.causes && row.kind === "location") this.colourSuspended(line, index > first);
      // The first invisible line shows that calls continue below.
      if (from >= this.canvas.height) break;
      this.copy(line.pixels, from, to);
      if (this.recorder) this.recordLine(line.pixels, from, to, ratio);
      this.drawWaiting(waiting, line, from, to, ratio);
      if (frame.marked) this.underline(line, frame.marked, to, ratio);
      if (row.pinned || y >= frame.pinnedBottom) this.label(line, from, to, ratio, labels, context);
    }
    if (row.samples) this.paintSamples(row, frame, ratio);
    if (row.kind !== "lane") for (const [slot, pieces] of found) for (const piece of pieces) this.hatch(piece, slot, frame.range, top, bottom);
    this.fill(bottom - Math.max(1, Math.round(ratio)), bottom, pixel(this.theme!.line));
  }

  private found(row: Row, range: Range, width: number, part?: Range): Found[] {
    return slotsOf(row, this.run, range, width).map((slot): Found => (part ? [slot, this.cache.pieces(slot), part] : [slot, this.cache.pieces(slot)]));
  }

  /** The samples of a thread, in the colours of the functions that they hit. */
  private paintSamples(row: Row, { range, top }: Frame, ratio: number): void {
    const { width, height } = this.canvas, lane = this.samples.of(row.id, range);
    if (!lane) return;
    const foot = Math.round((row.y + row.samples + SAMPLES - 2 - top) * ratio), most = Math.round((SAMPLES - 2) * ratio);
    const colours = this.coloursOf(row), { timed } = lane, { items, heights } = sampleBarsOf(lane, range, Math.round(width / ratio));
    const colourOf = (hit: number) => (hit === NONE ? pixel(this.theme!.faint) : colours[hit] ?? this.painting!.pixelOf(timed.functions[hit - colours.length]));
    items.forEach((item, at) => {
      if (item === NONE) return;
      const colour = colourOf(timed.hit[item]), tall = Math.max(1, Math.round(most * heights[at])), left = Math.round(at * ratio), right = Math.min(width, Math.round((at + 1) * ratio));
      for (let y = Math.max(0, foot - tall); y < Math.min(height, foot); y++) this.buffer.fill(colour, y * width + left, y * width + right);
      this.recorder?.run(at, (foot - tall) / ratio, 1, tall / ratio, colour);
    });
  }

  /** A histogram of the locations in a folder: how many of them exist at a time, and what most of them do. */
  private paintCrowd(row: Row, range: Range, top: number, bottom: number, ratio: number): void {
    const { width, height } = this.canvas, line = this.line!, idle = blend(pixel(this.theme!.track), pixel(this.theme!.faint), 0.25);
    const foot = bottom - Math.round(2 * ratio), counts = crowd(this.run.locations, row.locations, range, width), bars = barsOf(counts, foot - top - Math.round(2 * ratio));
    const found = this.found(row, range, width), { covers, shares, causes } = waitingOf(found, range, width, this.run);
    line.colours = this.coloursOf(row);
    line.clear();
    for (const [slot, pieces] of found) line.draw(pieces, slot, 0, range);
    for (let x = 0; x < width; x++) {
      const region = line.regions[x], busy = Math.min(1, (covers[x] * row.locations.length) / Math.max(1, counts[x]));
      const colour = region === NONE ? idle : blend(idle, line.colours[region], FAINTEST + (1 - FAINTEST) * busy);
      const first = foot - bars[x], waits = region === NONE ? 0 : Math.round(bars[x] * shares[x]);
      for (let y = Math.max(0, first); y < Math.min(height, foot); y++) {
        this.buffer[y * width + x] = y >= first + waits ? colour : inStripe(x, y) ? this.waiting[causes[x]] : this.pale[causes[x]];
      }
      const part = (from: number, tall: number, colour: Pixel) => tall && this.recorder?.run(x / ratio, from / ratio, 1 / ratio, tall / ratio, colour);
      part(first, waits, this.pale[causes[x]]);
      part(first + waits, bars[x] - waits, colour);
    }
    this.fill(bottom - Math.max(1, Math.round(ratio)), bottom, pixel(this.theme!.line));
  }

  /** A chart with its least and its largest value. */
  private paintCounter(row: Row, frame: Frame, top: number, bottom: number, ratio: number, labels: (() => void)[], context: CanvasRenderingContext2D): void {
    const theme = this.theme!, edge = Math.round(4 * ratio), height = bottom - top - 2 * edge;
    const values = this.values.of(row.id, { track: row.locations[0], metric: row.metric }, frame.range);
    const seen = values && extremes(values, frame.range);
    if (values && seen) {
      const bands = bandsOf(values, frame.range, this.canvas.width, height, this.run.locations[row.locations[0]].end);
      drawBands(bands, this.buffer, top + edge, height, theme);
      bands.forEach((band, x) => {
        if (!band || !this.recorder) return;
        this.recorder.run(x / ratio, (top + edge + band.top) / ratio, 1 / ratio, (band.bottom - band.top + 2) / ratio, bandColour(theme));
        this.recorder.run(x / ratio, (top + edge + band.mean) / ratio, 1 / ratio, 2 / ratio, pixel(theme.accent));
      });
      const [least, most] = seen, { name, unit } = this.run.metrics[row.metric];
      const valueOf = (value: number) => (unit === "bytes" ? measuredText(value, unit) : valueText(value)), marked = least < most && name === PROCESS_MEMORY;
      const words: [number, number][] = least === most ? [[most, top + height / 2]] : [[most, top + edge + 5 * ratio], [least, bottom - edge - 5 * ratio]];
      for (const [value, y] of marked ? words.slice(1) : words) labels.push(() => this.chartLabel(context, valueOf(value), 2 * ratio, y, ratio, theme.track));
      if (marked) {
        const whole = frame.range.begin <= 0 && frame.range.end >= this.run.length;
        labels.push(() => this.paintPeak(context, highest(bands), top + edge, `${whole ? "peak" : "most"} ${valueOf(most)}`, ratio));
      }
    }
    this.fill(bottom - Math.max(1, Math.round(ratio)), bottom, pixel(theme.line));
  }

  private chartLabel(context: CanvasRenderingContext2D, text: string, x: number, y: number, ratio: number, background: string): void {
    const theme = this.theme!, wide = context.measureText(text).width + 6 * ratio;
    context.fillStyle = background;
    context.fillRect(x, y - 7 * ratio, wide, 14 * ratio);
    context.fillStyle = theme.text;
    context.fillText(text, x + 3 * ratio, y);
    this.recorder?.label(x / ratio + 3, y / ratio, text, theme.text);
  }

  /** A dot at the largest value, and its words below, in the area of the chart. */
  private paintPeak(context: CanvasRenderingContext2D, { x, top: y }: { x: number; top: number }, top: number, text: string, ratio: number): void {
    const theme = this.theme!, wide = context.measureText(text).width + 6 * ratio;
    const left = Math.max(0, Math.min(x - wide / 2, this.canvas.width - wide));
    this.chartLabel(context, text, left, top + y + 14 * ratio, ratio, theme.nothing);
    context.fillStyle = theme.lost;
    context.beginPath();
    context.arc(x + 0.5, top + y + ratio, 3.5 * ratio, 0, 2 * Math.PI);
    context.fill();
  }

  /** The locations of a lane that are seen, and whether they are wide enough to be drawn. */
  private *members(row: Row, range: Range, ratio: number): Iterable<{ readonly track: number; readonly seen: Range; readonly wide: boolean }> {
    const { locations } = this.run, [first, last] = inLane(locations, row.locations, range.begin, range.end);
    const shortest = (SMALLEST_MEMBER * ratio * span(range)) / this.canvas.width;
    for (const track of row.locations.slice(first, last)) {
      const { begin, end } = locations[track];
      yield { track, seen: { begin: Math.max(begin, range.begin), end: Math.min(end, range.end) }, wide: end - begin >= shortest };
    }
  }

  /** The innermost calls of the locations in a lane. */
  private foundInLane(row: Row, range: Range, ratio: number): Found[] {
    const { width } = this.canvas;
    return [...this.members(row, range, ratio)].flatMap(({ track, seen, wide }) => (wide ? this.found({ ...row, id: track }, seen, Math.max(1, (width * span(seen)) / span(range)), seen) : []));
  }

  /** The other locations of a lane. */
  private drawShort(line: Line, row: Row, range: Range, ratio: number): void {
    const faint = blend(pixel(this.theme!.track), pixel(this.theme!.faint), 0.5);
    for (const { seen, wide } of this.members(row, range, ratio)) if (!wide) line.block(seen.begin, seen.end, faint, range);
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

  /** Draws the waiting part of a line's calls above the working part; its height is its share of the time. It is as
      strong as the line's item: which part of that waits is not known where it covers little of a pixel. */
  private drawWaiting({ shares, causes }: Waiting, { regions, parts }: Line, from: number, to: number, ratio: number): void {
    const { width, height } = this.canvas, { recorder, pale } = this, track = pixel(this.theme!.track);
    const tall = (x: number) => (regions[x] === NONE ? 0 : Math.round((to - from) * shares[x]));
    const shade = (x: number, colours: readonly Pixel[]) => faded(track, colours[causes[x]], parts[x]);
    for (let x = 0; x < width; x++) {
      const bottom = Math.min(height, from + tall(x));
      if (bottom <= from) continue;
      const strong = shade(x, this.waiting), faint = shade(x, pale);
      for (let y = Math.max(0, from); y < bottom; y++) this.buffer[y * width + x] = inStripe(x, y) ? strong : faint;
    }
    if (!recorder) return;
    for (let x = 0, begin = 0; x < width; begin = x) {
      while (x < width && tall(x) === tall(begin) && shade(x, pale) === shade(begin, pale)) x++;
      if (tall(begin)) recorder.run(begin / ratio, from / ratio, (x - begin) / ratio, tall(begin) / ratio, shade(begin, pale));
    }
  }

  /** Gives suspended tasks the colour of their cause, which the functions in the lines above tell. */
  private colourSuspended({ pixels, regions }: Line, below: boolean): void {
    const { outer } = this;
    if (!below) outer.fill(0);
    for (let x = 0; x < regions.length; x++) {
      const region = this.run.regions[regions[x]];
      if (region?.suspended && outer[x]) pixels[x] = this.waiting[outer[x]];
      // Of functions of the library that follow each other, the outermost counts.
      else if (region) outer[x] = region.loop ? outer[x] || region.suspends : 0;
    }
  }

  /** Leaves out the calls inside imports, and remembers the imports of this line. */
  private close({ pixels, regions }: Line, closed: Uint8Array): void {
    const nothing = pixel(this.theme!.track);
    for (let x = 0; x < closed.length; x++) {
      if (closed[x]) (pixels[x] = nothing), (regions[x] = NONE);
      else if (this.imports[regions[x]] || (x > 0 && regions[x] === NONE && this.imports[regions[x - 1]])) closed[x] = 1;
    }
  }

  private underline({ regions }: Line, marked: ReadonlySet<number>, to: number, ratio: number): void {
    const { width, height } = this.canvas, colour = pixel(this.theme!.accent);
    for (let x = 0; x < width; x++) {
      if (!marked.has(regions[x])) continue;
      for (let y = Math.max(0, to - Math.round(3 * ratio)); y < Math.min(height, to); y++) this.buffer[y * width + x] = colour;
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
      labels.push(() => {
        const text = this.cut(context, region, room);
        if (!text) return;
        const middle = Math.round((from + to) / 2), wide = context.measureText(text).width;
        const { colour, rim } = textOver(this.under(left + 4 * ratio, left + 4 * ratio + wide, middle, Math.round(4 * ratio)));
        if (rim) {
          context.strokeStyle = rim;
          context.lineWidth = 2.5 * ratio;
          context.lineJoin = "round";
          context.strokeText(text, left + 4 * ratio, middle + ratio / 2);
        }
        context.fillStyle = colour;
        context.fillText(text, left + 4 * ratio, middle + ratio / 2);
        this.places.push({ x: left / ratio + 2, y: from / ratio, width: wide / ratio + 4, height: (to - from) / ratio });
        this.recorder?.label(left / ratio + 4, middle / ratio, text, colour);
      });
    }
  }

  /** The different pixels below a word, from samples; thin stripes of waiting count as the colour between them. */
  private under(left: number, right: number, middle: number, reach: number): Set<Pixel> {
    const { width, height } = this.canvas, found = new Set<Pixel>();
    for (let x = Math.round(left); x < Math.min(right, width); x += 5) {
      for (let y = Math.max(0, middle - reach); y <= Math.min(height - 1, middle + reach); y += 4) {
        const under = this.buffer[y * width + x], cause = this.run.waiting ? this.waiting.indexOf(under) : -1;
        found.add(cause < 0 ? under : this.pale[cause]);
      }
    }
    return found;
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
