#include "preload/io/io_functions.hpp"

#include <array>

namespace timeloom::preload {
namespace {

using record::WrappedFunction;

constexpr WrappedFunction posix(const char* name, RegionRole role) {
  return {name, "POSIX I/O", "POSIX_IO", Paradigm::kIo, role};
}
constexpr WrappedFunction isoc(const char* name, RegionRole role) {
  return {name, "ISO C I/O", "ISOC", Paradigm::kIo, role};
}
constexpr RegionRole kData = RegionRole::kFileIo;
constexpr RegionRole kMeta = RegionRole::kFileIoMetadata;
constexpr RegionRole kWrapper = RegionRole::kWrapper;

// In the order of PosixFunction.
constinit std::array g_posix = {posix("open", kMeta),          posix("openat", kMeta),
                                posix("creat", kMeta),         posix("close", kMeta),
                                posix("read", kData),          posix("write", kData),
                                posix("pread", kData),         posix("pwrite", kData),
                                posix("readv", kData),         posix("writev", kData),
                                posix("preadv", kData),        posix("pwritev", kData),
                                posix("preadv2", kData),       posix("pwritev2", kData),
                                posix("lseek", kMeta),         posix("dup", kMeta),
                                posix("dup2", kMeta),          posix("dup3", kMeta),
                                posix("fcntl", kMeta),         posix("fsync", kData),
                                posix("fdatasync", kData),     posix("sync", kData),
                                posix("syncfs", kData),        posix("unlink", kMeta),
                                posix("unlinkat", kMeta),      posix("remove", kMeta),
                                posix("sendfile", kData),      posix("copy_file_range", kData),
                                posix("dprintf", kData),       posix("vdprintf", kData),
                                posix("lockf", kMeta),         posix("aio_read", kData),
                                posix("aio_write", kData),     posix("aio_fsync", kData),
                                posix("aio_error", kWrapper),  posix("aio_suspend", kWrapper),
                                posix("aio_return", kWrapper), posix("aio_cancel", kWrapper),
                                posix("lio_listio", kData)};

// In the order of StdioFunction.
constinit std::array g_stdio = {
    isoc("fopen", kMeta),      isoc("tmpfile", kMeta),   isoc("fdopen", kMeta),
    isoc("freopen", kMeta),    isoc("fclose", kMeta),    isoc("fread", kData),
    isoc("fwrite", kData),     isoc("fgets", kData),     isoc("fputs", kData),
    isoc("puts", kData),       isoc("fgetc", kData),     isoc("getc", kData),
    isoc("getchar", kData),    isoc("fputc", kData),     isoc("putc", kData),
    isoc("putchar", kData),    isoc("fprintf", kData),   isoc("vfprintf", kData),
    isoc("printf", kData),     isoc("vprintf", kData),   isoc("fscanf", kData),
    isoc("vfscanf", kData),    isoc("scanf", kData),     isoc("vscanf", kData),
    isoc("getline", kData),    isoc("getdelim", kData),  isoc("fseek", kMeta),
    isoc("fseeko", kMeta),     isoc("fsetpos", kMeta),   isoc("rewind", kMeta),
    isoc("fflush", kData),     isoc("flockfile", kMeta), isoc("ftrylockfile", kMeta),
    isoc("funlockfile", kMeta)};

static_assert(g_posix.size() == static_cast<std::size_t>(PosixFunction::kLioListio) + 1);
static_assert(g_stdio.size() == static_cast<std::size_t>(StdioFunction::kFunlockfile) + 1);

}  // namespace

WrappedFunction& function_of(PosixFunction which) noexcept {
  return g_posix[static_cast<std::size_t>(which)];
}

WrappedFunction& function_of(StdioFunction which) noexcept {
  return g_stdio[static_cast<std::size_t>(which)];
}

void end_transfer(WrappedFunction& function, const BegunCall& begun, IoOperation operation,
                  std::uint64_t bytes) noexcept {
  record::WrapperScope scope(record::kAgain, begun.measurement);
  if (begun.handle.defined()) {
    scope.put(ExtendedKind::kIoComplete,
              {io_word(begun.handle.value(), static_cast<std::uint32_t>(operation)), bytes});
  }
  scope.leave(function);
}

void begin_inside(const BegunCall& begun, const Transfer& transfer) noexcept {
  if (!begun.handle.defined()) return;
  record::WrapperScope(record::kAgain, begun.measurement)
      .put(ExtendedKind::kIoBegin,
           {io_word(begun.handle.value(), static_cast<std::uint32_t>(transfer.operation)),
            transfer.asked});
}

void end_inside(const BegunCall& begun, IoOperation operation, std::uint64_t bytes) noexcept {
  if (!begun.handle.defined()) return;
  record::WrapperScope(record::kAgain, begun.measurement)
      .put(ExtendedKind::kIoComplete,
           {io_word(begun.handle.value(), static_cast<std::uint32_t>(operation)), bytes});
}

}  // namespace timeloom::preload
