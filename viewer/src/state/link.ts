// The state of the page in its address: read at the start, written as it changes.
import { AT_INSTANT } from "../model";
import { COLOURINGS } from "../palette";
import type { Comparing, Navigator } from "./commands";
import type { Alignment } from "../source/pair";
import { readMarks, writeMarks } from "./marks";
import { type Link, read, write } from "./url";
import { FOLDINGS, PANELS, SORTS, type View, type Viewing } from "./view";

const QUIET = 300;

/** The server's token. It is removed from the address at once, and kept for a reload of this tab. */
export function takeToken(): string {
  const words = location.hash.replace(/^#/, "").split("&");
  const mine = words.filter((word) => word.startsWith("t="));
  try {
    if (!mine.length) return sessionStorage.getItem("timeloom-token") ?? "";
    sessionStorage.setItem("timeloom-token", mine[0].slice(2));
  } catch {
    // Without storage a reload needs the whole address again.
  }
  const rest = words.filter((word) => !word.startsWith("t=")).join("&");
  setFragment(rest);
  return mine[0]?.slice(2) ?? "";
}

function setFragment(fragment: string): void {
  try {
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
  } catch {
    // The frame of a notebook has no address.
  }
}

/** The state of a page without a link. */
const bare = ({ marks }: View): Partial<View> => ({
  selection: null, call: null, instant: null, message: null, quiet: false, filter: "", sort: "order", only: "", pinned: [], moved: new Map(), folding: "fit", folds: new Map(), colouring: "function", lit: "",
  find: "", found: null, density: null, findError: null, hit: -1, marks,
});

/** Shows the state in the address, and nothing that was shown before. */
export function restore(viewing: Viewing, navigator: Navigator): void {
  const link = read(location.hash);
  const { run } = viewing;
  const change: { -readonly [name in keyof View]?: View[name] } = bare(viewing.view);
  viewing.show(link.range && link.range.begin < run.length ? link.range : viewing.whole);
  if (link.selection && link.selection.begin < run.length) {
    const tracks = link.selection.tracks?.filter((track) => run.locations[track]) ?? null;
    change.selection = viewing.answerable({ ...link.selection, tracks });
    change.panelOpen = true;
  }
  const known = <T extends string>(words: readonly T[], word: string | undefined): T | undefined => words.find((one) => one === word);
  const panel = known(PANELS, link.panel), sort = known(SORTS, link.sort), folding = known(FOLDINGS, link.rows), colouring = known(COLOURINGS, link.colours);
  if (panel) Object.assign(change, { panel, panelOpen: true });
  if (link.instant && run.locations[link.instant.track]) Object.assign(change, { instant: link.instant, amount: AT_INSTANT });
  if (sort) change.sort = sort;
  if (folding) change.folding = folding;
  if (colouring) change.colouring = colouring;
  if (link.lit) change.lit = link.lit;
  if (link.messages === "off") change.quiet = true;
  viewing.showClock(link.times === "day");
  if (link.marks) change.marks = readMarks(link.marks);
  if (link.filter) change.filter = link.filter;
  if (link.only) change.only = link.only;
  if (link.pinned) change.pinned = link.pinned;
  if (link.moved) change.moved = new Map(link.moved.flatMap((row, i) => (i % 2 === 0 && link.moved![i + 1] >= 0 ? [[row, link.moved![i + 1]] as const] : [])));
  change.folds = new Map([...(link.open ?? []).map((row) => [row, true] as const), ...(link.folded ?? []).map((row) => [row, false] as const)]);
  const func = link.func === undefined ? -1 : run.regions.findIndex((region) => region.name === link.func);
  if (func >= 0) change.func = func;
  viewing.store.set(change);
  if (link.call && run.locations[link.call.track]) navigator.open(link.call);
  if (link.find && link.find.trim() !== "") navigator.find(link.find);
}

/** Shows a link that is pasted into the address of the open page. */
export function followPasted(viewing: Viewing, navigator: Navigator, comparing: Comparing | null): () => void {
  const token = takeToken();
  const pasted = () => {
    const { align } = read(location.hash);
    // Another server may have the address of the one that this page has asked.
    if (/(^#|&)t=/.test(location.hash) && takeToken() !== token) return location.reload();
    if (comparing && align && (align.func !== comparing.alignment.func || align.n !== comparing.alignment.n)) void comparing.align(align).catch(() => undefined);
    restore(viewing, navigator);
  };
  window.addEventListener("hashchange", pasted);
  return () => window.removeEventListener("hashchange", pasted);
}

/** Keeps the address up to date, without a new entry in the browser's history. */
export function follow(viewing: Viewing, align?: Alignment): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = () => {
    const { view, whole } = viewing;
    const moved = view.range.begin !== whole.begin || view.range.end !== whole.end;
    showFragment({
      ...(align ? { align } : {}),
      ...(moved ? { range: view.range } : {}),
      ...(view.selection ? { selection: { ...view.selection, tracks: view.selection.tracks && [...view.selection.tracks] } } : {}),
      ...(view.call ? { call: { track: view.call.track, time: view.call.begin, depth: view.call.depth } } : {}),
      ...(view.panelOpen ? { panel: view.panel } : {}),
      ...(view.instant && view.amount === AT_INSTANT ? { instant: view.instant } : {}),
      ...(view.panelOpen && ["function", "source"].includes(view.panel) && view.func >= 0 ? { func: viewing.run.regions[view.func].name } : {}),
      marks: writeMarks(view.marks), messages: view.quiet ? "off" : "", times: view.clock ? "day" : "", filter: view.filter, sort: view.sort === "order" ? "" : view.sort, only: view.only, pinned: [...view.pinned], moved: [...view.moved].flat(), find: view.found ? view.find : "",
      open: [...view.folds].flatMap(([row, open]) => (open ? [row] : [])), folded: [...view.folds].flatMap(([row, open]) => (open ? [] : [row])),
      rows: view.folding === "fit" ? "" : view.folding, colours: view.colouring === "function" ? "" : view.colouring, lit: view.lit,
    });
  };
  const end = viewing.store.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(now, QUIET);
  });
  return () => (clearTimeout(timer), end());
}

const showFragment = (link: Link): void => setFragment(write(link));

/** Shifts the times in the address by `by` ticks, because the alignment has moved the first run. */
export function keepPlace(by: number, align: Alignment): void {
  const { range, selection, call, ...link } = read(location.hash);
  const moved = range && { begin: Math.max(0, range.begin + by), end: range.end + by };
  showFragment({ ...link, align, ...(moved && moved.end > moved.begin ? { range: moved } : {}) });
}
