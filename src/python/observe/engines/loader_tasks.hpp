// Batches of PyTorch's DataLoader: a region for each that a worker makes, with its number, and one
// for the time in which the program waits for the next.
#pragma once

namespace timeloom::python {

// As watch_engines(), which calls it.
void watch_data_loader();

}  // namespace timeloom::python
