// All rows of the layout as a drawing of rectangles, lines and text, in the visible range of time.
import { hex } from "./colour";
import { instant, originTicks, toNs } from "./format";
import type { Run } from "./model";
import type { Timeline } from "./timeline/timeline";
import { ticks, toX } from "./timeline/scale";
import type { Pen } from "./timeline/talk";

/** Pixels of a character, at most nearly. */
const WIDE = 6.8;
const SIDE = 200, TITLE = 26, AXIS = 24, FONT = "font-family=\"system-ui, sans-serif\" font-size=\"11.5\"";

const escaped = (text: string): string => text.replace(/[&<>"\u0000-\u0008\u000b-\u001f]/g, (c) => (c < " " ? " " : `&#${c.charCodeAt(0)};`));

/** A name without its middle, if it is longer than that. */
function cut(name: string, most: number): string {
  const half = Math.max(2, Math.floor(most / 2) - 1);
  return name.length <= 2 * half + 1 ? name : `${name.slice(0, half)}…${name.slice(-half)}`;
}

class Drawing {
  readonly parts: string[] = [];

  rect(x: number, y: number, w: number, h: number, fill: string, more = ""): void {
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"${more}/>`);
  }

  text(x: number, y: number, words: string, fill: string, more = ""): void {
    this.parts.push(`<text x="${x}" y="${y}" fill="${fill}" ${FONT}${more}>${escaped(words)}</text>`);
  }

  /** What `draw` draws, cut at the borders of a rectangle and relative to it. */
  inside(x: number, y: number, w: number, h: number, draw: () => void): void {
    this.parts.push(`<svg x="${x}" y="${y}" width="${w}" height="${h}">`);
    draw();
    this.parts.push("</svg>");
  }
}

/** What a canvas would draw, as paths. */
class SvgPen implements Pen {
  fillStyle: Pen["fillStyle"] = "";
  strokeStyle: Pen["strokeStyle"] = "";
  lineWidth = 1;
  globalAlpha = 1;
  private path = "";

  constructor(private readonly into: Drawing) {}

  fillRect(x: number, y: number, w: number, h: number): void {
    this.into.rect(x, y, Math.max(0, w), h, String(this.fillStyle), ` opacity="${this.globalAlpha}"`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.into.rect(x, y, Math.max(0, w), h, "none", ` stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`);
  }
  beginPath(): void {
    this.path = "";
  }
  moveTo(x: number, y: number): void {
    this.path += `M${x} ${y}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `L${x} ${y}`;
  }
  quadraticCurveTo(x1: number, y1: number, x: number, y: number): void {
    this.path += `Q${x1} ${y1} ${x} ${y}`;
  }
  /** Whole circles only. */
  arc(x: number, y: number, r: number): void {
    this.path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }
  stroke(): void {
    this.into.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" opacity="${this.globalAlpha}"/>`);
  }
  fill(): void {
    this.into.parts.push(`<path d="${this.path}" fill="${this.fillStyle}" opacity="${this.globalAlpha}"/>`);
  }
}

/** REQUIRES: mounted. */
export async function svgOf(timeline: Timeline, run: Run): Promise<string> {
  const { width, colours, viewing } = timeline;
  const { range, selection, marks } = viewing.view;
  const calls = new Drawing(), drawing = new Drawing();
  const { rows, left, height } = await timeline.record({
    run: (x, y, w, h, colour) => calls.rect(x, y, w, h, hex(colour)),
    label: (x, y, words, colour) => calls.text(x, y + 4, words, colour),
  });
  // Without an answer the picture has no messages, as the page.
  await timeline.drawMessages(new SvgPen(calls), rows).catch(() => undefined);
  const all = { width: SIDE + width, height: TITLE + AXIS + height + (left ? TITLE : 0) }, { step, times } = ticks(range, width, 110, toNs(1), originTicks());
  const at = (time: number) => Math.round(toX(range, width, time));
  drawing.rect(0, 0, all.width, all.height, colours.background);
  drawing.inside(0, 0, all.width, TITLE, () => drawing.text(8, 17, run.title, colours.text, ` font-weight="bold"`));
  drawing.inside(SIDE, TITLE, width, AXIS, () => {
    for (const time of times) {
      drawing.rect(at(time), 0, 1, AXIS, colours.line);
      const words = instant(time, step);
      if (at(time) + 4 + WIDE * words.length <= width) drawing.text(at(time) + 4, 16, words, colours.faint);
    }
    marks.forEach((mark, i) => {
      const words = `${i + 1} ${mark.text}`;
      drawing.rect(at(mark.time), 0, 7 * words.length + 6, 14, colours.lost);
      drawing.text(at(mark.time) + 3, 11, words, colours.background);
    });
  });
  drawing.inside(SIDE, TITLE + AXIS, width, height, () => {
    drawing.parts.push(...calls.parts);
    for (const time of times) drawing.rect(at(time), 0, 1, height, colours.text, ` fill-opacity=".06"`);
    if (selection) for (const time of [selection.begin, selection.end]) drawing.rect(at(time) - 1, 0, 2, height, colours.accent);
    for (const { time } of marks) drawing.rect(at(time), 0, 1, height, colours.lost);
  });
  drawing.inside(0, TITLE + AXIS, SIDE - 6, height, () => {
    for (const row of rows) drawing.text(8 + 12 * row.indent, row.y + 15, cut(row.name, (SIDE - 18 - 12 * row.indent) / WIDE), colours.text);
  });
  if (left) drawing.text(8, all.height - 9, `${left} further rows are not drawn: fold some, or filter them.`, colours.faint);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${all.width}" height="${all.height}" viewBox="0 0 ${all.width} ${all.height}">${drawing.parts.join("\n")}</svg>\n`;
}
