// Arrows between tasks of engines: as src/profile/engines/task_arrows.cpp.
import type { Link } from "../model";
import { addTo, firstWhere } from "../sorted";
import type { Lane } from "./lane";

const KEY = "timeloom::key", NEEDS = "timeloom::needs", SUBMITS = "timeloom::submits";

interface Task {
  readonly key: string;
  readonly track: number;
  readonly begin: number;
  readonly end: number;
  readonly needs: readonly string[];
}

/** Links the end of the task that made a value with the start of each task that takes it. `names`: of the parameters. */
export function taskLinks(lanes: readonly Lane[], names: readonly string[], ticksPerSecond: number): Link[] {
  if (!names.includes(NEEDS)) return [];
  const tasks: Task[] = [], requests = new Map<string, string[]>();
  lanes.forEach((lane, track) => {
    for (const [call, given] of lane.parameters) {
      const texts = (name: string) => given.filter(({ parameter }) => names[parameter] === name).map(({ value }) => value);
      const [key] = texts(KEY), [asked] = texts(SUBMITS), needs = texts(NEEDS);
      if (asked !== undefined) addTo(requests, asked, needs);
      else if (key !== undefined) tasks.push({ key, track, begin: lane.begin[call], end: lane.end[call], needs });
    }
  });
  const runs = new Map<string, Task[]>();
  for (const task of tasks) addTo(runs, task.key, [task]);
  for (const all of runs.values()) all.sort((a, b) => a.end - b.end);
  const tolerance = Math.floor(ticksPerSecond / 1000);
  return tasks.flatMap((task) => (task.needs.length ? task.needs : requests.get(task.key) ?? []).flatMap((need): Link[] => {
    const all = runs.get(need) ?? [];
    const made = all[firstWhere(all.length, (i) => all[i].end > task.begin + tolerance) - 1];
    return made && made !== task ? [{ kind: "takes", from: made.end, to: task.begin, fromTrack: made.track, toTrack: task.track }] : [];
  }));
}
