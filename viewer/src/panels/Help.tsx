// The keys, and the meaning of the colours.
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "../state/keys";
import { useOpened } from "./hooks";

export function Help() {
  const { viewing } = useOpened();
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current!.showModal(), []);
  const close = () => viewing.store.set({ help: false });
  return (
    <dialog ref={box} aria-labelledby="help-title" onClose={close} onClick={(event) => event.target === box.current && close()}>
      <div class="help">
        <h2 id="help-title">Keys and mouse</h2>
        <button class="plain close" aria-label="Close" onClick={close}>×</button>
        <div class="columns">
          <table>
            <tbody>
              {KEYS.filter((key) => key.shown).map((key) => <tr key={key.shown}><th scope="row"><kbd>{key.shown}</kbd></th><td>{key.words}</td></tr>)}
            </tbody>
          </table>
          <div>
            <dl>
              <dt>Wheel</dt><dd>scrolls the rows; zooms when there is nothing to scroll</dd>
              <dt>Ctrl + wheel, pinch</dt><dd>zooms where the pointer is</dd>
              <dt>Shift + wheel, sideways</dt><dd>moves in time</dd>
              <dt>Drag</dt><dd>selects a stretch of time on the rows that the pointer touches: the panel below has its profile; its edges can be dragged</dd>
              <dt>Shift + drag, middle button, one finger</dt><dd>moves</dd>
              <dt>Drag a row’s name; Alt + ↑ ↓ on its buttons</dt><dd>moves the row among those of the same process</dd>
              <dt>Click, double click</dt><dd>chooses a call, zooms to it</dd>
            </dl>
            <h3>What is drawn</h3>
            <p>Each of the user’s functions has a colour; functions of libraries are grey. The pale, striped upper part of a call is waiting: its height is its share of the time. Where the causes of waiting were recorded (timeloom run --causes), each has its colour, and the legend names them. Where calls are thinner than a pixel, the colour is as strong as the part of the time that they cover. A row that is folded shows the function with most own time. Ticks below the calls of a thread are samples of its CPU time (timeloom run --sample), in the colour of the function that they hit. The strip at the top is as high as the part of all rows that is active. Grey stripes: recording was off. Arrows of a chosen call lead from who created, awaited or woke its thread or task, and to whom it did so.</p>
          </div>
        </div>
      </div>
    </dialog>
  );
}
