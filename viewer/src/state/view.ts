// The state of the page: one value that all parts read, and the few functions that change it.
import { AT_INSTANT, type Bundle, type CallRef, type Found, type Mark, type MemoryQuestion, NONE, PROCESS_MEMORY, type Run, type Selection } from "../model";
import { setTimeOfDay } from "../format";
import type { Colouring } from "../palette";
import { around, clamp, move, type Range, span, zoom } from "../timeline/scale";
import type { Live } from "../source/live";
import type { Moves } from "./grow";
import { History } from "./history";
import { Store } from "./store";

export const PANELS = ["call", "function", "functions", "modules", "tree", "flame", "source", "memory", "messages", "marks", "find"] as const;
export type Panel = (typeof PANELS)[number];
export const SORTS = ["order", "activity", "name"] as const;
export type Sort = (typeof SORTS)[number];
export const FOLDINGS = ["fit", "all", "none"] as const;
export type Folding = (typeof FOLDINGS)[number];

export interface Problem {
  readonly message: string;
  readonly advice: string;
}

/** The number of hits in equal parts of a range, and the functions that were looked for by name alone. */
export interface Density extends Range {
  readonly counts: readonly number[];
  readonly regions: ReadonlySet<number> | null;
}

export interface View {
  readonly range: Range;
  /** The rows that are unfolded: what fits, all, or none. */
  readonly folding: Folding;
  /** Rows that are unfolded or folded in spite of that. */
  readonly folds: ReadonlyMap<number, boolean>;
  readonly colouring: Colouring;
  /** The key of the legend that is not faded; empty: all. */
  readonly lit: string;
  /** Locations that show all of their levels. */
  readonly tall: ReadonlySet<number>;
  readonly pinned: readonly number[];
  readonly filter: string;
  readonly sort: Sort;
  /** The text that names in the tables must contain. */
  readonly only: string;
  /** Rows that were moved: their positions among their siblings. */
  readonly moved: ReadonlyMap<number, number>;
  readonly selection: Selection | null;
  readonly call: CallRef | null;
  /** The selected message. */
  readonly message: Bundle | null;
  /** Messages and collective operations are not drawn. */
  readonly quiet: boolean;
  /** The region shown in the panel "function"; -1: none. */
  readonly func: number;
  readonly panel: Panel;
  readonly panelOpen: boolean;
  /** The amount of memory in the panel "memory": a number of AMOUNTS. */
  readonly amount: number;
  /** The chosen instant of the memory of a process, by the location of its counter. */
  readonly instant: { readonly track: number; readonly time: number } | null;
  /** Instants are times of day. */
  readonly clock: boolean;
  readonly find: string;
  readonly found: Found | null;
  /** Where there are hits, if `found` has not all of them. */
  readonly density: Density | null;
  /** The reason why a search has no answer. */
  readonly findError: Problem | null;
  /** The index in `found`. */
  readonly hit: number;
  readonly marks: readonly Mark[];
  /** The mark whose note is to be edited now; null: none. */
  readonly newMark: number | null;
  /** The path where marks were kept; null: nowhere yet; empty: not writable. */
  readonly keptAt: string | null;
  readonly help: boolean;
  /** The newest state of a run that is, or was, still recorded when the page was opened; null: another run. */
  readonly live: Live | null;
  /** The number of states that were shown before. */
  readonly grown: number;
  /** The visible range moves with the end of the run. */
  readonly following: boolean;
  /** The time that is followed, as soon as the run is so long; null: as long as the visible range. */
  readonly window: number | null;
  /** A sentence for screen readers about the last change. */
  readonly said: string;
}

/** A range that ends this near to the end of the run, as a part of its length, follows it. */
const NEAR_END = 0.01;

export class Viewing {
  readonly store: Store<View>;
  whole: Range;
  private readonly history = new History();
  /** The locations that the filter of rows leaves; null: all. The timeline knows them. */
  filtered: () => readonly number[] | null = () => null;

  constructor(public run: Run) {
    this.whole = wholeOf(run);
    this.store = new Store<View>({
      range: this.whole, folding: "fit", folds: new Map(), colouring: "function", lit: "", tall: new Set(), pinned: [], filter: "", sort: "order", only: "", moved: new Map(), selection: null, call: null, message: null, quiet: false, clock: false, func: -1, amount: 1, instant: null,
      panel: "functions", panelOpen: false, find: "", found: null, density: null, findError: null, hit: -1, marks: run.marks, newMark: null, keptAt: null, help: false, live: null, grown: 0, following: true, window: null, said: "",
    });
  }

  get view(): View {
    return this.store.get();
  }

  /** Shows times of day, if the run has them, or times since its start. */
  showClock(clock: boolean): void {
    const { midnight } = this.run;
    setTimeOfDay(clock && midnight !== undefined ? midnight : null);
    this.store.set({ clock });
  }

  show(range: Range): void {
    const next = clamp(range, this.whole);
    if (next.begin === this.view.range.begin && next.end === this.view.range.end) return;
    this.history.leave(this.view.range, performance.now());
    this.store.set({ range: next, window: null, following: next.end >= this.whole.end - NEAR_END * span(next) });
  }

  /** Shows the next state of a run that is still recorded: the end of it, if that is followed. */
  grow(run: Run, { track, region, row, same }: Moves): void {
    const { view, whole } = this, { range, following, window } = view;
    this.run = run;
    this.whole = wholeOf(run);
    const all = range.begin <= whole.begin && range.end >= whole.end;
    const next = !following ? range : window !== null ? { begin: this.whole.end - window, end: this.whole.end } : all ? this.whole : move(range, this.whole.end - range.end, this.whole);
    this.store.set({ range: clamp(next, this.whole), grown: view.grown + 1, ...(same ? {} : movedView(view, track, region, row)) });
  }

  /** Keeps the visible range, or goes to the end of the run and follows it. */
  toggleFollow(): void {
    const { following, range } = this.view;
    if (!following) this.show(move(range, this.whole.end - range.end, this.whole));
    this.store.set({ following: !following, said: following ? "Paused: the picture stays." : "The picture follows the end." });
  }

  lastMinute(): void {
    const window = 60 * this.run.ticksPerSecond;
    this.show({ begin: this.whole.end - window, end: this.whole.end });
    this.store.set({ following: true, window });
  }

  zoom(fixed: number, factor: number): void {
    this.show(zoom(this.view.range, fixed, factor, this.whole));
  }

  /** Zooms around the middle. */
  zoomBy(factor: number): void {
    const { begin, end } = this.view.range;
    this.zoom((begin + end) / 2, factor);
  }

  /** Moves by a fraction of the visible range. */
  moveBy(part: number): void {
    const { begin, end } = this.view.range;
    this.show(move(this.view.range, part * (end - begin), this.whole));
  }

  showAll(): void {
    this.show(this.whole);
    this.store.set({ following: true, window: null });
  }

  /** Shows the selection or, without one, the call, with a margin. */
  fit(): void {
    const wanted = this.view.selection ?? this.view.call;
    if (wanted) this.show(around(wanted.begin, wanted.end, this.whole));
  }

  back(): void {
    this.showKept(this.history.back(this.view.range));
  }

  forward(): void {
    this.showKept(this.history.forward(this.view.range));
  }

  /** Shows a range of the history, which stays: the end of the run that it may have had is of an earlier state. */
  private showKept(range: Range | null): void {
    if (range) this.store.set({ range, window: null, following: false });
  }

  select(selection: Selection | null): void {
    const panel = this.view.panel === "call" || this.view.panel === "find" ? "functions" : this.view.panel;
    this.store.set(selection ? { selection: this.answerable(selection), panel, panelOpen: true } : { selection: null });
  }

  /** A selection that has a profile: for an outline, the whole steps that it touches. */
  answerable(selection: Selection): Selection {
    const step = this.run.outline?.step ?? 0;
    // The steps of two runs need not coincide.
    if (!step || this.run.parts.length) return selection;
    const begin = Math.floor(selection.begin / step) * step, end = Math.ceil(selection.end / step) * step;
    return { ...selection, begin, end: Math.min(end, Math.max(selection.end, this.whole.end)) };
  }

  /** Selects a call; moves the view if the call would not be visible. */
  choose(call: CallRef | null, reveal = false): void {
    // An open source panel stays open.
    const panel = this.view.panel === "source" && this.view.panelOpen ? "source" : "call";
    this.store.set(call ? { call, func: call.region, panel, panelOpen: true } : { call: null });
    if (call && reveal) this.reveal(call);
  }

  reveal(call: CallRef): void {
    const { begin, end } = this.view.range;
    const pixels = (1000 * (call.end - call.begin)) / (end - begin);
    if (call.begin >= begin && call.end <= end && pixels >= 4) return;
    if (pixels < 4 || pixels > 1000) {
      const length = Math.max(call.end - call.begin, 10);
      this.show(around(call.begin - length * 2, call.end + length * 2, this.whole));
    } else {
      this.show(move(this.view.range, (call.begin + call.end - begin - end) / 2, this.whole));
    }
  }

  chooseFunction(func: number): void {
    this.store.set({ func, panel: "function", panelOpen: true });
  }

  /** Shows who holds the memory of a process at a time. */
  hold(track: number, time: number): void {
    this.store.set({ instant: { track, time: Math.round(Math.min(Math.max(time, 0), this.whole.end)) }, amount: AT_INSTANT, panel: "memory", panelOpen: true });
  }

  /** The question for an amount of memory. */
  memoryOf(amount: number): MemoryQuestion {
    const { instant } = this.view, of = amount === AT_INSTANT && instant;
    return of ? { amount, process: this.run.locations[of.track].process, time: of.time } : { amount, process: NONE, time: 0 };
  }

  /** The location that has the bytes of a process; -1: none. */
  get memoryTrack(): number {
    return this.run.locations.findIndex(({ kind, name }) => kind === "metrics" && (name === PROCESS_MEMORY || name === "Per process metrics"));
  }

  /** Folds or unfolds a row. */
  fold(row: number, open: boolean): void {
    this.store.set({ folds: new Map(this.view.folds).set(row, open) });
  }

  /** Unfolds all rows, none, or the ones that fit. */
  foldAll(folding: Folding): void {
    this.store.set({ folding, folds: new Map(), tall: new Set() });
  }

  toggleTall(row: number): void {
    this.store.set({ tall: toggled(this.view.tall, row) });
  }

  pin(row: number): void {
    const { pinned } = this.view;
    this.store.set({ pinned: pinned.includes(row) ? pinned.filter((other) => other !== row) : [...pinned, row] });
  }

  /** Gives a row another position among its siblings, or among the pinned rows, which are listed in order. */
  move(row: number, siblings: readonly number[], place: number, pinned: boolean): void {
    const order = siblings.filter((other) => other !== row);
    order.splice(place, 0, row);
    if (pinned) return this.store.set({ pinned: order });
    const moved = new Map(this.view.moved);
    order.forEach((other, i) => (other === row || moved.has(other)) && moved.set(other, i));
    this.store.set({ moved });
  }

  openPanel(panel: Panel): void {
    this.store.set({ panel, panelOpen: true });
  }

  /** The range of the tables: the selection or, without one, the visible range on the rows that the filter leaves. */
  scope(): Selection {
    return this.view.selection ?? this.answerable({ ...this.view.range, tracks: this.filtered() });
  }
}

const wholeOf = (run: Run): Range => ({ begin: 0, end: Math.max(run.length, 1) });

/** The parts of a view that have numbers, after these have changed. */
function movedView(view: View, track: Moves["track"], region: Moves["region"], row: Moves["row"]): Partial<View> {
  const known = <T>(values: readonly (T | undefined)[]): T[] => values.filter((value): value is T => value !== undefined);
  const keys = <T>(map: ReadonlyMap<number, T>): Map<number, T> => new Map([...map].flatMap(([old, value]) => known([row(old)]).map((key) => [key, value] as const)));
  const { selection, call } = view, place = call ? track(call.track) : undefined, called = call ? region(call.region) : undefined;
  return {
    folds: keys(view.folds), moved: keys(view.moved), tall: new Set(known([...view.tall].map(row))), pinned: known(view.pinned.map(row)),
    selection: selection?.tracks ? { ...selection, tracks: known(selection.tracks.map(track)) } : selection,
    call: call && place !== undefined && called !== undefined ? { ...call, track: place, region: called } : null,
    func: region(view.func) ?? -1, message: null, instant: null, amount: 1, density: null,
  };
}

function toggled(set: ReadonlySet<number>, value: number): ReadonlySet<number> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
