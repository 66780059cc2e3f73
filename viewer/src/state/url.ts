// The state that a link contains, in the fragment of the URL. The server's token is never part of it.

/** The contents of a link; absent: the default. */
export interface Link {
  range?: { begin: number; end: number };
  selection?: { begin: number; end: number; tracks: number[] | null };
  call?: { track: number; time: number; depth: number };
  /** An instant of the memory of a process. */
  instant?: { track: number; time: number };
  /** The name of a function, because numbers are valid for one index only. */
  func?: string;
  panel?: string;
  filter?: string;
  sort?: string;
  only?: string;
  pinned?: number[];
  /** Rows that are unfolded, or folded, in spite of `rows`. */
  open?: number[];
  folded?: number[];
  /** "all": unfolded; "none". */
  rows?: string;
  /** The kind of colours, and the selected entry of the legend. */
  colours?: string;
  lit?: string;
  /** Rows and positions alternate. */
  moved?: number[];
  find?: string;
  /** "off": not drawn. */
  messages?: string;
  /** "day": instants are times of day. */
  times?: string;
  /** In the form of src/state/marks.ts. */
  marks?: string;
  /** For two runs: the call at which they are aligned. */
  align?: { func: string; n: number };
}

const numbers = (text: string, separator: string): number[] | null => {
  const values = text.split(separator).map(Number);
  return text !== "" && values.every((value) => Number.isFinite(value)) ? values : null;
};

/** The fragment without "#". Whole ns are precise enough. */
export function write(link: Link): string {
  const words: string[] = [];
  const add = (key: string, value: string) => words.push(`${key}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%20/g, "+")}`);
  const pair = (range: { begin: number; end: number }) => `${Math.round(range.begin)}-${Math.round(range.end)}`;
  if (link.align?.func) add("align", `${link.align.n},${link.align.func}`);
  if (link.range) add("view", pair(link.range));
  if (link.selection) add("select", pair(link.selection) + (link.selection.tracks ? "," + link.selection.tracks.join(",") : ""));
  if (link.call) add("call", [link.call.track, Math.round(link.call.time), link.call.depth].join(","));
  if (link.instant) add("held", `${link.instant.track},${Math.round(link.instant.time)}`);
  for (const key of ["func", "panel", "filter", "sort", "only", "find", "messages", "times", "marks", "rows", "colours", "lit"] as const) if (link[key]) add(key, link[key]);
  for (const key of ["pinned", "open", "folded", "moved"] as const) if (link[key]?.length) add(key, link[key].join(","));
  return words.join("&");
}

/** Unknown words and invalid values are ignored: links are older or newer than the page. */
export function read(fragment: string): Link {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const link: Link = {};
  const range = (text: string) => {
    const values = /^\d+-\d+$/.test(text) ? numbers(text, "-") : null;
    return values && values[1] > values[0] ? { begin: values[0], end: values[1] } : null;
  };
  const align = /^(\d{1,5}),(.+)$/s.exec(words.get("align") ?? "");
  if (align && Number(align[1]) > 0) link.align = { func: align[2], n: Number(align[1]) };
  const view = range(words.get("view") ?? "");
  if (view) link.range = view;
  const [selected, ...tracks] = (words.get("select") ?? "").split(",");
  const selection = range(selected);
  if (selection) link.selection = { ...selection, tracks: tracks.length ? numbers(tracks.join(","), ",") : null };
  const call = numbers(words.get("call") ?? "", ",");
  if (call?.length === 3) link.call = { track: call[0], time: call[1], depth: call[2] };
  const held = numbers(words.get("held") ?? "", ",");
  if (held?.length === 2) link.instant = { track: held[0], time: held[1] };
  for (const key of ["func", "panel", "filter", "sort", "only", "find", "messages", "times", "marks", "rows", "colours", "lit"] as const) {
    const value = words.get(key);
    if (value) link[key] = value;
  }
  for (const key of ["pinned", "open", "folded", "moved"] as const) {
    const list = numbers(words.get(key) ?? "", ",");
    if (list) link[key] = list;
  }
  return link;
}
