/// The keys and values of the configuration that have new names. Old names are read, with a warning.
#pragma once

#include <span>
#include <string_view>

namespace hondana::config {

/// A renamed key of the table `place` ("http.tls"), or a renamed value of the key `place` ("http.tls.client_certificates").
struct renaming {
  std::string_view place;
  std::string_view old_name;
  std::string_view new_name;
};

/// All renamed keys and values. A place and an old name can have several rows: one for each type of source.
[[nodiscard]] std::span<const renaming> renamings() noexcept;

}  // namespace hondana::config
