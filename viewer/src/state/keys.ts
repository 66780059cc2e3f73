// The keys and their actions; the help page shows the same list.
import type { Viewing } from "./view";

export interface Commands {
  readonly viewing: Viewing;
  /** Goes from the chosen call to another. */
  walk(way: "caller" | "callee" | "left" | "right"): void;
  step(way: "next" | "previous" | "longest"): void;
  nextHit(by: number): void;
  scroll(pixels: number): void;
  focusFind(): void;
  focusFilter(): void;
  selectCall(): void;
  fitRows(): void;
  mark(): void;
}

export interface Key {
  readonly keys: readonly string[];
  readonly shown: string;
  readonly words: string;
  readonly run: (commands: Commands) => void;
}

const walkOr = (way: "caller" | "callee" | "left" | "right", otherwise: (commands: Commands) => void) => (commands: Commands) => {
  if (commands.viewing.view.call) commands.walk(way); else otherwise(commands);
};

export const KEYS: readonly Key[] = [
  { keys: ["w", "+", "="], shown: "W  +", words: "zoom in", run: ({ viewing }) => viewing.zoomBy(0.6) },
  { keys: ["s", "-"], shown: "S  −", words: "zoom out", run: ({ viewing }) => viewing.zoomBy(1 / 0.6) },
  { keys: ["a"], shown: "A", words: "earlier", run: ({ viewing }) => viewing.moveBy(-0.2) },
  { keys: ["d"], shown: "D", words: "later", run: ({ viewing }) => viewing.moveBy(0.2) },
  { keys: ["ArrowLeft"], shown: "←", words: "earlier; with a chosen call: the call before it at its depth", run: walkOr("left", ({ viewing }) => viewing.moveBy(-0.1)) },
  { keys: ["ArrowRight"], shown: "→", words: "later; with a chosen call: the call after it", run: walkOr("right", ({ viewing }) => viewing.moveBy(0.1)) },
  { keys: ["ArrowUp"], shown: "↑", words: "scroll up; with a chosen call: its caller", run: walkOr("caller", (commands) => commands.scroll(-60)) },
  { keys: ["ArrowDown"], shown: "↓", words: "scroll down; with a chosen call: the first call inside it", run: walkOr("callee", (commands) => commands.scroll(60)) },
  { keys: ["PageUp"], shown: "Page ↑", words: "scroll up by a page", run: (commands) => commands.scroll(-400) },
  { keys: ["PageDown"], shown: "Page ↓", words: "scroll down by a page", run: (commands) => commands.scroll(400) },
  { keys: ["0", "Home"], shown: "0  Home", words: "the whole run", run: ({ viewing }) => viewing.showAll() },
  { keys: ["e"], shown: "E", words: "a program that runs: keep the visible range, or follow the end", run: ({ viewing }) => viewing.view.live && viewing.toggleFollow() },
  { keys: ["9"], shown: "9", words: "a program that runs: follow with the last minute", run: ({ viewing }) => viewing.view.live && viewing.lastMinute() },
  { keys: ["f"], shown: "F", words: "fit the selection, or else the chosen call", run: ({ viewing }) => viewing.fit() },
  { keys: ["Backspace"], shown: "Backspace", words: "back to the zoom before", run: ({ viewing }) => viewing.back() },
  { keys: ["Shift+Backspace"], shown: "Shift Backspace", words: "forward again", run: ({ viewing }) => viewing.forward() },
  { keys: ["Enter"], shown: "Enter", words: "choose the first call that is shown", run: (commands) => commands.walk("callee") },
  { keys: [","], shown: ",", words: "previous call of the same function", run: (commands) => commands.step("previous") },
  { keys: ["."], shown: ".", words: "next call of the same function", run: (commands) => commands.step("next") },
  { keys: ["l"], shown: "L", words: "longest call of the same function", run: (commands) => commands.step("longest") },
  { keys: ["r"], shown: "R", words: "select the time of the chosen call", run: (commands) => commands.selectCall() },
  { keys: ["v"], shown: "V", words: "select all that is shown", run: ({ viewing }) => viewing.select({ ...viewing.view.range, tracks: null }) },
  { keys: ["m"], shown: "M", words: "mark this moment: where the pointer is, or the chosen call begins", run: (commands) => commands.mark() },
  { keys: ["/"], shown: "/", words: "find calls", run: (commands) => commands.focusFind() },
  { keys: ["n"], shown: "N", words: "next hit", run: (commands) => commands.nextHit(1) },
  { keys: ["Shift+N"], shown: "Shift N", words: "previous hit", run: (commands) => commands.nextHit(-1) },
  { keys: ["t"], shown: "T", words: "filter the rows by name", run: (commands) => commands.focusFilter() },
  { keys: ["z"], shown: "Z", words: "unfold the rows that fit into the window", run: (commands) => commands.fitRows() },
  { keys: ["u"], shown: "U", words: "unfold all rows", run: ({ viewing }) => viewing.foldAll("all") },
  { keys: ["c"], shown: "C", words: "fold all rows", run: ({ viewing }) => viewing.foldAll("none") },
  { keys: ["1"], shown: "1 – 5", words: "functions, modules, call tree, flame graph, source", run: ({ viewing }) => viewing.openPanel("functions") },
  { keys: ["2"], shown: "", words: "", run: ({ viewing }) => viewing.openPanel("modules") },
  { keys: ["3"], shown: "", words: "", run: ({ viewing }) => viewing.openPanel("tree") },
  { keys: ["4"], shown: "", words: "", run: ({ viewing }) => viewing.openPanel("flame") },
  { keys: ["5"], shown: "", words: "", run: ({ viewing }) => viewing.openPanel("source") },
  { keys: ["6"], shown: "6", words: "messages between processes", run: ({ viewing }) => viewing.openPanel("messages") },
  { keys: ["o"], shown: "O", words: "time of day, or time since the start", run: ({ viewing }) => viewing.showClock(!viewing.view.clock) },
  { keys: ["x"], shown: "X", words: "hide or show messages", run: ({ viewing }) => viewing.store.set({ quiet: !viewing.view.quiet }) },
  { keys: ["p"], shown: "P", words: "open or close the panel below", run: ({ viewing }) => viewing.store.set({ panelOpen: !viewing.view.panelOpen }) },
  { keys: ["?"], shown: "?", words: "this list", run: ({ viewing }) => viewing.store.set({ help: !viewing.view.help }) },
  { keys: ["Escape"], shown: "Esc", words: "close, or drop the chosen call, then the selection", run: escape },
];

function escape({ viewing }: Commands): void {
  const { help, call, message, selection, found, findError, panelOpen } = viewing.view;
  if (help) viewing.store.set({ help: false });
  else if (message) viewing.store.set({ message: null });
  else if (call) viewing.choose(null);
  else if (selection) viewing.select(null);
  else if (found || findError) viewing.store.set({ found: null, density: null, findError: null, find: "", hit: -1 });
  else if (panelOpen) viewing.store.set({ panelOpen: false });
}

/** Listens on the whole page, except in text fields and in controls with their own keys. */
export function listenToKeys(commands: Commands): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.closest("input, select, textarea")) return;
    if (target.closest("button, a, summary, [role=tab]") && (event.key === "Enter" || event.key === " ")) return;
    if (target.closest("[data-keys=own]") && /^(Arrow|Page|Home|End|Enter)/.test(event.key)) return;
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const name = event.shiftKey && (letter === "n" || letter === "Backspace") ? `Shift+${letter === "n" ? "N" : letter}` : letter;
    const key = KEYS.find((candidate) => candidate.keys.includes(name));
    if (!key) return;
    event.preventDefault();
    key.run(commands);
  };
  document.addEventListener("keydown", listener);
  return () => document.removeEventListener("keydown", listener);
}
