// A run served by `timeloom view`.
import type { Bundle, Bundled, CallDetails, CallRange, CallRef, Calls, EstimatesJson, Exchange, Found, Gathering, GpuTimes, Links, LinksRange, Mark, Memory, MemoryQuestion, MessageRange, Paths, Profile, Progress, Run, Sampled, Search, Selection, Auxiliary, SourceText, Tile, TileKey, Timed, Values, ValuesRange } from "../model";
import { runOf } from "./describe";
import { type Source, SourceError } from "./source";
import * as wire from "./wire";

const MOST_TILES = 512;
/** Rows of tiles, or tracks of mixtures. */
const MOST_ROWS = 16384;

interface ProgressJson {
  state: Progress["state"];
  events: number;
  events_total: number;
  message?: string;
}

interface CallJson extends CallRef {
  own: number;
  own_waiting: number;
  waiting: number;
  own_causes?: number[];
  causes?: number[];
  calls: number;
  parameters: { name: string; value: string }[];
}

export class HttpSource implements Source {
  /** `place`: "2/" for the second of two runs, "@N/" for a state of a run that is still recorded. */
  constructor(private readonly token: string, protected place: "" | "2/" | `@${number}/` = "") {}

  /** The number of runs of the server; `live`: one that is still recorded. */
  async served(): Promise<{ runs: number; live?: boolean }> {
    return (await this.ask("runs")).json() as Promise<{ runs: number; live?: boolean }>;
  }

  async run(progress: (state: Progress) => void): Promise<Run> {
    for (;;) {
      const json = (await (await this.ask("progress")).json()) as ProgressJson;
      progress({ state: json.state, events: json.events, total: json.events_total, message: json.message ?? "" });
      if (json.state === "failed") throw new SourceError("The index of this run could not be made.", json.message);
      if (json.state === "ready") break;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    return this.describe(this.place);
  }

  protected async describe(place: string): Promise<Run> {
    return runOf(await (await this.askServer(`${place}run`)).json());
  }

  async paths(): Promise<Paths> {
    return wire.pathsAnswer(await this.binary("paths"));
  }

  async tiles(keys: readonly TileKey[], signal: AbortSignal): Promise<Tile[]> {
    const batches = inBatches(keys);
    const answers = await Promise.all(batches.map(async (batch) => wire.tilesAnswer(await (batch[0].members ? this.binary("mixtures", wire.mixturesRequest(batch), signal) : this.binary("tiles", wire.tilesRequest(batch), signal)), batch.length)));
    return answers.flat();
  }

  async calls(ranges: readonly CallRange[], signal: AbortSignal): Promise<Calls[]> {
    return wire.callsAnswer(await this.binary("calls", wire.callsRequest(ranges), signal), ranges.length);
  }

  async profile(selection: Selection, signal: AbortSignal): Promise<Profile> {
    return wire.tableAnswer(await this.binary("table", wire.tableRequest(selection), signal));
  }

  async gpu(selection: Selection, signal: AbortSignal): Promise<GpuTimes> {
    return wire.gpuAnswer(await this.binary("gpu", wire.tableRequest(selection), signal));
  }

  async samples(selection: Selection, signal: AbortSignal): Promise<Sampled> {
    return wire.samplesAnswer(await this.binary("samples", wire.tableRequest(selection), signal));
  }

  async sampled(range: MessageRange, signal: AbortSignal): Promise<Timed> {
    return wire.timedAnswer(await this.binary("sampled", wire.messagesRequest(range), signal));
  }

  async estimates(selection: Selection, signal: AbortSignal): Promise<EstimatesJson> {
    return (await this.ask("estimates", wire.tableRequest(selection), signal)).json() as Promise<EstimatesJson>;
  }

  async memory(question: MemoryQuestion, signal: AbortSignal): Promise<Memory> {
    return wire.memoryAnswer(await this.binary("memory", wire.memoryRequest(question), signal));
  }

  async call(track: number, depth: number, time: number, signal: AbortSignal): Promise<CallDetails | null> {
    const json = (await (await this.ask("call", wire.callRequest(track, depth, time), signal)).json()) as { call: CallJson | null; stack: CallRef[] };
    if (!json.call) return null;
    const { own, own_waiting: ownWaiting, waiting, own_causes: ownCauses = [], causes = [], calls, parameters } = json.call;
    return { ...refOf(track, json.call), sums: { own, ownWaiting, waiting, ownCauses, causes, calls }, parameters, stack: json.stack.map((caller) => refOf(track, caller)) };
  }

  async source(region: number, signal: AbortSignal): Promise<SourceText> {
    return (await this.ask("source", wire.regionRequest(region), signal)).json() as Promise<SourceText>;
  }

  async auxiliary(): Promise<Auxiliary> {
    return (await this.ask("side")).json() as Promise<Auxiliary>;
  }

  async values(ranges: readonly ValuesRange[], signal: AbortSignal): Promise<Values[]> {
    return wire.valuesAnswer(await this.binary("values", wire.valuesRequest(ranges), signal), ranges.length);
  }

  async links(range: LinksRange, signal: AbortSignal): Promise<Links> {
    return wire.linksAnswer(await this.binary("links", wire.linksRequest(range), signal));
  }

  async messages(range: MessageRange, signal: AbortSignal): Promise<Bundled<Bundle>> {
    return wire.messagesAnswer(await this.binary("messages", wire.messagesRequest(range), signal));
  }

  async collectives(range: MessageRange, signal: AbortSignal): Promise<Bundled<Gathering>> {
    return wire.collectivesAnswer(await this.binary("collectives", wire.messagesRequest(range), signal));
  }

  async matrix(range: MessageRange, signal: AbortSignal): Promise<Bundled<Exchange>> {
    return wire.matrixAnswer(await this.binary("matrix", wire.messagesRequest(range), signal));
  }

  async keep(marks: readonly Mark[]): Promise<string | null> {
    const body = new TextEncoder().encode(JSON.stringify({ version: 1, marks })).buffer as ArrayBuffer;
    const { kept } = (await (await this.ask("keep", body)).json()) as { kept: string | null };
    return kept ?? "";
  }

  async find(search: Search, signal: AbortSignal): Promise<Found> {
    return wire.findAnswer(await this.binary("find", wire.findRequest(search), signal));
  }

  private async binary(name: string, body?: ArrayBuffer, signal?: AbortSignal): Promise<wire.Reader> {
    return new wire.Reader(await (await this.ask(name, body, signal)).arrayBuffer());
  }

  private ask(name: string, body?: ArrayBuffer, signal?: AbortSignal): Promise<Response> {
    return this.askServer(this.place + name, body, signal);
  }

  protected async askServer(question: string, body?: ArrayBuffer, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`api/${question}`, { method: "POST", headers: { "X-Timeloom-Token": this.token }, body: body ?? null, signal: signal ?? null, cache: "no-store" });
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new SourceError("The server does not answer.", "It was stopped, or the connection is gone. Start “timeloom view” again and open the address that it prints.");
    }
    if (response.ok) return response;
    // The state of the run is gone; the page asks about a newer one soon.
    if (response.status === 410) throw new DOMException("gone", "AbortError");
    const words = (await response.text()).trim();
    if (response.status === 401) throw new SourceError("This address has no valid key.", "Open the whole address that “timeloom view” printed, with all that follows the sign #.");
    throw new SourceError(words || `The server answered ${response.status}.`);
  }
}

const refOf = (track: number, { depth, begin, end, region }: CallRef): CallRef => ({ track, depth, begin, end, region });

/** Keys that the server accepts in requests. */
function inBatches(keys: readonly TileKey[]): TileKey[][] {
  const batches: TileKey[][] = [];
  let rows = Infinity;
  for (const key of keys) {
    const more = key.members?.length ?? key.rows, last = batches[batches.length - 1];
    if (rows + more > MOST_ROWS || last.length === MOST_TILES || !last[0].members !== !key.members) batches.push([]), (rows = 0);
    batches[batches.length - 1].push(key);
    rows += more;
  }
  return batches;
}
