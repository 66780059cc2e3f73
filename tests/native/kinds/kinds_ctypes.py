import ctypes

abs = ctypes.CDLL(None).abs
