/// Texts as servers that compress send them.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "unit/transport/tls/certificates.hpp"

namespace hondana_test {

/// As one gzip member, by the program of that name.
inline std::string packed(std::string_view text) {
  const pem_folder folder;
  const auto path = folder.write("text", std::string(text));
  FILE* const out = ::popen(("gzip -c " + path).c_str(), "r");
  if (out == nullptr) throw std::runtime_error("gzip cannot be started");
  std::string bytes;
  char window[65536];
  while (const auto size = std::fread(window, 1, sizeof window, out)) bytes.append(window, size);
  if (::pclose(out) != 0) throw std::runtime_error("gzip failed");
  return bytes;
}

}  // namespace hondana_test
