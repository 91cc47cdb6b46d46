/// Loads optional shared libraries when they are first used.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <type_traits>

#include <hondana/error.hpp>

namespace hondana::libraries {

/// A shared library that this process may have to do without. All texts are literals.
struct optional_library {
  const char* soname;                    ///< "libpq.so.5"
  const char* requirement;               ///< What requires it, with the verb: "journals require".
  const char* packages;                  ///< The Debian packages to install, separated by blanks.
  const char* alternative = "";          ///< What else the user can do: "store the index in a file"; empty: nothing.
  errc code = errc::source_unavailable;  ///< The code of all errors.
};

/// A function of a library, which is called like the function itself: `function<decltype(&::PQfinish)> finish{"PQfinish"}`.
template <class Pointer>
struct function {
  const char* name;
  Pointer pointer = nullptr;

  template <class... Arguments>
  decltype(auto) operator()(Arguments... arguments) const {
    return pointer(arguments...);
  }
};

/// A function without its type, which has the same layout as `function`.
struct symbol {
  const char* name;
  void* address;
};

/// Loads a library, and sets the addresses of its functions. Otherwise as `load`.
[[nodiscard]] result<void> load_symbols(const optional_library& library, std::span<symbol> symbols);

/// Loads a library and its dependencies, which are never unloaded, and finds its functions. `Functions`: a struct whose members
/// all are `function`s; these may also be from dependencies of the library. Errors: `optional_library::code` if the library is
/// missing, is a different one, or is too old. The text says what to install, the private text has the loader's message.
/// Threads: any.
template <class Functions>
[[nodiscard]] result<Functions> load(const optional_library& library) {
  static_assert(std::is_trivially_copyable_v<Functions> && sizeof(Functions) % sizeof(symbol) == 0);
  auto symbols = std::bit_cast<std::array<symbol, sizeof(Functions) / sizeof(symbol)>>(Functions{});
  HONDANA_TRY(load_symbols(library, symbols));
  return std::bit_cast<Functions>(symbols);
}

/// Returns the result of the first successful call of `make`, which returns a `result<Value>`. It is kept until the process
/// ends, and the pointer is never null. Errors: those of `make`; the next call tries again, because memory or descriptors may
/// have been short. Each type `Make` has one result. Threads: any.
template <class Value, class Make>
[[nodiscard]] result<const Value*> make_once(Make make) {
  static std::atomic<const Value*> published{nullptr};
  if (const auto* const existing = published.load(std::memory_order_acquire)) return existing;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const auto* const existing = published.load(std::memory_order_acquire)) return existing;
  HONDANA_TRY(auto result, make());
  static const Value value = result;
  published.store(&value, std::memory_order_release);
  return &value;
}

/// Returns the functions of a library, which the first successful call loads. Each type `Functions` belongs to one library.
/// Errors and threads: as `load` and `make_once`.
template <class Functions>
[[nodiscard]] result<const Functions*> load_once(const optional_library& library) {
  return make_once<Functions>([&library] { return load<Functions>(library); });
}

/// Whether this process has loaded the library `soname`. Threads: any.
[[nodiscard]] bool is_loaded(const char* soname);

/// Checks that a library is installed, mostly without loading it. Errors: as `load`. Threads: any.
[[nodiscard]] result<void> check_installed(const optional_library& library);

}  // namespace hondana::libraries
