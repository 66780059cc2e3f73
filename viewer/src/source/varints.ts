// Variable-length numbers in the data inside a page: 7 bits per byte, lowest first.
import { SourceError } from "./source";

export const damaged = () => new SourceError("The data in this page are damaged.", "Make the file again with “timeloom view RUN --html FILE”.");

export class Varints {
  constructor(private readonly bytes: Uint8Array, private at = 0) {}

  get atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw damaged();
    return byte;
  }

  /** Up to 2^53; shifts would end at 32 bits. */
  next(): number {
    let value = 0, scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  next64(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      if (shift > 63n) throw damaged();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }

  /** Returns this many bytes and goes past them. */
  take(count: number): Uint8Array {
    if (this.at + count > this.bytes.length) throw damaged();
    return this.bytes.subarray(this.at, (this.at += count));
  }
}
