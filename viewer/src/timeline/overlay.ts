// The moving parts above the picture of the rows: selection, selected call, call under the pointer, hits, markers; and
// the time axis.
import type { Theme } from "../colour";
import { duration, instant, toNs, originTicks } from "../format";
import { AT_INSTANT, type CallRef, type Link, type Marker, type Selection } from "../model";
import type { View } from "../state/view";
import { LINE, lineTop, type Row } from "./layout";
import { drawLinks } from "./links";
import type { Frame, Place } from "./renderer";
import { ticks, toX } from "./scale";
import { type Anchors, drawTalk, type Spoken, type TalkShown } from "./talk";

export interface Marks {
  readonly view: View;
  readonly frame: Frame;
  readonly theme: Theme;
  readonly pointed: CallRef | null;
  /** The position of the pointer; null: elsewhere. */
  readonly x: number | null;
  readonly rubber: Selection | null;
  readonly markers: readonly Marker[];
  readonly talk: TalkShown | null;
  readonly anchors: Anchors;
  readonly spoken: Spoken | null;
  /** The links of the selected call. */
  readonly links: readonly Link[];
  /** The names in the picture, which arrows leave free. */
  readonly places: readonly Place[];
}

const NOT_WIDER_THAN = 20_000;

export function drawOverlay(context: CanvasRenderingContext2D, width: number, height: number, marks: Marks): void {
  const { view, frame, theme } = marks;
  context.clearRect(0, 0, width, height);
  context.fillStyle = theme.dark ? "rgba(255,255,255,.05)" : "rgba(0,0,0,.05)";
  for (const time of ticks(frame.range, width, 110, toNs(1), originTicks()).times) context.fillRect(Math.round(toX(frame.range, width, time)), 0, 1, height);
  const selection = marks.rubber ?? view.selection;
  if (selection) drawSelection(context, width, height, selection, marks);
  for (const row of frame.rows) drawRowMarks(context, width, row, marks);
  context.save();
  leaveFree(context, width, height, marks.places);
  if (marks.talk) drawTalk(context, width, frame, marks.talk, marks.anchors, theme, marks.spoken, view.message);
  if (view.call) drawLinks(context, width, frame, marks.links, view.call, marks.anchors, theme);
  context.restore();
  if (view.panel === "memory" && view.panelOpen && view.amount === AT_INSTANT && view.instant) {
    context.fillStyle = theme.accent;
    context.fillRect(Math.round(toX(frame.range, width, view.instant.time)) - 1, 0, 2, height);
  }
  for (const call of [view.call, marks.pointed]) if (call) outline(context, width, call, marks, call === view.call);
  context.fillStyle = theme.lost;
  for (const { time } of view.marks) context.fillRect(Math.round(toX(frame.range, width, time)), 0, 1, height);
  if (marks.x !== null) {
    context.fillStyle = theme.faint;
    context.fillRect(Math.round(marks.x), 0, 1, height);
  }
}

/** Leaves some places, which do not overlap, free of all later drawing. */
function leaveFree(context: CanvasRenderingContext2D, width: number, height: number, places: readonly Place[]): void {
  context.beginPath();
  context.rect(0, 0, width, height);
  for (const place of places) context.rect(place.x, place.y, place.width, place.height);
  context.clip("evenodd");
}

function drawSelection(context: CanvasRenderingContext2D, width: number, height: number, selection: Selection, marks: Marks): void {
  const { range, rows, top } = marks.frame;
  const left = Math.max(-2, toX(range, width, selection.begin)), right = Math.min(width + 2, toX(range, width, selection.end));
  if (right < 0 || left > width) return;
  context.fillStyle = marks.theme.dark ? "rgba(0,0,0,.45)" : "rgba(255,255,255,.55)";
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  for (const row of rows) {
    const inside = !selection.tracks || row.locations.some((location) => selection.tracks!.includes(location));
    if (!inside) context.fillRect(left, row.y - top, right - left, row.height);
  }
  context.fillStyle = marks.theme.accent;
  context.fillRect(Math.round(left) - 1, 0, 2, height);
  context.fillRect(Math.round(right) - 1, 0, 2, height);
}

function outline(context: CanvasRenderingContext2D, width: number, call: CallRef, marks: Marks, chosen: boolean): void {
  const { range, rows, top } = marks.frame;
  const left = Math.max(-10, toX(range, width, call.begin)), right = Math.min(width + 10, toX(range, width, call.end));
  if (right < -5 || left > width + 5) return;
  for (const row of rows) {
    const here = row.id === call.track || (row.kind === "lane" && row.locations.includes(call.track));
    const y = here ? lineTop(row, call.depth) : -1;
    if (y < 0 || (!row.pinned && y < marks.frame.pinnedBottom)) continue;
    context.lineWidth = chosen ? 2 : 1;
    context.strokeStyle = chosen ? marks.theme.accent : marks.theme.text;
    context.strokeRect(Math.round(left) - 0.5, y - top - 0.5, Math.max(3, Math.round(right - left)), LINE);
  }
}

function drawRowMarks(context: CanvasRenderingContext2D, width: number, row: Row, marks: Marks): void {
  const { range, top, pinnedBottom } = marks.frame;
  if (row.kind !== "location" || (!row.pinned && row.y < pinnedBottom)) return;
  context.fillStyle = marks.theme.text;
  const seen = (time: number) => time >= range.begin && time <= range.end;
  for (const marker of marks.markers) if (marker.track === row.id && seen(marker.time)) triangle(context, toX(range, width, marker.time), row.y - top);
  const { found, hit } = marks.view;
  if (!found) return;
  found.calls.forEach((call, i) => {
    if (call.track !== row.id || call.end < range.begin || call.begin > range.end) return;
    const y = lineTop(row, call.depth);
    if (y < 0) return;
    const left = Math.max(0, toX(range, width, call.begin)), right = Math.min(width, toX(range, width, call.end));
    context.fillStyle = marks.theme.accent;
    context.fillRect(left, y - top + LINE - 4, Math.min(NOT_WIDER_THAN, Math.max(2, right - left - 1)), i === hit ? 4 : 3);
  });
}

function triangle(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 5, y);
  context.lineTo(x + 5, y);
  context.lineTo(x, y + 7);
  context.fill();
}

/** The time axis; `at`: a time to be printed in full. */
export function drawAxis(context: CanvasRenderingContext2D, width: number, height: number, marks: Marks): void {
  const { frame: { range }, theme, view } = marks;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  const { step, times } = ticks(range, width, 110, toNs(1), originTicks());
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  const selection = marks.rubber ?? view.selection;
  const taken = selection && lengthPlace(context, marks.frame, width, selection);
  for (const time of times) {
    const x = Math.round(toX(range, width, time));
    context.fillStyle = theme.line;
    context.fillRect(x, 0, 1, height);
    context.fillStyle = theme.faint;
    const text = instant(time, step), end = x + 5 + context.measureText(text).width;
    const free = !taken || end + 6 < taken.left || x > taken.left + taken.wide;
    if (free && end <= width) context.fillText(text, x + 5, height / 2 + 1);
  }
  if (selection) {
    context.fillStyle = theme.accent;
    const left = toX(range, width, selection.begin), right = toX(range, width, selection.end);
    context.fillRect(left, height - 3, right - left, 3);
    if (taken) drawLength(context, taken, height, theme);
  }
  view.marks.forEach((mark, i) => drawFlag(context, toX(range, width, mark.time), `${i + 1} ${mark.text}`, theme));
  if (marks.x !== null) drawTime(context, width, height, marks, marks.x);
}

interface LengthPlace {
  readonly left: number;
  readonly wide: number;
  readonly text: string;
}

/** The position of the selection's length, if there is room for it. */
function lengthPlace(context: CanvasRenderingContext2D, { range }: Frame, width: number, { begin, end }: Selection): LengthPlace | null {
  const text = duration(end - begin), wide = context.measureText(text).width + 14;
  const first = Math.max(0, toX(range, width, begin)), last = Math.min(width, toX(range, width, end));
  return last - first < wide + 4 ? null : { left: Math.round((first + last - wide) / 2), wide, text };
}

function drawLength(context: CanvasRenderingContext2D, { left, wide, text }: LengthPlace, height: number, theme: Theme): void {
  context.fillStyle = theme.accent;
  context.fillRect(left, 6, wide, height - 12);
  context.fillStyle = theme.background;
  context.fillText(text, left + 7, height / 2 + 1);
}

/** The number of a mark, and the start of its note. */
function drawFlag(context: CanvasRenderingContext2D, x: number, words: string, theme: Theme): void {
  const text = words.length > 24 ? `${words.slice(0, 23)}…` : words.trim();
  const wide = context.measureText(text).width + 8;
  context.fillStyle = theme.lost;
  context.fillRect(Math.round(x), 1, wide, 15);
  context.fillStyle = theme.background;
  context.fillText(text, Math.round(x) + 4, 9);
}

function drawTime(context: CanvasRenderingContext2D, width: number, height: number, marks: Marks, x: number): void {
  const { range } = marks.frame;
  const time = range.begin + (x / width) * (range.end - range.begin);
  const text = instant(time, (range.end - range.begin) / width);
  const room = context.measureText(text).width + 12;
  const left = Math.min(Math.max(0, x - room / 2), width - room);
  context.fillStyle = marks.theme.text;
  context.fillRect(left, 1, room, height - 3);
  context.fillStyle = marks.theme.background;
  context.fillText(text, left + 6, height / 2 + 1);
}
