/// Fields of records that are JSON, or logfmt.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::records {

/// Whether a record is one of JSON: its first byte that is no blank is a brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// The text of a field: of strings what they stand for, of all else as it is written. `path` names members from the outermost
/// on with dots between them; a member's name may have dots itself. Arrays are gone into by number. What is malformed, or cut,
/// is read as far as it goes, since records may be masked or cut. Linear time.
[[nodiscard]] std::optional<std::string> field_of(std::string_view text, std::string_view path);

/// Goes through the fields of the outermost level of JSON, or of logfmt: `each` gets name and raw value (of JSON with its
/// quotes), and returns whether to go on. Views are into `text`. Linear time, and nothing is allocated.
void each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& each);

/// What a raw value stands for: without its quotes, escapes resolved.
[[nodiscard]] std::string text_of_raw(std::string_view raw);

}  // namespace hondana::records
