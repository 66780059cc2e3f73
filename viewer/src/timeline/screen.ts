// The canvases of the rows with their sizes, and the items that they show.
import type { CallDetails, CallRef } from "../model";
import type { Hit } from "./hit";
import type { Row } from "./layout";
import type { Spoken } from "./talk";

/** The item under the pointer. */
export interface Hover {
  readonly hit: Hit | null;
  readonly details: CallDetails | null;
  /** A message, a collective operation or a sample, which lie above the calls or below them. */
  readonly spoken: Spoken | null;
  readonly x: number;
  readonly y: number;
}

export interface Elements {
  readonly scroller: HTMLElement;
  readonly picture: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly axis: HTMLCanvasElement;
  readonly overview: HTMLCanvasElement;
}

/** The rows of the gutter. */
export interface Shown {
  readonly rows: readonly Row[];
  readonly top: number;
  readonly height: number;
}

export const sameCall = (a: CallRef, b: CallRef) => a.track === b.track && a.depth === b.depth && a.begin === b.begin;

/** Gives a canvas the number of pixels of its place; returns its size in CSS pixels. */
export function fit(canvas: HTMLCanvasElement, ratio: number): { width: number; height: number } {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  return { width, height };
}

export function context(canvas: HTMLCanvasElement, ratio: number): CanvasRenderingContext2D {
  const result = canvas.getContext("2d")!;
  result.setTransform(ratio, 0, 0, ratio, 0, 0);
  return result;
}
