// The sys.path with which the sub-interpreters start that begin from now on. C, without exceptions;
// needs the GIL of the main interpreter. -1: memory ran out.
#pragma once

// The directory of the program, which CPython from 3.12.1 on puts first; nullptr: none. Copied.
extern "C" int timeloom_set_first_path(const wchar_t* path);
// Another directory, before those that Python has found at its start. Copied.
extern "C" int timeloom_add_search_path(const wchar_t* path);
