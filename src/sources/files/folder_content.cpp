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
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/files/description.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/resource_entry.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t max_folder_names = 5'000'000;
constexpr std::size_t max_opened_files = 1'000;  // limit of files opened for one folder, besides the budget

/// A served child that the caller may see.
struct child {
  std::string path;
  std::string uri;
  struct stat attributes{};
  std::int64_t checked_at = 0;
};

/// A folder whose names have been read, to be examined one by one.
class opened_folder {
 public:
  /// Errors: as for a lookup, and response_too_large for too many names.
  static result<opened_folder> open(const served_root& root, const disk::resolved_path& folder,
                                    const std::string& requested_uri) {
    auto opened = root.dir()->open_folder(folder);
    if (!opened) return tl::unexpected(to_failure(make_rejection(opened.error()), requested_uri));
    auto ignored_by = root.ignore_stack_at(folder.path);
    if (!ignored_by) return tl::unexpected(to_failure(ignored_by.error(), requested_uri));
    auto names = folder_names::read(opened->get(), max_folder_names);
    if (!names) return tl::unexpected(to_failure(make_rejection(disk::to_lookup_error(names.error())), requested_uri));
    if (names->is_cut()) {
      return fail(errc::response_too_large, "The folder " + requested_uri + " has more than " +
                                                std::to_string(max_folder_names) +
                                                " names, too many to list. Read its files by URI.");
    }
    return opened_folder(root, folder, std::move(*opened), std::move(*ignored_by), std::move(*names));
  }

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] std::string uri(std::size_t index) const { return root_.uri_of(prefix_ + names_.at(index)); }

  /// The index of the first name whose URI comes after `after_key`.
  [[nodiscard]] std::size_t first_after(std::string_view after_key) const {
    if (after_key.empty()) return 0;
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (compare_by_segment(uri(middle), after_key) == std::strong_ordering::greater) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /// The child at this index. Nothing if it is not served, if the caller's access filter hides it, or if the disk fails, which
  /// `unreadable` counts. Throws std::system_error when descriptors or memory run out.
  [[nodiscard]] std::optional<child> examine_child(std::size_t index, const request_context& context,
                                                   std::size_t& unreadable) const {
    const auto name = names_.at(index);
    child entry{prefix_ + name, {}, {}, disk::wall_clock()};
    entry.uri = root_.uri_of(entry.path);
    if (context.caller.access_filter && !context.caller.access_filter->may_see(entry.uri))
      return std::nullopt;  // needs no disk access
    const auto examined = examine(root_, folder_.get(), entry.path, name.c_str(), ignored_by_, &context);
    if (examined.is_system_error) ++unreadable;
    if (!examined.is_served) return std::nullopt;
    entry.attributes = examined.attributes;
    const bool uses_entries = context.caller.access_filter && context.caller.access_filter->uses_entries();
    if (uses_entries &&
        !context.caller.access_filter->may_see_entry(make_entry(root_, entry.path, entry.attributes, entry.checked_at)))
      return std::nullopt;
    return entry;
  }

 private:
  opened_folder(const served_root& root, const disk::resolved_path& folder, disk::handle opened, ignore::stack ignored_by,
                folder_names names)
      : root_(root),
        prefix_(folder.path.empty() ? std::string() : folder.path + '/'),
        folder_(std::move(opened)),
        ignored_by_(std::move(ignored_by)),
        names_(std::move(names)) {}

  const served_root& root_;
  std::string prefix_;
  disk::handle folder_;
  ignore::stack ignored_by_;
  folder_names names_;
};

/// The text of a listing. Its memory counts against the shared buffers: up to 1 MiB like that of a file, above that as a long
/// listing.
class listing_text {
 public:
  listing_text(read_resources& resources, const read_request& request) : resources_(resources), request_(request) {}

  /// Errors: overloaded.
  result<void> add(std::string_view line) {
    if (text_->size() + line.size() + 1 > capacity_) {
      HONDANA_TRY(enlarge());
    }
    (*text_ += line) += '\n';
    return {};
  }

  [[nodiscard]] shared_bytes release() && {
    if (text_->capacity() > max_buffered_bytes) text_->shrink_to_fit();
    return std::move(text_);
  }

 private:
  /// Moves the text to a larger buffer. Listings up to 64 KiB do not count, those up to 1 MiB count as 1 MiB, and others as the
  /// largest possible read.
  result<void> enlarge() {
    const bool is_long = capacity_ == max_buffered_bytes;
    const auto max_bytes = static_cast<std::size_t>(std::max<std::uint64_t>(request_.max_bytes, max_buffered_bytes));
    HONDANA_TRY(auto larger,
                is_long ? resources_.listing_buffers.acquire(0, max_bytes) : resources_.buffers.acquire(0, max_buffered_bytes));
    *larger = std::move(*text_);
    text_ = std::move(larger);
    capacity_ = is_long ? std::numeric_limits<std::size_t>::max() : max_buffered_bytes;
    return {};
  }

  read_resources& resources_;
  const read_request& request_;
  std::shared_ptr<std::string> text_ = std::make_shared<std::string>();
  std::size_t capacity_ = 64 * 1024;
};

/// The content of a text file of at most `max_bytes` bytes; nothing for any other file, and for one that the disk fails to
/// read, which `unreadable` counts. Errors: source_unavailable when descriptors or memory run out.
result<std::optional<resource_content>> read_small_text(const served_root& root, const child& entry, std::uint64_t max_bytes,
                                                        const read_request& request, read_resources& resources,
                                                        std::string& version, std::size_t& unreadable) {
  const auto resolved = root.dir()->resolve(entry.path);
  if (resolved && !resolved->links.empty()) return std::optional<resource_content>();
  auto file = resolved ? root.dir()->open_file(*resolved) : tl::unexpected(resolved.error());
  if (!file && disk::is_exhaustion_error(file.error().error))
    return tl::unexpected(to_failure(make_rejection(file.error()), entry.uri));
  if (!file && file.error().kind == disk::lookup_error_kind::system_error) ++unreadable;
  if (!file) return std::optional<resource_content>();
  auto bounded = request;
  bounded.max_bytes = max_bytes;
  auto contents = read_content(std::make_shared<open_file>(std::move(*file)), std::nullopt, bounded, resources,
                               root.masking_policy_of(entry.path));
  if (!contents && contents.error().code == errc::source_unavailable) ++unreadable;
  if (!contents || contents->kind != content_kind::text) return std::optional<resource_content>();
  resource_content item;
  item.uri = entry.uri;
  item.name = root.name_of(entry.path);
  const auto name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
  item.mime_type = effective_mime_type(name, contents->front, content_kind::text);
  add_active_label(item, name, contents->front);
  item.title = describe(item.mime_type, contents->front, entry.attributes.st_size <= static_cast<off_t>(head_bytes)).title;
  item.kind = content_kind::text;
  item.data = std::move(contents->data);
  item.metadata = secrets::redaction_metadata(contents->masked_count);
  version = std::move(contents->version);
  return std::optional(std::move(item));
}

/// The error for a folder all of whose entries fail.
tl::unexpected<failure> entries_fail(const std::string& requested_uri) {
  return tl::unexpected(
      to_failure({disk::lookup_error_kind::system_error, 0, "none of its entries can be accessed"}, requested_uri));
}

}  // namespace

failure to_failure(const rejection& rejection, const std::string& requested_uri) {
  switch (rejection.kind) {
    case disk::lookup_error_kind::forbidden:
      return {errc::access_denied, "The operating system does not allow this server to read " + requested_uri + ".",
              rejection.reason + ": give its user permission to read it"};
    case disk::lookup_error_kind::system_error:
      return {errc::source_unavailable, "The disk or network behind " + requested_uri + " fails. Retry later.",
              rejection.reason};
    case disk::lookup_error_kind::missing:
    case disk::lookup_error_kind::outside:
    case disk::lookup_error_kind::loop:
    case disk::lookup_error_kind::kernel_data:
      break;
  }
  return {errc::resource_not_found, "Unknown resource " + requested_uri + ". List the resources to see what is available.",
          rejection.reason};
}

result<read_result> read_folder(const served_root& root, const disk::resolved_path& folder, std::uint64_t budget,
                                const read_request& request, read_resources& resources) {
  HONDANA_TRY(const auto opened, opened_folder::open(root, folder, request.requested_uri));
  listing_text lines(resources, request);
  std::uint64_t listing_size = 0;
  std::size_t unreadable = 0;
  std::vector<child> files;
  for (std::size_t i = 0; i < opened.size(); ++i) {
    HONDANA_TRY(check_cancellation(request));
    auto entry = opened.examine_child(i, request, unreadable);
    if (!entry) continue;
    listing_size += entry->uri.size() + 1;
    if (listing_size > request.max_bytes) continue;  // the error message states the total size
    HONDANA_TRY(lines.add(entry->uri));
    const bool may_be_sent = S_ISREG(entry->attributes.st_mode) && entry->attributes.st_size > 0;
    if (budget > 0 && may_be_sent && files.size() < max_opened_files) files.push_back(std::move(*entry));
  }
  if (listing_size == 0 && unreadable > 0) return entries_fail(request.requested_uri);
  if (listing_size > request.max_bytes) {
    return tl::unexpected(bytes::too_large_error(request.requested_uri, listing_size, request.max_bytes, false));
  }

  bytes::digester digest;
  read_result response;
  resource_content listing;
  listing.name = root.name_of(folder.path);
  listing.mime_type = "inode/directory";
  listing.kind = content_kind::text;
  const auto text = std::move(lines).release();
  digest.update(*text);
  listing.data = text;
  response.contents.push_back(std::move(listing));

  std::uint64_t remaining_bytes = std::min(budget, request.max_bytes - listing_size);
  for (const auto& file : files) {
    const auto size = static_cast<std::uint64_t>(file.attributes.st_size);
    const auto type = mime_type_of(std::string_view(file.path).substr(file.path.rfind('/') + 1));
    if (!type.name.empty() && !type.is_text) continue;
    if (size > remaining_bytes) break;
    HONDANA_TRY(check_cancellation(request));
    std::string version;
    HONDANA_TRY(auto loaded, read_small_text(root, file, remaining_bytes, request, resources, version, unreadable));
    auto& item = loaded;
    if (!item) continue;
    const auto* item_bytes = std::get_if<shared_bytes>(&item->data);
    if (item_bytes == nullptr) continue;
    remaining_bytes -= (*item_bytes)->size();
    digest.update(version);
    // A private copy of at most the budget, so that one response does not hold many of the shared buffers.
    item->data = std::make_shared<const std::string>(**item_bytes);
    response.contents.push_back(std::move(*item));
  }
  if (unreadable > 0) {
    response.contents.front().metadata.emplace_back("dev.hondana/unreadable", static_cast<std::int64_t>(unreadable));
    digest.update("unreadable " + std::to_string(unreadable));
  }
  response.version = bytes::to_hex(digest.value());
  return response;
}

result<list_result> list_children(const served_root& root, const disk::resolved_path& folder, const children_request& request,
                                  std::size_t max_scanned_names) {
  HONDANA_TRY(const auto opened, opened_folder::open(root, folder, request.uri));
  list_result page;
  const auto first = opened.first_after(request.after_key);
  auto next = first;
  std::size_t unreadable = 0;
  std::string last_sent;
  for (; next < opened.size() && page.entries.size() < request.limit; ++next) {
    // The next page begins after an entry that was sent, because the key of a hidden entry would reveal its name. So there must
    // be one.
    if (next - first >= max_scanned_names && !page.entries.empty()) break;
    HONDANA_TRY(check_cancellation(request));
    const auto entry = opened.examine_child(next, request, unreadable);
    if (!entry) continue;
    page.entries.push_back(make_entry(root, entry->path, entry->attributes, entry->checked_at));
    last_sent = opened.uri(next);
  }
  if (request.after_key.empty() && page.entries.empty() && unreadable > 0) return entries_fail(request.uri);
  if (next < opened.size()) page.next_key = page.entries.empty() ? request.after_key : last_sent;
  return page;
}

}  // namespace hondana::files
