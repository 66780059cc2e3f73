// The next state of a run that is still recorded: what its numbers were before.
import { FIRST_PROCESS, type Location, type Region, type Run } from "../model";
import { FIRST_COUNTER, FIRST_DEVICE, FIRST_FOLDER, FIRST_IDLE, FIRST_METRICS } from "../timeline/tree";

/** The new numbers of things by the old ones; undefined: there is no such thing any more. */
export interface Moves {
  readonly track: (old: number) => number | undefined;
  readonly region: (old: number) => number | undefined;
  readonly row: (old: number) => number | undefined;
  /** Every number means the same as before. */
  readonly same: boolean;
}

/** The place of each thing among the ones with the same key, which only become more. */
function numbered<T>(things: readonly T[], keyOf: (thing: T) => string): string[] {
  const seen = new Map<string, number>();
  return things.map((thing) => {
    const key = keyOf(thing), nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    return `${nth} ${key}`;
  });
}

function moved(before: readonly string[], after: readonly string[]): (number | undefined)[] {
  const places = new Map(after.map((key, i) => [key, i]));
  return before.map((key) => places.get(key));
}

const keyOf = ({ name, module, file, line, kind }: Region) => [name, module, file, line, kind].join("\0");
/** A new thread comes before the tracks of memory and GPUs, which have no thread, and keep their names. */
const trackKeyOf = ({ kind, thread, name }: Location) => [kind, kind === "thread" && thread ? thread : kind === "task" ? "" : name].join("\0");
const stays = (places: readonly (number | undefined)[]) => places.every((place, i) => place === i);

export function movesOf(before: Run, after: Run): Moves {
  const processesOf = (run: Run) => numbered(run.processes, ({ pid, host }) => `${pid} ${host}`);
  const names = processesOf(before), processes = moved(names, processesOf(after));
  // Threads and tasks may get other names.
  const tracksOf = (run: Run) => {
    const owners = processesOf(run);
    return numbered(run.locations, (location) => [owners[location.process] ?? "", trackKeyOf(location)].join("\0"));
  };
  const tracks = moved(tracksOf(before), tracksOf(after));
  const regions = moved(numbered(before.regions, keyOf), numbered(after.regions, keyOf));
  const row = (old: number): number | undefined => {
    const place = (places: readonly (number | undefined)[], first: number, more = 0) => {
      const next = places[old - first];
      return next === undefined ? undefined : next + first + more;
    };
    if (old < before.locations.length) return tracks[old];
    if (old >= FIRST_METRICS) return place(tracks, FIRST_METRICS);
    if (old >= FIRST_COUNTER) {
      const next = tracks[Math.floor((old - FIRST_COUNTER) / 65536)];
      return next === undefined ? undefined : FIRST_COUNTER + 65536 * next + ((old - FIRST_COUNTER) % 65536);
    }
    if (old >= FIRST_IDLE) return place(processes, FIRST_IDLE);
    if (old >= FIRST_DEVICE) return place(tracks, FIRST_DEVICE);
    if (old >= FIRST_FOLDER) return place(processes, FIRST_FOLDER);
    return old >= FIRST_PROCESS ? place(processes, FIRST_PROCESS) : undefined;
  };
  return { track: (old) => tracks[old], region: (old) => regions[old], row, same: stays(tracks) && stays(processes) && stays(regions) };
}
