// Damaged data inside a page: read, or refused with an Error. No answer runs without end, and memory is taken for existing bytes only.
//
// The seeds are the sections of pages that `timeloom view --html` has written; random ones of messages are put behind them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { WHOLE_RUN } from "../src/model";
import { decode, open } from "../src/source/embedded";
import { random } from "../src/source/generated";
import { type Source, SourceError } from "../src/source/source";
import { randomTalk } from "./random_run";
import { Bytes, collectivesBytes, messagesBytes } from "./server";

const MUTANTS = 400;
const never = new AbortController().signal;

/** The sections of a page, as a copy. The last one, of eight bytes, is the end. */
function seed(name: string): Uint8Array {
  const file = new Uint8Array(readFileSync(`tests/corpus/${name}.bin`));
  const { messages, collectives } = randomTalk(1, 1, 1000, 4), whole = { count: 0, complete: true };
  const out = new Bytes().raw(file.slice(0, -8));
  for (const [tag, content] of [[7, messagesBytes({ ...whole, items: messages })], [8, collectivesBytes({ ...whole, items: collectives })]] as const) {
    out.u32(tag, content.byteLength).raw(new Uint8Array(content)).pad();
  }
  return new Uint8Array(out.u32(0, 0).buffer);
}

/** A change of some bytes, of a number of 32 bits, or of the length. */
function damage(sound: Uint8Array, below: (count: number) => number): Uint8Array {
  const bytes = sound.slice(), at = below(bytes.length);
  switch (below(5)) {
    case 0: bytes[at] ^= 1 << below(8); return bytes;
    case 1: bytes.fill(below(256), at, at + 1 + below(16)); return bytes;
    case 2: new DataView(bytes.buffer).setUint32(4 * Math.floor(at / 4) % (bytes.length - 3), [0, 1, 0x7fffffff, 0xffffffff][below(4)], true); return bytes;
    case 3: return bytes.slice(0, at);
    default: bytes.copyWithin(at, below(bytes.length), below(bytes.length)); return bytes;
  }
}

async function everything(source: Source): Promise<unknown[]> {
  const run = await source.run(() => {});
  const range = { begin: run.length / 4, end: run.length };
  const key = { track: 0, level: 0, index: 0, rows: 4 };
  return [
    await source.paths(), await source.tiles([key, { ...key, track: WHOLE_RUN, level: 3 }], never),
    await source.calls([{ track: 0, ...range, depths: 3, limit: 20 }], never), await source.profile({ ...range, tracks: null }, never),
    await source.call(0, 0, run.length / 2, never), await source.auxiliary(),
    await source.messages({ ...range, tracks: null, limit: 20, columns: 4 }, never), await source.collectives({ ...range, tracks: null, limit: 20, columns: 4 }, never),
  ];
}

for (const name of ["sample", "score_p"]) {
  test(`damaged bytes of ${name} are read or refused`, async () => {
    const sound = seed(name), chance = random(7), below = (count: number) => Math.floor(chance() * count);
    const whole = await everything(decode(sound.slice().buffer));
    assert.deepEqual(await everything(decode(sound.slice().buffer)), whole);
    let refused = 0;
    for (let i = 0; i < MUTANTS; i++) {
      try {
        await everything(decode(damage(sound, below).buffer as ArrayBuffer));
      } catch (error) {
        assert.ok(error instanceof Error, String(error));
        refused++;
      }
    }
    assert.ok(refused > 0 && refused < MUTANTS, `${refused} of ${MUTANTS}`);
  });
}

test("descriptions that are not JSON, or JSON of another form, are refused with advice", () => {
  const file = new Uint8Array(readFileSync("tests/corpus/sample.bin")), size = new DataView(file.buffer).getUint32(4, true);
  for (const text of ["{", "null", "{}", "[]", "7"]) {
    const broken = file.slice();
    broken.set(new TextEncoder().encode(text.padEnd(size)), 8);
    assert.equal(new DataView(broken.buffer).getUint32(0, true), 1);
    assert.throws(() => decode(broken.buffer), (error) => error instanceof SourceError && error.advice !== "", text);
  }
});

test("text that does not unpack is refused with advice", async () => {
  const packed = gzipSync(seed("sample"));
  for (const text of ["", "?", packed.toString("base64").slice(0, -8), gzipSync("").toString("base64"), packed.subarray(9).toString("base64")]) {
    await assert.rejects(open(text), (error) => error instanceof SourceError && error.advice !== "", text);
  }
});
