// Where the page gets a run from: the server, or the data inside the page.
import type { CallDetails, CallRange, Calls, Found, Paths, Profile, Progress, Run, Search, Selection, Tile, TileKey } from "../model";

/** A problem in words for people. */
export class SourceError extends Error {
  constructor(message: string, readonly advice = "") {
    super(message);
  }
}

/** The questions of docs/formats/view-http.md. Answers come in the order of what was asked. */
export interface Source {
  /** Tells the progress until the run can be drawn. */
  run(progress: (state: Progress) => void): Promise<Run>;
  paths(): Promise<Paths>;
  tiles(keys: readonly TileKey[], signal: AbortSignal): Promise<Tile[]>;
  calls(ranges: readonly CallRange[], signal: AbortSignal): Promise<Calls[]>;
  profile(selection: Selection, signal: AbortSignal): Promise<Profile>;
  call(track: number, depth: number, time: number, signal: AbortSignal): Promise<CallDetails | null>;
  find(search: Search, signal: AbortSignal): Promise<Found>;
}
