import { render } from "preact";
import { App } from "./panels/App";
import { open } from "./source/embedded";
import { generated } from "./source/generated";
import { HttpSource } from "./source/http";
import type { Source } from "./source/source";
import { takeToken } from "./state/link";

/** Set by build.mjs: the page has a generated run, to be looked at without a server. */
declare const DEMO: boolean;

async function source(): Promise<Source> {
  if (DEMO) return generated();
  const data = document.getElementById("timeloom-data");
  if (!data) return new HttpSource(takeToken());
  const text = data.textContent ?? "";
  data.remove();
  return open(text);
}

render(<App open={source} />, document.getElementById("app")!);
