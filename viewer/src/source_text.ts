// The source lines of a function, as the server tells them (docs/formats/view-http.md).

/** Some lines of a file, among them the lines of a function, or the reason why they are missing. */
export type SourceText = { readonly reason: string } | {
  readonly file: string;
  /** The number of the first of `lines`. */
  readonly first: number;
  /** The lines of the function. */
  readonly from: number;
  readonly to: number;
  /** The file was changed after the run started. */
  readonly changed: boolean;
  readonly lines: readonly string[];
  /** CPU time of the samples in the function, by line; line 0: not known. */
  readonly times?: readonly LineTime[];
  /** Lines that have taken locks. */
  readonly locks?: readonly LineLocks[];
};

/** Times in seconds; blocked: others have waited while the line held a lock. */
export interface LineLocks {
  readonly line: number;
  readonly waits: number;
  readonly waited: number;
  readonly held: number;
  readonly blocked: number;
  /** There is more, of threads and lines that the run does not keep. */
  readonly at_least?: boolean;
}

export interface LineTime {
  readonly line: number;
  readonly samples: number;
  readonly seconds: number;
}
