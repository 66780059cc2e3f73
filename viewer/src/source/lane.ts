// The calls of one location in memory.
import { NONE } from "../model";
import { addTo, firstWhere } from "../sorted";
import { type Waited, waitedIn } from "./waited";

/** Calls by start time, callers before callees. */
export interface Lane {
  readonly count: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly depth: Int32Array;
  readonly path: Int32Array;
  readonly region: Int32Array;
  /** The caller; NONE at depth 0. */
  readonly parent: Int32Array;
  /** The first call that starts after everything inside this one. */
  readonly next: Int32Array;
  readonly own: Float64Array;
  /** The deepest stack. */
  readonly rows: number;
  /** Starts and ends of the stretches in which recording was off. */
  readonly off: Float64Array;
  /** In order of time. */
  readonly waits: readonly Wait[];
  /** Parameters by call, in order of time; few calls have any. */
  readonly parameters: ReadonlyMap<number, readonly Given[]>;
  /** By metric: times and values alternate. */
  readonly values: ReadonlyMap<number, readonly number[]>;
  /** Work that calls started on GPUs: times, call paths and ticks there alternate. */
  readonly gpu: readonly number[];
  /** Creations, begins, ends, waits and wakes of threads and tasks; calls and works of launches on GPUs. */
  readonly happenings: readonly Happening[];
}

/** Waiting in a call itself, not in its callees. */
export interface Wait extends Waited {
  readonly call: number;
  readonly cause: number;
}

/** A parameter that a call was given. */
export interface Given {
  readonly parameter: number;
  readonly value: string;
}

export interface Happening {
  readonly kind: "create" | "begin" | "end" | "wait" | "wakes" | "woken" | "call" | "work";
  /** The number of the thread or task, of the wakeup or of the launch, in the run. */
  readonly number: bigint | number;
  readonly time: number;
}

export class LaneBuilder {
  private readonly begin: number[] = [];
  private readonly end: number[] = [];
  private readonly depth: number[] = [];
  private readonly path: number[] = [];
  private readonly region: number[] = [];
  private readonly parent: number[] = [];
  private readonly next: number[] = [];
  private readonly own: number[] = [];
  private readonly off: number[] = [];
  private readonly waits: Wait[] = [];
  private readonly stack: number[] = [];
  private readonly parameters = new Map<number, Given[]>();
  private readonly values = new Map<number, number[]>();
  private readonly happenings: Happening[] = [];
  private readonly gpu: number[] = [];
  private rows = 0;

  enter(time: number, path: number, region: number): void {
    this.begin.push(time);
    this.end.push(time);
    this.own.push(0);
    this.next.push(0);
    this.depth.push(this.stack.length);
    this.path.push(path);
    this.region.push(region);
    this.parent.push(this.stack.length ? this.stack[this.stack.length - 1] : NONE);
    this.stack.push(this.begin.length - 1);
    this.rows = Math.max(this.rows, this.stack.length);
  }

  leave(time: number): void {
    const call = this.stack.pop();
    if (call === undefined) return;
    const length = time - this.begin[call];
    this.end[call] = time;
    this.next[call] = this.begin.length;
    this.own[call] += length;
    if (this.parent[call] !== NONE) this.own[this.parent[call]] -= length;
  }

  /** The innermost call has waited this long for this cause in [begin, end), in which nothing else happened. Further
      causes of the same stretch come next. */
  wait(begin: number, end: number, ticks: number, cause = 0): void {
    const call = this.stack.at(-1), last = this.waits.at(-1);
    if (call === undefined) return;
    const before = last && last.begin === begin && last.end === end ? last : null;
    const room = before ? before.room - before.ticks : end - begin, most = Math.min(ticks, room);
    if (most > 0) this.waits.push({ begin, end, ticks: most, before, room, call, cause });
  }

  /** Gives the innermost call a parameter. */
  give(parameter: number, value: string): void {
    const call = this.stack.at(-1);
    if (call === undefined) return;
    addTo(this.parameters, call, [{ parameter, value }]);
  }

  sample(metric: number, time: number, value: number): void {
    addTo(this.values, metric, [time, value]);
  }

  /** The innermost call has started this much work on a GPU. */
  launch(time: number, ticks: number): void {
    const call = this.stack.at(-1);
    if (call !== undefined) this.gpu.push(time, this.path[call], ticks);
  }

  /** The start of the innermost call; null outside of calls. */
  opened(): number | null {
    const call = this.stack.at(-1);
    return call === undefined ? null : this.begin[call];
  }

  happen(happening: Happening): void {
    this.happenings.push(happening);
  }

  switchRecording(time: number): void {
    this.off.push(time);
  }

  /** Ends all open calls at `time`. */
  finish(time: number): Lane {
    while (this.stack.length) this.leave(time);
    if (this.off.length % 2) this.off.push(time);
    return {
      count: this.begin.length, begin: Float64Array.from(this.begin), end: Float64Array.from(this.end),
      depth: Int32Array.from(this.depth), path: Int32Array.from(this.path), region: Int32Array.from(this.region),
      parent: Int32Array.from(this.parent), next: Int32Array.from(this.next), own: Float64Array.from(this.own),
      rows: this.rows, off: Float64Array.from(this.off), waits: this.waits, parameters: this.parameters, values: this.values, gpu: this.gpu, happenings: this.happenings,
    };
  }
}

/** The first call that starts at `time` or later. */
export const lowerBound = (lane: Lane, time: number): number => firstWhere(lane.count, (call) => lane.begin[call] >= time);

/** The calls that started before `time` and end after it, outermost first. */
export function openAt(lane: Lane, time: number): number[] {
  const result: number[] = [];
  for (let call = lowerBound(lane, time) - 1; call >= 0; call = lane.parent[call]) if (lane.end[call] > time) result.push(call);
  return result.reverse();
}

/** Calls `visit` for each call in [begin, end), in order. */
export function eachIn(lane: Lane, begin: number, end: number, visit: (call: number) => void): void {
  for (const call of openAt(lane, begin)) visit(call);
  for (let call = lowerBound(lane, begin); call < lane.count && lane.begin[call] < end; call++) visit(call);
}

/** Calls `visit` for the part of each wait in [begin, end), in order. */
export function eachWait(lane: Lane, begin: number, end: number, visit: (wait: Wait, ticks: number) => void): void {
  for (let i = firstWhere(lane.waits.length, (at) => lane.waits[at].end > begin); i < lane.waits.length && lane.waits[i].begin < end; i++) {
    visit(lane.waits[i], waitedIn(lane.waits[i], begin, end));
  }
}
