// Search queries.
import { parseDuration } from "../format";
import type { ParameterIs, Region } from "../model";
import { SourceError } from "./source";

export interface Query {
  readonly text: string;
  readonly regex: boolean;
  /** ns; calls that take longer. */
  readonly longer: number;
  /** A parameter and its value: "n = 1000". */
  readonly parameter: { readonly name: string; readonly value: string } | null;
}

/** Words, or the expression between slashes. */
function textOf(text: string): Pick<Query, "text" | "regex"> {
  const expression = /^\/(.*)\/$/.exec(text);
  return { text: expression ? expression[1] : text, regex: expression !== null };
}

const FORMS = "Type a part of a name or of a file, a /regular expression/, a duration such as “> 50 ms”, a parameter such as “n = 1000”, or a name and one of these.";

const misunderstood = (text: string) => new SourceError(`“${text.trim()}” is not understood.`, FORMS);

/** Words, /a regular expression/, "n = 1000", "> 50 ms", or these together in this order. Throws SourceError
    for other texts. */
export function parseQuery(text: string): Query {
  let rest = text.trim(), longer = 0, parameter: Query["parameter"] = null;
  const condition = />\s*([0-9.]+\s*(?:ns|us|µs|ms|s|min|h))\s*$/.exec(rest);
  if (condition) {
    longer = parseDuration(condition[1]) ?? NaN;
    if (Number.isNaN(longer)) throw misunderstood(text);
    rest = rest.slice(0, condition.index).trim();
  }
  const given = /^(.*?)(\S+)\s*=\s*(.+)$/.exec(rest);
  if (given && !rest.startsWith("/")) {
    parameter = { name: given[2], value: given[3].replace(/^"(.*)"$/, "$1") };
    rest = given[1].trim();
  }
  // Names contain these signs, too: "<module>", but never alone or before a number.
  if (/(^|\s)[<>=]+(\s|$|[\d.])|^=|[^=!<>]=$|^\/[^/]*$/.test(rest) && !/^\/.*\/$/.test(rest)) throw misunderstood(text);
  return { ...textOf(rest), longer, parameter };
}

export const isEmpty = (query: Query): boolean => query.text === "" && query.longer === 0 && query.parameter === null;

/** The regions that match a query, by name and by file; null: all. Throws SourceError for an invalid expression. */
export function regionsOf(query: Query, regions: readonly Region[]): number[] | null {
  if (query.text === "") return null;
  const wanted = matcher(query);
  return regions.filter(({ name, file }) => wanted(name, file)).map((region) => region.id);
}

/** Returns a test for names, or their files, that contain a text or match /a regular expression/. Throws SourceError
    for an invalid one. */
export function nameFilter(text: string): (name: string, file: string) => boolean {
  return matcher(textOf(text.trim()));
}

/** The parameters with the name in a query: by their whole name, or the part behind the last colon. Throws SourceError
    if there are none. */
export function parameterOf(query: Query, names: readonly string[]): ParameterIs | undefined {
  if (!query.parameter) return undefined;
  const { name, value } = query.parameter;
  const parameters = names.flatMap((known, id) => (known === name || known.slice(known.lastIndexOf(":") + 1) === name ? [id] : []));
  if (!parameters.length) throw new SourceError(`No call was given a parameter “${name}”.`, names.length ? `There are: ${names.slice(0, 8).join(", ")}.` : "This run has no parameters.");
  return { parameters, value };
}

function matcher(query: Pick<Query, "text" | "regex">): (name: string, file: string) => boolean {
  if (!query.regex) {
    const wanted = query.text.toLowerCase();
    return (name, file) => name.toLowerCase().includes(wanted) || file.toLowerCase().endsWith(wanted);
  }
  let expression: RegExp;
  try {
    expression = new RegExp(query.text, "i");
  } catch (error) {
    throw new SourceError(`“${query.text}” is not a regular expression`, (error as Error).message);
  }
  return (name) => expression.test(name);
}
