// The page's data about a run, from any source. Times are ticks since the start of the run (docs/formats/view-http.md);
// only src/format.ts converts them to seconds.
import type { ByCause } from "./causes";
import type { MessageFacts } from "./model_messages";

export type { Bundle, Bundled, Exchange, Gathering, Link, Links, LinksRange, MessageFacts, MessageRange } from "./model_messages";
export type { LineLocks, LineTime, SourceText } from "./source_text";

export interface Region {
  readonly id: number;
  readonly name: string;
  readonly module: string;
  readonly file: string;
  readonly line: number;
  /** A function that only waits: drawn grey. */
  readonly idle: boolean;
  /** All of its exclusive time counts as waiting, because the run has not measured waiting. */
  readonly waits: boolean;
  /** The region of a task while it is suspended. */
  readonly suspended: boolean;
  /** The word for it in docs/formats/view-http.md: function, user, mpi … */
  readonly kind: string;
  /** The cause of its waiting, if its name tells that; 0: unknown. */
  readonly cause: number;
  /** The cause for which a task is suspended in it, in the same way. */
  readonly suspends: number;
  /** A function of an event loop's library. */
  readonly loop: boolean;
  /** Entered by a call; other regions have times, but no visits. */
  readonly called: boolean;
}

export interface Process {
  readonly name: string;
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly parent: number | null;
  readonly ending: string;
}

export interface Location {
  readonly name: string;
  readonly process: number;
  /** A stream has the work of a GPU. */
  readonly kind: "thread" | "stream" | "task" | "metrics";
  /** Of a stream: the location of the thread that has started most of its work; absent: not known. */
  readonly feeder?: number | null;
  /** Its number in the operating system; 0 or absent: it is not known, or not a thread. */
  readonly thread?: number;
  readonly events: number;
  readonly begin: number;
  readonly end: number;
  /** The deepest stack. */
  readonly depth: number;
}

export interface Marker {
  readonly time: number;
  readonly track: number;
  readonly text: string;
}

/** A moment that a user of the page has marked. */
export interface Mark {
  readonly time: number;
  readonly text: string;
}

/** One of two runs shown together. */
export interface Part {
  readonly letter: string;
  readonly title: string;
  readonly facts: readonly string[];
  /** Its position on the common time axis. */
  readonly begin: number;
  readonly length: number;
  /** Its locations and processes are consecutive. */
  readonly firstTrack: number;
  readonly tracks: number;
  readonly firstProcess: number;
  readonly processes: number;
}

export interface Run {
  readonly title: string;
  readonly facts: readonly string[];
  readonly losses: readonly string[];
  readonly ticksPerSecond: number;
  readonly length: number;
  readonly events: number;
  /** Seconds of measuring for each event; 0: not known. */
  readonly secondsPerEvent: number;
  /** The directory of the run, or another name of it. */
  readonly path?: string;
  /** The time of day at the start of the run, in ns since midnight; absent: not known, or not one. */
  readonly midnight?: number;
  /** True if the waiting of threads was measured. */
  readonly waiting: boolean;
  /** True if its causes were, too. */
  readonly causes: boolean;
  /** True if the memory of call paths was recorded. */
  readonly memory?: boolean;
  /** True if CPU time was sampled, and if some times of functions are estimated from samples. */
  readonly samples?: boolean;
  readonly throttled?: boolean;
  readonly regions: readonly Region[];
  readonly processes: readonly Process[];
  readonly locations: readonly Location[];
  readonly metrics: readonly Metric[];
  /** Names of parameters and communicators; empty if they have none. */
  readonly parameters: readonly string[];
  readonly communicators: readonly string[];
  readonly markers: readonly Marker[];
  /** Marks that were kept with the run. */
  readonly marks: readonly Mark[];
  /** The two runs of a comparison; otherwise empty. */
  readonly parts: readonly Part[];
  /** The data available in place of single calls; absent: all calls are available. */
  readonly outline?: Outline;
}

/** The resolution of a large run inside a page. */
export interface Outline {
  /** The finest level of tiles. */
  readonly finest: number;
  /** Profiles cover whole steps of this many ticks. */
  readonly step: number;
}

/** Parents and regions of call paths by number; a parent precedes its children. */
export interface Paths {
  readonly parent: Int32Array;
  readonly region: Int32Array;
}

export interface Progress {
  readonly state: "indexing" | "ready" | "failed";
  readonly events: number;
  /** 0: not known. */
  readonly total: number;
  readonly message: string;
}

/** Number of columns of a tile. */
export const COLUMNS = 256;
/** Stands for "no region" or "no call path": NONE of the format. */
export const NONE = -1;
/** Numbers of tracks that are sums of others. */
export const WHOLE_RUN = 0xfffffffe;
export const FIRST_PROCESS = 0x80000000;
/** Mixtures of single locations: this plus a location. */
export const FIRST_ALONE = 2 ** 34;
/** With two runs, this plus 0 or 1 is the whole of one run; only their common source knows it. */
export const FIRST_RUN = 0xf0000000;

export interface TileKey {
  /** A location, WHOLE_RUN, or FIRST_PROCESS or FIRST_RUN plus a number. */
  readonly track: number;
  readonly level: number;
  readonly index: number;
  /** Requested rows: exclusive times, and one for each depth. */
  readonly rows: number;
  /** The tracks whose mixture it is: row 0 only. `track` is then a number for it, from FIRST_PROCESS on. */
  readonly members?: readonly number[];
}

export interface Tile {
  readonly rows: number;
  readonly allRows: number;
  /** True: every region is the one with the most time in its cell; otherwise one with much time. */
  readonly exact: boolean;
  /** The part of each column in which recording was off, in 1/255. */
  readonly off: Uint8Array;
  /** The part of each column in which the thread was in a call but did not run, in 1/255. */
  readonly waiting: Uint8Array;
  /** The cause of most of it in each column, by number: src/causes.ts. */
  readonly cause: Uint8Array;
  /** [row * COLUMNS + column]; row 0: the region with the most exclusive time; row 1 + d: calls at depth d. */
  readonly region: Int32Array;
  /** The part of each cell that calls cover, in 1/255; 0 only without any call. */
  readonly cover: Uint8Array;
}

/** Calls by start time, callers before callees. */
export interface Calls {
  readonly count: number;
  readonly complete: boolean;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly region: Int32Array;
  readonly depth: Int32Array;
}

export interface CallRange {
  readonly track: number;
  readonly depths: number;
  readonly limit: number;
  readonly begin: number;
  readonly end: number;
}

export interface CallRef {
  readonly track: number;
  readonly depth: number;
  readonly begin: number;
  readonly end: number;
  readonly region: number;
}

/** Sums over a call and the calls inside it. */
export interface CallSums {
  readonly own: number;
  /** The part of its exclusive time, and of its duration, in which the thread did not run. */
  readonly ownWaiting: number;
  readonly waiting: number;
  /** The two by cause; empty: not known. */
  readonly ownCauses: ByCause;
  readonly causes: ByCause;
  /** Calls inside it, at any depth. */
  readonly calls: number;
}

export interface CallDetails extends CallRef {
  /** Null: not known. */
  readonly sums: CallSums | null;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  /** Its callers, outermost first. */
  readonly stack: readonly CallRef[];
}

/** A time range on some locations; null: all. */
export interface Selection {
  readonly begin: number;
  readonly end: number;
  readonly tracks: readonly number[] | null;
}

/** The calls of a selection by call path; durations count inside it. */
export interface Profile {
  readonly count: number;
  readonly path: Int32Array;
  readonly visits: Float64Array;
  readonly cutBegin: Float64Array;
  readonly cutEnd: Float64Array;
  readonly own: Float64Array;
  /** The part of `own` that was measured as waiting. */
  readonly waiting: Float64Array;
  /** Its parts by cause; empty: not known. */
  readonly causes: readonly Float64Array[];
  readonly inclusive: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** The time on GPUs of the work that calls started, by the call path of these. */
export interface GpuTimes {
  /** False: some of the calls are missing. */
  readonly complete: boolean;
  readonly path: Int32Array;
  readonly starts: Float64Array;
  readonly ticks: Float64Array;
}

/** The metric of the bytes that a process holds. */
export const PROCESS_MEMORY = "Process memory usage";

/** The amounts of memory, by their numbers in questions. */
export const AMOUNTS = ["allocated", "held at the peak", "held at the end", "held at an instant"] as const;
export const AT_INSTANT = 3;

/** `process`: NONE: all; of an instant, one. */
export interface MemoryQuestion {
  readonly amount: number;
  readonly process: number;
  readonly time: number;
}

/** The bytes of call paths themselves: `ticks`. `starts`: the blocks that they are made of, or are estimated from. */
export interface Memory extends GpuTimes {
  /** False: estimates; one standard deviation of each is in `error`. */
  readonly exact: boolean;
  readonly error: Float64Array;
  /** The bytes that the process held at the instant; 0: another amount. */
  readonly live: number;
  /** Bytes, and the error, of the measurement itself, and outside all regions. */
  readonly own: readonly [number, number];
  readonly outside: readonly [number, number];
}

/** The samples of a selection by call path: `starts` counts them, `ticks` is CPU time. Paths that the run has not follow
    its own, and functions of libraries follow its regions. */
export interface Sampled extends GpuTimes {
  readonly added: Paths;
  readonly functions: readonly string[];
}

/** Samples of locations at their times, by location; where they are many, the samples of a column of time are one item.
    Functions of libraries follow the regions of the run. */
export interface Timed {
  readonly count: number;
  /** Samples of an item: 1 for one that is told alone. */
  readonly samples: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** CPU time. */
  readonly ticks: Float64Array;
  /** The function that has most of the samples, and how many; NONE: outside all. */
  readonly hit: Int32Array;
  readonly most: Float64Array;
  readonly track: Int32Array;
  /** The recorded call around it. */
  readonly region: Int32Array;
  /** Of a sample alone; 0: not known. */
  readonly line: Int32Array;
  readonly functions: readonly string[];
}

/** Of times that are in part estimated from samples; 0: measured. */
export interface ErrorsJson {
  readonly own_error: number;
  readonly total_error: number;
}

interface GuessJson extends ErrorsJson {
  readonly own: number;
  readonly total: number;
}

/** Of a function. */
export interface EstimateJson extends GuessJson {
  readonly region: number;
  readonly samples: number;
}

/** All that is estimated: of functions, and of call paths, some of which no other answer has. */
export interface EstimatesJson {
  readonly functions: readonly EstimateJson[];
  readonly paths: readonly (GuessJson & { readonly path: number })[];
  readonly added: { readonly parent: readonly number[]; readonly region: readonly number[] };
}

export const NO_ESTIMATES: EstimatesJson = { functions: [], paths: [], added: { parent: [], region: [] } };

export type Order = "earliest" | "latest" | "longest";

/** A counter of the program. */
export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly type: "int64" | "uint64" | "double";
}

/** The values of a metric on a location. */
export interface Counter {
  readonly track: number;
  readonly metric: number;
  readonly values: number;
}

/** Values in order of time; neighbours may be joined. */
export interface Values {
  readonly count: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly mean: Float64Array;
  readonly last: Float64Array;
}

export interface ValuesRange {
  readonly track: number;
  readonly metric: number;
  readonly begin: number;
  readonly end: number;
}

/** The data of a run other than calls. */
export interface Auxiliary {
  readonly counters: readonly Counter[];
  /** The number of links between locations. */
  readonly links: number;
  readonly complete: boolean;
  readonly messages: MessageFacts;
}

/** The call must have been given one of these parameters with this value. */
export interface ParameterIs {
  readonly parameters: readonly number[];
  readonly value: string;
}

/** Calls that start in [begin, end). */
export interface Search {
  readonly order: Order;
  readonly limit: number;
  readonly begin: number;
  readonly end: number;
  readonly shortest: number;
  /** null: all. */
  readonly tracks: readonly number[] | null;
  readonly regions: readonly number[] | null;
  readonly parameter?: ParameterIs;
}

export interface Found {
  readonly calls: readonly CallRef[];
  readonly complete: boolean;
}

/** The name of a location, with its process's name if there are several processes. */
export function nameOfLocation(run: Run, track: number): string {
  const { name, process } = run.locations[track];
  const part = partOf(run, track);
  const several = (part?.processes ?? run.processes.length) > 1;
  const full = several && run.processes[process]?.name ? `${run.processes[process].name} › ${name}` : name;
  return part ? `${part.letter} › ${full}` : full;
}

/** With two runs, the run of a location. */
export const partOf = (run: Run, track: number): Part | undefined => run.parts.find((part) => track >= part.firstTrack && track < part.firstTrack + part.tracks);
