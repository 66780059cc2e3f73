// Arrows above the rows: creation, awaiting and waking of the selected call's thread or task, its launches on GPUs, and the values that
// it takes and makes as a task of an engine.
import type { Theme } from "../colour";
import type { CallRef, Link } from "../model";
import type { Source } from "../source/source";
import { LINE, lineTop } from "./layout";
import type { Frame } from "./renderer";
import { toX } from "./scale";
import { type Anchors, drawArrow, middleOf } from "./talk";

/** The links with their end on a row within a call of it: the rest are links of other calls. */
export const linksIn = (links: readonly Link[], track: number, begin: number, end: number): Link[] =>
  links.filter((link) => (link.fromTrack === track && link.from >= begin && link.from <= end) || (link.toTrack === track && link.to >= begin && link.to <= end));

/** More arrows would hide the rows below; the tab Call lists more. */
const MOST = 40;
const MOST_ASKED = 10_000;

/** The links of the call that was selected last. */
export class LinkCache {
  private call: CallRef | null = null;
  private known: readonly Link[] = [];
  private control = new AbortController();

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  of(call: CallRef | null): readonly Link[] {
    if (call !== this.call) {
      this.call = call;
      this.known = [];
      this.control.abort();
      if (call) void this.fetch(call);
    }
    return this.known;
  }

  private async fetch({ track, begin, end }: CallRef): Promise<void> {
    const { signal } = (this.control = new AbortController());
    try {
      const { links } = await this.source.links({ track, begin, end, limit: MOST_ASKED }, signal);
      if (signal.aborted) return;
      this.known = linksIn(links, track, begin, end).slice(0, MOST);
      this.changed();
    } catch {
      // Another call is selected, or the tab reports the problem.
    }
  }
}

/** Links end at the line of the call itself on its row, and in the middle of other rows. */
export function drawLinks(context: CanvasRenderingContext2D, width: number, frame: Frame, links: readonly Link[], call: CallRef, anchors: Anchors, theme: Theme): void {
  const yOf = (track: number): number | null => {
    const row = anchors.rowOf(track, frame);
    if (!row) return null;
    const line = track === call.track ? lineTop(row, call.depth) : -1;
    return line < 0 ? middleOf(row, frame) : line + LINE / 2 - frame.top;
  };
  for (const { from, to, fromTrack, toTrack } of links) {
    const y0 = yOf(fromTrack), y1 = yOf(toTrack), x0 = toX(frame.range, width, from), x1 = toX(frame.range, width, to);
    if (y0 === null || y1 === null || Math.max(x0, x1) < -20 || Math.min(x0, x1) > width + 20) continue;
    drawArrow(context, { x0, y0, x1, y1 }, theme.background, 4, 0.7);
    drawArrow(context, { x0, y0, x1, y1 }, theme.accent, 2, 0.9);
  }
  context.globalAlpha = 1;
}
