import { render } from "preact";
import { App } from "./panels/App";
import { open } from "./source/embedded";
import { generated } from "./source/generated";
import { remembering } from "./source/generated_memory";
import { HttpSource } from "./source/http";
import { LiveSource } from "./source/live";
import type { Source } from "./source/source";
import { takeToken } from "./state/link";

/** Set by build.mjs: the page contains a generated run, for use without a server. */
declare const DEMO: boolean;

/** Pages can be built with two different runs, or with one that has memory. */
const demo = async (): Promise<Source[]> => (location.search === "?two" ? [generated(), generated(2, 0.8)] : [location.search === "?memory" ? await remembering() : generated()]);

async function served(token: string): Promise<Source[]> {
  const first = new HttpSource(token), { runs, live } = await first.served();
  if (live) return [new LiveSource(token)];
  return runs > 1 ? [first, new HttpSource(token, "2/")] : [first];
}

/** One run, or two for a comparison. */
async function sources(): Promise<Source[]> {
  if (DEMO) return demo();
  const data = [...document.querySelectorAll("script[type='application/octet-stream']")];
  if (!data.length) return served(takeToken());
  const texts = data.map((element) => element.textContent ?? "");
  data.forEach((element) => element.remove());
  return Promise.all(texts.map(open));
}

render(<App open={sources} />, document.getElementById("app")!);
