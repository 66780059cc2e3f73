// A library whose code is recorded by its address. It is built several times, so that libraries
// with equal names can take each other's place.
extern "C" [[gnu::visibility("default")]] int code_function() { return TIMELOOM_CODE_VALUE; }
