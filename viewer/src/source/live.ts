// A run that is still recorded, served by `timeloom view`: it has states, each with numbers of its own.
import type { Progress, Run } from "../model";
import { HttpSource } from "./http";
import { forgetPaths, SourceError } from "./source";

/** The newest state of the server, and the reading of it; times in seconds. */
export interface Live {
  /** 0: there is none yet. */
  readonly state: number;
  readonly stage: "reading" | "running" | "weaving" | "woven" | "lost";
  /** Since the server has read it, and the time that this took. */
  readonly age: number;
  readonly look: number;
  readonly events: number;
  readonly message: string;
}

const PAUSE = 200;

export class LiveSource extends HttpSource {
  /** The state that the questions are about. */
  state = 0;
  /** The last answer of live(). */
  known: Live | null = null;

  async live(): Promise<Live> {
    return (this.known = (await (await this.askServer("live")).json()) as Live);
  }

  override async run(progress: (state: Progress) => void): Promise<Run> {
    for (;;) {
      const live = await this.live();
      if (live.state) return this.take(live.state);
      if (live.stage === "lost") throw new SourceError("This run cannot be followed.", live.message);
      progress({ state: "indexing", events: live.events, total: 0, message: "" });
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  /** Asks about this state from now on. */
  async take(state: number): Promise<Run> {
    const run = await this.describe(`@${state}/`);
    this.place = `@${state}/`;
    this.state = state;
    forgetPaths(this);
    return run;
  }
}
