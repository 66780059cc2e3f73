// The actions of keys and buttons that need an answer from the source.
import { duration } from "../format";
import { type CallRef, nameOfLocation, partOf } from "../model";
import { isEmpty, parameterOf, parseQuery, regionsOf } from "../source/match";
import { type Alignment, MOST_NTH } from "../source/pair";
import { pathsOf, type Source, SourceError } from "../source/source";
import type { Timeline } from "../timeline/timeline";
import type { Commands } from "./keys";
import { addMark } from "./marks";
import { densityOf } from "./density";
import type { Viewing } from "./view";

/** For two runs: their alignment, and the function that changes it or returns an error. */
export interface Comparing {
  readonly alignment: Alignment;
  readonly align: (alignment: Alignment) => Promise<void>;
}

const MOST_HITS = 1000;
const MOST_CALLS = 5000;

export class Navigator implements Commands {
  private control = new AbortController();

  constructor(readonly viewing: Viewing, private readonly source: Source, private readonly timeline: Timeline, private readonly failed: (error: Error) => void) {}

  /** Only the newest command counts: earlier ones are dropped. */
  private begin(): AbortSignal {
    this.control.abort();
    this.control = new AbortController();
    return this.control.signal;
  }

  private run(work: Promise<void>): void {
    work.catch((error: Error) => {
      if (error.name !== "AbortError") this.failed(error);
    });
  }

  go(call: CallRef | null, otherwise: string): void {
    if (!call) return this.viewing.store.set({ said: otherwise });
    this.viewing.choose(call, true);
    this.timeline.scrollTo(call.track);
    const region = this.viewing.run.regions[call.region];
    const where = nameOfLocation(this.viewing.run, call.track);
    this.viewing.store.set({ said: `${region?.name ?? "call"}, ${duration(call.end - call.begin)}, depth ${call.depth + 1}, ${where}` });
  }

  /** True if there are no single calls; the panel then shows a message. */
  private hasNoCalls(): boolean {
    const none = this.viewing.run.outline !== undefined;
    if (none) this.viewing.openPanel("call");
    return none;
  }

  /** Chooses the call that a link names. */
  open(place: { track: number; time: number; depth: number }): void {
    const find = async (signal: AbortSignal) => {
      const call = await this.source.call(place.track, place.depth, place.time, signal);
      if (call) this.viewing.store.set({ call });
    };
    this.run(find(new AbortController().signal));
  }

  walk(way: "caller" | "callee" | "left" | "right"): void {
    if (!this.hasNoCalls()) this.run(this.walking(way, this.begin()));
  }

  private async walking(way: "caller" | "callee" | "left" | "right", signal: AbortSignal): Promise<void> {
    const { call } = this.viewing.view;
    if (!call) return this.go(await this.firstShown(signal), "There is no call here.");
    if (way === "caller") {
      const details = await this.source.call(call.track, call.depth, call.begin, signal);
      return this.go(details?.stack.at(-1) ?? null, "This call has no caller.");
    }
    if (way === "callee") return this.go(await this.firstAt(call, call.depth + 1, call.begin, call.end, signal), "No call inside this one.");
    if (way === "right") return this.go(await this.firstAt(call, call.depth, call.end, this.viewing.run.length + 1, signal), "No later call at this depth.");
    return this.go(await this.lastBefore(call, signal), "No earlier call at this depth.");
  }

  private async firstShown(signal: AbortSignal): Promise<CallRef | null> {
    const row = this.timeline.shown.get().rows.find((shown) => shown.kind === "location" && shown.lines > 0);
    if (!row) return null;
    const { begin, end } = this.viewing.view.range;
    return this.firstAt({ track: row.id, depth: -1, begin: NaN, end: NaN, region: -1 }, 0, begin, end, signal);
  }

  /** The first call at a depth in a range, other than `from`. */
  private async firstAt(from: CallRef, depth: number, begin: number, end: number, signal: AbortSignal): Promise<CallRef | null> {
    const [calls] = await this.source.calls([{ track: from.track, depths: depth + 1, limit: 2 * depth + 10, begin, end }], signal);
    for (let i = 0; i < calls.count; i++) {
      const isIt = calls.depth[i] === depth && calls.end[i] >= begin && !(depth === from.depth && calls.begin[i] < from.end);
      if (isIt) return { track: from.track, depth, begin: calls.begin[i], end: calls.end[i], region: calls.region[i] };
    }
    return null;
  }

  /** The last call before `from` at its depth: searched in stretches of growing length. */
  private async lastBefore(from: CallRef, signal: AbortSignal): Promise<CallRef | null> {
    let length = Math.max(from.end - from.begin, 1000), end = from.begin;
    while (end > 0) {
      const begin = Math.max(0, end - length);
      const [calls] = await this.source.calls([{ track: from.track, depths: from.depth + 1, limit: MOST_CALLS, begin, end }], signal);
      if (!calls.complete && length > 100) {
        length /= 8;
        continue;
      }
      for (let i = calls.count - 1; i >= 0; i--) {
        if (calls.depth[i] === from.depth && calls.begin[i] < from.begin) return { track: from.track, depth: from.depth, begin: calls.begin[i], end: calls.end[i], region: calls.region[i] };
      }
      end = begin;
      length *= 4;
    }
    return null;
  }

  step(way: "next" | "previous" | "longest"): void {
    const { call } = this.viewing.view;
    if (this.hasNoCalls()) return;
    if (!call) return this.viewing.store.set({ said: "Choose a call first." });
    this.run(this.stepping(call, way, this.begin()));
  }

  private async stepping(call: CallRef, way: "next" | "previous" | "longest", signal: AbortSignal): Promise<void> {
    const whole = { begin: 0, end: this.viewing.run.length + 1, shortest: 0, limit: 1, regions: [call.region] };
    const search = way === "longest" ? { ...whole, order: "longest" as const, tracks: null }
      : way === "next" ? { ...whole, order: "earliest" as const, tracks: [call.track], begin: call.begin + 1 }
        : { ...whole, order: "latest" as const, tracks: [call.track], end: call.begin };
    const found = await this.source.find(search, signal);
    this.go(found.calls[0] ?? null, `No ${way} call of this function on this row.`);
  }

  /** Searches for the entered text, in the selection or in the whole run, and goes to the first hit. */
  find(text: string): void {
    this.viewing.store.set({ find: text, findError: null, found: null, density: null });
    this.finding(text, this.begin()).catch((error: Error) => {
      if (error instanceof SourceError) this.viewing.store.set({ findError: { message: error.message, advice: error.advice }, hit: -1 });
      else if (error.name !== "AbortError") this.failed(error);
    });
  }

  private async finding(text: string, signal: AbortSignal): Promise<void> {
    const query = parseQuery(text);
    if (isEmpty(query)) return this.viewing.store.set({ found: null, hit: -1 });
    // The panel shows the functions instead.
    if (this.viewing.run.outline) return this.viewing.openPanel("find");
    const regions = regionsOf(query, this.viewing.run.regions);
    const { selection, run } = { selection: this.viewing.view.selection, run: this.viewing.run };
    const parameter = parameterOf(query, run.parameters);
    const shortest = (query.longer * run.ticksPerSecond) / 1e9;
    const search = {
      order: "earliest" as const, limit: MOST_HITS, shortest: query.longer ? Math.floor(shortest) + 1 : 0, regions,
      ...(parameter ? { parameter } : {}),
      begin: selection?.begin ?? 0, end: selection?.end ?? run.length + 1, tracks: selection?.tracks ?? null,
    };
    const found = regions?.length === 0 ? { calls: [], complete: true } : await this.source.find(search, signal);
    this.viewing.store.set({ found, hit: -1, panel: "find", panelOpen: true, said: `${found.calls.length} hits` });
    if (!found.complete) this.viewing.store.set({ density: await densityOf(this.source, await pathsOf(this.source), search, !query.longer && !parameter, signal) });
  }

  /** Finds the calls of a function, for any characters in its name. */
  findFunction(region: number): void {
    this.find(`/^${this.viewing.run.regions[region].name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$/`);
  }

  /** Aligns two runs at a call and the call with the same number in the other run. */
  alignAt(call: CallRef, comparing: Comparing): void {
    const work = async (signal: AbortSignal) => {
      const { run } = this.viewing, { name } = run.regions[call.region];
      const { firstTrack, tracks } = partOf(run, call.track)!;
      const regions = run.regions.flatMap((region) => (region.name === name ? [region.id] : []));
      const mine = Array.from({ length: tracks }, (_, i) => firstTrack + i);
      const found = await this.source.find({ order: "earliest", limit: MOST_NTH, begin: 0, end: call.begin + 1, shortest: 0, tracks: mine, regions }, signal);
      if (!found.complete) throw new SourceError(`Before this call there are more than ${MOST_NTH} of its function.`, "Choose an earlier one.");
      await comparing.align({ func: name, n: found.calls.length });
    };
    this.run(work(this.begin()));
  }

  nextHit(by: number): void {
    const { found, hit } = this.viewing.view;
    if (!found?.calls.length) return;
    this.showHit((hit + by + found.calls.length + (hit < 0 && by < 0 ? 1 : 0)) % found.calls.length);
  }

  showHit(hit: number): void {
    const call = this.viewing.view.found?.calls[hit];
    if (!call) return;
    const { panel } = this.viewing.view;
    this.go(call, "");
    this.viewing.store.set({ hit, panel });
  }

  mark(): void {
    const { call, range } = this.viewing.view;
    addMark(this.viewing, this.timeline.pointedTime ?? call?.begin ?? (range.begin + range.end) / 2);
  }

  scroll(pixels: number): void {
    this.timeline.scrollBy(pixels);
  }

  fitRows(): void {
    this.timeline.fitRows();
  }

  focusFind(): void {
    document.querySelector<HTMLInputElement>("#find")?.select();
  }

  focusFilter(): void {
    document.querySelector<HTMLInputElement>("#filter")?.select();
  }

  selectCall(): void {
    const { call } = this.viewing.view;
    if (call) this.viewing.select({ begin: call.begin, end: Math.max(call.end, call.begin + 1), tracks: [call.track] });
  }
}
