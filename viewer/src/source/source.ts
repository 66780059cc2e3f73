// Where the page gets a run from: the server, or the data inside the page.
import type { Bundle, Bundled, CallDetails, CallRange, Calls, Exchange, Found, Gathering, Links, LinksRange, Mark, MessageRange, Paths, Profile, Progress, Run, Search, Selection, Side, SourceText, Tile, TileKey, Values, ValuesRange } from "../model";

/** A problem in words for people. */
export class SourceError extends Error {
  constructor(message: string, readonly advice = "") {
    super(message);
  }
}

/** Of an outline. */
export const NO_CALLS = "This file is of a large run: single calls are not in it.";
export const WHERE_CALLS_ARE = "Open the run itself with “timeloom view” to see them.";

/** The questions of docs/formats/view-http.md. Answers come in the order of what was asked. */
export interface Source {
  /** Tells the progress until the run can be drawn. */
  run(progress: (state: Progress) => void): Promise<Run>;
  paths(): Promise<Paths>;
  tiles(keys: readonly TileKey[], signal: AbortSignal): Promise<Tile[]>;
  calls(ranges: readonly CallRange[], signal: AbortSignal): Promise<Calls[]>;
  profile(selection: Selection, signal: AbortSignal): Promise<Profile>;
  call(track: number, depth: number, time: number, signal: AbortSignal): Promise<CallDetails | null>;
  /** The lines of a function. */
  source(region: number, signal: AbortSignal): Promise<SourceText>;
  /** What there is besides calls; may take a while on long runs. */
  side(): Promise<Side>;
  /** Those of each range, and the one before. */
  values(ranges: readonly ValuesRange[], signal: AbortSignal): Promise<Values[]>;
  links(range: LinksRange, signal: AbortSignal): Promise<Links>;
  /** Messages of which one end is on one of the locations, and which are not over before the range begins. */
  messages(range: MessageRange, signal: AbortSignal): Promise<Bundled<Bundle>>;
  collectives(range: MessageRange, signal: AbortSignal): Promise<Bundled<Gathering>>;
  /** Of the messages that were sent in the range; `limit` counts pairs. */
  matrix(range: MessageRange, signal: AbortSignal): Promise<Bundled<Exchange>>;
  /** Keeps marks with the run. Returns where; null: this source has no place for them, empty: it cannot be written. */
  keep(marks: readonly Mark[]): Promise<string | null>;
  find(search: Search, signal: AbortSignal): Promise<Found>;
}

/** The lines of a function, or the reason why a file has none. */
export function sourceInside(sources: Readonly<Record<number, SourceText>> | null, run: Run, region: number): SourceText {
  if (!sources) return { reason: "This file was written without source lines; “timeloom view --html FILE --with-source” puts them in." };
  return sources[region] ?? { reason: `The lines of this function were not found when this file was written: ${run.regions[region].file || "its file is not known"}.` };
}
