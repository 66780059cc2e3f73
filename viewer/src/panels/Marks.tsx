// The marks and their notes.
import { useEffect, useRef } from "preact/hooks";
import { instant } from "../format";
import { changeNote, LONGEST_NOTE, removeMark } from "../state/marks";
import { around } from "../timeline/scale";
import { useOpened, useView } from "./hooks";

export function MarksPanel() {
  const { viewing, navigator } = useOpened();
  const { marks, newMark, keptAt } = useView();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (newMark === null) return;
    box.current?.querySelectorAll("input")[marks.findIndex((mark) => mark.time === newMark)]?.focus();
    viewing.store.set({ newMark: null });
  }, [newMark]);
  const show = (time: number) => {
    const { begin, end } = viewing.view.range;
    if (time < begin || time > end) viewing.show(around(time - (end - begin) / 2, time + (end - begin) / 2, viewing.whole));
  };
  return (
    <div class="marks tablebox" role="region" aria-label="Marks" tabIndex={0} data-keys="own" ref={box}>
      <p><button title="At the pointer, at the chosen call or in the middle (M)" onClick={() => navigator.mark()}>Set a mark</button> <span class="faint">{placeOf(keptAt)}</span></p>
      <table><tbody>
        {marks.map(({ time, text }, i) => (
          <tr key={time}>
            <th scope="row" class="number"><button class="link" onClick={() => show(time)}><b>{i + 1}</b> {instant(time, 1000)}</button></th>
            <td><input value={text} maxLength={LONGEST_NOTE} aria-label={`Note of mark ${i + 1}`} placeholder="note" onInput={(event) => changeNote(viewing, time, event.currentTarget.value)}
              onKeyDown={(event) => (event.key === "Escape" || event.key === "Enter") && event.currentTarget.blur()} /></td>
            <td><button aria-label={`Remove mark ${i + 1}`} onClick={() => removeMark(viewing, time)}>✕</button></td>
          </tr>
        ))}
      </tbody></table>
    </div>
  );
}

function placeOf(kept: string | null): string {
  if (kept === null) return "Marks are in the address of the page: “Copy link” takes them along.";
  return kept ? `Kept in ${kept}, and in the address of the page.` : "Marks are kept in the address of the page only: there is no place beside the run that can be written.";
}
