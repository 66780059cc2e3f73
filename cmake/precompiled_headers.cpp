// A file must stand behind the headers that the libraries share (TimeloomTargets.cmake).
