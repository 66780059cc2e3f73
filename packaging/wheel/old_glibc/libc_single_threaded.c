/* glibc 2.32: whether a process has one thread, which spares atomic operations. "No" is always
 * right. */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
