// The visible rows as a drawing of rectangles, lines and text.
import { instant, toNs } from "./format";
import type { Run } from "./model";
import type { Timeline } from "./timeline/timeline";
import { ticks, toX } from "./timeline/scale";

const SIDE = 200, AXIS = 26, FONT = "font-family=\"system-ui, sans-serif\" font-size=\"11.5\"";

const escaped = (text: string): string => text.replace(/[&<>"\u0000-\u0008\u000b-\u001f]/g, (c) => (c < " " ? " " : `&#${c.charCodeAt(0)};`));
/** A pixel of ImageData as a colour. */
const hex = (pixel: number): string => "#" + [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255].map((v) => v.toString(16).padStart(2, "0")).join("");

/** REQUIRES: mounted. */
export function svgOf(timeline: Timeline, run: Run): string {
  const { width, shownHeight, colours, viewing } = timeline;
  const { range, selection, marks } = viewing.view;
  const parts: string[] = [];
  const rect = (x: number, y: number, w: number, h: number, fill: string, more = "") => parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"${more}/>`);
  const text = (x: number, y: number, words: string, fill: string, more = "") => parts.push(`<text x="${x}" y="${y}" fill="${fill}" ${FONT}${more}>${escaped(words)}</text>`);
  rect(0, 0, SIDE + width, AXIS + shownHeight, colours.background);
  text(8, 17, run.title, colours.text, ` font-weight="bold"`);
  parts.push(`<svg x="${SIDE}" y="0" width="${width}" height="${AXIS + shownHeight}">`);
  timeline.record({
    run: (x, y, w, h, colour) => rect(x, AXIS + y, w, h, hex(colour)),
    label: (x, y, words, colour) => text(x, AXIS + y + 4, words, colour),
  });
  const { step, times } = ticks(range, width, 110, toNs(1));
  for (const time of times) {
    const x = Math.round(toX(range, width, time));
    rect(x, 0, 1, AXIS + shownHeight, colours.line, ` fill-opacity=".5"`);
    text(x + 4, 17, instant(time, step), colours.faint);
  }
  if (selection) for (const time of [selection.begin, selection.end]) rect(toX(range, width, time) - 1, AXIS, 2, shownHeight, colours.accent);
  marks.forEach((mark, i) => {
    const x = toX(range, width, mark.time);
    rect(x, 0, 1, AXIS + shownHeight, colours.lost);
    text(x + 3, AXIS + 12, `${i + 1} ${mark.text}`, colours.lost);
  });
  parts.push("</svg>", `<svg x="0" y="${AXIS}" width="${SIDE - 6}" height="${shownHeight}">`);
  const { rows, top } = timeline.shown.get();
  for (const row of rows) text(8 + 12 * row.indent, row.y - top + 15, row.name, colours.text);
  parts.push("</svg>");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE + width}" height="${AXIS + shownHeight}" viewBox="0 0 ${SIDE + width} ${AXIS + shownHeight}">${parts.join("\n")}</svg>\n`;
}
