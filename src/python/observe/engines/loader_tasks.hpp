// Batches of PyTorch's DataLoader: a region for each batch that a worker makes, with its number,
// and one for the time in which the program waits for the next batch. Needs the GIL; throws
// std::bad_alloc.
#pragma once

namespace timeloom::python {

// As watch_engines(), which calls it.
void watch_data_loader();

}  // namespace timeloom::python
