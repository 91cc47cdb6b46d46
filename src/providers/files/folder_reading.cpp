/// Listing one folder and sending small files along.
#include "providers/files/folder_reading.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "bytes/digest.hpp"
#include "bytes/prepare.hpp"
#include "providers/files/describe.hpp"
#include "providers/files/entry.hpp"
#include "providers/files/folder.hpp"
#include "providers/files/mime.hpp"
#include "providers/files/sniff.hpp"
#include "providers/files/window.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t name_limit = 5'000'000;
constexpr std::size_t tried_files = 1'000;  // opened for one folder, whatever the budget

/// A served child.
struct child {
  std::string path;
  struct stat facts{};
};

/// Goes through the served children after the URI `after`, until `take` returns false.
result<void> for_each_child(const root& of, const located& folder, const std::string& asked, std::string_view after,
                            const call& by, const std::function<bool(child&&)>& take) {
  const auto open = of.below().open_folder(folder);
  if (!open) return tl::unexpected(failure_of(refusal_of(open.error()), asked));
  const auto ignored_by = of.stack_at(folder.path);
  if (!ignored_by) return tl::unexpected(failure_of(ignored_by.error(), asked));
  const auto names = folder_names::read(open->get(), name_limit);
  if (!names) return tl::unexpected(failure_of(refusal_of(obstacle_of(names.error())), asked));
  const std::string prefix = folder.path.empty() ? std::string() : folder.path + '/';
  for (std::size_t i = 0; i < names->size(); ++i) {
    if (auto wanted = still_wanted(by); !wanted) return wanted;
    const auto name = names->at(i);
    auto path = prefix + name;
    if (!after.empty() && compare_by_segment(of.uri_of(path), after) != std::strong_ordering::greater) continue;
    const auto found = examine(of, open->get(), path, name.c_str(), *ignored_by);
    if (found.is_served && !take({std::move(path), found.facts})) break;
  }
  return {};
}

/// A file's content when it is text of at most `room_left` bytes.
std::optional<content> small_text(const root& of, const child& what, std::uint64_t room_left, const read_request& request,
                                  reading_room& room, std::string& version) {
  const auto at = of.below().locate(what.path);
  if (!at || !at->links.empty()) return std::nullopt;
  auto file = of.below().open_file(*at);
  if (!file) return std::nullopt;
  auto bounded = request;
  bounded.max_bytes = room_left;
  auto read = read_content(std::make_shared<open_file>(std::move(*file)), std::nullopt, bounded, room);
  if (!read || read->form != content_form::text) return std::nullopt;
  auto entry = entry_of(of, what.path, what.facts);
  content item;
  item.uri = std::move(entry.uri);
  item.name = std::move(entry.name);
  const auto name = std::string_view(what.path).substr(what.path.rfind('/') + 1);
  item.mimeType = agreed_type(name, read->front, content_form::text);
  item.title = describe(item.mimeType, read->front, what.facts.st_size <= static_cast<off_t>(head_bytes)).title;
  item.form = content_form::text;
  item.data = std::move(read->data);
  version = std::move(read->version);
  return item;
}

}  // namespace

failure failure_of(const refusal& why, const std::string& asked_uri) {
  switch (why.why) {
    case obstacle::forbidden:
      return {errc::access_denied, "The operating system does not let this server read " + asked_uri + ".",
              why.reason + ": give its user permission to read it"};
    case obstacle::trouble:
      return {errc::source_unavailable, "The disk or network behind " + asked_uri + " fails. Ask again later.", why.reason};
    case obstacle::missing:
    case obstacle::outside:
    case obstacle::loop:
    case obstacle::kernel_data:
      break;
  }
  return {errc::resource_not_found, "There is no resource " + asked_uri + ". List the resources to see what there is.",
          why.reason};
}

result<reading> read_folder(const root& of, const located& folder, std::uint64_t budget, const read_request& request,
                            reading_room& room) {
  std::string text;
  std::uint64_t listing_size = 0;
  std::vector<child> files;
  auto listed = for_each_child(of, folder, request.asked_uri, {}, request, [&](child&& one) {
    const auto uri = of.uri_of(one.path);
    listing_size += uri.size() + 1;
    if (listing_size <= request.max_bytes) (text += uri) += '\n';
    if (budget > 0 && S_ISREG(one.facts.st_mode) && one.facts.st_size > 0 && files.size() < tried_files)
      files.push_back(std::move(one));
    return true;
  });
  if (!listed) return tl::unexpected(std::move(listed.error()));
  if (listing_size > request.max_bytes) {
    return tl::unexpected(bytes::too_large(request.asked_uri, listing_size, request.max_bytes, false));
  }

  bytes::digester digest;
  digest.feed(text);
  reading answer;
  content self;
  self.name = of.name_of(folder.path);
  self.mimeType = "inode/directory";
  self.form = content_form::text;
  self.data = std::make_shared<const std::string>(std::move(text));
  answer.contents.push_back(std::move(self));

  std::uint64_t left = std::min(budget, request.max_bytes - listing_size);
  for (const auto& one : files) {
    const auto size = static_cast<std::uint64_t>(one.facts.st_size);
    const auto type = mime_of(std::string_view(one.path).substr(one.path.rfind('/') + 1));
    if (!type.name.empty() && !type.is_text) continue;
    if (size > left) break;
    if (auto wanted = still_wanted(request); !wanted) return tl::unexpected(std::move(wanted.error()));
    std::string version;
    auto item = small_text(of, one, left, request, room, version);
    if (!item) continue;
    const auto* whole = std::get_if<shared_bytes>(&item->data);
    if (whole == nullptr) continue;
    left -= (*whole)->size();
    digest.feed(version);
    // A private copy of at most the budget, so that one answer does not hold many of the shared buffers.
    item->data = std::make_shared<const std::string>(**whole);
    answer.contents.push_back(std::move(*item));
  }
  answer.version = bytes::to_hex(digest.value());
  return answer;
}

result<list_result> list_children(const root& of, const located& folder, const children_request& request) {
  list_result page;
  auto listed = for_each_child(of, folder, request.uri, request.after, request, [&](child&& one) {
    if (page.entries.size() == request.limit) {
      page.resume = page.entries.empty() ? request.after : page.entries.back().uri;
      return false;
    }
    auto entry = entry_of(of, one.path, one.facts);
    if (!request.who.view || request.who.view->may_see(entry.uri)) page.entries.push_back(std::move(entry));
    return true;
  });
  if (!listed) return tl::unexpected(std::move(listed.error()));
  return page;
}

}  // namespace hondana::files
