/// Reads a resource for the index, masks its secrets and splits it into passages.
#include "search/index/document_reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/metadata_keys.hpp>
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
constexpr std::uint64_t first_filter_id = 1ull << 63;

/// Kinds of entries that contain names or texts of others: folders and outlines of documents, trees of git.
constexpr std::array<std::string_view, 3> listing_kinds{"folder", "outline", "tree"};

/// The URI without query and fragment.
std::string_view strip_query(std::string_view uri) noexcept { return uri.substr(0, uri.find_first_of("?#")); }

class single_resource_filter final : public access_filter {
 public:
  explicit single_resource_filter(std::string uri) : uri_(std::move(uri)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    // Access rules hide a resource together with its parts, so sources check access to the whole before they return a part.
    if (uri == strip_query(uri_)) return true;
    return uri.starts_with(uri_) && (uri.size() == uri_.size() || uri[uri_.size()] == '?' || uri[uri_.size()] == '#');
  }

 private:
  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{first_filter_id};
    return ++last;
  }
  const std::string uri_;
  const std::uint64_t id_ = next_id();
};

}  // namespace

std::shared_ptr<const access_filter> make_single_resource_filter(std::string uri) {
  return std::make_shared<const single_resource_filter>(std::move(uri));
}

bool is_listing_type(std::string_view mime_type) noexcept {
  return ascii::equals_ignore_case(mime_type.substr(0, mime_type.find(';')), "inode/directory");
}

bool is_listing(const resource& entry) noexcept {
  return is_listing_type(entry.mime_type) ||
         std::find(listing_kinds.begin(), listing_kinds.end(), entry.kind) != listing_kinds.end();
}

namespace {

constexpr std::size_t max_claim_bytes = 200;

const char* name_of(secret_masking mode) noexcept {
  switch (mode) {
    case secret_masking::by_server:
      return " masked by the server, ";
    case secret_masking::by_source:
      return " masked by the source, ";
    case secret_masking::none:
      break;
  }
  return " not masked, ";
}

/// Describes how the texts below a claim are made. The claim identifies the source: when a source with another claim serves a
/// resource, the text must be made again.
std::string describe_processing(const provider& source, std::string_view claim) {
  std::string out(claim);
  if (out.size() > max_claim_bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    out.clear();
    for (const char byte : digest_of_text(claim)) {
      out += digits[static_cast<unsigned char>(byte) >> 4];
      out += digits[static_cast<unsigned char>(byte) & 15];
    }
  }
  return out + name_of(source.traits().masking) + std::to_string(masking_version) + '.' + std::to_string(chunking_version);
}

}  // namespace

std::string processing_id(const catalog::catalog& catalog, std::string_view uri) {
  const auto source = catalog.source_of(uri);
  if (!source) return {};
  std::string closest;
  for (auto& claim : source->get_provider()->claims()) {
    if (claim.size() >= closest.size() && uri_covers(claim, uri)) closest = std::move(claim);
  }
  return describe_processing(*source->get_provider(), closest);
}

std::vector<std::string> processing_ids(const catalog::catalog& catalog) {
  std::vector<std::string> out;
  for (const auto& source : catalog.sources()) {
    for (const auto& claim : source->get_provider()->claims())
      out.push_back(describe_processing(*source->get_provider(), claim));
  }
  return out;
}

namespace {

/// Number of bytes to read first. If they look like a picture or an archive, the rest is not read.
constexpr std::size_t probe_bytes = 4096;

bool is_transient(errc code) noexcept {
  return code == errc::timed_out || code == errc::cancelled || code == errc::overloaded || code == errc::source_unavailable ||
         code == errc::content_changed || code == errc::too_many_requests || code == errc::resource_not_found;
}

std::string read_owners(const resource& entry) {
  for (const auto& [key, value] : entry.metadata) {
    if (key != owner_metadata_key) continue;
    if (const auto* text = std::get_if<std::string>(&value)) return normalize_owner(*text);
  }
  return {};
}

std::string read_language(const resource& entry) {
  for (const auto& [key, value] : entry.metadata) {
    if (key != "dev.hondana/lang" && key != "lang") continue;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
  }
  return {};
}

bool is_media(std::string_view type) noexcept {
  return type.starts_with("image/") || type.starts_with("audio/") || type.starts_with("video/") || type.starts_with("font/");
}

chunked_document without_text(chunked_document chunked, std::string problem) {
  chunked.metadata.problem = std::move(problem);
  return chunked;
}

chunked_document mark_listing(chunked_document chunked) {
  chunked.metadata.version = listing_version;
  return without_text(std::move(chunked), "it lists other resources, which are indexed by themselves");
}

/// Whether the source still has the resource, for a caller without an access filter.
bool exists(const request_context& context, const tools::tool_services& services, const std::string& uri) {
  return tools::await<resource>(
             context,
             [&](catalog::completion<resource> completion) { services.catalog->describe(context, uri, std::move(completion)); })
      .has_value();
}

/// Masks secrets that were not recognizable before decoding.
void mask_decoded(std::string& text, const tools::tool_services& services, const std::string& source_uri,
                  const std::string& uri) {
  const auto source = services.catalog->source_of(source_uri);
  if (source && source->masking() == secret_masking::none) return;
  secrets::redactor(secrets::policy_of_uri(uri), text).mask(text);
}

}  // namespace

bool is_provisional(const resource& entry) noexcept {
  return std::any_of(entry.metadata.begin(), entry.metadata.end(), [](const auto& property) {
    const auto* flag = std::get_if<bool>(&property.second);
    return property.first == "dev.hondana/provisional" && flag != nullptr && *flag;
  });
}

document make_document(const resource& entry) {
  document out;
  out.uri = entry.uri;
  out.version = entry.version;
  out.name = entry.name;
  out.title = entry.title;
  out.description = entry.description;
  out.mime_type = entry.mime_type;
  out.kind = entry.kind;
  out.priority = entry.annotations.priority;
  out.audience = entry.annotations.audience;
  std::sort(out.audience.begin(), out.audience.end());
  out.modified = entry.annotations.last_modified;
  out.size = entry.size;
  out.language = read_language(entry);
  out.owners = read_owners(entry);
  return out;
}

result<chunked_document> read_document(const request_context& context, const tools::tool_services& services,
                                       const resource& entry, const std::string& known_version, std::uint64_t max_bytes) {
  chunked_document chunked;
  chunked.metadata = make_document(entry);
  if (entry.size && *entry.size > max_bytes)
    return without_text(std::move(chunked), "it has " + std::to_string(*entry.size) + " bytes; at most " +
                                                std::to_string(max_bytes) + " are indexed");
  if (is_listing(entry)) return mark_listing(std::move(chunked));
  if (is_media(entry.mime_type)) return without_text(std::move(chunked), "it is not text");
  auto restricted = context;
  restricted.caller.access_filter = make_single_resource_filter(entry.uri);
  catalog::read_options options;
  if (!known_version.empty()) options.cached_version = known_version;
  options.as_bytes = true;
  options.is_once = true;
  auto response = tools::await<catalog::read_answer>(restricted, [&](catalog::completion<catalog::read_answer> completion) {
    services.catalog->read(restricted, entry.uri, entry.uri, std::move(options), std::move(completion));
  });
  if (!response) {
    // For example a link, which returns the content of another resource.
    const bool is_not_found = response.error().code == errc::resource_not_found;
    if (is_not_found && exists(context, services, entry.uri)) return mark_listing(std::move(chunked));
    if (is_transient(response.error().code)) return tl::unexpected(std::move(response.error()));
    // A source that throws an exception may do so only once. Any other error is cached until the version changes.
    if (response.error().code == errc::internal) chunked.metadata.version.clear();
    chunked.error = response.error();
    return without_text(std::move(chunked), response.error().public_text);
  }
  if (response->is_unmodified) {
    chunked.is_unchanged = true;
    return chunked;
  }
  // A version read too soon after a change is unreliable. An empty one causes another read later.
  chunked.metadata.version = response->reading.is_racy ? std::string() : response->reading.version;
  const auto& contents = response->reading.contents;
  const auto text = std::find_if(contents.begin(), contents.end(), [](const auto& content) { return content.is_text; });
  if (contents.empty()) return without_text(std::move(chunked), "it has no contents");
  if (is_provisional(entry) && !contents.front().title.empty()) chunked.metadata.title = contents.front().title;
  if (is_listing_type(contents.front().mime_type)) return mark_listing(std::move(chunked));
  const auto& chosen = text != contents.end() ? *text : contents.front();
  if (text == contents.end()) {
    HONDANA_TRY(auto front, tools::extract(restricted, services, chosen, response->executor, {},
                                           tools::byte_range{0, probe_bytes}, probe_bytes));
    if (!charsets::decode(front.bytes)) return without_text(std::move(chunked), "it is not text");
  }
  HONDANA_TRY(auto pulled, tools::extract(restricted, services, chosen, response->executor, {}, {},
                                          static_cast<std::size_t>(max_bytes) + 1));
  if (pulled.total > max_bytes)
    return without_text(std::move(chunked), "it has " + std::to_string(pulled.total) + " bytes; at most " +
                                                std::to_string(max_bytes) + " are indexed");
  std::string bytes = std::move(pulled.bytes);
  const bool is_blob = text == contents.end();
  // ISO-2022-JP consists of ASCII and escape sequences, so it looks like text.
  if (is_blob || bytes.find('\x1b') != std::string::npos) {
    auto decoded = charsets::decode(bytes, chosen.mime_type);
    if (!decoded && is_blob) return without_text(std::move(chunked), "it is not text");
    if (decoded && (is_blob || decoded->charset == "ISO-2022-JP")) {
      bytes = std::move(decoded->text);
      mask_decoded(bytes, services, entry.uri, chosen.uri.empty() ? entry.uri : chosen.uri);
    }
  }
  auto chunks = chunking::chunk_text(bytes, chosen.mime_type, entry.name);
  chunked.passages = std::move(chunks.passages);
  if (chunked.metadata.title.empty() && !chunked.passages.empty()) chunked.metadata.title = chunked.passages.front().title;
  if (chunked.metadata.language.empty()) chunked.metadata.language = language::detect_language(bytes);
  if (chunked.passages.empty()) chunked.metadata.problem = "it has no text";
  return chunked;
}

}  // namespace hondana::search
