// What a person searches for.
import { parseDuration } from "../format";
import type { Region } from "../model";
import { SourceError } from "./source";

export interface Query {
  readonly text: string;
  readonly regex: boolean;
  /** ns; calls that take longer. */
  readonly longer: number;
}

/** Words, /a regular expression/, "> 50 ms", or a name and a duration together. */
export function parseQuery(text: string): Query {
  let rest = text.trim(), longer = 0;
  const condition = />\s*([0-9.]+\s*(?:ns|us|µs|ms|s|min|h))\s*$/.exec(rest);
  if (condition) {
    longer = parseDuration(condition[1]) ?? 0;
    rest = rest.slice(0, condition.index).trim();
  }
  const regex = /^\/(.*)\/$/.exec(rest);
  return { text: regex ? regex[1] : rest, regex: regex !== null, longer };
}

export const isEmpty = (query: Query): boolean => query.text === "" && query.longer === 0;

/** The regions of a query, by name and by file; null: all. Throws SourceError for a wrong expression. */
export function regionsOf(query: Query, regions: readonly Region[]): number[] | null {
  if (query.text === "") return null;
  return regions.filter(matcher(query)).map((region) => region.id);
}

function matcher(query: Query): (region: Region) => boolean {
  if (!query.regex) {
    const wanted = query.text.toLowerCase();
    return (region) => region.name.toLowerCase().includes(wanted) || region.file.toLowerCase().endsWith(wanted);
  }
  let expression: RegExp;
  try {
    expression = new RegExp(query.text, "i");
  } catch (error) {
    throw new SourceError(`“${query.text}” is not a regular expression`, (error as Error).message);
  }
  return (region) => expression.test(region.name);
}
