// Marks with notes: in the address, and beside the run where the source can keep them.
import type { Mark } from "../model";
import type { Source } from "../source/source";
import type { Viewing } from "./view";

const QUIET = 500;
export const MOST_MARKS = 500;
export const LONGEST_NOTE = 1000;

const inOrder = (marks: readonly Mark[]): Mark[] => [...marks].sort((a, b) => a.time - b.time).slice(0, MOST_MARKS);

export function addMark(viewing: Viewing, time: number, text = ""): void {
  const mark = { time: Math.round(Math.min(Math.max(time, 0), viewing.run.length)), text };
  const marks = inOrder([...viewing.view.marks.filter((other) => other.time !== mark.time), mark]);
  viewing.store.set({ marks, newMark: mark.time, panel: "marks", panelOpen: true, said: "A mark is set." });
}

export function changeNote(viewing: Viewing, time: number, text: string): void {
  viewing.store.set({ marks: viewing.view.marks.map((mark) => (mark.time === time ? { time, text: text.slice(0, LONGEST_NOTE) } : mark)) });
}

export function removeMark(viewing: Viewing, time: number): void {
  viewing.store.set({ marks: viewing.view.marks.filter((mark) => mark.time !== time), said: "The mark is removed." });
}

/** 12:note;34:other */
export const writeMarks = (marks: readonly Mark[]): string => marks.map(({ time, text }) => `${time}:${encodeURIComponent(text)}`).join(";");

/** Invalid parts are ignored. */
export function readMarks(words: string): Mark[] {
  const marks = words.split(";").flatMap((word): Mark[] => {
    const parts = /^(\d{1,16}):([^:]*)$/.exec(word);
    try {
      return parts ? [{ time: Number(parts[1]), text: decodeURIComponent(parts[2]).slice(0, LONGEST_NOTE) }] : [];
    } catch {
      return [];
    }
  });
  return inOrder(marks);
}

/** Keeps the marks beside the run as they change. Returns a function that stops it. */
export function keepMarks(viewing: Viewing, source: Source): () => void {
  let kept = viewing.view.marks, timer: ReturnType<typeof setTimeout> | undefined;
  const keep = () => {
    kept = viewing.view.marks;
    source.keep(kept).then(
      (place) => viewing.store.set({ keptAt: place }),
      () => viewing.store.set({ keptAt: "" }),
    );
  };
  const end = viewing.store.subscribe(() => {
    if (viewing.view.marks === kept) return;
    clearTimeout(timer);
    timer = setTimeout(keep, QUIET);
  });
  return () => (clearTimeout(timer), end());
}
