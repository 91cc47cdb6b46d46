/// Reads a resource for the index, masks its secrets and splits it into passages.
#include "search/index/document_reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/facts.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "search/index/store.hpp"
#include "server/tools/content_part.hpp"
#include "text/charsets/charset_decoder.hpp"
#include "text/language/language.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::search {
namespace {

/// Far from the ids that access rules use.
constexpr std::uint64_t first_id = 1ull << 63;

/// Kinds of entries that contain names or texts of others: folders and outlines of documents, trees of git.
constexpr std::array<std::string_view, 3> kinds_of_lists{"folder", "outline", "tree"};

/// The URI without query and fragment.
std::string_view whole_of(std::string_view uri) noexcept { return uri.substr(0, uri.find_first_of("?#")); }

class view_of_one final : public view {
 public:
  explicit view_of_one(std::string uri) : uri_(std::move(uri)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    // Access rules hide a resource together with its parts, so sources check access to the whole before they return a part.
    if (uri == whole_of(uri_)) return true;
    return uri.starts_with(uri_) && (uri.size() == uri_.size() || uri[uri_.size()] == '?' || uri[uri_.size()] == '#');
  }

 private:
  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{first_id};
    return ++last;
  }
  const std::string uri_;
  const std::uint64_t id_ = next_id();
};

}  // namespace

std::shared_ptr<const view> alone_with(std::string uri) { return std::make_shared<const view_of_one>(std::move(uri)); }

bool is_list_by_type(std::string_view mime_type) noexcept {
  return ascii::is_same(mime_type.substr(0, mime_type.find(';')), "inode/directory");
}

bool is_list_of_others(const resource& entry) noexcept {
  return is_list_by_type(entry.mimeType) ||
         std::find(kinds_of_lists.begin(), kinds_of_lists.end(), entry.kind) != kinds_of_lists.end();
}

namespace {

constexpr std::size_t longest_claim = 200;

const char* name_of(masking how) noexcept {
  switch (how) {
    case masking::by_server:
      return " masked by the server, ";
    case masking::by_source:
      return " masked by the source, ";
    case masking::none:
      break;
  }
  return " not masked, ";
}

/// Describes how the texts below a claim are made. The claim identifies the source: when a source with another claim serves a
/// resource, the text must be made again.
std::string making_by(const provider& source, std::string_view claim) {
  std::string out(claim);
  if (out.size() > longest_claim) {
    static constexpr char digits[] = "0123456789abcdef";
    out.clear();
    for (const char byte : digest_of_text(claim)) {
      out += digits[static_cast<unsigned char>(byte) >> 4];
      out += digits[static_cast<unsigned char>(byte) & 15];
    }
  }
  return out + name_of(source.masking()) + std::to_string(version_of_masking) + '.' + std::to_string(version_of_cutting);
}

}  // namespace

std::string making_of(const catalog::catalog& in, std::string_view uri) {
  const auto by = in.source_of(uri);
  if (!by) return {};
  std::string closest;
  for (auto& claim : by->what()->claims()) {
    if (claim.size() >= closest.size() && covers(claim, uri)) closest = std::move(claim);
  }
  return making_by(*by->what(), closest);
}

std::vector<std::string> makings_of(const catalog::catalog& in) {
  std::vector<std::string> out;
  for (const auto& source : in.sources()) {
    for (const auto& claim : source->what()->claims()) out.push_back(making_by(*source->what(), claim));
  }
  return out;
}

namespace {

/// Number of bytes to read first. If they look like a picture or an archive, the rest is not read.
constexpr std::size_t longest_look = 4096;

bool may_pass(errc why) noexcept {
  return why == errc::timed_out || why == errc::cancelled || why == errc::overloaded || why == errc::source_unavailable ||
         why == errc::content_changed || why == errc::too_many_requests || why == errc::resource_not_found;
}

std::string owners_said_by(const resource& entry) {
  for (const auto& [key, value] : entry.metadata) {
    if (key != owner_fact) continue;
    if (const auto* text = std::get_if<std::string>(&value)) return comparable_owner(*text);
  }
  return {};
}

std::string language_said_by(const resource& entry) {
  for (const auto& [key, value] : entry.metadata) {
    if (key != "dev.hondana/lang" && key != "lang") continue;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
  }
  return {};
}

bool is_media(std::string_view type) noexcept {
  return type.starts_with("image/") || type.starts_with("audio/") || type.starts_with("video/") || type.starts_with("font/");
}

cut_document without_text(cut_document made, std::string problem) {
  made.what.problem = std::move(problem);
  return made;
}

cut_document without_own_text(cut_document made) {
  made.what.version = version_of_lists;
  return without_text(std::move(made), "it lists other resources, which are indexed by themselves");
}

/// Whether the source still has the resource, for a caller without an access filter.
bool is_there(const call& by, const tools::surroundings& in, const std::string& uri) {
  return tools::await<resource>(by, [&](catalog::completion<resource> done) { in.catalog->describe(by, uri, std::move(done)); })
      .has_value();
}

/// Masks secrets that were not recognizable before decoding.
void mask_decoded(std::string& text, const tools::surroundings& in, const std::string& source_uri, const std::string& uri) {
  const auto from = in.catalog->source_of(source_uri);
  if (from && from->what()->masking() == masking::none) return;
  secrets::redactor(secrets::policy_of_uri(uri), text).mask(text);
}

}  // namespace

bool is_provisional(const resource& entry) noexcept {
  return std::any_of(entry.metadata.begin(), entry.metadata.end(), [](const auto& one) {
    const auto* is = std::get_if<bool>(&one.second);
    return one.first == "dev.hondana/provisional" && is != nullptr && *is;
  });
}

document document_of(const resource& entry) {
  document out;
  out.uri = entry.uri;
  out.version = entry.version;
  out.name = entry.name;
  out.title = entry.title;
  out.description = entry.description;
  out.mime_type = entry.mimeType;
  out.kind = entry.kind;
  out.priority = entry.annotations.priority;
  out.audience = entry.annotations.audience;
  std::sort(out.audience.begin(), out.audience.end());
  out.modified = entry.annotations.lastModified;
  out.size = entry.size;
  out.language = language_said_by(entry);
  out.owners = owners_said_by(entry);
  return out;
}

result<cut_document> cut(const call& asked, const tools::surroundings& in, const resource& entry,
                         const std::string& known_version, std::uint64_t largest) {
  cut_document made;
  made.what = document_of(entry);
  if (entry.size && *entry.size > largest)
    return without_text(std::move(made), "it has " + std::to_string(*entry.size) + " bytes; at most " +
                                             std::to_string(largest) + " are indexed");
  if (is_list_of_others(entry)) return without_own_text(std::move(made));
  if (is_media(entry.mimeType)) return without_text(std::move(made), "it is not text");
  auto by = asked;
  by.who.view = alone_with(entry.uri);
  catalog::read_options how;
  if (!known_version.empty()) how.if_version = known_version;
  how.as_bytes = true;
  how.is_once = true;
  auto read = tools::await<catalog::read_answer>(by, [&](catalog::completion<catalog::read_answer> done) {
    in.catalog->read(by, entry.uri, entry.uri, std::move(how), std::move(done));
  });
  if (!read) {
    // For example a link, which returns the content of another resource.
    const bool is_not_found = read.error().code == errc::resource_not_found;
    if (is_not_found && is_there(asked, in, entry.uri)) return without_own_text(std::move(made));
    if (may_pass(read.error().code)) return tl::unexpected(std::move(read.error()));
    // A source that throws an exception may do so only once. Any other error is cached until the version changes.
    if (read.error().code == errc::internal) made.what.version.clear();
    made.failed = read.error();
    return without_text(std::move(made), read.error().public_text);
  }
  if (read->is_unmodified) {
    made.is_unchanged = true;
    return made;
  }
  // A version read too soon after a change is unreliable. An empty one causes another read later.
  made.what.version = read->reading.is_racy ? std::string() : read->reading.version;
  const auto& contents = read->reading.contents;
  const auto text = std::find_if(contents.begin(), contents.end(), [](const auto& one) { return one.is_text; });
  if (contents.empty()) return without_text(std::move(made), "it has no contents");
  if (is_provisional(entry) && !contents.front().title.empty()) made.what.title = contents.front().title;
  if (is_list_by_type(contents.front().mimeType)) return without_own_text(std::move(made));
  const auto& chosen = text != contents.end() ? *text : contents.front();
  if (text == contents.end()) {
    HONDANA_TRY(auto front, tools::pull(by, in, chosen, read->home, {}, tools::extent{0, longest_look}, longest_look));
    if (!charsets::decode(front.bytes)) return without_text(std::move(made), "it is not text");
  }
  HONDANA_TRY(auto pulled, tools::pull(by, in, chosen, read->home, {}, {}, static_cast<std::size_t>(largest) + 1));
  if (pulled.total > largest)
    return without_text(std::move(made), "it has " + std::to_string(pulled.total) + " bytes; at most " +
                                             std::to_string(largest) + " are indexed");
  std::string bytes = std::move(pulled.bytes);
  const bool is_blob = text == contents.end();
  // ISO-2022-JP consists of ASCII and escape sequences, so it looks like text.
  if (is_blob || bytes.find('\x1b') != std::string::npos) {
    auto decoded = charsets::decode(bytes, chosen.mimeType);
    if (!decoded && is_blob) return without_text(std::move(made), "it is not text");
    if (decoded && (is_blob || decoded->charset == "ISO-2022-JP")) {
      bytes = std::move(decoded->text);
      mask_decoded(bytes, in, entry.uri, chosen.uri.empty() ? entry.uri : chosen.uri);
    }
  }
  auto parts = chunking::passages_of(bytes, chosen.mimeType, entry.name);
  made.passages = std::move(parts.passages);
  if (made.what.title.empty() && !made.passages.empty()) made.what.title = made.passages.front().title;
  if (made.what.language.empty()) made.what.language = language::language_of(bytes);
  if (made.passages.empty()) made.what.problem = "it has no text";
  return made;
}

}  // namespace hondana::search
