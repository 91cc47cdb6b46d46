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
/// Limit of one entry, so that one authorization server cannot fill the document. Bytes.
inline constexpr std::size_t max_entry_bytes = 64u << 10;
inline constexpr std::size_t max_entries = 1'000;  ///< Of each kind.

/// All credentials of one store.
struct document {
  std::vector<token_record> tokens{};
  std::map<std::string, std::vector<client_registration>>
      registrations{};  ///< By issuer. The latest is last; no list is empty.
  /// Resources and issuers with entries in the keyring. The keyring is not opened for others.
  std::set<std::string> keyring_subjects{};
  bool operator==(const document&) const = default;
};

/// Encodes a document as indented JSON.
[[nodiscard]] std::string encode(const document& credentials);
/// Parses a document. An empty text is an empty document. Errors: protocol_error, naming the member but not its value;
/// response_too_large.
[[nodiscard]] result<document> decode(std::string_view text);

/// Encodes a document and checks that `decode` accepts it. Errors: response_too_large, protocol_error.
[[nodiscard]] result<std::string> encode_checked(const document& credentials);

}  // namespace hondana::credentials
