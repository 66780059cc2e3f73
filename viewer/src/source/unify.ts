// Two runs as one: functions and call paths that both have are joined, times are on one axis, and rows of the second
// run follow the rows of the first.
import { type Location, NONE, type Part, type Paths, type Process, type Region, type Run } from "../model";
import { addTo } from "../sorted";

/** One of two runs, with the mapping of its numbers to common numbers. */
export class OneRun {
  /** The common number, by region and by call path. */
  readonly regionOf: Int32Array;
  readonly pathOf: Int32Array;
  /** The number in this run, by common region. */
  readonly regionsOf = new Map<number, number[]>();
  /** Common ticks for each tick of this run. */
  scale = 1;
  /** The start of this run on the common axis. */
  begin = 0;
  firstTrack = 0;
  firstProcess = 0;

  constructor(readonly run: Run, readonly paths: Paths) {
    this.regionOf = new Int32Array(run.regions.length);
    this.pathOf = new Int32Array(paths.parent.length);
  }

  readonly toShared = (time: number): number => this.begin + time * this.scale;
  readonly toOwn = (time: number): number => (time - this.begin) / this.scale;

  owns(track: number): boolean {
    return track >= this.firstTrack && track < this.firstTrack + this.run.locations.length;
  }
}

/** As in `timeloom diff`: the name, and the file name without directories. */
const keyOf = (region: Region): string => `${region.name}\n${region.file.slice(region.file.lastIndexOf("/") + 1)}`;

/** Numbers the regions of both sides; file and line of a region come from the later run that has it. */
export function unifyRegions(sides: readonly OneRun[]): Region[] {
  const known = new Map<string, number>(), regions: Region[] = [];
  for (const side of sides) {
    for (const region of side.run.regions) {
      const key = keyOf(region), id = known.get(key) ?? regions.length;
      known.set(key, id);
      regions[id] = { ...region, id };
      side.regionOf[region.id] = id;
      addTo(side.regionsOf, id, [region.id]);
    }
  }
  return regions;
}

/** Numbers the call paths of both sides. REQUIRES: regions are unified. */
export function unifyPaths(sides: readonly OneRun[], regions: number): Paths {
  const known = new Map<number, number>(), parent: number[] = [], region: number[] = [];
  for (const { paths, regionOf, pathOf } of sides) {
    for (let path = 0; path < paths.parent.length; path++) {
      const outer = paths.parent[path] === NONE ? NONE : pathOf[paths.parent[path]];
      const func = paths.region[path] === NONE ? NONE : regionOf[paths.region[path]];
      const key = (outer + 1) * (regions + 1) + func + 1;
      let id = known.get(key);
      if (id === undefined) {
        known.set(key, (id = parent.length));
        parent.push(outer);
        region.push(func);
      }
      pathOf[path] = id;
    }
  }
  return { parent: Int32Array.from(parent), region: Int32Array.from(region) };
}

/** The parts that distinguish the command lines of two runs: of a common beginning of several words only the last word
    is kept. Equal ones are told apart by their directories. */
export function titlesOf(runs: readonly Run[]): string[] {
  const places = runs.map(({ path = "" }) => path.replace(/\/+$/, "").split("/").pop()!);
  if (runs[0].title === runs[1].title && places[0] !== places[1]) return runs.map((run, n) => `${places[n]}: ${run.title}`);
  const words = runs.map((run) => run.title.split(" "));
  let shared = 0;
  while (shared < words[0].length && words[0][shared] === words[1][shared]) shared++;
  if (shared < 3 || runs[0].title === runs[1].title) return runs.map((run) => run.title);
  return words.map((list) => `… ${list.slice(shared - 1).join(" ")}`);
}

/** Names of parameters of either run. */
function unifyNames(sides: readonly OneRun[]): string[] {
  return [...new Set(sides.flatMap((side) => side.run.parameters))];
}

/** The description of both. REQUIRES: the sides have their scales; positions in time are computed here from
    `begins`. */
export function unifyRuns(sides: readonly OneRun[], regions: readonly Region[], begins: readonly number[]): Run {
  const processes: Process[] = [], locations: Location[] = [], markers: Run["markers"][number][] = [];
  const parts: Part[] = [];
  const titles = titlesOf(sides.map((side) => side.run));
  sides.forEach((side, n) => {
    const { run } = side, letter = "AB"[n];
    Object.assign(side, { begin: begins[n], firstTrack: locations.length, firstProcess: processes.length });
    processes.push(...run.processes.map((one) => ({ ...one, parent: one.parent === null ? null : one.parent + side.firstProcess })));
    locations.push(...run.locations.map((one) => ({ ...one, process: one.process + side.firstProcess, feeder: one.feeder == null ? null : one.feeder + side.firstTrack, begin: side.toShared(one.begin), end: side.toShared(one.end) })));
    markers.push(...run.markers.map((one) => ({ ...one, time: side.toShared(one.time), track: one.track + side.firstTrack })));
    parts.push({
      letter, title: titles[n], facts: [run.title, ...run.facts], begin: side.begin, length: run.length * side.scale,
      firstTrack: side.firstTrack, tracks: run.locations.length, firstProcess: side.firstProcess, processes: run.processes.length,
    });
  });
  const [first, second] = sides.map((side) => side.run);
  const outlines = sides.flatMap(({ run: { outline }, scale }) => (outline ? [{ finest: outline.finest + Math.round(Math.log(scale) / Math.log(4)), step: outline.step * scale }] : []));
  const most = (key: "finest" | "step") => Math.max(0, ...outlines.map((outline) => outline[key]));
  return {
    title: first.title === second.title ? first.title : `${first.title} and ${second.title}`, facts: [], parts,
    losses: sides.flatMap(({ run }, n) => run.losses.map((loss) => `${"AB"[n]}: ${loss}`)),
    ticksPerSecond: first.ticksPerSecond, length: Math.max(...parts.map((part) => part.begin + part.length)), events: first.events + second.events,
    metrics: sides.flatMap((side) => side.run.metrics), parameters: unifyNames(sides),
    communicators: sides.flatMap((side) => side.run.communicators),
    waiting: first.waiting && second.waiting, causes: first.causes || second.causes, ...(outlines.length ? { outline: { finest: most("finest"), step: most("step") } } : {}),
    secondsPerEvent: Math.max(first.secondsPerEvent, second.secondsPerEvent), regions, processes, locations, markers, marks: [],
  };
}
