// Messages and collective operations: the fetched data, and their drawing above the rows.
import type { Theme } from "../colour";
import type { Auxiliary, Bundle, Bundled, Gathering, MessageRange } from "../model";
import type { Source } from "../source/source";
import { hasCalls, type Row } from "./layout";
import type { Frame } from "./renderer";
import type { Hits } from "./sampled";
import { type Range, span, toX } from "./scale";

export interface TalkShown {
  readonly messages: Bundled<Bundle>;
  readonly collectives: Bundled<Gathering>;
}

/** The message, collective operation or sample under the pointer. */
export type Spoken = { readonly message: Bundle } | { readonly gathering: Gathering } | { readonly hits: Hits };

const QUIET = 60;
/** Limit of arrows; of more messages, neighbours in time are joined. */
const MOST = 400;
const COLUMNS = 64;
/** Limit of locations in a question. */
const MOST_TRACKS = 200_000;
/** More arrows than this are the fainter, the more there are, so that the calls and names below them can be read. */
const MANY = 40, FAINTEST = 0.3;
/** With more arrows than this, none can be pointed at, so that the calls below them can. */
const MOST_POINTED = 250;
const REACH = 4;
/** Fits into the room that rows have below their calls: TALK of src/timeline/layout.ts. */
const BAR = 5;

interface Known extends TalkShown {
  readonly range: Range;
  readonly rows: string;
}

/** The messages around the visible range; messages of another range stay until these arrive. */
export class TalkCache {
  private known: Known | null = null;
  private asked = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private control = new AbortController();

  constructor(private readonly source: Source, private locations: number, private readonly changed: () => void) {}

  /** The run has grown, and has this number of locations. */
  renew(locations: number, same: boolean): void {
    this.locations = locations;
    this.asked = "";
    this.known = same && this.known ? { ...this.known, rows: "" } : null;
  }

  of(frame: Frame): TalkShown | null {
    const { range } = frame, rows = frame.rows.map((row) => row.id).join();
    const { known } = this;
    const all = known && known.messages.count === known.messages.items.length && known.collectives.count === known.collectives.items.length;
    const fits = known && known.rows === rows && known.range.begin <= range.begin && known.range.end >= range.end && (all || span(known.range) < 3 * span(range));
    if (!fits) this.ask(frame, rows);
    return known;
  }

  private ask({ range, rows }: Frame, key: string): void {
    const margin = span(range) / 2;
    const wide = { begin: Math.max(0, Math.floor(range.begin - margin)), end: Math.ceil(range.end + margin) };
    const question = `${wide.begin} ${wide.end} ${key}`;
    if (question === this.asked) return;
    this.asked = question;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.fetch(this.questionOf(wide, rows), key), QUIET);
  }

  private questionOf(range: Range, rows: readonly Row[]): MessageRange {
    const tracks = [...new Set(rows.flatMap((row) => row.locations))];
    const all = tracks.length === this.locations || tracks.length > MOST_TRACKS;
    return { begin: Math.floor(range.begin), end: Math.ceil(range.end), tracks: all ? null : tracks, limit: MOST, columns: COLUMNS };
  }

  /** The messages of a range, for a picture of it. */
  async whole(range: Range, rows: readonly Row[], signal: AbortSignal): Promise<TalkShown> {
    return this.answer(this.questionOf(range, rows), signal);
  }

  private async answer(question: MessageRange, signal: AbortSignal): Promise<TalkShown> {
    const [messages, collectives] = await Promise.all([this.source.messages(question, signal), this.source.collectives(question, signal)]);
    return { messages, collectives };
  }

  private async fetch(question: MessageRange, rows: string): Promise<void> {
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    try {
      this.known = { ...(await this.answer(question, signal)), rows, range: { begin: question.begin, end: question.end } };
      this.changed();
    } catch {
      // The view has moved on, or the timeline reports the problem.
    }
  }
}

/** The positions of the locations: the innermost row of each, and its position on the screen. */
export class Anchors {
  private readonly places = new Map<number, Row>();

  constructor(rows: readonly Row[]) {
    for (const row of rows) if (hasCalls(row)) for (const location of row.locations) this.places.set(location, row);
  }

  /** The row of a location; a pinned one if there is one. Undefined: filtered out. */
  rowOf(location: number, frame: Frame): Row | undefined {
    return frame.rows.find((row) => row.pinned && hasCalls(row) && row.locations.includes(location)) ?? this.places.get(location);
  }
}

/** An arrow from one point on the screen to another. */
export interface Way {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

interface Arrow extends Way {
  readonly message: Bundle;
}

export const middleOf = (row: Row, frame: Frame) => row.y + row.height / 2 - frame.top;

function arrowsOf(talk: TalkShown, anchors: Anchors, frame: Frame, width: number): Arrow[] {
  return talk.messages.items.flatMap((message) => {
    const from = anchors.rowOf(message.fromTrack, frame), to = anchors.rowOf(message.toTrack, frame);
    if (!from || !to) return [];
    const x0 = toX(frame.range, width, (message.sent + message.lastSent) / 2), x1 = toX(frame.range, width, (message.received + message.lastReceived) / 2);
    if (Math.max(x0, x1) < -20 || Math.min(x0, x1) > width + 20) return [];
    return [{ message, x0, y0: middleOf(from, frame), x1, y1: middleOf(to, frame) }];
  });
}

interface Bar {
  readonly gathering: Gathering;
  readonly left: number;
  readonly right: number;
  /** Where the waiting ends. */
  readonly waited: number;
  readonly y: number;
}

function barsOf(talk: TalkShown, anchors: Anchors, frame: Frame, width: number): Bar[] {
  return talk.collectives.items.flatMap((gathering) => {
    const row = anchors.rowOf(gathering.track, frame);
    const left = toX(frame.range, width, gathering.begin), right = Math.max(left + 2, toX(frame.range, width, gathering.end));
    if (!row || right < 0 || left > width) return [];
    const waited = Math.min(right, toX(frame.range, width, gathering.begin + gathering.waited));
    return [{ gathering, left: Math.max(-9, left), right: Math.min(width + 9, right), waited: Math.max(-9, waited), y: row.y + row.height - BAR - 1 - frame.top }];
  });
}

/** The part of a canvas's context that messages are drawn with: a drawing in SVG has it, too. */
export type Pen = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "fillRect" | "strokeRect" | "beginPath" | "moveTo" | "lineTo" | "quadraticCurveTo" | "arc" | "stroke" | "fill">;

/** Draws bars for collective operations, with the waiting part, and arrows for messages; `chosen` is highlighted. */
export function drawTalk(context: Pen, width: number, frame: Frame, talk: TalkShown, anchors: Anchors, theme: Theme, pointed: Spoken | null, chosen: Bundle | null): void {
  for (const { gathering, left, right, waited, y } of barsOf(talk, anchors, frame, width)) {
    context.fillStyle = theme.background;
    context.fillRect(left - 1, y - 1, right - left + 2, BAR + 2);
    context.fillStyle = theme.text;
    context.fillRect(left, y, right - left, BAR);
    context.fillStyle = theme.lost;
    context.fillRect(left, y, waited - left, BAR);
    if (pointed && "gathering" in pointed && pointed.gathering.operation === gathering.operation) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(left - 1, y - 1, right - left + 2, BAR + 2);
    }
  }
  const arrows = arrowsOf(talk, anchors, frame, width), fade = Math.min(1, Math.max(FAINTEST, MANY / Math.max(1, arrows.length)));
  for (const arrow of arrows) {
    const bold = (pointed && "message" in pointed && same(pointed.message, arrow.message)) || (chosen && same(chosen, arrow.message));
    const colour = bold ? theme.accent : arrow.message.received < arrow.message.sent ? theme.lost : theme.text;
    const thick = Math.min(4, 1 + Math.log2(arrow.message.count) / 3) + (bold ? 1.5 : 0);
    // A rim keeps arrows apart from the calls below them; bundles are fainter, since there are many.
    drawArrow(context, arrow, theme.background, thick + 2, 0.6 * fade);
    drawArrow(context, arrow, colour, thick, bold ? 1 : fade * (arrow.message.count > 1 ? 0.45 : 0.8));
  }
  context.globalAlpha = 1;
}

export function drawArrow(context: Pen, { x0, y0, x1, y1 }: Way, colour: string, thick: number, alpha: number): void {
  context.globalAlpha = alpha;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = thick;
  context.beginPath();
  context.moveTo(x0, y0);
  // A message to the same row is an arc.
  if (y0 === y1) context.quadraticCurveTo((x0 + x1) / 2, y0 - 18, x1, y1); else context.lineTo(x1, y1);
  context.stroke();
  const angle = y0 === y1 ? Math.PI / 4 : Math.atan2(y1 - y0, x1 - x0), size = 6 + thick;
  context.beginPath();
  context.moveTo(x1, y1);
  for (const side of [0.4, -0.4]) context.lineTo(x1 - size * Math.cos(angle + side), y1 - size * Math.sin(angle + side));
  context.fill();
  context.beginPath();
  context.arc(x0, y0, 1 + thick / 2, 0, 7);
  context.fill();
}

export const same = (a: Bundle, b: Bundle): boolean =>
  a.sent === b.sent && a.received === b.received && a.fromTrack === b.fromTrack && a.toTrack === b.toTrack && a.tag === b.tag && a.count === b.count;

/** The item under a point of the rows. */
export function spokenAt(talk: TalkShown, anchors: Anchors, frame: Frame, width: number, x: number, y: number): Spoken | null {
  const bar = barsOf(talk, anchors, frame, width).find(({ left, right, y: top }) => x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= top + BAR + 1);
  if (bar) return { gathering: bar.gathering };
  const arrows = arrowsOf(talk, anchors, frame, width);
  if (arrows.length > MOST_POINTED) return null;
  let best: Arrow | null = null, nearest = REACH;
  for (const arrow of arrows) {
    const away = distance(arrow, x, y);
    if (away < nearest) [best, nearest] = [arrow, away];
  }
  return best && { message: best.message };
}

function distance({ x0, y0, x1, y1 }: Arrow, x: number, y: number): number {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const part = length ? Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
  return Math.hypot(x - x0 - part * (x1 - x0), y - y0 - part * (y1 - y0));
}

/** True if there are messages or links between processes. */
export const talks = (side: Auxiliary | null): boolean => side !== null && side.messages.count + side.messages.collectives > 0;
