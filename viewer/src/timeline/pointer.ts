// Mouse, pen and touch on the rows.
import type { Viewing } from "../state/view";
import { move, toTime } from "./scale";

export type Edge = "begin" | "end";

/** The actions of the rows for the pointer; x and y are CSS pixels of the picture. */
export interface Surface {
  readonly width: number;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  /** Called while a range is drawn; null at its end. */
  rubber(from: { x: number; y: number } | null, to: { x: number; y: number }): void;
  selected(from: { x: number; y: number }, to: { x: number; y: number }): void;
  /** The edge of the selection at a position. */
  edgeAt(x: number): Edge | null;
  /** Moves an edge there; returns which of the two it is then. */
  moveEdge(edge: Edge, x: number): Edge;
  scrollBy(pixels: number): void;
  /** True if there are more rows than are visible. */
  canScroll(): boolean;
}

const CLICK = 4;

export class Pointer {
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private start: { x: number; y: number } | null = null;
  private last = { x: 0, y: 0 };
  private panning = false;
  /** The edge of the selection that is being dragged. */
  private edge: Edge | null = null;
  private moved = false;

  constructor(private readonly element: HTMLElement, private readonly viewing: Viewing, private readonly surface: Surface) {
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.moving(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", (event) => this.cancel(event));
    element.addEventListener("pointerleave", () => surface.leave());
    element.addEventListener("dblclick", (event) => surface.doubleClick(event.offsetX, event.offsetY));
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  private down(event: PointerEvent): void {
    if (event.button > 1) return;
    this.element.setPointerCapture(event.pointerId);
    const place = (this.last = { x: event.offsetX, y: event.offsetY });
    if (event.pointerType === "touch") this.fingers.set(event.pointerId, place);
    this.panning = event.button === 1 || event.shiftKey || event.pointerType === "touch";
    this.start = place;
    this.edge = this.panning ? null : this.surface.edgeAt(place.x);
    this.moved = this.fingers.size > 1;
    if (event.button === 1) event.preventDefault();
  }

  private moving(event: PointerEvent): void {
    const place = { x: event.offsetX, y: event.offsetY };
    if (!this.start) {
      this.element.style.cursor = this.surface.edgeAt(place.x) ? "ew-resize" : "";
      return this.surface.hover(place.x, place.y);
    }
    if (!this.moved && Math.hypot(place.x - this.start.x, place.y - this.start.y) < CLICK) return;
    this.moved = true;
    if (this.fingers.size === 2) this.pinch(event.pointerId, place);
    else if (this.panning) this.pan(place);
    else if (this.edge) this.edge = this.surface.moveEdge(this.edge, place.x);
    else this.surface.rubber(this.start, place);
    this.last = place;
  }

  private pan(place: { x: number; y: number }): void {
    const { view, whole } = this.viewing;
    const perPixel = (view.range.end - view.range.begin) / this.surface.width;
    this.viewing.show(move(view.range, (this.last.x - place.x) * perPixel, whole));
    this.surface.scrollBy(this.last.y - place.y);
  }

  private pinch(id: number, place: { x: number; y: number }): void {
    const other = [...this.fingers].find(([finger]) => finger !== id)![1];
    const before = this.fingers.get(id)!;
    const [old, now] = [Math.abs(before.x - other.x), Math.abs(place.x - other.x)];
    if (old > 8 && now > 8) this.viewing.zoom(this.time((place.x + other.x) / 2), old / now);
    this.fingers.set(id, place);
  }

  private up(event: PointerEvent): void {
    const place = { x: event.offsetX, y: event.offsetY };
    if (this.start && !this.moved) this.surface.click(place.x, place.y);
    else if (this.start && !this.panning && !this.edge) this.surface.selected(this.start, place);
    this.cancel(event);
  }

  private cancel(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.start = null;
    this.surface.rubber(null, this.last);
  }

  private wheel(event: WheelEvent): void {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const sideways = event.shiftKey || Math.abs(dx) > Math.abs(dy);
    if (event.ctrlKey || event.metaKey || (!sideways && !this.surface.canScroll())) {
      event.preventDefault();
      this.viewing.zoom(this.time(event.offsetX), Math.exp(Math.max(-100, Math.min(100, dy)) * 0.004));
    } else if (sideways) {
      event.preventDefault();
      this.viewing.moveBy((dx || dy) / this.surface.width);
    }
  }

  private time(x: number): number {
    return toTime(this.viewing.view.range, this.surface.width, x);
  }
}
