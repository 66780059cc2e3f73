// The filter field at the head of a table.
import { useMemo } from "preact/hooks";
import { nameFilter } from "../source/match";
import { useOpened, useView } from "./hooks";

export interface Sought {
  /** True if no row is left out. */
  readonly all: boolean;
  readonly keeps: (name: string, file: string) => boolean;
  /** The error in the expression; no row is kept then. */
  readonly wrong: string;
}

export function useSought(): Sought {
  const { only } = useView();
  return useMemo(() => {
    try {
      return { all: only.trim() === "", keeps: nameFilter(only), wrong: "" };
    } catch (error) {
      return { all: false, keeps: () => false, wrong: (error as Error).message };
    }
  }, [only]);
}

export function SoughtField() {
  const { viewing } = useOpened();
  const { only } = useView();
  return <input class="sought" type="search" placeholder="Filter" aria-label="Only rows with this in their name, or in this file" title="A part of the name, the end of a file’s name, or /a regular expression/" value={only}
    onInput={(event) => viewing.store.set({ only: event.currentTarget.value })} onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />;
}

/** The reason why a table is empty. */
export function NoRows({ sought: { all, wrong } }: { sought: Sought }) {
  return <p class="empty" role="status">{wrong || (all ? "No call in this stretch of time." : "Nothing here has a name like this.")}</p>;
}
