// Functions that do nothing but wait, which are drawn grey. The numbers of the tables do not depend on this.

/** Ends of names, after a dot or alone; src/tools/work_times.cpp has those of `timeloom report`. */
const WAITING = [
  "Condition.wait", "Event.wait", "Barrier.wait", "Thread.join", "Thread._wait_for_tstate_lock", "threading._shutdown", "lock.acquire", "RLock.acquire",
  "_ThreadHandle.join", "time.sleep", "connection.wait", "Connection._recv", "Popen.poll", "Popen._try_wait", "SemLock.acquire", "socket.accept", "socket.recv",
  "socket.recv_into", "EpollSelector.select", "SelectSelector.select", "_PollLikeSelector.select", "suspended", "MPI_Barrier", "MPI_Recv", "MPI_Wait", "MPI_Waitall",
];

export function waits(name: string): boolean {
  return WAITING.some((end) => name.endsWith(end) && (name.length === end.length || name[name.length - end.length - 1] === "."));
}
