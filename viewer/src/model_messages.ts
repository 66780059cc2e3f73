// Messages, collective operations and links between locations, as the server tells them (docs/formats/view-http.md).
import type { Selection } from "./model";

/** The number of messages and visits to collective operations. */
export interface MessageFacts {
  readonly count: number;
  readonly collectives: number;
  /** Messages without the other end. */
  readonly unmatched: number;
  /** Messages received before they were sent: clocks differ. */
  readonly backwards: number;
  /** True if these are all of the run. */
  readonly complete: boolean;
}

/** One message, or several between two locations. */
export interface Bundle {
  readonly count: number;
  readonly sent: number;
  readonly lastSent: number;
  readonly received: number;
  readonly lastReceived: number;
  readonly bytes: number;
  /** The time that the two sides waited for each other, as a sum. */
  readonly waitedSender: number;
  readonly waitedReceiver: number;
  readonly fromTrack: number;
  readonly toTrack: number;
  readonly communicator: number;
  readonly tag: number;
}

/** One visit to a collective operation, or several of a location. */
export interface Gathering {
  readonly count: number;
  readonly begin: number;
  readonly end: number;
  readonly waited: number;
  readonly sent: number;
  readonly received: number;
  readonly track: number;
  readonly communicator: number;
  readonly kind: number;
  /** The sum over all participants. */
  readonly operation: number;
}

/** The messages between two processes. */
export interface Exchange {
  readonly count: number;
  readonly bytes: number;
  readonly waitedSender: number;
  readonly waitedReceiver: number;
  readonly sender: number;
  readonly receiver: number;
}

export interface Bundled<T> {
  readonly items: readonly T[];
  /** The number of items in the range. */
  readonly count: number;
  /** True if the items contain all of them. */
  readonly complete: boolean;
}

/** If there are more than `limit`, items between the same locations are joined that start in the same of `columns`
    parts. */
export interface MessageRange extends Selection {
  readonly limit: number;
  /** A power of two. */
  readonly columns: number;
}

/** The links of a location; of the many wakeups, launches and values of tasks, only those with their end on it in the range. */
export interface LinksRange {
  readonly track: number;
  readonly begin: number;
  readonly end: number;
  readonly limit: number;
}

/** A link from the creation of a thread or task to its start, from its end to a call that waited for it, from a wakeup to
    the place where the task continues, from the call that started work on a GPU to this work, or from the end of a task
    of an engine to the start of another one that takes its value. */
export interface Link {
  readonly kind: "creates" | "awaited" | "wakes" | "launches" | "takes";
  readonly from: number;
  readonly to: number;
  readonly fromTrack: number;
  readonly toTrack: number;
}

export interface Links {
  readonly links: readonly Link[];
  readonly complete: boolean;
}
