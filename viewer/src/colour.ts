// Colours: themes, their palettes, which people with any colour vision can distinguish, and the colours of waiting.

/** A colour as ImageData stores it on little-endian machines: 0xAABBGGRR. */
export type Pixel = number;

export interface Theme {
  readonly dark: boolean;
  readonly background: string;
  readonly track: string;
  readonly line: string;
  readonly text: string;
  readonly faint: string;
  readonly accent: string;
  readonly palette: readonly string[];
  /** Waiting by the word for its cause in docs/waiting.md. */
  readonly waiting: Readonly<Record<string, string>>;
  /** Functions of libraries. */
  readonly library: string;
  /** Work on GPUs by its module: src/weave/gpu/gpu_names.hpp. */
  readonly gpu: Readonly<Record<string, string>>;
  readonly nothing: string;
  readonly lost: string;
}

// Okabe and Ito's colours, softened, with lighter and darker variants: neighbours differ in lightness, too.
const LIGHT = ["#6fb1de", "#e8a33d", "#4fb59a", "#d98bb5", "#e3d75b", "#e0814e", "#8fa2e0", "#a8cf6b", "#c7a27a", "#5fc3d6", "#b58fd6", "#e9a9a0"];
const DARK = ["#4a93c7", "#cf8a24", "#2f9c80", "#c06c9b", "#b8ac33", "#c96836", "#7488d0", "#7fa843", "#a78357", "#3aa3b8", "#9a72bf", "#c98379"];

// The scheme "light" of Paul Tol (Colour Schemes, SRON/EPS/TN/09-002), which people with any colour vision can tell apart;
// for the dark theme with 35 % of the background. tests/colour.test.ts simulates this. Work may have the same hues: waiting is
// told by its stripes and by the pale colour between them (src/timeline/waiting.ts).
const LIGHT_WAITING = { unknown: "#aabdd9", lock: "#eedd88", gil: "#ee8866", processor: "#ffaabb", thread: "#44bb99", message: "#aaaa00", io: "#77aadd", time: "#bbcc33" };
const DARK_WAITING = { unknown: "#41567a", lock: "#a29862", gil: "#a2614c", processor: "#ad7783", thread: "#33826d", message: "#76770a", io: "#6a98b0", time: "#818d2b" };

export const LIGHT_THEME: Theme = {
  dark: false, background: "#ffffff", track: "#f5f6f8", line: "#d7dbe0", text: "#1b2228", faint: "#5b6670", accent: "#0b62b0",
  palette: LIGHT, waiting: LIGHT_WAITING, gpu: { "CUDA kernels": "#2f7d4f", "CUDA copies": "#8a6a1f" }, library: "#c2bfb9", nothing: "#e6e8eb", lost: "#c22f2f",
};

export const DARK_THEME: Theme = {
  dark: true, background: "#14181c", track: "#1a1f24", line: "#333b43", text: "#e4e8ec", faint: "#9aa6b1", accent: "#62b0f4",
  palette: DARK, waiting: DARK_WAITING, gpu: { "CUDA kernels": "#7ee0a0", "CUDA copies": "#e8cf86" }, library: "#6d6a65", nothing: "#2a3036", lost: "#f07470",
};

export function parts(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function pixel(colour: string): Pixel {
  const [r, g, b] = parts(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Blends `share` of `over` onto `under`. */
export function blend(under: Pixel, over: Pixel, share: number): Pixel {
  const mix = (shift: number) => {
    const a = (under >>> shift) & 255, b = (over >>> shift) & 255;
    return Math.round(a + (b - a) * share) << shift;
  };
  return ((255 << 24) | mix(16) | mix(8) | mix(0)) >>> 0;
}

/** FNV-1a: a name has the same number in every run. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}

export function luminance(colour: string): number {
  const [r, g, b] = parts(colour).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Black or white, whichever is more legible on a colour; one of them always has a contrast of at least 4.5. */
export function textUpon(colour: string): string {
  const dark = "#000000", light = "#ffffff";
  return contrast(colour, dark) >= contrast(colour, light) ? dark : light;
}

/** The colour of a pixel. */
export const hex = (pixel: Pixel): string => "#" + [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255].map((v) => v.toString(16).padStart(2, "0")).join("");

/** The colour of words upon some pixels; where neither black nor white is legible on all of them, it needs a rim. */
export function textOver(pixels: ReadonlySet<Pixel>): { readonly colour: string; readonly rim: string | null } {
  const under = [...pixels].map(hex), least = (colour: string) => under.reduce((least, other) => Math.min(least, contrast(colour, other)), Infinity);
  const [dark, light] = ["#000000", "#ffffff"], [onDark, onLight] = [least(dark), least(light)];
  const colour = onDark >= onLight ? dark : light;
  return { colour, rim: Math.max(onDark, onLight) < 4.5 ? (colour === dark ? light : dark) : null };
}

/** Mixes `share` of the second colour into the first. */
export function mix(colour: string, other: string, share: number): string {
  const target = parts(other);
  return "#" + parts(colour).map((v, i) => Math.round(v + (target[i] - v) * share).toString(16).padStart(2, "0")).join("");
}

/** A colour made lighter by `by` (darker if negative). */
const shade = (colour: string, by: number): string => mix(colour, by > 0 ? "#ffffff" : "#000000", Math.abs(by));

/** The colour of a difference from -1 (less: blue) to 1 (more: orange); 0 is grey. */
export function changeColour(theme: Theme, change: number): string {
  const [less, more] = theme.dark ? ["#3f8fd6", "#e07b2e"] : ["#2f7fc4", "#e2711d"];
  return mix(theme.nothing, change < 0 ? less : more, Math.abs(change) ** 0.6);
}

const LIGHT_SHADES = [0, 0.3, -0.14, 0.15, -0.26, 0.42];
const DARK_SHADES = [0, 0.17, -0.18, 0.08, -0.3, 0.26];

/** A variant of a colour, the same for equal names. */
export const variant = (theme: Theme, colour: string, name: string): string => shade(colour, (theme.dark ? DARK_SHADES : LIGHT_SHADES)[hash(name) % LIGHT_SHADES.length]);

/** The colour of waiting; the only place where causes have colours. */
export const waitingColour = (theme: Theme, cause = "unknown"): string => theme.waiting[cause] ?? theme.waiting["unknown"];
