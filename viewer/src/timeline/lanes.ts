// Many short locations in few rows: locations that do not exist at the same time share a lane.
import type { Location } from "../model";
import { firstWhere } from "../sorted";

/** The members of each lane by start time; each goes to the first free lane. */
export function lanesOf(locations: readonly Location[], members: readonly number[]): number[][] {
  const lanes: number[][] = [], ends: number[] = [];
  const inOrder = [...members].sort((a, b) => locations[a].begin - locations[b].begin || a - b);
  for (const member of inOrder) {
    const { begin, end } = locations[member];
    let lane = ends.findIndex((other) => other <= begin);
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push(member);
    ends[lane] = end;
  }
  return lanes;
}

/** The members of a lane that [begin, end) touches: from the first up to the second index (exclusive). */
export function inLane(locations: readonly Location[], lane: readonly number[], begin: number, end: number): [number, number] {
  const first = firstWhere(lane.length, (place) => locations[lane[place]].end >= begin);
  return [first, Math.max(first, firstWhere(lane.length, (place) => locations[lane[place]].begin >= end))];
}

/** The member of a lane at a time, or the nearest within `reach`; -1: none. */
export function memberAt(locations: readonly Location[], lane: readonly number[], time: number, reach: number): number {
  const [first, last] = inLane(locations, lane, time - reach, time + reach);
  let best = -1, distance = Infinity;
  for (let i = first; i < last; i++) {
    const { begin, end } = locations[lane[i]];
    const away = Math.max(begin - time, time - end, 0);
    if (away < distance) [best, distance] = [lane[i], away];
  }
  return best;
}
