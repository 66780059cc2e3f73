// Numbers in a form for people.

let nsPerTick = 1;

/** Sets the length of a tick, the unit of all times. */
export function setTicksPerSecond(ticks: number): void {
  nsPerTick = 1e9 / ticks;
}

let midnight: number | null = null;

/** Prints instants as times of day; `ns`: the one at the start of the run, since midnight. Null: since the start. */
export function setTimeOfDay(ns: number | null): void {
  midnight = ns;
}

/** Ticks from midnight to the start of the run, where instants are times of day; else 0. */
export const originTicks = (): number => (midnight ?? 0) / nsPerTick;

export const toNs = (ticks: number): number => ticks * nsPerTick;

const UNITS: [number, string][] = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** A number with three significant digits, without an exponent. */
function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** A duration in ticks with three significant digits: "1.23 ms". */
export const duration = (ticks: number): string => nsDuration(toNs(ticks));

/** The same for a duration in ns. */
export function nsDuration(ns: number): string {
  if (ns === 0) return "0 s";
  const size = Math.abs(ns);
  if (size >= 60e9) return longDuration(ns);
  // 999.7 µs would be rounded to 1000 µs, so the unit is chosen for the rounded number.
  const [scale, unit] = UNITS.find(([s]) => size >= s * 0.9995) ?? [1, "ns"];
  if (scale === 1 && Number.isInteger(ns)) return `${ns} ns`;
  return `${threeDigits(ns / scale)} ${unit}`;
}

function longDuration(ns: number): string {
  const seconds = Math.round(Math.abs(ns) / 1e9);
  const sign = ns < 0 ? "-" : "";
  const h = Math.floor(seconds / 3600), min = Math.floor(seconds / 60) % 60, s = seconds % 60;
  return h ? `${sign}${h} h ${min} min` : `${sign}${min} min ${s} s`;
}

/** A time since the start of the run, or a time of day, with enough digits to distinguish times `step` ticks apart. */
export function instant(ticks: number, step: number): string {
  const ns = toNs(ticks) + (midnight ?? 0);
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(toNs(step), 1)) - 1e-9)));
  const sign = ns < 0 ? "-" : "";
  const rounded = Math.round(Math.abs(ns));
  const whole = Math.floor(rounded / 1e9);
  const rest = rounded - whole * 1e9;
  const fraction = String(rest).padStart(9, "0").slice(0, digits);
  const grouped = fraction.replace(/(\d{3})(?=\d)/g, "$1 ");
  const short = whole < 60 && midnight === null, hours = Math.floor(whole / 3600);
  const clock = short ? String(whole)
    : [midnight === null ? hours : hours % 24, Math.floor(whole / 60) % 60, whole % 60]
      .slice(whole < 3600 && midnight === null ? 1 : 0).map((n, i) => (i ? String(n).padStart(2, "0") : String(n))).join(":");
  return `${sign}${clock}${digits ? "." + grouped : ""}${short ? " s" : ""}`;
}

/** 12,345,678 */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** 12.3 % */
export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return "–";
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.05) return "< 0.1 %";
  return `${value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** A difference in ticks: "+1.23 ms", "−4.00 s", "0 s". */
export const signed = (ticks: number): string => (ticks > 0 ? "+" : ticks < 0 ? "−" : "") + duration(Math.abs(ticks));

/** The ratio of the second number to the first: "1.25 ×"; "new" or "gone" where one of them is 0. */
export function times(before: number, after: number): string {
  if (before === 0) return after === 0 ? "–" : "new";
  return after === 0 ? "gone" : `${threeDigits(after / before)} ×`;
}

/** A value of a counter with at most six digits. */
export const valueText = (value: number): string => (Number.isInteger(value) && Math.abs(value) < 1e15 ? count(Math.abs(value)).replace(/^/, value < 0 ? "−" : "") : String(Number(value.toPrecision(6))));

/** The last part of a path, which distinguishes it: "stencil.py:39". */
export function fileAndLine(file: string, line: number): string {
  if (!file) return "";
  const name = file.slice(file.lastIndexOf("/") + 1);
  return line > 0 ? `${name}:${line}` : name;
}

/** A dotted name without its module: "Slab.relax" for "__main__.Slab.relax", but "json.<module>" unchanged. */
export function shortName(name: string, module: string): string {
  const rest = module && name.startsWith(module + ".") ? name.slice(module.length + 1) : name;
  return rest.startsWith("<") ? name : rest;
}

/** Parses a duration as people write it ("50 ms", "3us", "2 s"); returns ns, or null. */
export function parseDuration(text: string): number | null {
  const match = /^\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(ns|us|µs|ms|s|min|h)\s*$/.exec(text);
  if (!match) return null;
  const unit = match[2] === "us" ? "µs" : match[2];
  return Number(match[1]) * UNITS.find(([, name]) => name === unit)![0];
}

/** 1.2 kB, in powers of 1000. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  for (; value >= 999.5 && unit + 1 < units.length; unit++) value /= 1000;
  return `${unit ? Number(value.toPrecision(3)) : count(value)} ${units[unit]}`;
}

const COLLECTIVES = [
  "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Allreduce", "Reduce",
  "Reduce_scatter", "Scan", "Exscan", "Reduce_scatter_block", "a handle is made", "a handle is freed",
];

/** The name of a collective operation by its number in OTF2. */
export const collectiveName = (kind: number): string => COLLECTIVES[kind] ?? `operation ${kind}`;

/** A value of a counter with its unit: "1,204 items", "110 MB". */
export function measuredText(value: number, unit: string): string {
  return unit === "bytes" && value >= 0 ? bytes(value) : `${valueText(value)} ${unit}`.trimEnd();
}
