// Exports of the page: a picture of the rows, a table, the link.
import { CAUSES } from "./causes";
import { byFunction } from "./profile";
import { toNs } from "./format";
import { nameOfLocation, type Paths, type Profile, type Run } from "./model";
import { NO_CALLS, type Source, WHERE_CALLS_ARE } from "./source/source";
import type { Timeline } from "./timeline/timeline";

/** Comma-separated values as in RFC 4180. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  const cell = (value: string | number) => (typeof value === "string" && /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value));
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}

const toSeconds = (ticks: number): number => Number((toNs(ticks) / 1e9).toPrecision(15));

/** The table of functions, in seconds. */
export function tableCsv(run: Run, profile: Profile, paths: Paths): string {
  const rows = byFunction(profile, paths, run.regions).map((row) => {
    const region = run.regions[row.key as number];
    return [region?.name ?? "", region?.module ?? "", region?.file ?? "", region?.line ?? 0, row.visits, row.cut, ...[row.own, row.waiting, row.total, row.min, row.max, ...(run.causes ? CAUSES.map((_, cause) => row.causes[cause] ?? 0) : [])].map(toSeconds)];
  });
  const causes = run.causes ? CAUSES.map((word) => `waiting_${word}_s`) : [];
  return csv([["function", "module", "file", "line", "visits", "cut", "own_s", "waiting_s", "total_s", "min_s", "max_s", ...causes], ...rows]);
}

const MOST_ROWS_CALLS = 100_000;

/** The calls of the visible rows and time range, up to a limit. */
export async function callsCsv(timeline: Timeline, source: Source, run: Run): Promise<string> {
  if (run.outline) throw new Error(`${NO_CALLS} ${WHERE_CALLS_ARE}`);
  const { range } = timeline.viewing.view;
  const tracks = timeline.shown.get().rows.filter((row) => row.kind === "location").map((row) => row.id);
  const ranges = tracks.map((track) => ({ track, depths: 10_000, limit: Math.floor(MOST_ROWS_CALLS / tracks.length), begin: Math.floor(range.begin), end: Math.ceil(range.end) }));
  const found = ranges.length ? await source.calls(ranges, new AbortController().signal) : [];
  if (found.some((calls) => !calls.complete)) throw new Error("There are too many calls here for a table; zoom in.");
  const rows = found.flatMap((calls, i) => Array.from(calls.begin, (begin, call) =>
    [nameOfLocation(run, tracks[i]), run.regions[calls.region[call]]?.name ?? "", calls.depth[call], toSeconds(begin), toSeconds(calls.end[call] - begin)]));
  return csv([["row", "function", "depth", "begin_s", "duration_s"], ...rows]);
}

export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The visible rows, with the time axis and their names. */
export async function picture(timeline: Timeline, run: Run): Promise<Blob> {
  const { axis, picture: rows, overlay } = timeline.canvases;
  const ratio = rows.width / timeline.width, side = Math.round(200 * ratio);
  const canvas = document.createElement("canvas");
  canvas.width = side + rows.width;
  canvas.height = axis.height + rows.height;
  const context = canvas.getContext("2d")!;
  context.fillStyle = timeline.colours.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(axis, side, 0);
  context.drawImage(rows, side, axis.height);
  context.drawImage(overlay, side, axis.height);
  context.fillStyle = timeline.colours.text;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.fillText(run.title, 8 * ratio, axis.height / 2, side - 16 * ratio);
  const { rows: shown, top } = timeline.shown.get();
  context.beginPath();
  context.rect(0, axis.height, side, rows.height);
  context.clip();
  for (const row of shown) {
    context.fillText(row.name, (8 + 12 * row.indent) * ratio, axis.height + (row.y - top + 11) * ratio, side - (16 + 12 * row.indent) * ratio);
  }
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser makes no picture of this size."))), "image/png"));
}
