/// Stored credentials as one JSON text.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

namespace hondana::credentials {

inline constexpr std::size_t max_document_bytes = 1u << 20;
/// Of one entry, so that no authorization server fills what is for all.
inline constexpr std::size_t max_entry_bytes = 64u << 10;
inline constexpr std::size_t max_entries = 1'000;  ///< Of each kind.

struct document {
  std::vector<kept_tokens> tokens{};
  std::map<std::string, std::vector<client_registration>> registrations{};  ///< By issuer; the latest last, none is empty.
  /// Resources and issuers of which something is in the keyring, which is not asked for others.
  std::set<std::string> in_keyring{};
  bool operator==(const document&) const = default;
};

/// JSON, in lines for people.
[[nodiscard]] std::string encode(const document& what);
/// An empty text is an empty document. Errors: broken_protocol, naming the member and never its value; response_too_large.
[[nodiscard]] result<document> decode(std::string_view text);

/// The text of a document that `decode` gives back. Errors: response_too_large, broken_protocol.
[[nodiscard]] result<std::string> encode_checked(const document& what);

}  // namespace hondana::credentials
