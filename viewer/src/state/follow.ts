// Follows a run that is still recorded: asks the server for its newest state, and shows it.
import type { CallRef, Run } from "../model";
import type { LiveSource } from "../source/live";
import type { Source } from "../source/source";
import { type Activity, activityOf } from "../timeline/activity";
import type { Timeline } from "../timeline/timeline";
import { movesOf } from "./grow";
import type { Viewing } from "./view";

/** ms between two questions, and after one without an answer. */
const PAUSE = 250, LONG_PAUSE = 2000;

interface Shown {
  readonly viewing: Viewing;
  readonly timeline: Timeline;
  readonly source: LiveSource;
  readonly activity: Activity | null;
  /** Gives the components the new run. */
  readonly show: (run: Run) => void;
  /** Searches again, because numbers have changed. */
  readonly findAgain: () => void;
}

/**
 * The call in the newest state; null: nothing of it has changed. Times move by some ns from state to state, since the
 * clocks are compared again and again; so its start may lie outside of it now, but hardly its middle.
 */
export async function callNow(source: Pick<Source, "call">, call: CallRef): Promise<CallRef | null> {
  const now = await source.call(call.track, call.depth, Math.floor((call.begin + call.end) / 2), new AbortController().signal);
  return now && now.region === call.region && (now.begin !== call.begin || now.end !== call.end) ? now : null;
}

/** Ends by itself with the woven run. Returns a function that ends it at once. */
export function followRun({ viewing, timeline, source, activity: first, show, findAgain }: Shown): () => void {
  let ended = false, activity = first, judged = viewing.run;
  const take = async (state: number, woven: boolean) => {
    const run = await source.take(state), { same, ...moves } = movesOf(viewing.run, run);
    // The rows that are unfolded at first, and their work, are judged again as the run becomes longer.
    const refit = !same || woven || run.locations.length !== judged.locations.length || run.length > 2 * judged.length;
    if (refit) activity = await activityOf(source, run), judged = run;
    if (ended) return;
    viewing.grow(run, { ...moves, same });
    timeline.grow(activity, same, refit);
    show(run);
    if (!same && viewing.view.found) findAgain();
    await renewCall();
  };
  /** A chosen call may have ended, or lasts longer now. */
  const renewCall = async () => {
    const { call } = viewing.view;
    const now = call && (await callNow(source, call));
    if (now && viewing.view.call === call) viewing.store.set({ call: now });
  };
  const step = async (): Promise<boolean> => {
    if (document.hidden || !timeline.settled) return true;
    const live = await source.live(), woven = live.stage === "woven";
    if (live.state !== source.state) await take(live.state, woven);
    if (ended) return false;
    viewing.store.set({ live, ...(woven ? { following: false, said: "The program has ended. This is the whole run." } : {}) });
    return !woven;
  };
  const run = async () => {
    while (!ended) {
      let pause = PAUSE;
      const more = await step().catch((error: Error) => {
        const message = error.name === "AbortError" ? "" : error.message;
        if (message && viewing.view.live) viewing.store.set({ live: { ...viewing.view.live, stage: "lost", message } });
        pause = LONG_PAUSE;
        return true;
      });
      if (!more) return;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  viewing.store.set({ live: source.known });
  void run();
  return () => void (ended = true);
}
