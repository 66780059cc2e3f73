// The positions of the boxes of a flame graph.
import type { Node } from "../profile";

export interface Box {
  readonly node: Node;
  readonly depth: number;
  /** Fractions of the width. */
  readonly left: number;
  readonly width: number;
}

/** The boxes of a tree from `root` down that are at least `smallest` wide, the longest first or in the order of a name. */
export function boxesOf(root: Node, smallest: number, nameOf?: (node: Node) => string): Box[] {
  const boxes: Box[] = [];
  const whole = root.total || 1;
  let level: Box[] = [{ node: root, depth: 0, left: 0, width: 1 }];
  while (level.length) {
    boxes.push(...level);
    const next: Box[] = [];
    for (const box of level) {
      let left = box.left;
      const { children } = box.node;
      for (const node of nameOf ? [...children].sort((a, b) => nameOf(a).localeCompare(nameOf(b), "en")) : children) {
        const width = node.total / whole;
        if (width >= smallest) next.push({ node, depth: box.depth + 1, left, width });
        left += width;
      }
    }
    level = next;
  }
  return boxes;
}
