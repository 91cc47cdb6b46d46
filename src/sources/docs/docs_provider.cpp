/// The provider of one set of documents: configuration, lists and completion.
#include "sources/docs/docs_provider.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/docs/document_entry.hpp"
#include "sources/docs/document_uri.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

/// How long a listing of the folder counts as current if changes are not watched.
constexpr std::chrono::milliseconds seen_lately{1000};
constexpr std::uint64_t most_described = 256ull << 20;

/// Compares URIs by the document that a read of them finds.
model::watched_spellings::key_of comparing_in(const std::string& set) {
  return [set](std::string_view uri) {
    const auto what = address_of(set, uri);
    return what && !what->is_set ? language::folded(what->path) : std::string(uri);
  };
}

/// Names may differ in case or width only. A caller that watches one of two such documents, and may not see the other, must not
/// be notified of the other.
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
      // Without a listener for changes, titles could not be notified later. Reads return them anyway.
      if (const auto there = this_has.lock(); there && there->is_heard()) wake();
    });
  }
  if (!how.watch) return;
  watch::lookout_options with;
  with.what = "the documents " + how.name;
  with.log = how.log;
  const auto look = [from = std::weak_ptr(library_)](const call& by, const watch::lookout::trees&) {
    const auto there = from.lock();
    return !there || there->refreshed(by).has_value();  // the next request reports the error
  };
  watching_ = std::make_unique<watch::lookout>(std::vector{how.path}, look, std::move(with));
  // Passes a handle, not the watcher itself: the watcher's own thread must not become its last owner.
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
  // Later pages use the snapshot of the first one, if it is current.
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
  // The document may be new. Unknown names are common, so the folder is scanned again only if the path exists.
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
    // A file that may have changed without a trace needs the version of its content. Rendering is too slow for this call.
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

namespace {

constexpr std::size_t most_values = 100;
constexpr std::size_t most_pages = 100;
constexpr std::size_t longest_typed = 1000;
constexpr std::chrono::seconds longest_typing_wait{2};
constexpr std::size_t looks_between_checks = 256;

/// Writes a path as a value of `{+path}`. Escapes characters that have a meaning in URIs, and invalid UTF-8, so that the
/// template expands to the listed URI.
std::string written_in_template(std::string_view path) {
  if (!json::is_utf8(path)) return percent_encode(path, true);
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special =
        byte < 0x20 || byte == 0x7F || std::string_view("%?#[]!$&'()*+,;=:@").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return value;
}

std::string decoded_or_same(const std::string& text) { return percent_decode(text).value_or(text); }

struct candidate {
  match::rank how{};
  std::string value{};

  bool operator<(const candidate& other) const noexcept {
    return how < other.how || (!(other.how < how) && value < other.value);
  }
};

/// Compares typed text with candidates after folding width, case and normal form.
class folded_matcher {
 public:
  explicit folded_matcher(std::string_view typed) : fits_(language::folded(typed.substr(0, longest_typed))) {}

  [[nodiscard]] std::optional<match::fit> operator()(std::string_view value) { return fits_(language::folded(value)); }

 private:
  match::matcher fits_;
};

complete_result answer_of(match::best<candidate> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& one : best.take()) answer.values.push_back(std::move(one.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

result<complete_result> docs_provider::complete_paths(const scene& in, const complete_request& request) const {
  const auto now = std::chrono::system_clock::now();
  folded_matcher fits(decoded_or_same(request.value));
  match::best<candidate> best(most_values);
  const bool wants_pages = request.uriTemplate.ends_with("{?pages}");
  std::size_t looks = 0;
  for (const auto& [path, one] : in.documents()) {
    if (++looks % looks_between_checks == 0) {
      HONDANA_TRY(still_wanted(request));
    }
    if (wants_pages && (!one.type.rendered || (one.known && one.known->pages == 0))) continue;
    if (!is_seen(request.who, one.entry)) continue;
    auto how = fits(readable(path));
    if (!how && is_readable(request.who, one.entry)) {
      // Titles match, too, but rank behind all matches of a name.
      how = fits(one.entry.title);
      if (how) how->how = match::tier::letters;
      if (how) how->cost += 1000;
    }
    if (!how) continue;
    best.add(
        {{*how, one.worth.priority, match::recency_of(one.entry.annotations.lastModified, now)}, written_in_template(path)});
  }
  return answer_of(std::move(best));
}

result<complete_result> docs_provider::complete_sections(const scene& in, const complete_request& request) {
  address what;
  what.path = decoded_or_same(request.chosen("path"));
  const auto found = find(in, what, request.who);
  if (!found || !is_readable(request.who, (*found)->entry)) return complete_result();
  // Completion must be quick. The rendering continues in the background, and the next request finds it.
  auto patient = static_cast<const call&>(request);
  if ((*found)->type.rendered) patient.deadline = std::min(patient.deadline, monotonic_clock::now() + longest_typing_wait);
  const auto text = library_->text_of(**found, patient);
  if (!text) return complete_result();  // an unreadable document has no values to suggest
  if (request.argument == "pages") {
    std::vector<std::string> pages;
    for (std::size_t i = 1; i <= std::min((*text)->about->pages, most_pages); ++i) pages.push_back(std::to_string(i));
    return complete_from(request.value, pages);
  }
  folded_matcher fits(request.value);
  match::best<candidate> best(most_values);
  std::set<std::string_view> known;
  double order = 1;
  for (const auto& one : (*text)->outline.sections) {
    order *= 0.999999;  // prefers the first of equal ones
    if (one.heading.empty() || !known.insert(one.heading).second) continue;
    const auto how = fits(one.heading);
    if (!how) continue;
    auto rank = *how;
    if (request.value.empty()) rank.length = 0;
    best.add({{rank, order, match::recency::older}, one.heading});
  }
  return answer_of(std::move(best));
}

result<complete_result> docs_provider::complete(const complete_request& request) {
  if (request.argument == "format") {
    const bool is_of_set = request.uriTemplate == claim_of(library_->set()) + "/{?format}";
    const std::vector<std::string> of_documents{"outline", "json", "original"};
    return complete_from(request.value, is_of_set ? std::vector<std::string>{"json", "outline"} : of_documents);
  }
  if (request.argument != "path" && request.argument != "section" && request.argument != "pages") return complete_result();
  HONDANA_TRY(const auto now, current(request));
  return request.argument == "path" ? complete_paths(*now, request) : complete_sections(*now, request);
}

namespace {

constexpr std::uint64_t most_bytes_of_one = 1ull << 30;
constexpr std::int64_t most_calls = 1024;
constexpr std::uint64_t least_memory = 64ull << 20;

/// Makes the name of a set from a folder's name.
std::string slug_of(const std::string& path) {
  auto made = ascii::slug_of(std::filesystem::path(path).filename().string());
  return made.empty() ? "docs" : made;
}

result<options> read_options(config::section& from) {
  config::table_reader reader(from);
  options made;
  const auto path = reader.text("path");
  if (!path) reader.wrong("path", "missing; name the folder that holds the documents");
  made.path = reader.path("path", path.value_or("."));
  const auto name = reader.slug("name");
  made.name = name ? *name : slug_of(made.path);
  made.include = reader.texts("include");
  made.exclude = reader.texts("exclude");
  made.max_bytes = reader.bytes("max_bytes", 1, most_bytes_of_one, made.max_bytes);
  made.ignore_files = reader.truth("ignore_files", made.ignore_files);
  made.originals = reader.truth("originals", made.originals);
  made.redact = reader.truth("redact", made.redact);
  made.watch = reader.truth("watch", made.watch);
  const bool renders = reader.truth("renders", true);
  const auto seconds = reader.take(from.integer("render_seconds", 1, 600));
  if (seconds) made.rendered.time = std::chrono::seconds(*seconds);
  // The server reads this key, too. Here it limits how many calls may wait for renderings.
  if (const auto calls = reader.take(from.integer("concurrency", 1, most_calls))) made.calls = static_cast<std::size_t>(*calls);
  made.rendered_at_once = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 4);
  made.rendered.memory = reader.bytes("render_memory", least_memory, 1ull << 36, made.rendered.memory);
  HONDANA_TRY(reader.finish());
  if (renders) made.renderer = rendering::renderer::make({}, made.rendered_at_once);
  made.kept_back = from.kept_back();
  return made;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto all, read_options(from));
  all.log = log;
  auto opened = docs_provider::open(std::move(all));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto why = std::move(opened.error());
  if (why.code == errc::invalid_argument) why = from.wrong("include", why.public_text);
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::docs
