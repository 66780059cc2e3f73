// Undo of zooms: the visible ranges, one for each gesture.
import type { Range } from "../timeline/scale";

export class History {
  private readonly past: Range[] = [];
  private readonly future: Range[] = [];
  private last = -Infinity;

  /** Keeps `range`, which the view leaves at the time `now` (ms). Moves in quick succession are one gesture. */
  leave(range: Range, now: number): void {
    if (now - this.last > 400) {
      this.past.push(range);
      if (this.past.length > 200) this.past.shift();
      this.future.length = 0;
    }
    this.last = now;
  }

  /** The previous range, if there is one; `range` is the visible one. */
  back(range: Range): Range | null {
    return this.swap(this.past, this.future, range);
  }

  forward(range: Range): Range | null {
    return this.swap(this.future, this.past, range);
  }

  private swap(from: Range[], to: Range[], range: Range): Range | null {
    const result = from.pop();
    if (!result) return null;
    to.push(range);
    this.last = -Infinity;
    return result;
  }
}
