// What the page knows of a run, whichever source it comes from. Times are ticks since the begin of the run
// (docs/formats/view-http.md); only src/format.ts makes seconds of them.

export interface Region {
  readonly id: number;
  readonly name: string;
  readonly module: string;
  readonly file: string;
  readonly line: number;
  /** Known to do nothing but wait: drawn grey. */
  readonly idle: boolean;
  /** All of its own time counts as waiting, because the run has not measured it. */
  readonly waits: boolean;
  /** In which a task is while it does not run. */
  readonly suspended: boolean;
  /** Entered by a call: others have times, but no visits. */
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
  readonly kind: "thread" | "task" | "metrics";
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

/** A moment that was marked by whoever looks at the run. */
export interface Mark {
  readonly time: number;
  readonly text: string;
}

/** One of two runs that are shown together. */
export interface Part {
  readonly letter: string;
  readonly title: string;
  readonly facts: readonly string[];
  /** Where it is on the common axis of time. */
  readonly begin: number;
  readonly length: number;
  /** Its locations and processes follow each other. */
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
  /** Seconds that measuring took for each event; 0: not known. */
  readonly secondsPerEvent: number;
  /** Whether it was measured how long threads waited. */
  readonly waiting: boolean;
  readonly regions: readonly Region[];
  readonly processes: readonly Process[];
  readonly locations: readonly Location[];
  readonly metrics: readonly Metric[];
  /** Names of parameters, and of communicators: empty for those that have none. */
  readonly parameters: readonly string[];
  readonly communicators: readonly string[];
  readonly markers: readonly Marker[];
  /** Those that were kept with the run. */
  readonly marks: readonly Mark[];
  /** Two runs in one, or none. */
  readonly parts: readonly Part[];
  /** What there is instead of single calls; absent: all calls can be asked for. */
  readonly outline?: Outline;
}

/** Of a large run inside a page: how fine it is. */
export interface Outline {
  /** The finest level of tiles. */
  readonly finest: number;
  /** Profiles are of whole steps of so many ticks. */
  readonly step: number;
}

/** Parents and regions of call paths by their number; a parent comes before its children. */
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

/** Columns of a tile. */
export const COLUMNS = 256;
/** No region, no call path: NONE of the format. */
export const NONE = -1;
/** The tracks that are sums of others. */
export const WHOLE_RUN = 0xfffffffe;
export const FIRST_PROCESS = 0x80000000;
/** Of two runs together, this and 0 or 1 is the whole of one of them; no source but theirs knows it. */
export const FIRST_RUN = 0xf0000000;

export interface TileKey {
  /** A location, WHOLE_RUN, or FIRST_PROCESS or FIRST_RUN and a number. */
  readonly track: number;
  readonly level: number;
  readonly index: number;
  /** Rows that are wanted: own times and one for each depth. */
  readonly rows: number;
}

export interface Tile {
  readonly rows: number;
  readonly allRows: number;
  /** Every region is the one that took most of its cell; otherwise one of those that took most. */
  readonly exact: boolean;
  /** The part of each column in which recording was off, in 255ths. */
  readonly off: Uint8Array;
  /** The part of each column in which the thread was in a call and did not run, likewise. */
  readonly waiting: Uint8Array;
  /** [row * COLUMNS + column]; row 0: the region with most own time; row 1 + d: calls at depth d. */
  readonly region: Int32Array;
  /** The part of each cell that is covered by calls, in 255ths; 0 only without any call. */
  readonly cover: Uint8Array;
}

/** Calls in order of begin, callers before those they called. */
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

export interface CallDetails extends CallRef {
  readonly own: number;
  /** The part of its own time, and of its duration, in which the thread did not run. */
  readonly ownWaiting: number;
  readonly waiting: number;
  /** Calls within it, at any depth. */
  readonly calls: number;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  /** Its callers, outermost first. */
  readonly stack: readonly CallRef[];
}

/** Some lines of a file with those of a function, or the reason why there are none. */
export type SourceText = { readonly reason: string } | {
  readonly file: string;
  /** The number of the first of `lines`. */
  readonly first: number;
  /** The lines of the function. */
  readonly from: number;
  readonly to: number;
  /** The file was written to after the run began. */
  readonly changed: boolean;
  readonly lines: readonly string[];
};

/** A range of time over some locations; null: all. */
export interface Selection {
  readonly begin: number;
  readonly end: number;
  readonly tracks: readonly number[] | null;
}

/** The calls of a selection by call path; durations are those within it. */
export interface Profile {
  readonly count: number;
  readonly path: Int32Array;
  readonly visits: Float64Array;
  readonly cutBegin: Float64Array;
  readonly cutEnd: Float64Array;
  readonly own: Float64Array;
  /** The part of `own` that was measured to be waiting. */
  readonly waiting: Float64Array;
  readonly inclusive: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

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

/** Values in order of time; neighbours may be summed up in one place. */
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

/** What there is besides calls. */
export interface Side {
  readonly counters: readonly Counter[];
  /** How many links there are between locations. */
  readonly links: number;
  readonly complete: boolean;
  readonly messages: MessageFacts;
}

/** How many messages and visits to collective operations there are. */
export interface MessageFacts {
  readonly count: number;
  readonly collectives: number;
  /** Without the other end. */
  readonly unmatched: number;
  /** Received before they were sent: clocks differ. */
  readonly backwards: number;
  /** Whether these are all of the run. */
  readonly complete: boolean;
}

/** One message, or several between two locations. */
export interface Bundle {
  readonly count: number;
  readonly sent: number;
  readonly lastSent: number;
  readonly received: number;
  readonly lastReceived: number;
  readonly bytes: number;
  /** What the two sides have waited for each other, all together. */
  readonly waitedSender: number;
  readonly waitedReceiver: number;
  readonly fromTrack: number;
  readonly toTrack: number;
  readonly communicator: number;
  readonly tag: number;
}

/** One visit to a collective operation, or several of a location. */
export interface Gathering {
  readonly count: number;
  readonly begin: number;
  readonly end: number;
  readonly waited: number;
  readonly sent: number;
  readonly received: number;
  readonly track: number;
  readonly communicator: number;
  readonly kind: number;
  /** The same of all who took part. */
  readonly operation: number;
}

/** The messages between two processes. */
export interface Exchange {
  readonly count: number;
  readonly bytes: number;
  readonly waitedSender: number;
  readonly waitedReceiver: number;
  readonly sender: number;
  readonly receiver: number;
}

export interface Bundled<T> {
  readonly items: readonly T[];
  /** How many there are in the range. */
  readonly count: number;
  /** Whether all of them are in the items. */
  readonly complete: boolean;
}

/** Of more than `limit`, those between the same locations are joined that begin in the same of `columns` parts. */
export interface MessageRange extends Selection {
  readonly limit: number;
  /** A power of two. */
  readonly columns: number;
}

/** Those of a location; of wakes, which are many, only those with an end on it in the range. */
export interface LinksRange {
  readonly track: number;
  readonly begin: number;
  readonly end: number;
  readonly limit: number;
}

/** From the creation of a thread or task to its begin, from its end to who has waited for it, or from what wakes a task to where it goes on. */
export interface Link {
  readonly kind: "creates" | "awaited" | "wakes";
  readonly from: number;
  readonly to: number;
  readonly fromTrack: number;
  readonly toTrack: number;
}

export interface Links {
  readonly links: readonly Link[];
  readonly complete: boolean;
}

/** A call has to have been given one of these parameters with this value. */
export interface ParameterIs {
  readonly parameters: readonly number[];
  readonly value: string;
}

/** Calls that begin in [begin, end). */
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

/** The name of a location, with that of its process where there are several. */
export function nameOfLocation(run: Run, track: number): string {
  const { name, process } = run.locations[track];
  const part = partOf(run, track);
  const several = (part?.processes ?? run.processes.length) > 1;
  const full = several && run.processes[process]?.name ? `${run.processes[process].name} › ${name}` : name;
  return part ? `${part.letter} › ${full}` : full;
}

/** Of two runs together, that of a location. */
export const partOf = (run: Run, track: number): Part | undefined => run.parts.find((part) => track >= part.firstTrack && track < part.firstTrack + part.tracks);
