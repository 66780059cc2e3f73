// The state of the page in its address: read at the start, written as it changes.
import { parseQuery } from "../source/match";
import type { Navigator } from "./commands";
import type { Alignment } from "../source/pair";
import { readMarks, writeMarks } from "./marks";
import { type Link, read, write } from "./url";
import { type Panel, PANELS, type Sort, SORTS, type View, type Viewing } from "./view";

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
  history.replaceState(null, "", rest ? `#${rest}` : location.pathname + location.search);
  return mine[0].slice(2);
}

/** Shows the state in the address. */
export function restore(viewing: Viewing, navigator: Navigator): void {
  const link = read(location.hash);
  const { run } = viewing;
  const change: { -readonly [name in keyof View]?: View[name] } = {};
  if (link.range && link.range.begin < run.length) viewing.show(link.range);
  if (link.selection && link.selection.begin < run.length) {
    const tracks = link.selection.tracks?.filter((track) => run.locations[track]) ?? null;
    change.selection = viewing.answerable({ ...link.selection, tracks });
    change.panelOpen = true;
  }
  if (PANELS.includes(link.panel as Panel)) Object.assign(change, { panel: link.panel, panelOpen: true });
  if (SORTS.includes(link.sort as Sort)) change.sort = link.sort as Sort;
  if (link.messages === "off") change.quiet = true;
  if (link.marks) change.marks = readMarks(link.marks);
  if (link.filter) change.filter = link.filter;
  if (link.only) change.only = link.only;
  if (link.pinned) change.pinned = link.pinned;
  if (link.moved) change.moved = new Map(link.moved.flatMap((row, i) => (i % 2 === 0 && link.moved![i + 1] >= 0 ? [[row, link.moved![i + 1]] as const] : [])));
  if (link.toggled) change.toggled = new Set(link.toggled);
  const func = link.func === undefined ? -1 : run.regions.findIndex((region) => region.name === link.func);
  if (func >= 0) change.func = func;
  viewing.store.set(change);
  if (link.call && run.locations[link.call.track]) navigator.open(link.call);
  if (link.find && parseQuery(link.find).text !== "") navigator.find(link.find);
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
      ...(view.panelOpen && ["function", "source"].includes(view.panel) && view.func >= 0 ? { func: viewing.run.regions[view.func].name } : {}),
      marks: writeMarks(view.marks), messages: view.quiet ? "off" : "", filter: view.filter, sort: view.sort === "order" ? "" : view.sort, only: view.only, pinned: [...view.pinned], moved: [...view.moved].flat(), toggled: [...view.toggled], find: view.found ? view.find : "",
    });
  };
  const end = viewing.store.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(now, QUIET);
  });
  return () => (clearTimeout(timer), end());
}

function showFragment(link: Link): void {
  const fragment = write(link);
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

/** Shifts the times in the address by `by` ticks, because the alignment has moved the first run. */
export function keepPlace(by: number, align: Alignment): void {
  const { range, selection, call, ...link } = read(location.hash);
  const moved = range && { begin: Math.max(0, range.begin + by), end: range.end + by };
  showFragment({ ...link, align, ...(moved && moved.end > moved.begin ? { range: moved } : {}) });
}
