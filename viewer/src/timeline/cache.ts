// The fetched tiles and calls, and the best data for a place until finer data arrive.
import { type Calls, COLUMNS, FIRST_PROCESS, NONE, type Tile, type TileKey } from "../model";
import type { Source } from "../source/source";

const MOST_BYTES = 96e6;
const MOST_CALLS = 2000;
/** The server returns at most a million calls at once. */
const MOST_RANGES = 1e6 / MOST_CALLS;
/** Tiles that are fetched before they are visible. */
const MOST_AHEAD = 96;
/** Most cells with borders of calls: beyond, the calls of a tile are not worth fetching. */
const MOST_BORDERS = 1400;

interface Slot {
  readonly key: TileKey;
  readonly tile: Tile;
  /** null: not requested; "many": too many to draw each. */
  calls: Calls | "many" | null;
  used: number;
  /** True for data of an earlier state of the run: drawn until they are fetched again. */
  old?: boolean;
}

/** The drawable data of a slot: calls are exact, a tile is as fine as its level. */
export interface Piece {
  readonly key: TileKey;
  readonly tile: Tile;
  readonly calls: Calls | null;
}

const name = (track: number, level: number, index: number) => `${track}/${level}/${index}`;
const sizeOf = (slot: Slot) => slot.tile.rows * COLUMNS * 5 + 2 * COLUMNS + (slot.calls && slot.calls !== "many" ? slot.calls.count * 24 : 0);

export class Cache {
  private readonly slots = new Map<string, Slot>();
  private bytes = 0;
  private clock = 0;
  private running: AbortController | null = null;
  private loading: ReadonlySet<string> = new Set();
  private wanted: TileKey[] = [];

  /** `changed` is called when there are new data to draw; `failed` when the source reports a problem. */
  constructor(private readonly source: Source, private readonly changed: () => void, private readonly failed: (error: Error) => void) {}

  /** The best pieces for a slot, to be drawn in this order; `fetch` then requests the missing ones. */
  pieces(key: TileKey): Piece[] {
    const here = this.slots.get(name(key.track, key.level, key.index));
    const exact = this.exact(key);
    if (exact) return [exact];
    if (here?.old) {
      here.used = this.clock;
      this.wanted.push(key);
      return [piece(here)];
    }
    if (here && this.enough(here, key)) {
      here.used = this.clock;
      if (here.calls === null && this.sparse(here)) this.wanted.push(key);
      return [piece(here)];
    }
    this.wanted.push(key);
    const coarser = this.coarser(key);
    const finer = here ? [piece(here)] : this.finer(key);
    return coarser ? [coarser, ...finer] : finer;
  }

  /** Fetches the pieces that were missing since the last call. */
  fetch(): void {
    this.clock++;
    const wanted = this.wanted;
    this.wanted = [];
    if (!wanted.length) return;
    if (this.running) {
      // Waits for tiles on their way, unless they are no longer needed.
      if (wanted.some((key) => this.loading.has(name(key.track, key.level, key.index)))) return;
      this.running.abort();
    }
    this.loading = new Set(wanted.map((key) => name(key.track, key.level, key.index)));
    const control = (this.running = new AbortController());
    this.load(wanted, control.signal).then(
      () => {
        if (this.running === control) this.running = null;
        this.changed();
      },
      (error: Error) => {
        if (this.running === control) this.running = null;
        if (error.name !== "AbortError") this.failed(error);
      },
    );
  }

  /** Fetches data that is likely to be needed next, when idle. */
  prefetch(keys: readonly TileKey[]): void {
    if (this.running) return;
    const missing = keys.filter((key) => {
      const slot = this.slots.get(name(key.track, key.level, key.index));
      return !slot || !this.enough(slot, key);
    });
    this.wanted = missing.slice(0, MOST_AHEAD);
    this.fetch();
  }

  /** The run has grown: everything is fetched again when it is drawn. `same`: until then the old data can be drawn,
      because numbers mean the same. */
  renew(same: boolean): void {
    this.running?.abort();
    this.running = null;
    this.wanted = [];
    if (same) return this.slots.forEach((slot) => (slot.old = true));
    this.slots.clear();
    this.bytes = 0;
  }

  /** True while a request is in progress. */
  get busy(): boolean {
    return this.running !== null;
  }

  private async load(wanted: readonly TileKey[], signal: AbortSignal): Promise<void> {
    const slotOf = (key: TileKey) => this.slots.get(name(key.track, key.level, key.index));
    const isThere = (key: TileKey) => {
      const slot = slotOf(key);
      return slot !== undefined && this.enough(slot, key);
    };
    const keys = wanted.filter((key) => !isThere(key)).slice(0, 512);
    // The calls of an old tile come with the new one, so that it need not be drawn without them.
    const sparse = wanted.filter((key) => isThere(key) || (slotOf(key)?.calls && slotOf(key)!.calls !== "many")).slice(0, MOST_RANGES);
    const [tiles, calls] = await Promise.all([
      keys.length ? this.source.tiles(keys, signal) : [],
      sparse.length ? this.source.calls(sparse.map((key) => this.callRange(key)), signal) : [],
    ]);
    keys.forEach((key, i) => this.put({ key, tile: tiles[i], calls: null, used: this.clock }));
    sparse.forEach((key, i) => {
      const slot = this.slots.get(name(key.track, key.level, key.index));
      if (!slot) return;
      this.bytes -= sizeOf(slot);
      slot.calls = calls[i].complete ? calls[i] : "many";
      this.bytes += sizeOf(slot);
    });
    this.forget();
  }

  private callRange(key: TileKey) {
    const width = 4 ** key.level * COLUMNS;
    return { track: key.track, depths: key.rows - 1, limit: MOST_CALLS, begin: key.index * width, end: (key.index + 1) * width };
  }

  private put(slot: Slot): void {
    const id = name(slot.key.track, slot.key.level, slot.key.index);
    const old = this.slots.get(id);
    if (old) this.bytes -= sizeOf(old);
    this.slots.set(id, slot);
    this.bytes += sizeOf(slot);
  }

  private forget(): void {
    if (this.bytes < MOST_BYTES) return;
    for (const [id, slot] of [...this.slots].sort(([, a], [, b]) => a.used - b.used)) {
      if (this.bytes < MOST_BYTES * 0.8) return;
      this.slots.delete(id);
      this.bytes -= sizeOf(slot);
    }
  }

  private enough(slot: Slot, key: TileKey): boolean {
    // Dense tiles have fewer rows than exist, so the number of requested rows counts.
    return !slot.old && (slot.key.rows >= key.rows || slot.tile.rows >= slot.tile.allRows);
  }

  /** Calls of the slot itself or of a coarser one that contains it. */
  private exact(key: TileKey): Piece | null {
    if (key.track >= FIRST_PROCESS) return null;
    for (let level = key.level, index = key.index; level < key.level + 12; level++, index = Math.floor(index / 4)) {
      const slot = this.slots.get(name(key.track, level, index));
      if (!slot || !slot.calls || slot.calls === "many" || !this.enough(slot, key)) continue;
      // Only tiles contain the times in which recording was off and threads waited.
      if (level > key.level && (slot.tile.off.some((part) => part > 0) || slot.tile.waiting.some((part) => part > 0))) return null;
      slot.used = this.clock;
      return piece(slot);
    }
    return null;
  }

  private coarser(key: TileKey): Piece | null {
    for (let level = key.level + 1, index = Math.floor(key.index / 4); level <= 28; level++, index = Math.floor(index / 4)) {
      const slot = this.slots.get(name(key.track, level, index));
      if (slot) return piece(slot);
    }
    return null;
  }

  private finer(key: TileKey): Piece[] {
    if (key.level === 0) return [];
    return [0, 1, 2, 3].flatMap((child) => {
      const slot = this.slots.get(name(key.track, key.level - 1, key.index * 4 + child));
      return slot ? [piece(slot)] : [];
    });
  }

  private sparse(slot: Slot): boolean {
    const { tile, key } = slot;
    if (key.track >= FIRST_PROCESS || tile.rows < 2) return false;
    let borders = 0;
    for (let cell = COLUMNS; cell < tile.rows * COLUMNS; cell++) {
      const cover = tile.cover[cell];
      if ((cover > 0 && cover < 255) || (tile.region[cell] !== tile.region[cell - 1] && tile.region[cell] !== NONE)) borders++;
      if (borders > MOST_BORDERS) return false;
    }
    return true;
  }
}

function piece(slot: Slot): Piece {
  return { key: slot.key, tile: slot.tile, calls: slot.calls === "many" ? null : slot.calls };
}
