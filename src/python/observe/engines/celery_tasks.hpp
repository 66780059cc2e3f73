// Tasks of Celery in the processes or threads of its workers: a region for each, with its id and
// the time that it has spent in the queue.
//
// The time is known by stamps in the headers of the task's message: a measured process that sends
// the task adds one, the main process of a measured worker another when the message has come. They
// count on the machine on which they were made, and are taken out before the task runs.
#pragma once

namespace timeloom::python {

// As watch_engines(), which calls it.
void watch_celery();

}  // namespace timeloom::python
