/// The provider's calls.
#include "sources/docs/docs_provider.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/docs/describe.hpp"
#include "sources/docs/naming.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

/// For how long what was seen of the folder is taken to be so, where nobody tells of changes.
constexpr std::chrono::milliseconds seen_lately{1000};
constexpr std::uint64_t most_described = 256ull << 20;

/// URIs by what a read of them finds.
model::watched_spellings::key_of comparing_in(const std::string& set) {
  return [set](std::string_view uri) {
    const auto what = address_of(set, uri);
    return what && !what->is_set ? language::folded(what->path) : std::string(uri);
  };
}

/// Names may differ in case or width alone: who watches one of these documents, and may not see the other, hears nothing of it.
model::watched_spellings::is_listed_as listed_in(std::weak_ptr<const library> in) {
  return [in = std::move(in)](std::string_view uri) {
    const auto there = in.lock();
    const auto now = there ? there->latest() : nullptr;
    return now && now->entries().find(uri).has_value();
  };
}

}  // namespace

std::string docs_provider::why_not_rendered(const document& of) const {
  if (!of.type.rendered) return {};
  const auto& by = library_->how().renderer;
  if (!by) return "; its text is not served: renders = false";
  const auto missing = by->missing_for(*of.type.rendered);
  return missing.empty() ? std::string() : "; its text is not served: " + missing;
}

docs_provider::docs_provider(std::shared_ptr<library> of)
    : library_(std::move(of)),
      spellings_(std::make_shared<model::watched_spellings>(comparing_in(library_->set()), listed_in(library_))) {
  const auto& how = library_->how();
  if (how.renderer) {
    learner_ = std::make_unique<learner>(library_);
    library_->wake_with([this_has = std::weak_ptr(library_), wake = learner_->waker()] {
      // Who hears of no changes is not told of titles either; they come with reads.
      if (const auto there = this_has.lock(); there && there->is_heard()) wake();
    });
  }
  if (!how.watch) return;
  watch::lookout_options with;
  with.what = "the documents " + how.name;
  with.log = how.log;
  const auto look = [from = std::weak_ptr(library_)](const call& by, const watch::lookout::trees&) {
    const auto there = from.lock();
    return !there || there->refreshed(by).has_value();  // why not, the next who asks is told
  };
  watching_ = std::make_unique<watch::lookout>(std::vector{how.path}, look, std::move(with));
  // Not the watching itself: a thread that is within a look must not become its last owner.
  library_->cover_with(watching_->coverer());
}

docs_provider::~docs_provider() {
  library_->be_silent();
  learner_.reset();
}

result<std::shared_ptr<docs_provider>> docs_provider::open(options all) {
  HONDANA_TRY(auto made, library::open(std::move(all)));
  return std::shared_ptr<docs_provider>(new docs_provider(std::move(made)));
}

std::vector<std::string> docs_provider::claims() const { return {claim_of(library_->set())}; }

scheme_documentation docs_provider::documentation() const { return docs::describe(); }

result<std::shared_ptr<const scene>> docs_provider::refreshed(const call& by) {
  if (watching_ && has_listener_) watching_->start();
  return library_->refreshed(by);
}

result<std::shared_ptr<const scene>> docs_provider::current(const call& by) {
  auto known = library_->latest();
  const bool is_told = watching_ && has_listener_ && watching_->is_complete();
  if (known && (is_told || monotonic_clock::now() - library_->looked_at_last() < seen_lately)) return known;
  return refreshed(by);
}

result<list_result> docs_provider::list(const list_request& request) {
  // What follows a page is of the folder as it was looked at for the first.
  const auto now = request.after.empty() ? refreshed(request) : current(request);
  return now.map([&](const auto& known) { return known->entries().page(request); });
}

result<list_result> docs_provider::children(const children_request& request) {
  HONDANA_TRY(const auto now, refreshed(request));
  HONDANA_TRY(const auto what, address_of(library_->set(), request.uri));
  const bool is_whole = !what.is_part() && !what.is_set;
  if (is_whole && is_folder(*now, what, request.who)) {
    auto wanted = request;
    if (!what.is_as_listed) wanted.uri = uri_of(library_->set(), what.path);
    return now->entries().children(wanted);
  }
  if (what.is_set || find(*now, what, request.who)) {
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  }
  return fail(errc::resource_not_found, "Folder not found in this set.");
}

result<reading> docs_provider::read(const read_request& request) {
  HONDANA_TRY(const auto what, address_of(library_->set(), request.uri));
  auto now = current(request);
  if (!now) return tl::unexpected(now.error());
  auto made = give(**now, what, request);
  // It may have come since. Unknown names are many, and a walk for each would be dear.
  if (!made && made.error().code == errc::resource_not_found && library_->may_hold(what.path)) {
    if (auto newer = refreshed(request); newer && *newer != *now) {
      now = std::move(newer);
      made = give(**now, what, request);
    }
  }
  if (!made) return tl::unexpected(std::move(made.error()));
  reading answer;
  answer.version = std::move(made->version);
  answer.is_racy = made->is_racy;
  if (!answer.version.empty() && answer.version == request.if_version) return answer;
  answer.contents = std::move(made->contents);
  return answer;
}

result<resource> docs_provider::describe(const describe_request& request) {
  const auto what = address_of(library_->set(), request.uri);
  if (!what) return tl::unexpected(what.error());
  HONDANA_TRY(const auto now, current(request));
  if (!what->is_part() && !what->is_set && !is_folder(*now, *what, request.who)) {
    const auto known = find(*now, *what, request.who);
    const auto state = known ? library_->state_of(**known) : result<disk::stamp>(tl::unexpected(known.error()));
    if (state && *state == (*known)->state && !(*known)->entry.version.empty()) return (*known)->entry;
  }
  HONDANA_TRY(const auto newer, refreshed(request));
  read_request content;
  static_cast<call&>(content) = static_cast<const call&>(request);
  content.uri = content.asked_uri = request.uri;
  content.max_bytes = most_described;
  resource entry;
  const auto listed = newer->entries().find(request.uri);
  const bool is_document = !what->is_part() && !what->is_set && !is_folder(*newer, *what, request.who);
  if (is_document) {
    HONDANA_TRY(const auto known, find(*newer, *what, request.who));
    entry = known->entry;
    // A file that may change without a trace has the version of its content, and what must be rendered is not for this.
    if (!entry.version.empty() || known->type.rendered) return entry;
  } else if (listed) {
    entry = *listed;
  }
  HONDANA_TRY(auto made, give(*newer, *what, content));
  if (entry.uri.empty()) {
    const auto& first = made.contents.front();
    entry.uri = request.uri;
    entry.name = first.name;
    entry.title = first.title;
    entry.mimeType = first.mimeType;
    entry.metadata = first.metadata;
    entry.kind = made.kind;
    if (const auto known = find(*newer, *what, request.who)) entry.annotations = (*known)->entry.annotations;
  }
  entry.version = std::move(made.version);
  if (const auto* bytes = std::get_if<shared_bytes>(&made.contents.front().data)) entry.size = (*bytes)->size();
  return entry;
}

std::vector<resource_template> docs_provider::templates() const { return templates_of(library_->set()); }

result<void> docs_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  return refreshed(request).map([&](const auto& now) {
    for (const auto& [path, one] : now->documents()) {
      each({readable(path), one.entry.uri, true, remark_on(one) + why_not_rendered(one)});
    }
    for (const auto& one : now->left_out()) each({readable(one.path), {}, false, one.reason});
  });
}

void docs_provider::watch(std::shared_ptr<change_listener> to) {
  has_listener_ = to != nullptr;
  library_->watch(spellings_->telling(std::move(to)));
}

void docs_provider::detach(const std::string& uri) { spellings_->remove(uri); }

void docs_provider::attach(const std::string& uri) {
  spellings_->add(uri);
  if (watching_ && has_listener_) watching_->start();
}

void docs_provider::attach_list() {
  if (!watching_ || !has_listener_) return;
  library_->attach_list();
  watching_->start();
}

hondana::needs docs_provider::needs() const {
  hondana::needs all;
  all.folders.push_back({library_->how().path, false});
  const auto& renderer = library_->how().renderer;
  if (!renderer) return all;
  for (const auto& command : renderer->commands()) {
    if (command.empty() || !command.front().starts_with('/')) continue;
    const bool is_known = std::find(all.programs.begin(), all.programs.end(), command.front()) != all.programs.end();
    if (!is_known) all.programs.push_back(command.front());
  }
  return all;
}

hondana::masking docs_provider::masking() const noexcept { return library_->how().redact ? masking::by_source : masking::none; }

}  // namespace hondana::docs
