// Elements that tables share.
import type { ComponentChildren } from "preact";
import { duration } from "../format";

interface Inside {
  children?: ComponentChildren;
  title?: string | undefined;
}

/** A cell with a number. */
export const Cell = ({ children, title }: Inside) => <td class="number" title={title}>{children}</td>;

/** A time that may be estimated. */
export const guessed = (ticks: number, error = 0): ComponentChildren => (error ? <span title={`± ${duration(error)}, estimated from samples: calls were left out for --overhead`}>~{duration(ticks)}</span> : duration(ticks));

/** The head of a column of numbers. */
export const Head = ({ children, title }: Inside) => <th scope="col" class="number" title={title}>{children}</th>;

/** The words in place of a table. */
export const Empty = ({ children }: Inside) => <p class="empty">{children}</p>;

/** Where a function is wanted. */
export const NoFunction = () => <Empty>Choose a function: by its name in the tab Functions, or by a click on one of its calls.</Empty>;

/** A box that the keyboard scrolls, and its name for screen readers. */
export const scrolled = (words: string) => ({ tabIndex: 0, "data-keys": "own", role: "region", "aria-label": words }) as const;

/** The name of a region that is in no definition. */
export const BEYOND = "(calls beyond the limit of call paths)";
