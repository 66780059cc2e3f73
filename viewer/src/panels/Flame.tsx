// The flame graph of the selection: all calls of a path merged, the longest on the left.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { textUpon } from "../colour";
import { count, duration, percent, shortName } from "../format";
import { NONE } from "../model";
import { callTree, type Node } from "../profile";
import { type Box, boxesOf } from "../timeline/flame";
import { shortened } from "../timeline/renderer";
import { type Opened, type Profiled, useOpened } from "./hooks";

const LINE = 19;

/** The flame graph of one profile, in the colours of the timeline. */
export function ProfileFlame({ data }: { data: Profiled }) {
  const { run, timeline, theme } = useOpened();
  const root = useMemo(() => callTree(data.profile, data.paths, run.regions), [data]);
  return <Flame root={root} colourOf={(node) => (node.region === NONE ? theme.nothing : timeline.styleOf(node.region))}
    words={(node) => `${duration(node.total)} (${percent(node.total, root.total)}) · own ${duration(node.own)}${node.waiting > 0 ? `, waiting ${duration(node.waiting)}` : ""}${node.visits > 0 ? ` · ${count(node.visits)} visits` : ""}`} />;
}

interface Props<N extends Node> {
  root: N;
  colourOf: (node: N) => string;
  words: (node: N) => string;
  legend?: ComponentChildren;
}

/** REQUIRES: children of a node have its type. */
export function Flame<N extends Node>({ root, colourOf, words, legend }: Props<N>) {
  const opened = useOpened();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [path, setPath] = useState<readonly number[]>([]);
  const [pointed, setPointed] = useState<Box | null>(null);
  const [width, setWidth] = useState(0);
  const top = descend(root, path);
  const boxes = useMemo(() => boxesOf(top, width ? 1 / width : 1), [top, width]);
  const lines = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => draw(canvas.current!, boxes, pointed, opened, (node) => colourOf(node as N)), [boxes, pointed, width, opened.theme]);
  const at = (event: MouseEvent) => {
    const x = event.offsetX / width, depth = Math.floor(event.offsetY / LINE);
    return boxes.find((box) => box.depth === depth && x >= box.left && x < box.left + box.width) ?? null;
  };
  const zoomTo = (box: Box | null) => {
    if (!box) return;
    setPointed(null);
    setPath(box.node === top ? path.slice(0, -1) : [...path, ...pathTo(top, box.node)]);
  };
  const shown = pointed?.node ?? top;
  return (
    <div class="flame">
      <p class="line" aria-live="off">
        {path.length > 0 && <button onClick={() => setPath([])}>all</button>}
        {path.length > 0 && <button onClick={() => setPath(path.slice(0, -1))}>up</button>}
        <b>{nameOf(shown, opened)}</b>
        <span class="faint">{words(shown as N)}</span>
        {legend}
      </p>
      <div class="tablebox" tabIndex={0} data-keys="own" role="region" aria-label="Flame graph. The same data are in the tab Call tree">
        <canvas ref={canvas} style={{ height: `${lines * LINE}px` }} aria-hidden="true"
          onMouseMove={(event) => setPointed(at(event))} onMouseLeave={() => setPointed(null)} onClick={(event) => zoomTo(at(event))} />
      </div>
    </div>
  );
}

const nameOf = (node: Node, { run }: Opened): string => (node.region === NONE ? "all calls" : run.regions[node.region]?.name ?? "(calls beyond the limit of call paths)");

/** The node at the end of a path of regions, or the last one on it that exists. */
function descend(root: Node, path: readonly number[]): Node {
  let node = root;
  for (const region of path) node = node.children.find((child) => child.region === region) ?? node;
  return node;
}

function pathTo(from: Node, to: Node): number[] {
  for (const child of from.children) {
    if (child === to) return [child.region];
    const rest = pathTo(child, to);
    if (rest.length) return [child.region, ...rest];
  }
  return [];
}

function draw(canvas: HTMLCanvasElement, boxes: readonly Box[], pointed: Box | null, opened: Opened, colourOf: (node: Node) => string): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const box of boxes) drawBox(context, box, width, box === pointed, opened, colourOf(box.node));
}

function drawBox(context: CanvasRenderingContext2D, box: Box, width: number, pointed: boolean, opened: Opened, colour: string): void {
  const { run, theme } = opened;
  const x = box.left * width, wide = box.width * width, y = box.depth * LINE;
  context.fillStyle = colour;
  context.fillRect(x, y, Math.max(0.6, wide - (wide > 2 ? 1 : 0)), LINE - 1);
  if (pointed) {
    context.strokeStyle = theme.text;
    context.strokeRect(x + 0.5, y + 0.5, wide - 1.5, LINE - 2);
  }
  if (wide < 30) return;
  const region = run.regions[box.node.region];
  const text = cut(context, region ? shortName(region.name, region.module) : nameOf(box.node, opened), wide - 9);
  context.fillStyle = textUpon(colour);
  context.fillText(text, x + 4, y + LINE / 2);
}

function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = context.measureText(text).width;
  return width <= room ? text : shortened(context, text, room, width);
}
