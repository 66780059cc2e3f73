// The edge above the panel, which the mouse or the arrow keys move.
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";

const LEAST = 120, STEP = 30;

export function Splitter({ of }: { of: RefObject<HTMLElement> }) {
  const start = useRef<{ y: number; height: number } | null>(null);
  const [now, setNow] = useState(LEAST);
  const most = Math.max(LEAST, window.innerHeight - 260);
  const resize = (height: number) => {
    const pixels = Math.round(Math.max(LEAST, Math.min(most, height)));
    of.current!.style.height = `${pixels}px`;
    setNow(pixels);
  };
  const height = () => of.current!.getBoundingClientRect().height;
  return (
    <div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the panel" aria-valuenow={now} aria-valuemin={LEAST} aria-valuemax={most} tabIndex={0} data-keys="own"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { y: event.clientY, height: height() };
      }}
      onPointerMove={(event) => start.current && resize(start.current.height + start.current.y - event.clientY)}
      onPointerUp={() => (start.current = null)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        resize(height() + (event.key === "ArrowUp" ? STEP : -STEP));
      }} />
  );
}
