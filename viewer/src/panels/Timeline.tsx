// The rows with their names, the time axis and the strip of the whole run.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, duration } from "../format";
import { NO_CALLS, WHERE_CALLS_ARE } from "../source/source";
import { SORTS, type Sort } from "../state/view";
import type { Row } from "../timeline/layout";
import { Empty } from "./cells";
import { useOpened, useStore, useView } from "./hooks";
import { Tooltip } from "./Tooltip";

/** The characters at the end of a name that are not cut. */
const TAIL = 6;
const DEFAULT_SIDE = 232, LEAST_SIDE = 90;

const SORT_WORDS: Record<Sort, string> = { order: "recorded", activity: "activity", name: "name" };

export function TimelineView() {
  const { run, timeline } = useOpened();
  const scroller = useRef<HTMLDivElement>(null), picture = useRef<HTMLCanvasElement>(null), overlay = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null), overview = useRef<HTMLCanvasElement>(null);
  useEffect(() => timeline.mount({
    scroller: scroller.current!, picture: picture.current!, overlay: overlay.current!, axis: axis.current!, overview: overview.current!,
  }), [timeline]);
  const { height } = useStore(timeline.shown);
  const { filter } = useView();
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="strip">
        <div class="side faint">{run.parts.length ? run.parts.map(({ letter }) => <div key={letter}>{letter}, whole run</div>) : "whole run"}</div>
        <canvas ref={overview} class="overview" aria-hidden="true" />
      </div>
      <div class="strip axis">
        <Controls />
        <canvas ref={axis} aria-hidden="true" />
      </div>
      <div ref={scroller} class="scroller" tabIndex={0} role="group" aria-label="Rows of calls. W, A, S and D zoom and move, Enter chooses a call, arrows go from call to call; ? lists all keys">
        <div class="space" style={{ height: `${height}px` }}>
          <div class="stage">
            <Gutter />
            <div class="pictures">
              <canvas ref={picture} aria-hidden="true" />
              <canvas ref={overlay} class="overlay" aria-hidden="true" />
            </div>
          </div>
        </div>
        {height === 0 && filter !== "" && <Empty>No row has a name like this.</Empty>}
      </div>
      {run.outline && <Beyond />}
      <SideSplitter />
      <Tooltip />
    </section>
  );
}

/** The resolution beyond which the picture gets no finer. */
function Beyond() {
  const { run, timeline } = useOpened();
  return <p class="beyond" role="status">{timeline.beyondOutline && `${NO_CALLS} Others are drawn no finer than ${duration(4 ** run.outline!.finest)}. ${WHERE_CALLS_ARE}`}</p>;
}

function Controls() {
  const { viewing } = useOpened();
  const { filter, sort } = useView();
  return (
    <div class="side controls">
      <input id="filter" type="search" placeholder="Filter rows" aria-label="Filter rows by name" value={filter}
        onInput={(event) => viewing.store.set({ filter: event.currentTarget.value })}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
      <FoldButtons />
      <select aria-label="Order of the rows" title="Order of the rows" value={sort} onChange={(event) => viewing.store.set({ sort: event.currentTarget.value as Sort, moved: new Map() })}>
        {SORTS.map((word) => <option key={word} value={word}>⇅ {SORT_WORDS[word]}</option>)}
      </select>
    </div>
  );
}

function FoldButtons() {
  const { viewing, timeline } = useOpened();
  return (
    <span class="folding" role="group" aria-label="Fold rows">
      <button aria-label="Fit the rows" title="Unfold the rows that fit (Z)" onClick={() => timeline.fitRows()}>⇕</button>
      <button aria-label="Unfold all rows" title="Unfold all rows (U)" onClick={() => viewing.foldAll("all")}>▾</button>
      <button aria-label="Fold all rows" title="Fold all rows (C)" onClick={() => viewing.foldAll("none")}>▸</button>
    </span>
  );
}

/** The border between names and calls, which can be moved. */
function SideSplitter() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const set = (next: number) => {
    const wide = Math.round(Math.max(LEAST_SIDE, Math.min(next, 0.6 * window.innerWidth)));
    setWidth(wide);
    document.documentElement.style.setProperty("--side", `${wide}px`);
  };
  const now = () => box.current!.offsetLeft + 3;
  return (
    <div ref={box} class="sidesplitter" role="separator" aria-orientation="vertical" aria-label="Width of the names" aria-valuenow={width || DEFAULT_SIDE} aria-valuemin={LEAST_SIDE} aria-valuemax={1000} tabIndex={0} data-keys="own"
      title="Drag to make room for names" onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && set(event.clientX)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowRight" ? 16 : event.key === "ArrowLeft" ? -16 : 0;
        if (by) event.preventDefault(), set(now() + by);
      }} />
  );
}

/** A name of which the middle is cut if there is no room: starts and ends tell names apart. */
export function CutName({ name }: { name: string }) {
  const end = name.length > TAIL + 3 ? name.length - TAIL : name.length;
  return <span class="name"><span class="head">{name.slice(0, end)}</span><span class="tail">{name.slice(end)}</span></span>;
}

function Gutter() {
  const { timeline } = useOpened();
  const { rows, top } = useStore(timeline.shown);
  return (
    <ul class="gutter side" aria-label="Rows">
      {rows.map((row) => <GutterRow key={`${row.id}${row.pinned ? "p" : ""}`} row={row} y={row.y - top} />)}
    </ul>
  );
}

/** The row that is being dragged. */
let dragged: Row | null = null;

/** A row moves among its siblings by dragging it, or by Alt and arrow keys if one of its buttons has the focus. */
function useMoving(row: Row) {
  const { timeline, viewing } = useOpened();
  const moveTo = (moved: Row, place: number, siblings: readonly number[]) => {
    viewing.move(moved.id, siblings, place, moved.pinned);
    viewing.store.set({ said: `${moved.name} is at place ${place + 1} of ${siblings.length}` });
  };
  return {
    draggable: viewing.view.filter === "",
    onDragStart: (event: DragEvent) => {
      dragged = row;
      event.dataTransfer?.setData("text/plain", row.name);
    },
    onDragEnd: () => void (dragged = null),
    onDragOver: (event: DragEvent) => {
      if (dragged && dragged.pinned === row.pinned && dragged.id !== row.id && timeline.siblings(dragged).includes(row.id)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      const siblings = dragged ? timeline.siblings(dragged) : [];
      const place = siblings.indexOf(row.id);
      if (dragged && place >= 0) moveTo(dragged, place, siblings);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const by = !event.altKey || viewing.view.filter !== "" ? 0 : event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
      if (!by) return;
      event.preventDefault();
      const siblings = timeline.siblings(row), place = siblings.indexOf(row.id) + by;
      if (place >= 0 && place < siblings.length) moveTo(row, place, siblings);
    },
  };
}

function GutterRow({ row, y }: { row: Row; y: number }) {
  const { run, viewing } = useOpened();
  const moving = useMoving(row);
  const { pinned } = viewing.view;
  const isPinned = pinned.includes(row.id);
  const location = row.kind === "location" ? run.locations[row.id] : null;
  const about = [row.name, row.detail, location && `${count(location.events)} events, ${count(location.depth)} levels`].filter(Boolean).join("\n");
  const deep = row.lines > 0 && (row.levels > row.lines || row.tall);
  return (
    <li {...moving} class={`row ${row.kind} ${row.pinned ? "pinned" : ""}`} style={{ top: `${y}px`, height: `${row.height}px`, paddingLeft: `${4 + row.indent * 14}px` }} title={about}>
      <div class="rowline" style={{ marginTop: `${Math.max(0, Math.min(-y, row.height - 21))}px` }}>
        {row.canOpen
          ? <button class="fold" aria-expanded={row.open} aria-label={`${row.open ? "Fold" : "Unfold"} ${row.name}`} onClick={() => viewing.fold(row.id, !row.open)}>{row.open ? "▾" : "▸"}</button>
          : <span class="fold" />}
        <CutName name={row.name} />
        {row.height < 40 && row.detail && <span class="faint detail">{row.detail}</span>}
        <button class={`pin ${isPinned ? "on" : ""}`} aria-pressed={isPinned} aria-label={`Pin ${row.name} to the top`} title="Pin to the top" onClick={() => viewing.pin(row.id)}>
          <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path fill="currentColor" d="M9.8 1 15 6.2l-1.4.4-2.9 2.9.1 3.1-1.2 1.2-3-3L2.4 15 1 13.6l4.2-4.2-3-3 1.2-1.2 3.1.1 2.9-2.9z" /></svg>
        </button>
      </div>
      {row.height >= 40 && location && <div class="faint under">{count(location.events)} events</div>}
      {row.kind === "counter" && row.detail && <div class="faint under">{row.detail}</div>}
      {deep && row.height >= 60 && (
        <button class="link under" onClick={() => viewing.toggleTall(row.id)}>
          {row.tall ? `only ${row.few} levels` : `${row.lines} of ${row.levels} levels: show all`}
        </button>
      )}
    </li>
  );
}
