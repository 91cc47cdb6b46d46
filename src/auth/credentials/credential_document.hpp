/// The JSON text of stored credentials.
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
/// Limit that `token_store::put` and `put_registration` apply to one entry, so that one issuer cannot fill the document. Bytes.
inline constexpr std::size_t max_entry_bytes = 64u << 10;
inline constexpr std::size_t max_entries = 1'000;  ///< Limit of tokens, of registrations, and of `keyring_subjects`.

/// The contents of a store's file, or of its entry in the keyring.
struct document {
  std::vector<token_record> tokens{};
  std::map<std::string, std::vector<client_registration>>
      registrations{};  ///< By issuer. The latest is last; no list is empty.
  /// Resources and issuers with entries in the keyring. The keyring is not opened for others. Empty in the keyring itself.
  std::set<std::string> keyring_subjects{};
  bool operator==(const document&) const = default;
};

/// Encodes a document as JSON, with one entry per line.
[[nodiscard]] std::string encode(const document& credentials);
/// Parses a document. A blank text is an empty document. Errors: protocol_error, naming the member but not its value;
/// response_too_large.
[[nodiscard]] result<document> decode(std::string_view text);

/// Encodes a document, and checks that `decode` returns the same. Errors: those of `decode`; protocol_error for a difference.
[[nodiscard]] result<std::string> encode_checked(const document& credentials);

}  // namespace hondana::credentials
