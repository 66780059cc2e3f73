// Hooks that components share: following a store, and asking a source.
import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Theme } from "../colour";
import { EMPTY_PROFILE, scopesOf } from "../compare";
import { type EstimatesJson, NO_ESTIMATES, type Paths, type Profile, type Run, type Selection } from "../model";
import { pathsOf, type Source } from "../source/source";
import type { Comparing, Navigator } from "../state/commands";
import type { Store } from "../state/store";
import type { View, Viewing } from "../state/view";
import type { Timeline } from "../timeline/timeline";

/** The objects that belong to an open run. */
export interface Opened {
  readonly run: Run;
  readonly source: Source;
  readonly viewing: Viewing;
  readonly timeline: Timeline;
  readonly navigator: Navigator;
  readonly theme: Theme;
  /** Null: a single run. */
  readonly comparing: Comparing | null;
}

export const OpenedContext = createContext<Opened | null>(null);

export const useOpened = (): Opened => useContext(OpenedContext)!;

/** The value of a store; the component is drawn again when it changes. */
export function useStore<T extends object>(store: Store<T>): T {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => store.subscribe(() => again(undefined)), [store]);
  return store.get();
}

export const useView = (): View => useStore(useOpened().viewing.store);

export interface Answer<T> {
  readonly value: T | null;
  readonly error: Error | null;
  readonly loading: boolean;
}

/** The newest answer to a question; the previous answer stays until then. Waits a little until the question stops
    changing. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, question: readonly unknown[], delay = 120): Answer<T> {
  const [answer, set] = useState<Answer<T>>({ value: null, error: null, loading: true });
  const first = useRef(true);
  useEffect(() => {
    const control = new AbortController();
    set((before) => ({ ...before, loading: true }));
    const timer = setTimeout(() => {
      first.current = false;
      ask(control.signal).then(
        (value) => control.signal.aborted || set({ value, error: null, loading: false }),
        // Answers about a state of the run that is gone are aborted, too.
        (error: Error) => control.signal.aborted || error.name === "AbortError" || set({ value: null, error, loading: false }),
      );
    }, first.current ? 0 : delay);
    return () => (clearTimeout(timer), control.abort());
  }, question);
  return answer;
}


export interface Profiled {
  readonly profile: Profile;
  readonly paths: Paths;
  readonly scope: Selection;
}

/** The profile of the selection or, without one, of the visible range. */
export function useProfile(): Answer<Profiled> {
  const { source, viewing } = useOpened();
  const { selection, range, filter, grown } = useView();
  return useAnswer(async (signal) => {
    const scope = viewing.scope();
    const whole = { begin: Math.floor(scope.begin), end: Math.ceil(scope.end), tracks: scope.tracks };
    const [profile, paths] = await Promise.all([source.profile(whole, signal), pathsOf(source)]);
    return { profile, paths, scope: whole };
  }, [selection, selection ? null : range, selection ? null : filter, grown]);
}

/** The times that are estimated from samples: of these data, not of the ones before. */
export function useEstimates(data: Profiled): EstimatesJson {
  const { run, source } = useOpened();
  const { value } = useAnswer(async (signal) => ({ data, all: run.throttled ? await source.estimates(data.scope, signal) : NO_ESTIMATES }), [data], 0);
  return value?.data === data ? value.all : NO_ESTIMATES;
}

export interface ProfiledPair {
  readonly profiles: readonly Profile[];
  readonly paths: Paths;
}

/** The profiles of both runs. REQUIRES: there are two. */
export function useProfiles(): Answer<ProfiledPair> {
  const { source, viewing, run } = useOpened();
  const { selection, range, filter } = useView();
  return useAnswer(async (signal) => {
    const { begin, end, tracks } = viewing.scope();
    const scopes = scopesOf(run, { begin: Math.floor(begin), end: Math.ceil(end), tracks });
    const [paths, ...profiles] = await Promise.all([pathsOf(source), ...scopes.map((scope) => (scope.tracks?.length ? source.profile(scope, signal) : EMPTY_PROFILE))]);
    return { profiles, paths };
  }, [selection, selection ? null : range, selection ? null : filter]);
}
