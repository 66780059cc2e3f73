// Where the hits of a search are, if there are more of them than are listed.
import type { Paths, Search } from "../model";
import type { Source } from "../source/source";
import type { Density } from "./view";

const PARTS = 96;
/** Hits in a part are counted up to this number if they are not the visits of functions. */
const MOST = 200;
/** Questions at once. */
const AT_ONCE = 8;

/** `byName`: the search is for functions alone, without a condition. */
export async function densityOf(source: Source, paths: Paths, search: Search, byName: boolean, signal: AbortSignal): Promise<Density> {
  const { begin, end } = search, length = Math.max(1, Math.ceil((end - begin) / PARTS));
  const regions = byName && search.regions ? new Set(search.regions) : null;
  const parts = Array.from({ length: Math.ceil((end - begin) / length) }, (_, part) => ({ begin: begin + part * length, end: Math.min(end, begin + (part + 1) * length) }));
  const counts = new Array<number>(parts.length).fill(0);
  const count = async (part: number) => {
    const range = parts[part];
    if (!regions) counts[part] = (await source.find({ ...search, ...range, limit: MOST }, signal)).calls.length;
    else {
      const profile = await source.profile({ ...range, tracks: search.tracks }, signal);
      // Visits that started in an earlier part count there.
      for (let i = 0; i < profile.count; i++) if (regions.has(paths.region[profile.path[i]])) counts[part] += profile.visits[i] - profile.cutBegin[i];
    }
  };
  for (let part = 0; part < parts.length; part += AT_ONCE) await Promise.all(parts.slice(part, part + AT_ONCE).map((_, i) => count(part + i)));
  return { begin, end: begin + parts.length * length, counts, regions };
}
