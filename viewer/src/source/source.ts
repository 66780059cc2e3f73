// The sources of a run: the server, or the data inside the page.
import type { Bundle, Bundled, CallDetails, CallRange, Calls, EstimatesJson, Exchange, Found, Gathering, GpuTimes, Links, LinksRange, Mark, Memory, MemoryQuestion, MessageRange, Paths, Profile, Progress, Run, Sampled, Search, Selection, Auxiliary, SourceText, Tile, TileKey, Timed, Values, ValuesRange } from "../model";
import { AMOUNTS, NO_ESTIMATES } from "../model";

/** A problem, described for users. */
export class SourceError extends Error {
  constructor(message: string, readonly advice = "") {
    super(message);
  }
}

/** For an outline. */
export const NO_CALLS = "This file is of a large run: only the longest calls of each row are in it.";
export const WHERE_CALLS_ARE = "Open the run itself with “timeloom view” to see all.";

/** The questions of docs/formats/view-http.md. Answers come in the order of the questions. */
export interface Source {
  /** Reports the progress until the run can be drawn. */
  run(progress: (state: Progress) => void): Promise<Run>;
  paths(): Promise<Paths>;
  tiles(keys: readonly TileKey[], signal: AbortSignal): Promise<Tile[]>;
  calls(ranges: readonly CallRange[], signal: AbortSignal): Promise<Calls[]>;
  profile(selection: Selection, signal: AbortSignal): Promise<Profile>;
  gpu(selection: Selection, signal: AbortSignal): Promise<GpuTimes>;
  samples(selection: Selection, signal: AbortSignal): Promise<Sampled>;
  /** Single samples, at most `limit` of a location; of a location with more, the samples of a column are one. Absent: the
      source has none. */
  sampled?(range: MessageRange, signal: AbortSignal): Promise<Timed>;
  estimates(selection: Selection, signal: AbortSignal): Promise<EstimatesJson>;
  memory(question: MemoryQuestion, signal: AbortSignal): Promise<Memory>;
  call(track: number, depth: number, time: number, signal: AbortSignal): Promise<CallDetails | null>;
  /** The lines of a function. */
  source(region: number, signal: AbortSignal): Promise<SourceText>;
  /** The data other than calls; may take a while for long runs. */
  auxiliary(): Promise<Auxiliary>;
  /** The values in each range, and one more before it. */
  values(ranges: readonly ValuesRange[], signal: AbortSignal): Promise<Values[]>;
  links(range: LinksRange, signal: AbortSignal): Promise<Links>;
  /** Messages with an end on one of the locations that are not over before the range starts. */
  messages(range: MessageRange, signal: AbortSignal): Promise<Bundled<Bundle>>;
  collectives(range: MessageRange, signal: AbortSignal): Promise<Bundled<Gathering>>;
  /** The messages that were sent in the range; `limit` counts pairs. */
  matrix(range: MessageRange, signal: AbortSignal): Promise<Bundled<Exchange>>;
  /** Keeps marks with the run. Returns the path; null: this source cannot keep marks; empty: the path is not
      writable. */
  keep(marks: readonly Mark[]): Promise<string | null>;
  find(search: Search, signal: AbortSignal): Promise<Found>;
}

const absent = (what: string): never => {
  throw new SourceError(`${what} not in this page: open the run itself with “timeloom view” to see them.`);
};

/** For a source without memory and samples. */
export const NOT_HERE = {
  memory: async ({ amount }: MemoryQuestion): Promise<Memory> => absent(`Bytes ${AMOUNTS[amount]} are`),
  samples: async (): Promise<Sampled> => absent("Samples are"),
  estimates: async () => NO_ESTIMATES,
};

/** Where the work of GPUs is not known. */
export const NO_GPU: GpuTimes = { complete: false, path: new Int32Array(), starts: new Float64Array(), ticks: new Float64Array() };

/** The lines of a function, or the reason why they are missing. */
export function sourceInside(sources: Readonly<Record<number, SourceText>> | null, run: Run, region: number): SourceText {
  if (!sources) return { reason: "This file was written without source lines; “timeloom view --html FILE --with-source” puts them in." };
  return sources[region] ?? { reason: `The lines of this function were not found when this file was written: ${run.regions[region].file || "its file is not known"}.` };
}

const knownPaths = new WeakMap<Source, Promise<Paths>>();

/** For a source whose numbers have changed. */
export const forgetPaths = (source: Source): boolean => knownPaths.delete(source);

export function pathsOf(source: Source): Promise<Paths> {
  let paths = knownPaths.get(source);
  if (!paths) knownPaths.set(source, (paths = source.paths()));
  return paths;
}
