// `timeloom report --locks`: the locks for which threads waited, the lines that held them
// meanwhile, and threads that wait for each other in a circle.
//
// Plain values and functions; used by one thread. write_*() throw Error as Output does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "core/locks/lock_facts.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// "lock at convoy.py:7", "Queue at main.py:12".
std::string lock_name(const LockRow& row);
// "lock", "RLock", "condition".
std::string_view lock_kind(LockRowKind kind);
// The thread as a run names it, and its process where there are several.
std::string lock_thread_name(std::uint64_t location, std::uint64_t process,
                             const Definitions& definitions);
// "Ledger.audit", of the module itself "convoy.py".
std::string lock_function(const LockLine& line);
// "convoy.py:7"; empty: not known.
std::string lock_line_text(const LockLine& line);
// The holder that others waited for longest; nullptr: none has held it.
const LockHolder* worst_holder(const LockRow& row);

// A sentence for each circle: "deadlock: worker-0 waits at a.py:9 for the lock at a.py:3, which
// worker-1 took at a.py:14 and waits ...", or "deadlock, ended when worker-0 gave up after 500 ms:
// worker-0 waited at ...".
std::vector<std::string> stuck_sentences(const LockFacts& facts, const Definitions& definitions,
                                         const Terminal& terminal);

void write_locks(const LockFacts& facts, const Definitions& definitions, const Terminal& terminal,
                 Output& output);
void write_locks_json(const LockFacts& facts, const Definitions& definitions, Output& output);
void write_locks_csv(const LockFacts& facts, const Definitions& definitions, Output& output);

}  // namespace timeloom::tools
