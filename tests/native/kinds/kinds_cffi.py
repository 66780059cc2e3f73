import cffi

_ffi = cffi.FFI()
_ffi.cdef("int abs(int);")
_library = _ffi.dlopen(None)
abs = _library.abs
