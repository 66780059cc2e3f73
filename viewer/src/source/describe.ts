// Converts the JSON of `run` to the page's Run.
import { CAUSES } from "../causes";
import { count } from "../format";
import { SourceError } from "./source";
import type { Location, Mark, Marker, Metric, Process, Run } from "../model";

/** Of docs/formats/view-http.md. */
const VERSION = 1;

interface Json {
  version: number;
  title: string;
  program: string | null;
  host: string | null;
  creator: string;
  start_ns: string | null;
  ticks_per_second: number;
  length: number;
  events: number;
  losses: string[];
  cost: { share_cpu: number; share_wall: number; seconds_per_event: number } | null;
  processes: Process[];
  tracks: Location[];
  waiting?: boolean;
  causes?: boolean;
  memory?: boolean;
  samples?: boolean;
  throttled?: boolean;
  regions: { name: string; file: string; line: number; group: string; waits?: boolean; cause?: string; suspends?: string; loop?: boolean; suspended?: boolean; called?: boolean; kind?: string }[];
  metrics?: Metric[];
  parameters?: string[];
  communicators?: string[];
  markers: Marker[];
  marks?: Mark[];
}

/** 2026-11-23 08:14 */
function dateOf(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The ns since midnight, here, at a time in ns since 1970. */
function sinceMidnight(ns: bigint): number {
  const time = new Date(Number(ns / 1_000_000n));
  return (3600 * time.getHours() + 60 * time.getMinutes() + time.getSeconds()) * 1e9 + Number(ns % 1_000_000_000n);
}

const causeOf = (word: string | undefined): number => Math.max(0, (CAUSES as readonly string[]).indexOf(word ?? ""));

/** Names are the program's choice: without the characters that turn the direction of the text around them. */
const straight = (text: string): string => text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");

export function runOf(json: unknown): Run {
  const from = json as Json;
  if (from.version !== VERSION) throw new SourceError("This page is of another version than its data.", "Reload the page, or make the file anew.");
  const start = from.start_ns ? new Date(Number(BigInt(from.start_ns) / 1_000_000n)) : null;
  const facts = [
    from.host, start && dateOf(start), `${count(from.events)} events`, from.creator,
    from.cost && `estimated overhead ${(100 * from.cost.share_cpu).toFixed(1)} % of CPU time`,
  ];
  return {
    title: straight(from.program || from.title),
    path: from.title,
    facts: facts.filter((fact): fact is string => Boolean(fact)),
    losses: from.losses,
    ticksPerSecond: from.ticks_per_second,
    length: from.length,
    events: from.events,
    ...(from.start_ns ? { midnight: sinceMidnight(BigInt(from.start_ns)) } : {}),
    secondsPerEvent: from.cost?.seconds_per_event ?? 0,
    waiting: from.waiting ?? false,
    causes: from.causes ?? false,
    memory: from.memory ?? false,
    samples: from.samples ?? false,
    throttled: from.throttled ?? false,
    regions: from.regions.map((region, id) => ({
      id, name: straight(region.name), module: region.group, file: region.file, line: region.line,
      idle: Boolean(region.waits || region.suspended), suspended: Boolean(region.suspended), called: region.called ?? true, kind: region.kind ?? "function", cause: causeOf(region.cause), suspends: causeOf(region.suspends), loop: region.loop ?? false,
      // Waiting of tasks is not part of the threads' measured waiting.
      waits: Boolean(region.suspended || (region.waits && !from.waiting)),
    })),
    processes: from.processes.map((process) => ({ ...process, name: straight(process.name) })),
    locations: from.tracks.map((track) => ({ ...track, name: straight(track.name) })),
    metrics: from.metrics ?? [],
    parameters: from.parameters ?? [],
    communicators: from.communicators ?? [],
    markers: from.markers,
    marks: from.marks ?? [],
    parts: [],
  };
}
