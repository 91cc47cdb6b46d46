/// Reads a folder: its listing, its small text files, and pages of its children.
#include "sources/files/folder_content.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "base/bytes/prepared_content.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/files/description.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/resource_entry.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t name_limit = 5'000'000;
constexpr std::size_t tried_files = 1'000;  // limit of files opened for one folder, besides the budget

/// A served child that the caller may see.
struct child {
  std::string path;
  std::string uri;
  struct stat facts{};
  std::int64_t looked_at = 0;
};

/// A folder whose names have been read, to be examined one by one.
class opened_folder {
 public:
  /// Errors: as for a lookup, and response_too_large for too many names.
  static result<opened_folder> open(const root& of, const located& folder, const std::string& asked) {
    auto opened = of.below()->open_folder(folder);
    if (!opened) return tl::unexpected(failure_of(refusal_of(opened.error()), asked));
    auto ignored_by = of.stack_at(folder.path);
    if (!ignored_by) return tl::unexpected(failure_of(ignored_by.error(), asked));
    auto names = folder_names::read(opened->get(), name_limit);
    if (!names) return tl::unexpected(failure_of(refusal_of(obstacle_of(names.error())), asked));
    if (names->is_cut()) {
      return fail(errc::response_too_large, "The folder " + asked + " has more than " + std::to_string(name_limit) +
                                                " names, too many to list. Read its files by URI.");
    }
    return opened_folder(of, folder, std::move(*opened), std::move(*ignored_by), std::move(*names));
  }

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] std::string uri(std::size_t index) const { return of_.uri_of(prefix_ + names_.at(index)); }

  /// The index of the first name whose URI comes after `after`.
  [[nodiscard]] std::size_t first_after(std::string_view after) const {
    if (after.empty()) return 0;
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (compare_by_segment(uri(middle), after) == std::strong_ordering::greater) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /// The child at this index. Nothing if it is not served, or if the caller's access filter hides it. Errors:
  /// source_unavailable when the disk fails.
  [[nodiscard]] result<std::optional<child>> look(std::size_t index, const call& by) const {
    const auto name = names_.at(index);
    child one{prefix_ + name, {}, {}, disk::wall_clock()};
    one.uri = of_.uri_of(one.path);
    if (by.who.view && !by.who.view->may_see(one.uri)) return std::optional<child>();  // needs no disk access
    const auto found = examine(of_, folder_.get(), one.path, name.c_str(), ignored_by_, &by);
    if (found.is_unsure) return tl::unexpected(failure_of({obstacle::trouble, 0, found.reason()}, one.uri));
    if (!found.is_served) return std::optional<child>();
    one.facts = found.facts;
    const bool looks = by.who.view && by.who.view->looks_at_entries();
    if (looks && !by.who.view->may_see_entry(entry_of(of_, one.path, one.facts, one.looked_at))) return std::optional<child>();
    return std::optional(std::move(one));
  }

 private:
  opened_folder(const root& of, const located& folder, disk::handle opened, ignore::stack ignored_by, folder_names names)
      : of_(of),
        prefix_(folder.path.empty() ? std::string() : folder.path + '/'),
        folder_(std::move(opened)),
        ignored_by_(std::move(ignored_by)),
        names_(std::move(names)) {}

  const root& of_;
  std::string prefix_;
  disk::handle folder_;
  ignore::stack ignored_by_;
  folder_names names_;
};

/// The text of a listing. Its memory counts against the shared buffers: up to 1 MiB like that of a file, above that as a long
/// listing.
class listing_text {
 public:
  listing_text(reading_room& room, const read_request& request) : room_(room), request_(request) {}

  /// Errors: overloaded.
  result<void> add(std::string_view line) {
    if (text_->size() + line.size() + 1 > room_left_) {
      HONDANA_TRY(move_on());
    }
    (*text_ += line) += '\n';
    return {};
  }

  [[nodiscard]] shared_bytes take() && {
    if (text_->capacity() > whole_bytes) text_->shrink_to_fit();
    return std::move(text_);
  }

 private:
  /// Moves the text to a larger buffer. Listings up to 64 KiB do not count, those up to 1 MiB count as 1 MiB, and others as the
  /// largest possible read.
  result<void> move_on() {
    const bool is_long = room_left_ == whole_bytes;
    const auto most = static_cast<std::size_t>(std::max<std::uint64_t>(request_.max_bytes, whole_bytes));
    HONDANA_TRY(auto larger, is_long ? room_.long_listings.borrow(0, most) : room_.buffers.borrow(0, whole_bytes));
    *larger = std::move(*text_);
    text_ = std::move(larger);
    room_left_ = is_long ? std::numeric_limits<std::size_t>::max() : whole_bytes;
    return {};
  }

  reading_room& room_;
  const read_request& request_;
  std::shared_ptr<std::string> text_ = std::make_shared<std::string>();
  std::size_t room_left_ = 64 * 1024;
};

/// The content of a text file of at most `room_left` bytes; nothing for any other file. Errors: source_unavailable.
result<std::optional<content>> small_text(const root& of, const child& what, std::uint64_t room_left,
                                          const read_request& request, reading_room& room, std::string& version) {
  const auto at = of.below()->locate(what.path);
  if (at && !at->links.empty()) return std::optional<content>();
  auto file = at ? of.below()->open_file(*at) : tl::unexpected(at.error());
  if (!file && file.error().why == obstacle::trouble) return tl::unexpected(failure_of(refusal_of(file.error()), what.uri));
  if (!file) return std::optional<content>();
  auto bounded = request;
  bounded.max_bytes = room_left;
  auto read =
      read_content(std::make_shared<open_file>(std::move(*file)), std::nullopt, bounded, room, of.masking_of(what.path));
  if (!read && read.error().code == errc::source_unavailable) return tl::unexpected(std::move(read.error()));
  if (!read || read->form != content_form::text) return std::optional<content>();
  content item;
  item.uri = what.uri;
  item.name = of.name_of(what.path);
  const auto name = std::string_view(what.path).substr(what.path.rfind('/') + 1);
  item.mimeType = agreed_type(name, read->front, content_form::text);
  label(item, name, read->front);
  item.title = describe(item.mimeType, read->front, what.facts.st_size <= static_cast<off_t>(head_bytes)).title;
  item.form = content_form::text;
  item.data = std::move(read->data);
  item.metadata = secrets::facts_of(read->masked);
  version = std::move(read->version);
  return std::optional(std::move(item));
}

}  // namespace

failure failure_of(const refusal& why, const std::string& asked_uri) {
  switch (why.why) {
    case obstacle::forbidden:
      return {errc::access_denied, "The operating system does not allow this server to read " + asked_uri + ".",
              why.reason + ": give its user permission to read it"};
    case obstacle::trouble:
      return {errc::source_unavailable, "The disk or network behind " + asked_uri + " fails. Retry later.", why.reason};
    case obstacle::missing:
    case obstacle::outside:
    case obstacle::loop:
    case obstacle::kernel_data:
      break;
  }
  return {errc::resource_not_found, "Unknown resource " + asked_uri + ". List the resources to see what is available.",
          why.reason};
}

result<reading> read_folder(const root& of, const located& folder, std::uint64_t budget, const read_request& request,
                            reading_room& room) {
  HONDANA_TRY(const auto inside, opened_folder::open(of, folder, request.asked_uri));
  listing_text listed(room, request);
  std::uint64_t listing_size = 0;
  std::vector<child> files;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    HONDANA_TRY(still_wanted(request));
    HONDANA_TRY(auto looked, inside.look(i, request));
    auto& entry = looked;
    if (!entry) continue;
    listing_size += entry->uri.size() + 1;
    if (listing_size > request.max_bytes) continue;  // the error message states the total size
    HONDANA_TRY(listed.add(entry->uri));
    const bool may_be_sent = S_ISREG(entry->facts.st_mode) && entry->facts.st_size > 0;
    if (budget > 0 && may_be_sent && files.size() < tried_files) files.push_back(std::move(*entry));
  }
  if (listing_size > request.max_bytes) {
    return tl::unexpected(bytes::too_large(request.asked_uri, listing_size, request.max_bytes, false));
  }

  bytes::digester digest;
  reading answer;
  content self;
  self.name = of.name_of(folder.path);
  self.mimeType = "inode/directory";
  self.form = content_form::text;
  const auto text = std::move(listed).take();
  digest.feed(*text);
  self.data = text;
  answer.contents.push_back(std::move(self));

  std::uint64_t left = std::min(budget, request.max_bytes - listing_size);
  for (const auto& one : files) {
    const auto size = static_cast<std::uint64_t>(one.facts.st_size);
    const auto type = mime_of(std::string_view(one.path).substr(one.path.rfind('/') + 1));
    if (!type.name.empty() && !type.is_text) continue;
    if (size > left) break;
    HONDANA_TRY(still_wanted(request));
    std::string version;
    HONDANA_TRY(auto opened, small_text(of, one, left, request, room, version));
    auto& item = opened;
    if (!item) continue;
    const auto* whole = std::get_if<shared_bytes>(&item->data);
    if (whole == nullptr) continue;
    left -= (*whole)->size();
    digest.feed(version);
    // A private copy of at most the budget, so that one response does not hold many of the shared buffers.
    item->data = std::make_shared<const std::string>(**whole);
    answer.contents.push_back(std::move(*item));
  }
  answer.version = bytes::to_hex(digest.value());
  return answer;
}

result<list_result> list_children(const root& of, const located& folder, const children_request& request,
                                  std::size_t most_passed) {
  HONDANA_TRY(const auto inside, opened_folder::open(of, folder, request.uri));
  list_result page;
  const auto first = inside.first_after(request.after);
  auto next = first;
  std::string last_sent;
  for (; next < inside.size() && page.entries.size() < request.limit; ++next) {
    // The next page begins after an entry that was sent, because the key of a hidden entry would reveal its name. So there must
    // be one.
    if (next - first >= most_passed && !page.entries.empty()) break;
    HONDANA_TRY(still_wanted(request));
    HONDANA_TRY(auto looked, inside.look(next, request));
    const auto& entry = looked;
    if (!entry) continue;
    page.entries.push_back(entry_of(of, entry->path, entry->facts, entry->looked_at));
    last_sent = inside.uri(next);
  }
  if (next < inside.size()) page.resume = page.entries.empty() ? request.after : last_sent;
  return page;
}

}  // namespace hondana::files
