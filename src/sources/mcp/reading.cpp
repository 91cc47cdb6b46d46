/// Reading through another server: contents stream past, big ones through a nameless file.
#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/spool.hpp"
#include "sources/mcp/foreign.hpp"
#include "sources/mcp/mcp_provider.hpp"

namespace hondana::mcp {
namespace {

constexpr std::size_t most_items = 10'000;

failure too_large(const std::string& uri, std::uint64_t limit) {
  return {errc::response_too_large,
          uri + " is larger than " + std::to_string(limit) +
              " bytes, the limit of a read. Raise read_limit and the mount's max_read, or request a part of it from the "
              "mounted server.",
          {}};
}

failure late(const std::string& name) {
  return {errc::timed_out, "The mounted server \"" + name + "\" did not send the whole resource in time.", {}};
}

/// Takes the items of one answer.
class receiver {
 public:
  receiver(const read_request& request, std::uint64_t most, std::string name)
      : request_(request), most_(most), name_(std::move(name)) {}

  result<void> take(std::size_t item, std::string_view bytes) {
    total_ += bytes.size();
    if (total_ > most_) return tl::unexpected(too_large(request_.asked_uri, most_));
    if (item >= most_items) return fail(errc::broken_protocol, "it sent more than " + std::to_string(most_items) + " contents");
    if (monotonic_clock::now() > request_.deadline) return tl::unexpected(late(name_));
    while (spools_.size() <= item) spools_.emplace_back();
    return spools_[item].append(bytes);
  }
  /// The content of one item; empty when none came.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> content(std::size_t item) {
    while (spools_.size() <= item) spools_.emplace_back();
    return spools_[item].take();
  }

 private:
  const read_request& request_;
  const std::uint64_t most_;
  const std::string name_;
  std::uint64_t total_ = 0;
  std::vector<disk::spool> spools_;
};

}  // namespace

content mcp_provider::content_of(const read_item& from, const std::string& theirs) const {
  content made;
  if (!from.uri.empty() && from.uri != theirs) {
    // One that cannot be ours is named by what was asked for.
    if (auto uri = upstream_.names().ours(from.uri)) made.uri = std::move(*uri);
  }
  made.name = clean_shown(from.name, longest_line, upstream_.options().redact);
  made.title = clean_shown(from.title, longest_line, upstream_.options().redact);
  made.mimeType = clean_media_type(from.mimeType);
  made.form = from.is_text ? content_form::text : content_form::blob;
  return made;
}

bool mcp_provider::is_excluded(const read_item& from, const std::string& theirs) const {
  return !from.uri.empty() && from.uri != theirs && !upstream_.which().reason_against(from.uri).empty();
}

result<reading> mcp_provider::read(const read_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  const bool asks_for_news = request.if_version && at.with->server().has_versions;
  auto made = asks_for_news ? read_if_changed(at, request) : read_through(at, request);
  if (made) upstream_.succeeded();
  // Who does not see everything is told the same of what is not there and of what is hidden, and that is no way to it.
  if (!made && request.who.view && made.error().code == errc::fetch_directly) {
    return fail(errc::resource_not_found, "Resource not found", std::move(made.error().private_text));
  }
  return made;
}

result<reading> mcp_provider::read_if_changed(const place& at, const read_request& request) {
  auto got = at.with->read_if_changed(at.theirs, *request.if_version, at.how);
  // It has changed, and is too big to be kept in memory.
  if (!got && got.error().code == errc::response_too_large) return read_through(at, request);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  reading made;
  made.ttl = got->ttl;
  if (got->is_not_modified) {
    made.version = *request.if_version;
    return made;
  }
  const auto most = std::min(request.max_bytes, upstream_.options().max_read);
  std::uint64_t total = 0;
  for (auto& item : got->items) {
    if (is_excluded(item, at.theirs)) continue;
    total += item.bytes.size();
    if (total > most) return tl::unexpected(too_large(request.asked_uri, most));
    auto one = content_of(item, at.theirs);
    one.data = std::make_shared<const std::string>(std::move(item.bytes));
    made.contents.push_back(std::move(one));
  }
  if (made.contents.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  made.version = clean(got->items.front().version, longest_word);
  return made;
}

result<reading> mcp_provider::read_through(const place& at, const read_request& request) {
  receiver into(request, std::min(request.max_bytes, upstream_.options().max_read), name());
  std::optional<failure> mine;
  const auto got = at.with->read_to(
      at.theirs,
      [&](std::size_t item, std::string_view bytes) {
        upstream_.heard();
        auto taken = into.take(item, bytes);
        if (!taken) mine = taken.error();
        return taken;
      },
      at.how);
  if (!got && mine) return tl::unexpected(std::move(*mine));
  // The client has the limit of the mount, and says so without its name.
  if (!got && got.error().code == errc::response_too_large && !got.error().answer)
    return tl::unexpected(too_large(request.asked_uri, upstream_.options().max_read));
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  if (got->items.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  if (got->items.size() > most_items)
    return fail(errc::broken_protocol,
                "The mounted server \"" + name() + "\" sent more than " + std::to_string(most_items) + " contents.");
  reading made;
  made.ttl = got->ttl;
  made.version = clean(got->items.front().version, longest_word);
  for (std::size_t item = 0; item < got->items.size(); ++item) {
    if (is_excluded(got->items[item], at.theirs)) continue;
    auto one = content_of(got->items[item], at.theirs);
    HONDANA_TRY(auto data, into.content(item));
    one.data = std::move(data);
    made.contents.push_back(std::move(one));
  }
  if (made.contents.empty()) return fail(errc::resource_not_found, "Resource not found", "all contents of a read are excluded");
  return made;
}

}  // namespace hondana::mcp
