// The strip of the whole run: the active share of all tracks, and the visible range.
import type { Theme } from "../colour";
import { COLUMNS, FIRST_RUN, WHOLE_RUN } from "../model";
import type { Painting } from "../palette";
import type { Density, Viewing } from "../state/view";
import type { Cache, Piece } from "./cache";
import { slots } from "./renderer";
import { type Range, span, toTime, toX } from "./scale";
import { striped } from "./waiting";

/** The bars of the strip, which stay until finer ones arrive. */
export class Overview {
  private readonly bars = document.createElement("canvas");
  private drawnFor: readonly unknown[] = [];

  constructor(private readonly viewing: Viewing, private readonly cache: Cache) {}

  draw(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme, { styles, waiting }: Painting): void {
    const { whole, view } = this.viewing;
    // Two runs have one strip each, one above the other.
    const { parts } = this.viewing.run;
    const strips = (parts.length ? parts.map((_, n) => FIRST_RUN + n) : [WHOLE_RUN])
      .map((track) => slots(track, 1, whole, width).flatMap((slot) => this.cache.pieces(slot)));
    const now = [width, height, window.devicePixelRatio, theme, styles, ...strips.flat().map(({ tile }) => tile)];
    if (now.length !== this.drawnFor.length || now.some((value, i) => value !== this.drawnFor[i])) {
      this.drawnFor = now;
      const ratio = window.devicePixelRatio || 1;
      this.bars.width = Math.round(width * ratio);
      this.bars.height = Math.round(height * ratio);
      strips.forEach((pieces, n) => drawBars(this.bars, pieces, whole, theme, (region) => this.viewing.run.regions[region]?.idle ? striped(styles[region], theme) : styles[region] ?? theme.nothing, waiting, n, strips.length));
    }
    context.drawImage(this.bars, 0, 0, width, height);
    context.fillStyle = theme.accent;
    if (view.density) drawDensity(context, width, view.density, whole);
    else for (const call of view.found?.calls ?? []) context.fillRect(Math.round(toX(whole, width, call.begin)), 0, 2, 5);
    drawWindow(context, width, height, view.range, whole, theme);
  }
}

/** Hits by part, the most as the highest bar. */
function drawDensity(context: CanvasRenderingContext2D, width: number, { begin, end, counts }: Density, whole: Range): void {
  const most = counts.reduce((all, count) => Math.max(all, count), 1), length = (end - begin) / counts.length;
  counts.forEach((count, part) => {
    if (!count) return;
    const left = toX(whole, width, begin + part * length), right = toX(whole, width, begin + (part + 1) * length);
    context.fillRect(left, 0, Math.max(1, right - left), 2 + (10 * count) / most);
  });
}

function drawBars(canvas: HTMLCanvasElement, pieces: readonly Piece[], whole: Range, theme: Theme, styleOf: (region: number) => string | CanvasPattern, waiting: readonly string[], nth: number, strips: number): void {
  const { width } = canvas, context = canvas.getContext("2d")!;
  const above = Math.round((canvas.height * nth) / strips), height = Math.round(canvas.height / strips);
  context.fillStyle = theme.track;
  context.fillRect(0, above, width, height);
  // Many tasks that are active one after the other would be a flat line, so the maximum fills the strip.
  const most = pieces.reduce((all, { tile }) => Math.max(all, ...tile.cover), 1);
  for (const { key, tile } of pieces) {
    const column = 4 ** key.level;
    for (let c = 0; c < COLUMNS; c++) {
      if (!tile.cover[c]) continue;
      const begin = (key.index * COLUMNS + c) * column;
      const x = Math.round(toX(whole, width, begin)), right = Math.round(toX(whole, width, begin + column));
      const tall = Math.max(2, (tile.cover[c] / most) * (height - 4));
      const waits = Math.min(1, tile.waiting[c] / tile.cover[c]) * tall, wide = Math.max(1, right - x);
      context.fillStyle = styleOf(tile.region[c]);
      context.fillRect(x, above + height - tall + waits, wide, tall - waits);
      context.fillStyle = striped(waiting[tile.cause[c]], theme);
      context.fillRect(x, above + height - tall, wide, waits);
    }
  }
}

function drawWindow(context: CanvasRenderingContext2D, width: number, height: number, range: Range, whole: Range, theme: Theme): void {
  if (span(range) >= span(whole) * 0.9999) return;
  const left = toX(whole, width, range.begin), right = Math.max(left + 3, toX(whole, width, range.end));
  context.fillStyle = theme.dark ? "rgba(0,0,0,.55)" : "rgba(255,255,255,.65)";
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.strokeStyle = theme.accent;
  context.lineWidth = 2;
  context.strokeRect(left, 1, right - left, height - 2);
}

/** Drags on the strip: moves the window, or draws a new one. */
export function listenToOverview(element: HTMLElement, viewing: Viewing): void {
  let start: { x: number; range: Range; moves: boolean } | null = null;
  const timeAt = (x: number) => toTime(viewing.whole, element.clientWidth, x);
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    const { range } = viewing.view;
    const time = timeAt(event.offsetX);
    const moves = span(range) < span(viewing.whole) * 0.98 && time >= range.begin && time <= range.end;
    start = { x: event.offsetX, range, moves };
  });
  element.addEventListener("pointermove", (event) => {
    if (!start) return;
    const by = timeAt(event.offsetX) - timeAt(start.x);
    if (start.moves) viewing.show({ begin: start.range.begin + by, end: start.range.end + by });
    else if (Math.abs(event.offsetX - start.x) > 3) viewing.show({ begin: Math.min(timeAt(start.x), timeAt(event.offsetX)), end: Math.max(timeAt(start.x), timeAt(event.offsetX)) });
  });
  element.addEventListener("pointerup", (event) => {
    if (start && Math.abs(event.offsetX - start.x) <= 3 && !start.moves) {
      const half = span(viewing.view.range) / 2, time = timeAt(event.offsetX);
      viewing.show({ begin: time - half, end: time + half });
    }
    start = null;
  });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    viewing.zoom(timeAt(event.offsetX), Math.exp(Math.max(-100, Math.min(100, event.deltaY)) * 0.004));
  }, { passive: false });
}
