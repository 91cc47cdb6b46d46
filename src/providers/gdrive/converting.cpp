/// Converting texts, as far as they are held in memory for it.
#include "providers/gdrive/converting.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "charsets/charsets.hpp"
#include "json/utf8.hpp"
#include "letters/lower_case.hpp"

namespace hondana::gdrive {
namespace {

/// All of it, and from the beginning the next time.
result<std::string> all_of(byte_reader& from) {
  std::string bytes(from.size(), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    auto count = from.read(std::span(bytes).subspan(done));
    if (!count) return tl::unexpected(std::move(count.error()));
    if (*count == 0) return fail(errc::content_changed, "The file ended before its end. Ask for it again.");
    done += *count;
  }
  if (auto again = from.rewind(); !again) return tl::unexpected(std::move(again.error()));
  return bytes;
}

bool is_plain(std::string_view bytes) { return json::is_utf8(bytes) && !json::has_nul(bytes); }

}  // namespace

result<void> convert_to_utf8(part& of) {
  if (!letters::in_lower_case(of.mime_type).starts_with("text/")) return {};
  std::string read;
  std::string_view bytes;
  if (const auto* whole = std::get_if<shared_bytes>(&of.data)) {
    if ((*whole)->size() > longest_converted) return {};
    bytes = **whole;
  } else {
    auto& reader = *std::get<std::shared_ptr<byte_reader>>(of.data);
    if (reader.size() > longest_converted) return {};
    auto all = all_of(reader);
    if (!all) return tl::unexpected(std::move(all.error()));
    read = std::move(*all);
    bytes = read;
  }
  if (is_plain(bytes)) return {};
  auto decoded = charsets::decode(bytes, of.mime_type);
  if (!decoded) return {};
  of.data = std::make_shared<const std::string>(std::move(decoded->text));
  of.form = content_form::text;
  of.charset = std::move(decoded->charset);
  of.replaced = decoded->replaced;
  return {};
}

}  // namespace hondana::gdrive
