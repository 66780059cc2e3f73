import { render } from "preact";
import { App } from "./panels/App";
import { open } from "./source/embedded";
import { generated } from "./source/generated";
import { HttpSource } from "./source/http";
import type { Source } from "./source/source";
import { takeToken } from "./state/link";

/** Set by build.mjs: the page contains a generated run, for use without a server. */
declare const DEMO: boolean;

/** Pages can be built with two different runs. */
const demo = (): Source[] => (location.search === "?two" ? [generated(), generated(2, 0.8)] : [generated()]);

/** One run, or two for a comparison. */
async function sources(): Promise<Source[]> {
  if (DEMO) return demo();
  const data = [...document.querySelectorAll("script[type='application/octet-stream']")];
  if (!data.length) return new HttpSource(takeToken()).all();
  const texts = data.map((element) => element.textContent ?? "");
  data.forEach((element) => element.remove());
  return Promise.all(texts.map(open));
}

render(<App open={sources} />, document.getElementById("app")!);
