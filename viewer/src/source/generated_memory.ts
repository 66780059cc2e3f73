// The generated run with memory, samples and estimates, for tests and demonstrations.
import { AMOUNTS, AT_INSTANT, type Memory, type MemoryQuestion, type MessageRange, PROCESS_MEMORY, type Run, type Timed, type Values } from "../model";
import { generated } from "./generated";
import type { Source } from "./source";
import { timedIn } from "./timed";

const STEP = 1e7, LARGEST = 90e6;
/** The bytes of the first process rise to the middle of the run, and fall again. */
const heldAt = (time: number, length: number): number => Math.round(LARGEST * (1 - Math.abs(1 - (2 * time) / length))) + 10e6;

function valuesOf(length: number): Values {
  const begin = Float64Array.from({ length: Math.floor(length / STEP) }, (_, i) => i * STEP), values = begin.map((time) => heldAt(time, length));
  return { count: begin.length, begin, end: begin, min: values, max: values, mean: values, last: values };
}

/** The paths 1 and 3 hold a third and two thirds. */
function memoryOf({ amount, time }: MemoryQuestion, length: number): Memory {
  const live = amount === AT_INSTANT ? heldAt(time, length) : 0, sum = live || LARGEST * (amount + 1);
  return {
    complete: true, exact: AMOUNTS[amount] === "allocated", live, own: [1e6, 0], outside: [2e6, 5e5], path: Int32Array.of(1, 3), starts: Float64Array.of(4, 12),
    ticks: Float64Array.of(sum / 3, (2 * sum) / 3), error: Float64Array.of(0, amount ? 1.8e6 : 0),
  };
}

/** Samples of the first location: each millisecond, three of four in a library, the others in the function 3. */
function samplesOf(regions: number, length: number): Timed {
  const count = Math.floor(length / 1e6) - 1;
  const reals = (value: (i: number) => number) => Float64Array.from({ length: count }, (_, i) => value(i)), numbers = (value: (i: number) => number) => Int32Array.from({ length: count }, (_, i) => value(i));
  const times = reals((i) => (i + 1) * 1e6);
  return {
    count, samples: reals(() => 1), first: times, last: times, ticks: reals(() => 1e6), most: reals(() => 1), track: numbers(() => 0), hit: numbers((i) => (i % 4 ? regions : 3)),
    region: numbers(() => 3), line: numbers(() => 41), functions: ["libopenblas: dgemm_kernel", ""],
  };
}

export async function remembering(): Promise<Source> {
  const source = generated(), made = await source.run(), side = await source.auxiliary(), paths = await source.paths();
  const track = made.locations.length, metric = made.metrics.length, { length } = made;
  const run: Run = {
    ...made, memory: true, samples: true, throttled: true, metrics: [...made.metrics, { name: PROCESS_MEMORY, unit: "bytes", description: "bytes that the process has allocated and not freed", type: "uint64" }],
    locations: [...made.locations, { name: PROCESS_MEMORY, process: 0, kind: "metrics", events: 99, begin: 0, end: length, depth: 0 }],
  };
  const values = source.values.bind(source);
  return Object.assign(source, {
    run: async () => run,
    auxiliary: async () => ({ ...side, counters: [...side.counters, { track, metric, values: 99 }] }),
    values: async (ranges: Parameters<Source["values"]>[0]) => Promise.all(ranges.map(async (range) => (range.track === track ? valuesOf(length) : (await values([range]))[0]))),
    memory: async (question: MemoryQuestion) => memoryOf(question, length),
    samples: async () => ({
      complete: true, path: Int32Array.of(3, paths.parent.length), starts: Float64Array.of(30, 10), ticks: Float64Array.of(2e8, 6e8),
      added: { parent: Int32Array.of(3), region: Int32Array.of(run.regions.length) }, functions: ["libopenblas: dgemm_kernel", ""],
    }),
    sampled: async (range: MessageRange) => timedIn(samplesOf(run.regions.length, length), range),
    estimates: async () => {
      const guess = { own: 5e8, own_error: 4e6, total: 5e8, total_error: 0 };
      return { functions: [{ region: 3, ...guess, samples: 500 }], paths: [{ path: paths.region.indexOf(3), ...guess }], added: { parent: [], region: [] } };
    },
  });
}
