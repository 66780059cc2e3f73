// The rows on the screen: keeps the pictures up to date with the view.
import type { Theme } from "../colour";
import { type Auxiliary, type CallDetails, type CallRef, PROCESS_MEMORY, type Run, type Selection } from "../model";
import type { Source } from "../source/source";
import { Store } from "../state/store";
import type { Viewing } from "../state/view";
import { Cache } from "./cache";
import { context, type Elements, fit, type Hover, sameCall, type Shown } from "./screen";
import { ValuesCache } from "./chart";
import { type Hit, hitAt } from "./hit";
import { Painting } from "../palette";
import type { Activity } from "./activity";
import { isOnSamples, type Layout, LINE, lineTop, type Row, rowAt, visible } from "./layout";
import { LinkCache } from "./links";
import { drawAxis, drawOverlay, type Marks } from "./overlay";
import { listenToOverview, Overview } from "./overview";
import { around as slotsAround, type Frame, Renderer, type Recorder } from "./renderer";
import { type Recorded, recordAll } from "./record";
import { Rows } from "./rows";
import { type Edge, Pointer, type Surface } from "./pointer";
import { hitsAt, SampleCache } from "./sampled";
import { around, levelFor, span, toTime, toX } from "./scale";
import { Anchors, drawTalk, type Pen, type Spoken, spokenAt, TalkCache, talks, type TalkShown } from "./talk";

/** ms without a change before tiles are fetched that may be visible next. */
const QUIET = 150;
/** Distance in pixels in which an edge of the selection can be grabbed. */
const EDGE = 4;

export class Timeline implements Surface {
  readonly pointed = new Store<Hover>({ hit: null, details: null, spoken: null, x: 0, y: 0 });
  readonly shown = new Store<Shown>({ rows: [], top: 0, height: 0 });
  /** The data other than calls, once they are known. */
  readonly known = new Store<{ side: Auxiliary | null }>({ side: null });
  readonly cache: Cache;
  private readonly rows: Rows;
  private readonly overview: Overview;
  private readonly values: ValuesCache;
  private readonly samples: SampleCache;
  private readonly talk: TalkCache;
  private readonly links: LinkCache;
  private anchors = new Anchors([]);
  private elements: Elements | null = null;
  private renderer: Renderer | null = null;
  private painting: Painting;
  private scheduled = 0;
  /** True if more than the marks above the picture has changed. */
  private changed = true;
  private rubberBand: Selection | null = null;
  private pointerX: number | null = null;
  /** The chosen call that was brought into sight. */
  private sought: CallRef | null = null;
  private ahead: ReturnType<typeof setTimeout> | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private control = new AbortController();

  constructor(readonly viewing: Viewing, readonly source: Source, private theme: Theme, private activity: Activity | null, failed: (error: Error) => void) {
    this.painting = this.paintingOf();
    this.cache = new Cache(source, () => this.schedule(), failed);
    this.rows = new Rows(viewing, this.cache, activity, source);
    viewing.filtered = () => this.rows.filtered();
    this.overview = new Overview(viewing, this.cache);
    this.values = new ValuesCache(source, () => this.schedule());
    this.samples = new SampleCache(source, () => this.schedule());
    this.talk = new TalkCache(source, this.run.locations.length, () => this.scheduleMarks());
    this.links = new LinkCache(source, () => this.scheduleMarks());
    void source.auxiliary().then((side) => this.showAuxiliary(side), () => undefined);
    viewing.store.subscribe(() => this.follow());
  }

  private get run(): Run { return this.viewing.run; }

  /** Shows the next state of a run that is still recorded. `same`: numbers mean the same as before. */
  grow(activity: Activity | null, same: boolean, refit: boolean): void {
    this.activity = activity;
    for (const cache of [this.cache, this.values, this.samples]) cache.renew(same);
    this.talk.renew(this.run.locations.length, same);
    this.rows.grow(activity, refit);
    if (this.elements) this.renderer = new Renderer(this.elements.picture, this.cache, this.run, this.values, this.samples);
    this.repaint();
    if (refit) void this.source.auxiliary().then((side) => this.showAuxiliary(side), () => undefined);
    this.schedule();
  }

  private showAuxiliary(side: Auxiliary): void {
    this.known.set({ side });
    this.rows.setAuxiliary(side);
    this.schedule();
  }

  mount(elements: Elements): () => void {
    this.elements = elements;
    this.renderer = new Renderer(elements.picture, this.cache, this.run, this.values, this.samples);
    this.renderer.setColours(this.theme, this.painting);
    new Pointer(elements.overlay, this.viewing, this);
    listenToOverview(elements.overview, this.viewing);
    const observer = new ResizeObserver(() => {
      // The pictures are as high as the visible part, for any number of rows.
      elements.scroller.style.setProperty("--seen", `${elements.scroller.clientHeight}px`);
      this.changed = true;
      this.draw();
    });
    observer.observe(elements.scroller);
    const scrolled = () => this.schedule();
    elements.scroller.addEventListener("scroll", scrolled);
    return () => observer.disconnect();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.repaint();
    this.schedule();
  }

  private paintingOf(): Painting {
    const { colouring, lit } = this.viewing.view;
    return new Painting(this.theme, this.run, colouring, lit, this.activity?.regions);
  }

  private repaint(): void {
    this.painting = this.paintingOf();
    this.renderer?.setColours(this.theme, this.painting);
  }

  private follow(): void {
    const { colouring, lit, call } = this.viewing.view;
    if (colouring !== this.painting.by || lit !== this.painting.lit) this.repaint();
    // The panel that the choice has opened has its place in the frame after the next one.
    if (call && !(this.sought && sameCall(call, this.sought))) requestAnimationFrame(() => requestAnimationFrame(() => this.see(call)));
    this.sought = call;
    this.schedule();
  }

  get colouring(): Painting {
    return this.painting;
  }

  styleOf(region: number): string {
    return this.painting.styles[region] ?? this.theme.nothing;
  }

  /** Unfolds the rows that fit into the window as it is now. */
  fitRows(): void {
    this.rows.fit();
    this.viewing.foldAll("fit");
    this.elements?.scroller.scrollTo({ top: 0 });
    this.schedule();
  }

  /** The time under the pointer; null: elsewhere. */
  get pointedTime(): number | null {
    return this.pointerX === null ? null : toTime(this.viewing.view.range, this.width, this.pointerX);
  }

  /** Reports the picture of all rows of the layout, also of the ones outside of the window. REQUIRES: mounted. */
  record(recorder: Recorder): Promise<Recorded> {
    const canvas = document.createElement("canvas"), renderer = new Renderer(canvas, this.cache, this.run, this.values, this.samples);
    renderer.setColours(this.theme, this.painting);
    canvas.width = this.elements!.picture.width;
    return recordAll(this.rows.layout, this.viewing.view.range, { canvas, renderer, cache: this.cache, values: this.values, samples: this.samples }, recorder);
  }

  /** Draws the messages and collective operations over such a picture of these rows. */
  async drawMessages(pen: Pen, rows: readonly Row[]): Promise<void> {
    const { range, quiet } = this.viewing.view;
    if (quiet || !talks(this.known.get().side)) return;
    const talk = await this.talk.whole(range, rows, new AbortController().signal);
    drawTalk(pen, this.width, { range, rows, top: 0, pinnedBottom: 0 }, talk, this.anchors, this.theme, null, null);
  }

  /** The rows among which a row can be moved, in their order. */
  siblings(row: Row): readonly number[] {
    return row.pinned ? this.viewing.view.pinned : this.rows.siblings(row.id);
  }

  private get all(): Layout {
    return this.rows.layout;
  }

  get width(): number {
    return this.elements?.overlay.clientWidth ?? 1;
  }

  /** REQUIRES: mounted. */
  get canvases(): Elements {
    return this.elements!;
  }

  get colours(): Theme {
    return this.theme;
  }

  get shownHeight(): number {
    return this.elements?.overlay.clientHeight ?? 1;
  }

  schedule(): void {
    this.changed = true;
    this.scheduleMarks();
  }

  private scheduleMarks(): void {
    if (!this.scheduled) this.scheduled = requestAnimationFrame(() => this.draw());
  }

  /** True if the view would be finer with more data than an outline. */
  get beyondOutline(): boolean {
    const { run, view } = this.viewing;
    return run.outline !== undefined && this.elements !== null && levelFor(span(view.range) / this.elements.picture.width) < run.outline.finest;
  }

  /** True if the whole view is as fine as possible. */
  get settled(): boolean {
    return this.scheduled === 0 && !this.cache.busy;
  }

  private draw(): void {
    cancelAnimationFrame(this.scheduled);
    this.scheduled = 0;
    const { elements, renderer } = this;
    if (!elements || !renderer || !elements.scroller.clientHeight) return;
    if (!this.changed) return this.drawMarks(this.frame());
    this.changed = false;
    this.layOut();
    // The axis and the strip are as wide as the rows, which may have a scroll bar beside them.
    const bar = `${elements.scroller.offsetWidth - elements.scroller.clientWidth}px`;
    for (const above of [elements.axis, elements.overview]) if (above.style.marginRight !== bar) above.style.marginRight = bar;
    const ratio = window.devicePixelRatio || 1;
    const { height } = fit(elements.picture, ratio);
    const top = Math.max(0, Math.min(elements.scroller.scrollTop, this.all.height - height));
    const frame = { range: this.viewing.view.range, rows: visible(this.all, top, height), top, pinnedBottom: top + this.all.pinnedHeight, marked: this.viewing.view.density?.regions ?? null };
    renderer.paint(frame, ratio);
    this.drawMarks(frame);
    fit(elements.overview, ratio);
    const strip = elements.overview;
    this.overview.draw(context(strip, ratio), strip.clientWidth, strip.clientHeight, this.theme, this.painting);
    this.tellShown(frame);
    this.cache.fetch();
    clearTimeout(this.ahead);
    this.ahead = setTimeout(() => {
      this.settle(frame);
      this.cache.prefetch(slotsAround(frame, elements.picture.width, this.viewing.whole));
    }, QUIET);
  }

  private layOut(): void {
    if (this.rows.layOut(this.elements!.scroller.clientHeight)) this.anchors = new Anchors(this.all.rows);
  }

  /** Makes the visible rows as high as the visible range needs; the row at the top keeps its place. */
  private settle(frame: Frame): void {
    const { elements } = this;
    if (!elements || this.cache.busy || !this.rows.settle(frame, elements.picture.width)) return;
    const first = frame.rows.find((row) => !row.pinned && row.y + row.height > frame.pinnedBottom);
    this.changed = true;
    this.draw();
    const now = first && this.all.rows.find((row) => row.id === first.id);
    if (now && now.y !== first.y && elements.scroller.scrollTop > 0) elements.scroller.scrollBy(0, now.y - first.y);
  }

  private drawMarks(frame: Frame): void {
    const { elements } = this;
    if (!elements) return;
    const ratio = window.devicePixelRatio || 1;
    const { hit, details, spoken } = this.pointed.get();
    const pointed = details ?? hit?.call ?? null;
    const marks: Marks = {
      view: this.viewing.view, frame, theme: this.theme, pointed, x: this.pointerX, rubber: this.rubberBand, markers: this.run.markers,
      talk: this.talkOf(frame), anchors: this.anchors, spoken, links: this.links.of(this.viewing.view.call), places: this.renderer?.places ?? [],
    };
    const over = fit(elements.overlay, ratio), axis = fit(elements.axis, ratio);
    drawOverlay(context(elements.overlay, ratio), over.width, over.height, marks);
    drawAxis(context(elements.axis, ratio), axis.width, axis.height, marks);
  }

  private tellShown(frame: Frame): void {
    const { top } = frame;
    const before = this.shown.get().rows;
    const same = before.length === frame.rows.length && top === this.shown.get().top && frame.rows.every((row, i) => row === before[i] || (row.pinned && row.id === before[i].id && row.height === before[i].height));
    this.shown.set({ rows: same ? before : frame.rows, top, height: this.all.height });
  }

  private frame(): Frame {
    const { rows, top } = this.shown.get();
    return { range: this.viewing.view.range, rows, top, pinnedBottom: top + this.all.pinnedHeight };
  }

  /** Draws messages and collective operations, if there are any and they are shown. */
  private talkOf(frame: Frame): TalkShown | null {
    return talks(this.known.get().side) && !this.viewing.view.quiet ? this.talk.of(frame) : null;
  }

  private spokenAt(x: number, y: number): Spoken | null {
    const frame = this.frame(), talk = this.talkOf(frame);
    return (talk && spokenAt(talk, this.anchors, frame, this.width, x, y)) ?? this.sampleAt(frame, x, y);
  }

  private sampleAt(frame: Frame, x: number, y: number): Spoken | null {
    const row = rowAt(frame.rows, y + frame.top), lane = row && isOnSamples(row, y + frame.top) ? this.samples.known(row.id) : undefined;
    const hits = lane && hitsAt(lane, frame.range, this.width, x, this.run.regions.length);
    return hits ? { hits } : null;
  }

  private hitAt(x: number, y: number): Hit | null {
    return hitAt(this.frame(), this.cache, this.values, this.run, this.rows.imports, this.width, this.elements?.picture.width ?? 1, x, y);
  }

  hover(x: number, y: number): void {
    this.pointerX = x;
    const spoken = this.spokenAt(x, y);
    const hit = spoken ? null : this.hitAt(x, y), before = this.pointed.get();
    const same = hit?.call && before.details && sameCall(hit.call, before.details);
    this.pointed.set({ hit, spoken, x, y, details: same ? before.details : null });
    if (!same) this.askSoon(hit);
    this.scheduleMarks();
  }

  leave(): void {
    this.pointerX = null;
    this.askSoon(null);
    this.pointed.set({ hit: null, details: null, spoken: null });
    this.scheduleMarks();
  }

  click(x: number, y: number): void {
    const spoken = this.spokenAt(x, y);
    if (spoken && "hits" in spoken) return void (spoken.hits.region >= 0 && this.viewing.chooseFunction(spoken.hits.region));
    if (spoken) return this.viewing.store.set({ panel: "messages", panelOpen: true, ..."message" in spoken ? { message: spoken.message } : {} });
    let hit = this.hitAt(x, y);
    if (this.run.outline && hit && hit.region >= 0) {
      const { region } = hit;
      return void this.callAt(hit).then((call) => (call ? this.viewing.choose(call) : this.viewing.chooseFunction(region)));
    }
    if (hit?.measured && this.run.metrics[hit.row.metric].name === PROCESS_MEMORY && this.run.memory) return this.viewing.hold(hit.row.locations[0], hit.time);
    if (hit?.row.kind === "lane") hit = { ...hit, depth: 0 };
    else if (!hit || hit.depth < 0 || hit.region < 0) return this.viewing.choose(null);
    if (hit.call) return this.viewing.choose(hit.call);
    void this.callAt(hit).then((call) => call && this.viewing.choose(call));
  }

  doubleClick(x: number, y: number): void {
    const call = this.hitAt(x, y)?.call;
    if (call) this.viewing.show(around(call.begin, call.end, this.viewing.whole));
  }

  rubber(from: { x: number; y: number } | null, to: { x: number; y: number }): void {
    this.rubberBand = from && this.viewing.answerable(this.rangeOf(from, to));
    this.pointerX = to.x;
    if (from) this.pointed.set({ hit: null, details: null, spoken: null });
    this.scheduleMarks();
  }

  selected(from: { x: number; y: number }, to: { x: number; y: number }): void {
    this.viewing.select(this.rangeOf(from, to));
  }

  edgeAt(x: number): Edge | null {
    const { selection, range } = this.viewing.view;
    return (["begin", "end"] as const).find((edge) => selection && Math.abs(toX(range, this.width, selection[edge]) - x) <= EDGE) ?? null;
  }

  moveEdge(edge: Edge, x: number): Edge {
    const { selection, range } = this.viewing.view;
    // A key may remove the selection while its edge is dragged.
    if (!selection) return edge;
    const time = Math.round(toTime(range, this.width, Math.min(Math.max(x, 0), this.width)));
    const other = selection[edge === "begin" ? "end" : "begin"], begin = Math.min(time, other);
    this.viewing.select({ begin, end: Math.max(time, other, begin + 1), tracks: selection.tracks });
    return time < other ? "begin" : "end";
  }

  scrollBy(pixels: number): void {
    this.elements?.scroller.scrollBy(0, pixels);
  }

  canScroll(): boolean {
    const { scroller } = this.elements!;
    return scroller.scrollHeight > scroller.clientHeight + 1;
  }

  private rowOf(track: number): Row | undefined {
    const { rows } = this.all;
    return rows.find((other) => other.id === track) ?? rows.find((other) => other.kind === "lane" && other.locations.includes(track));
  }

  /** Scrolls the rows as far as a call is out of sight: below the panel, or below the edge of a low window. */
  private see({ track, depth }: CallRef): void {
    const { elements, all: { pinnedHeight } } = this, row = this.rowOf(track);
    if (!elements || !row) return;
    const { scroller } = elements, { top, bottom } = scroller.getBoundingClientRect(), y = Math.max(row.y, lineTop(row, depth));
    const least = y + LINE + 4 - scroller.scrollTop - (Math.min(bottom, window.innerHeight) - top), most = y - scroller.scrollTop - Math.max(pinnedHeight, -top);
    scroller.scrollBy(0, Math.max(0, least) + Math.min(0, most));
  }

  /** Scrolls to the row of a location, if there is one. */
  scrollTo(track: number): void {
    const { scroller } = this.elements!;
    const row = this.rowOf(track);
    if (!row) return;
    const top = row.y - this.all.pinnedHeight;
    if (top >= scroller.scrollTop && row.y + Math.min(row.height, 100) <= scroller.scrollTop + scroller.clientHeight) return;
    scroller.scrollTo({ top: Math.max(0, top - 40) });
  }

  /** The range and the locations between two places. */
  private rangeOf(from: { x: number; y: number }, to: { x: number; y: number }): Selection {
    const { range } = this.viewing.view, { top, rows } = this.shown.get();
    const time = (x: number) => Math.round(toTime(range, this.width, Math.min(Math.max(x, 0), this.width)));
    const [y0, y1] = [Math.min(from.y, to.y) + top, Math.max(from.y, to.y) + top];
    const touched = rows.filter((row) => row.y <= y1 && row.y + row.height > y0);
    const tracks = [...new Set(touched.flatMap((row) => row.locations))];
    const all = tracks.length === 0 || tracks.length === this.run.locations.length;
    const [begin, end] = [time(Math.min(from.x, to.x)), time(Math.max(from.x, to.x))];
    return { begin, end: Math.max(end, begin + 1), tracks: all ? null : tracks };
  }

  /** Requests details of the item under the pointer when the pointer rests. */
  private askSoon(hit: Hit | null): void {
    clearTimeout(this.asking);
    this.control.abort();
    if (!hit || hit.depth < 0 || hit.region < 0) return;
    this.asking = setTimeout(() => {
      void this.callAt(hit).then((details) => {
        if (details && this.pointed.get().hit === hit) this.pointed.set({ details });
        this.scheduleMarks();
      });
    }, 60);
  }

  private async callAt(hit: Hit): Promise<CallDetails | null> {
    this.control = new AbortController();
    const time = hit.call ? hit.call.begin : Math.floor(hit.time);
    try {
      return await this.source.call(hit.row.id, hit.depth, time, this.control.signal);
    } catch {
      return null;  // the pointer has moved on, or the timeline reports the problem
    }
  }
}
