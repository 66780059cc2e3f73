// The colours of the causes of waiting can be told apart with any colour vision.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DARK_THEME, hex, LIGHT_THEME, parts, pixel } from "../src/colour";
import { between } from "../src/timeline/waiting";

type Triple = readonly [number, number, number];

/** Linear RGB of a colour as it is seen: Machado, Oliveira and Fernandes (2009), full severity. */
const SEEN: Record<string, readonly Triple[]> = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const dot = (a: Triple, b: Triple) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** CIE L*a*b* of a colour, seen with a colour vision. */
function lab(colour: string, vision: readonly Triple[]): Triple {
  const linear = parts(colour).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as unknown as Triple;
  const [r, g, b] = vision.map((row) => Math.min(1, Math.max(0, dot(row, linear))));
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047), y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b), z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const degrees = (angle: number) => ((angle * 180) / Math.PI + 360) % 360, radians = (angle: number) => (angle * Math.PI) / 180;

/** CIEDE2000: two colours beside each other look alike below 2 or so. */
function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const grey = 0.5 * (1 - Math.sqrt(((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7 / (((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7 + 25 ** 7)));
  const [c1, c2] = [Math.hypot(a1 * (1 + grey), b1), Math.hypot(a2 * (1 + grey), b2)], c = (c1 + c2) / 2, l = (l1 + l2) / 2;
  const [h1, h2] = [degrees(Math.atan2(b1, a1 * (1 + grey))), degrees(Math.atan2(b2, a2 * (1 + grey)))];
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180, h = c1 * c2 === 0 ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const t = 1 - 0.17 * Math.cos(radians(h - 30)) + 0.24 * Math.cos(radians(2 * h)) + 0.32 * Math.cos(radians(3 * h + 6)) - 0.2 * Math.cos(radians(4 * h - 63));
  const light = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2)), strong = (c2 - c1) / (1 + 0.045 * c);
  const hue = (2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))) / (1 + 0.015 * c * t);
  const rotated = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  return Math.sqrt(light ** 2 + strong ** 2 + hue ** 2 + rotated * strong * hue);
}

test("published pairs have their published differences", () => {
  // Sharma, Wu and Dalal (2005), pairs 1, 7, 16 and 25.
  const pairs: [Triple, Triple, number][] = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.5, 0], [50, 0, -2.5], 4.3065], [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  ];
  for (const [a, b, known] of pairs) assert.equal(difference(a, b).toFixed(4), known.toFixed(4));
});

test("no two causes look alike, with any colour vision and in both themes", () => {
  for (const theme of [LIGHT_THEME, DARK_THEME]) {
    for (const [name, vision] of Object.entries(SEEN)) {
      const causes = Object.entries(theme.waiting).map(([cause, colour]) => ({ cause, seen: lab(colour, vision) }));
      for (const [i, one] of causes.entries()) {
        for (const other of causes.slice(i + 1)) assert.ok(difference(one.seen, other.seen) >= 7, `${one.cause} and ${other.cause}, ${name}: ${difference(one.seen, other.seen).toFixed(1)}`);
      }
    }
  }
});

test("nor do they between their stripes, and these colours are paler than work", () => {
  for (const theme of [LIGHT_THEME, DARK_THEME]) {
    const pale = Object.values(theme.waiting).map((colour) => hex(between(pixel(colour), theme)));
    for (const vision of Object.values(SEEN)) {
      for (const [i, one] of pale.entries()) for (const other of pale.slice(i + 1)) assert.ok(difference(lab(one, vision), lab(other, vision)) >= 3.5, `${one} ${other}`);
    }
    const nearest = (colour: string) => difference(lab(colour, SEEN["all"]), lab(theme.background, SEEN["all"]));
    for (const [i, colour] of Object.values(theme.waiting).entries()) assert.ok(nearest(pale[i]) < nearest(colour));
  }
});
