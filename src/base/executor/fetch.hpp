/// Asking for memory before it is needed.
#pragma once

#include <cstddef>

namespace hondana::executor {

/// Begins to bring what lies at `at` into the cache. With very many streams none of them is in it, and waiting for their memory
/// is most of what telling each of them a few bytes costs. Null and what is there no more do no harm.
template <class What>
void fetch(const What* at) noexcept {
  if (at == nullptr) return;
  constexpr std::size_t line = 64;
  const auto* bytes = reinterpret_cast<const char*>(at);
  for (std::size_t i = 0; i < sizeof(What); i += line) __builtin_prefetch(bytes + i);
}

}  // namespace hondana::executor
