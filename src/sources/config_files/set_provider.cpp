/// The provider's calls.
#include "sources/config_files/set_provider.hpp"

#include <utility>

#include "base/bytes/prepare.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/config_files/sight.hpp"
#include "sources/config_files/views.hpp"

namespace hondana::config_files {
namespace {

constexpr std::uint64_t most_described = 64ull << 20;

/// Whether an answer may hold what stands in a folder instead of a file.
bool is_missing(const failure& why) { return why.code == errc::resource_not_found; }

}  // namespace

set_provider::set_provider(std::shared_ptr<watched_set> set, const options& all) : set_(std::move(set)), redacts_(all.redact) {
  if (!all.watch || set_->files().grounds().empty()) return;
  std::vector<std::string> paths;
  for (const auto& one : set_->files().grounds()) paths.push_back(one->path());
  watch::lookout_options with;
  with.what = "the configuration " + all.name;
  with.quiet = std::chrono::milliseconds(20);
  with.latest = std::chrono::milliseconds(200);
  with.log = all.log;
  const auto look = [of = std::weak_ptr(set_)](const call& by, const watch::lookout::trees&) {
    const auto there = of.lock();
    if (!there) return true;
    const auto now = there->refreshed(by);
    return now.has_value() && (*now)->unreachable.empty();  // why not, the log says
  };
  watching_ = std::make_unique<watch::lookout>(std::move(paths), look, std::move(with));
  // Not the watching itself: a thread that is within a look must not become its last owner.
  set_->cover_with(watching_->coverer());
}

set_provider::~set_provider() { set_->be_silent(); }

result<std::shared_ptr<set_provider>> set_provider::open(options all) {
  HONDANA_TRY(auto set, watched_set::open(all));
  return std::shared_ptr<set_provider>(new set_provider(std::move(set), all));
}

result<std::shared_ptr<const scene>> set_provider::refreshed(const call& by) {
  if (watching_ && has_listener_) watching_->start();
  return set_->refreshed(by);
}

result<list_result> set_provider::list(const list_request& request) {
  return refreshed(request).map([&](const auto& now) {
    auto asked = request;
    asked.who = mindful_of_links(request.who, set_->name(), now);
    return now->entries->page(asked);
  });
}

result<reading> set_provider::read(const read_request& request) {
  HONDANA_TRY(const auto what, address_of(set_->name(), request.uri));
  if (what.what == topic::folder) return read_folder(request);
  auto made = give(set_->files(), set_->name(), what, request.who, redacts_, request.asked_uri, request.max_bytes);
  if (!made) {
    const bool may_be_folder = what.what == topic::file && !what.key && !what.as_json && is_missing(made.error());
    if (may_be_folder) {
      if (auto folder = read_folder(request)) return folder;
    }
    return tl::unexpected(std::move(made.error()));
  }
  reading answer;
  answer.version = std::move(made->version);
  answer.is_racy = made->is_racy;
  if (!answer.version.empty() && answer.version == request.if_version) return answer;
  content one;
  one.name = std::move(made->name);
  one.mimeType = std::move(made->type);
  one.metadata = std::move(made->facts);
  one.data = std::make_shared<const std::string>(std::move(made->text));
  answer.contents.push_back(std::move(one));
  return answer;
}

result<reading> set_provider::read_folder(const read_request& request) {
  children_request next;
  static_cast<call&>(next) = static_cast<const call&>(request);
  next.uri = request.uri;
  const bool looks = request.who.view && request.who.view->looks_at_entries();
  std::string text;
  for (;;) {
    auto page = children(next);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (const auto& one : page->entries) {
      if (!looks || request.who.view->may_see_entry(one)) (text += one.uri) += '\n';
    }
    if (text.size() > request.max_bytes) {
      return tl::unexpected(bytes::too_large(request.asked_uri, text.size(), request.max_bytes, false));
    }
    if (!page->resume) break;
    next.after = std::move(*page->resume);
  }
  bytes::sha256 digest;
  digest.feed(text);
  auto answer = text_reading(std::move(text), "inode/directory");
  answer.version = digest.finish();
  return answer;
}

result<resource> set_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto what, address_of(set_->name(), request.uri));
  const bool is_plain_file = what.what == topic::file && !what.key && !what.as_json;
  if (is_plain_file) {
    if (const auto file = set_->files().see(what.path)) {
      HONDANA_TRY(may_read_behind(set_->name(), what.path, file->behind, request.who));
      auto entry = entry_of(set_->name(), what.path, *file);
      if (entry.version.empty()) entry.version = request.known_version;
      if (!entry.version.empty()) return entry;
    } else if (!is_missing(file.error())) {
      return tl::unexpected(file.error());
    }
  }
  read_request content;
  static_cast<call&>(content) = static_cast<const call&>(request);
  content.uri = content.asked_uri = request.uri;
  content.max_bytes = most_described;
  HONDANA_TRY(const auto now, refreshed(request));
  auto listed = now->entries->find(request.uri);
  if (what.what == topic::folder || (listed && listed->mimeType == "inode/directory")) {
    resource entry = listed.value_or(resource{.uri = request.uri, .name = set_->name(), .mimeType = "inode/directory"});
    entry.kind = "folder";
    HONDANA_TRY(auto read, read_folder(content));
    entry.version = std::move(read.version);
    return entry;
  }
  HONDANA_TRY(auto made, give(set_->files(), set_->name(), what, request.who, redacts_, request.uri, most_described));
  resource entry = listed.value_or(resource{.uri = request.uri, .name = made.name, .mimeType = made.type});
  entry.kind = made.kind;
  entry.version = std::move(made.version);
  entry.size = made.text.size();
  return entry;
}

result<list_result> set_provider::children(const children_request& request) {
  HONDANA_TRY(const auto now, refreshed(request));
  const auto entry = now->entries->find(request.uri);
  if (request.uri != claim_of(set_->name()) && (!entry || entry->mimeType != "inode/directory")) {
    if (entry) return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
    return fail(errc::resource_not_found, "The set has no folder of this name.");
  }
  auto asked = request;
  asked.who = mindful_of_links(request.who, set_->name(), now);
  return now->entries->children(asked);
}

std::vector<resource_template> set_provider::templates() const {
  return templates_of(set_->name(), !set_->files().layer_settings().empty());
}

result<void> set_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  return refreshed(request).map([&](const auto& now) {
    for (const auto& [path, file] : now->files) each({path, uri_of_file(set_->name(), path), true, {}});
    for (const auto& one : now->left_out) each({one.path, {}, false, one.reason});
  });
}

void set_provider::watch(std::shared_ptr<change_listener> to) {
  has_listener_ = to != nullptr;
  set_->watch(std::move(to));
}

void set_provider::attach(const std::string& uri) {
  if (!watching_ || !has_listener_) return;
  set_->attach(uri);
  watching_->start();
}

void set_provider::detach(const std::string& uri) { set_->detach(uri); }

void set_provider::attach_list() {
  if (!watching_ || !has_listener_) return;
  set_->attach_list();
  watching_->start();
}

hondana::needs set_provider::needs() const {
  hondana::needs all;
  for (const auto& one : set_->files().grounds()) all.folders.push_back({one->path(), false});
  return all;
}

hondana::masking set_provider::masking() const noexcept { return redacts_ ? masking::by_source : masking::none; }

}  // namespace hondana::config_files
