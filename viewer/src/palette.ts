// Colours by function, module, package, kind or rank: hues for the user's functions, greys for libraries.
import { CAUSES } from "./causes";
import { hash, mix, pixel, type Pixel, type Theme, variant, waitingColour } from "./colour";
import type { Region, Run } from "./model";

export const COLOURINGS = ["function", "module", "package", "kind", "rank"] as const;
export type Colouring = (typeof COLOURINGS)[number];

/** Keys of regions that have no colour of their own. */
export const LIBRARIES = "libraries", WAITS = "waiting";

/** The key of waiting of one cause; of unknown waiting, the key of all waiting. */
export const causeKey = (cause: number): string => (cause === 0 ? WAITS : `${WAITS} ${CAUSES[cause]}`);

/** Modules of the work on GPUs, and of ranges that the program has named: src/weave/gpu/gpu_names.hpp. */
const OF_GPU = new Set(["CUDA kernels", "CUDA copies", "NVTX"]);

/** True for kernels and copies on GPUs, which have colours of their own. */
const isGpu = ({ file, module }: Region): boolean => !file && (module === "CUDA kernels" || module === "CUDA copies");

/** True for functions of the standard library, of installed packages and of compiled code, not for work on GPUs. */
export const isLibrary = ({ file, module }: Region): boolean => (!file && OF_GPU.has(module) ? false : !/[/.]/.test(file) || file.startsWith("<") || /\/lib(64)?\/python\d|\/(site|dist)-packages\//.test(file));

/** True for modules of libraries while they are imported, and for the import itself. */
export const isImport = (region: Region): boolean => isLibrary(region) && (region.name.endsWith("<module>") || region.module.startsWith("importlib"));

/** True for frames that a row need not show above the user's first: of libraries, and of the process that forked. */
export const isAbove = (region: Region): boolean => isLibrary(region) || region.name.endsWith(" (forked)");

/** True for frames that start threads and processes, and run what a pool was given. */
export const isStarter = (region: Region): boolean => isAbove(region) && /^(threading|concurrent\.futures|multiprocessing)(\.|$)/.test(region.module);

const packageOf = ({ module, name }: Region): string => (module || name).split(".")[0];

/** The share of the background in the colours of kinds that the legend has not selected. */
const FADED = 0.82;

/** Libraries are grey if the user's functions have at least this part of the work. */
const SOME = 0.05;

/** True if the user's functions have a part of the work, or if the work is not known. */
function userWorks(regions: readonly Region[], work?: Float64Array): boolean {
  const own = regions.filter((region) => !isLibrary(region) && !region.idle && !isGpu(region));
  const sum = (of: readonly Region[]) => of.reduce((all, { id }) => all + (work?.[id] ?? 0), 0);
  return own.length > 0 && sum(own) >= SOME * sum(regions.filter((region) => !isGpu(region)));
}

/** The colours of a run's regions. */
export class Painting {
  /** By region: the key that its colour stands for, and the colour. */
  readonly keys: readonly string[];
  readonly styles: readonly string[];
  /** By cause: the colour of waiting. */
  readonly waiting: readonly string[];
  private readonly ranks = new Map<number, readonly string[]>();
  private readonly bases = new Map<string, string>();
  private readonly sampled = new Map<string, Pixel>();

  /** `lit`: the only key that is not faded; empty: all. `work`: the time of each region, if it is known: the keys with the
      most get the hues that their names have in every run. */
  constructor(private readonly theme: Theme, private readonly run: Run, readonly by: Colouring, readonly lit: string, work?: Float64Array) {
    const own = userWorks(run.regions, work);
    this.keys = run.regions.map((region) => this.keyOf(region, own));
    this.waiting = CAUSES.map((word, cause) => this.fade(waitingColour(theme, word), causeKey(cause)));
    for (const [module, colour] of Object.entries(theme.gpu)) this.bases.set(module, colour);
    const times = new Map<string, number>();
    this.keys.forEach((key, id) => times.set(key, (times.get(key) ?? 0) + (work?.[id] ?? 0)));
    const wanted = [...times].filter(([key]) => key !== LIBRARIES && !isWaiting(key) && !theme.gpu[key]).sort(([, a], [, b]) => b - a);
    for (const [key] of wanted) this.bases.set(key, this.free(key));
    // By rank, a region alone has the colour of its function.
    this.styles = run.regions.map((region, id) => {
      const style = this.styleOf(region, this.keys[id]);
      return by === "rank" ? style : this.fade(style, this.keys[id]);
    });
  }

  /** The colours for the locations of a process. */
  of(process: number): readonly string[] {
    if (this.by !== "rank") return this.styles;
    let styles = this.ranks.get(process);
    if (!styles) {
      const base = this.theme.palette[process % this.theme.palette.length], key = rankKey(process);
      styles = this.run.regions.map((region) => region.idle ? this.waiting[this.causeOf(region)] : this.fade(variant(this.theme, base, region.name), key));
      this.ranks.set(process, styles);
    }
    return styles;
  }

  /** The colour of a function that samples have hit and that is not a region: the hue of its library. */
  styleOfHit(name: string): string {
    const at = name.indexOf(": "), { palette, library } = this.theme;
    return this.fade(variant(this.theme, at > 0 ? palette[hash(name.slice(0, at)) % palette.length] : library, name), LIBRARIES);
  }

  /** The same, as a pixel. */
  pixelOf(name: string): Pixel {
    const known = this.sampled.get(name) ?? pixel(this.styleOfHit(name));
    this.sampled.set(name, known);
    return known;
  }

  /** The colour of a key. */
  base(key: string): string {
    const cause = CAUSES.findIndex((_, number) => causeKey(number) === key);
    if (cause >= 0) return waitingColour(this.theme, CAUSES[cause]);
    if (this.by === "rank") return this.theme.palette[Number(key.slice(1)) % this.theme.palette.length];
    return this.bases.get(key) ?? this.theme.library;
  }

  private keyOf(region: Region, own: boolean): string {
    if (region.idle) return causeKey(this.causeOf(region));
    if (isGpu(region)) return region.module;
    if (this.by === "kind") return region.kind;
    if (this.by === "package") return packageOf(region);
    // In a run in which libraries do nearly all, they have the hues.
    if (own && isLibrary(region)) return LIBRARIES;
    return this.by === "module" ? region.module || region.name : region.name;
  }

  /** Of a function that only waits, where causes are known. */
  private causeOf(region: Region): number {
    return this.run.causes ? region.cause : 0;
  }

  /** The hue of a key's name, or the next one that no other key has. */
  private free(key: string): string {
    const { palette } = this.theme, taken = new Set(this.bases.values());
    const first = hash(key) % palette.length;
    for (let i = 0; i < palette.length; i++) {
      const colour = palette[(first + i) % palette.length];
      if (!taken.has(colour)) return colour;
    }
    return variant(this.theme, palette[first], key);
  }

  private styleOf(region: Region, key: string): string {
    if (region.idle) return waitingColour(this.theme, CAUSES[this.causeOf(region)]);
    if (key === LIBRARIES) return variant(this.theme, this.theme.library, region.name);
    const base = this.bases.get(key)!;
    return this.by === "function" && !isGpu(region) ? base : variant(this.theme, base, region.name);
  }

  private fade(colour: string, key: string): string {
    return this.lit === "" || this.lit === key ? colour : mix(colour, this.theme.track, FADED);
  }
}

export const isWaiting = (key: string): boolean => key === WAITS || CAUSES.some((_, cause) => key === causeKey(cause));

/** The key of a process. */
export const rankKey = (process: number): string => `#${process}`;
