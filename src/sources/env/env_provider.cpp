/// The provider of environment variables.
#include "sources/env/env_provider.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <hondana/completion.hpp>

#include "base/bytes/digest.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/env/env_file.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::env {

scheme_documentation describe() {
  return {
      "env",
      "Environment variables of the server's process and of .env files that an allow-list permits, with secrets masked.",
      {{"environment", "All variables of the process or of a file that the allow-list permits, as one JSON object of strings."},
       {"variable", "The value of one variable, with secrets masked by name, format and entropy."}},
      {{"env:///", "All variables of the server's process that the allow-list permits."},
       {"env:///NAME", "One of them. In NAME, all bytes except letters, digits and - . _ ~ are percent-encoded."},
       {"env://FILE/",
        "All variables of a file that the allow-list permits. FILE is the configured name, or comes from the file's name."},
       {"env://FILE/NAME", "One of them."}},
  };
}

namespace {

constexpr std::string_view process_prefix = "env:///";
constexpr std::string_view process_origin = "the server's process";

tl::unexpected<failure> no_such_variable() {
  return fail(errc::resource_not_found, "Unknown variable. List the resources to see what is available.");
}

variables::given split(const std::vector<std::string>& environment) {
  variables::given all;
  for (const auto& one : environment) {
    const auto equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) continue;  // without a name, as some programs pass on
    all.push_back({one.substr(0, equals), one.substr(equals + 1)});
  }
  return all;
}

result<reading> reading_of(const read_request& request, std::string version, content item, std::uint64_t size) {
  if (request.if_version && *request.if_version == version) return reading{{}, std::move(version)};
  if (size > request.max_bytes) {
    return fail(errc::response_too_large, "It has " + std::to_string(size) + " bytes; the read limit is " +
                                              std::to_string(request.max_bytes) +
                                              " bytes. Ask the operator of the server to raise read_limit.");
  }
  reading answer;
  answer.version = std::move(version);
  answer.contents.push_back(std::move(item));
  return answer;
}

std::string stale_text(const std::optional<failure>& trouble) { return trouble ? trouble->public_text : std::string(); }

/// The version of a content together with the reason why it is not current, since both are sent.
std::string version_with(std::string version, const std::optional<failure>& trouble) {
  if (!trouble) return version;
  return bytes::to_hex(bytes::digest_of(version + '\n' + trouble->public_text));
}

}  // namespace

std::vector<std::string> process_environment() {
  std::vector<std::string> all;
  for (auto* const* one = environ; one != nullptr && *one != nullptr; ++one) all.emplace_back(*one);
  return all;
}

env_provider::env_provider(std::shared_ptr<const variables> process, std::shared_ptr<watched_files> files, bool redacts)
    : process_(std::move(process)), files_(std::move(files)), redacts_(redacts) {}

env_provider::~env_provider() {
  for (const auto& one : *files_) one->be_silent();
}

result<std::shared_ptr<env_provider>> env_provider::open(options with) {
  HONDANA_TRY(auto allow, allow_list::of(std::move(with.allow)));
  if (!with.process && with.files.empty()) {
    return fail(errc::invalid_argument, "there is nothing to serve. Serve the process or name a file.");
  }
  const rules by{std::move(allow), with.redact};
  std::shared_ptr<const variables> process;
  if (with.process) process = std::make_shared<const variables>(std::string(process_prefix), split(*with.process), by);
  auto files = std::make_shared<watched_files>();
  std::set<std::string> slugs;
  for (const auto& one : with.files) {
    if (!is_slug(one.slug)) {
      return fail(errc::invalid_argument,
                  "\"" + one.slug + "\" cannot be the name of a file in URIs. Use 1 to 40 of a-z, 0-9 and -, such as prod.");
    }
    if (!slugs.insert(one.slug).second) {
      return fail(errc::invalid_argument, "two files would have the name \"" + one.slug +
                                              "\" in URIs. Move one of them to its own [[source]] and set name there.");
    }
    HONDANA_TRY(auto file, env_file::open(one.path, with.kept_back));
    files->push_back(std::make_unique<watched_file>(one.slug, std::move(file), by, with.log));
  }
  std::shared_ptr<env_provider> made(new env_provider(std::move(process), std::move(files), with.redact));
  if (with.watch && !made->files_->empty()) made->begin_watching(std::move(with.log));
  // The first state, with which later ones are compared.
  for (const auto& one : *made->files_) {
    HONDANA_TRY(one->refreshed(call{}));
  }
  return made;
}

void env_provider::begin_watching(std::function<void(std::string_view)> log) {
  std::vector<std::string> folders;
  std::vector<std::size_t> tree_of;  // by index of the file
  std::vector<const watched_file*> firsts;
  std::set<std::pair<std::size_t, std::string>> names;
  for (const auto& one : *files_) {
    const auto first = std::find_if(firsts.begin(), firsts.end(),
                                    [&one](const watched_file* other) { return other->file().is_beside(one->file()); });
    tree_of.push_back(static_cast<std::size_t>(first - firsts.begin()));
    if (first == firsts.end()) {
      firsts.push_back(one.get());
      folders.push_back(one->file().folder());
    }
    names.emplace(tree_of.back(), one->file().name());
  }
  watch::lookout_options with;
  with.what = "environment files";
  with.log = std::move(log);
  with.is_whole = [names](const watch::happening& one) {
    const bool is_written = one.what == watch::happening::kind::closed || one.what == watch::happening::kind::moved_in;
    return is_written && names.contains({one.tree, one.path});
  };
  const auto look = [of = std::weak_ptr(files_), tree_of](const call& by, const watch::lookout::trees& where) {
    const auto there = of.lock();
    bool is_settled = true;
    for (std::size_t i = 0; there && i < there->size(); ++i) {
      if (!where.empty() && !where.contains(tree_of[i])) continue;
      is_settled = (*there)[i]->refreshed(by) && (*there)[i]->is_settled() && is_settled;
    }
    return is_settled;
  };
  watching_ = std::make_unique<watch::lookout>(std::move(folders), look, std::move(with));
  for (std::size_t i = 0; i < files_->size(); ++i) {
    (*files_)[i]->cover_with(
        [cover = watching_->coverer(), tree = tree_of[i]](int folder) { cover(tree, {}, folder); },
        [give_up = watching_->giver_up(), tree = tree_of[i]](const std::string& why) { give_up(tree, why); });
  }
}

void env_provider::start_watching() {
  if (watching_ && has_listener_) watching_->start();
}

std::vector<std::string> env_provider::claims() const {
  std::vector<std::string> all;
  if (process_) all.emplace_back(process_prefix);
  for (const auto& one : *files_) all.push_back(one->prefix());
  return all;
}

result<env_provider::shelf> env_provider::shelf_of(const std::string& uri, const call& by) {
  if (process_ && uri.starts_with(process_prefix)) return shelf{process_->prefix(), std::string(process_origin), process_, {}};
  for (const auto& one : *files_) {
    if (!uri.starts_with(one->prefix())) continue;
    HONDANA_TRY(auto state, one->refreshed(by));
    return shelf{one->prefix(), one->origin(), state->now, state->trouble};
  }
  return no_such_variable();
}

result<std::vector<env_provider::shelf>> env_provider::shelves(const call& by) {
  start_watching();
  std::vector<shelf> all;
  if (process_) all.push_back({process_->prefix(), std::string(process_origin), process_, {}});
  for (const auto& one : *files_) {
    auto state = one->refreshed(by);
    if (!state && state.error().code != errc::timed_out) return tl::unexpected(std::move(state.error()));
    const auto known = state ? *state : one->latest();
    all.push_back({one->prefix(), one->origin(), known->now, known->trouble});
  }
  return all;
}

result<std::shared_ptr<const entry_snapshot>> env_provider::entries(const call& by) {
  const auto found = shelves(by);
  if (!found) return tl::unexpected(found.error());
  decltype(listed_) parts;
  for (const auto& one : *found) parts.emplace_back(one.now, stale_text(one.trouble));
  const std::lock_guard lock(mutex_);
  if (entries_ && parts == listed_) return entries_;
  std::vector<resource> all;
  for (const auto& one : *found) {
    all.push_back(summary_entry(one.prefix, one.origin));
    if (!one.now) continue;
    for (const auto& [uri, what] : one.now->all()) {
      all.push_back(entry_of(uri, what, one.origin));
      all.back().version = version_with(std::move(all.back().version), one.trouble);
    }
  }
  entries_ = std::make_shared<const entry_snapshot>(std::move(all));
  listed_ = std::move(parts);
  return entries_;
}

result<list_result> env_provider::list(const list_request& request) {
  return entries(request).map([&request](const auto& now) { return now->page(request); });
}

result<list_result> env_provider::children(const children_request& request) {
  const auto of = shelf_of(request.uri, request);
  if (!of) return tl::unexpected(of.error());
  if (request.uri != of->prefix) {
    if (of->now && of->now->find(request.uri) == nullptr) return no_such_variable();
    return fail(errc::invalid_argument, "A variable has no children. List the children of " + of->prefix + '.');
  }
  if (!of->now) return tl::unexpected(*of->trouble);
  return entries(request).map([&request](const auto& now) { return now->children(request); });
}

result<reading> env_provider::read(const read_request& request) {
  start_watching();
  HONDANA_TRY(const auto of, shelf_of(request.uri, request));
  // The names of an unreadable file are unknown, so every URI gets the error.
  if (!of.now) return tl::unexpected(*of.trouble);
  content item;
  if (of.trouble) item.metadata.emplace_back("dev.hondana/stale", of.trouble->public_text);
  const auto add_facts = [&item](std::size_t masked) {
    for (auto& one : secrets::facts_of(masked)) item.metadata.push_back(std::move(one));
  };
  if (request.uri == of.prefix) {
    auto all = summary_of(*of.now, of.origin, request.who);
    auto version = version_with(bytes::to_hex(bytes::digest_of(all.text)), of.trouble);
    const auto size = all.text.size();
    item.mimeType = "application/json";
    item.data = std::make_shared<const std::string>(std::move(all.text));
    add_facts(all.masked);
    return reading_of(request, std::move(version), std::move(item), size);
  }
  const auto* one = of.now->find(request.uri);
  if (one == nullptr) return no_such_variable();
  item.name = one->label;
  item.mimeType = one->is_text ? "text/plain" : "application/octet-stream";
  item.data = one->shown;
  add_facts(one->masked);
  return reading_of(request, version_with(one->version, of.trouble), std::move(item), one->shown->size());
}

result<resource> env_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto of, shelf_of(request.uri, request));
  if (!of.now) return tl::unexpected(*of.trouble);
  if (request.uri == of.prefix) {
    auto entry = summary_entry(of.prefix, of.origin);
    const auto all = summary_of(*of.now, of.origin, request.who);
    entry.version = version_with(bytes::to_hex(bytes::digest_of(all.text)), of.trouble);
    entry.size = all.text.size();
    return entry;
  }
  const auto* one = of.now->find(request.uri);
  if (one == nullptr) return no_such_variable();
  auto entry = entry_of(request.uri, *one, of.origin);
  entry.version = version_with(std::move(entry.version), of.trouble);
  return entry;
}

result<void> env_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  const auto found = shelves(request);
  if (!found) return tl::unexpected(found.error());
  for (const auto& one : *found) {
    if (one.trouble) each({one.prefix, {}, false, one.trouble->public_text});
    if (!one.now) continue;
    each({one.prefix, one.prefix, true, {}});
    for (const auto& [uri, what] : one.now->all()) each({what.label, uri, true, {}});
    // The number of variables, never their names.
    const auto leave_out = [&](std::size_t count, const char* why) {
      if (count > 0) each({one.prefix + " (" + std::to_string(count) + " more)", {}, false, why});
    };
    leave_out(one.now->hidden(), "they match no pattern in allow");
    leave_out(one.now->unnameable(), "their names cannot be in a URI, or contain a secret");
  }
  return {};
}

void env_provider::watch(std::shared_ptr<change_listener> to) {
  has_listener_ = to != nullptr;
  for (const auto& one : *files_) one->watch(to);
}

void env_provider::attach(const std::string&) { start_watching(); }

void env_provider::attach_list() { start_watching(); }

hondana::needs env_provider::needs() const {
  hondana::needs all;
  std::set<std::string> named;
  for (const auto& one : *files_) {
    if (named.insert(one->file().folder()).second) all.folders.push_back({one->file().folder(), false});
  }
  return all;
}

hondana::health env_provider::health() const {
  hondana::health out;
  std::size_t count = process_ ? process_->all().size() : 0;
  for (const auto& one : *files_) {
    const auto state = one->latest();
    if (state->now) count += state->now->all().size();
    if (!state->trouble) continue;
    out.ok = false;
    if (!out.detail.empty()) out.detail += ' ';
    out.detail += state->trouble->public_text;
  }
  if (out.ok) out.detail = std::to_string(count) + " variables";
  return out;
}

namespace {

constexpr std::string_view name_expression = "{name}";

}  // namespace

std::vector<resource_template> env_provider::templates() const {
  std::vector<resource_template> all;
  const auto add = [&all](const std::string& prefix, const std::string& name, const std::string& origin) {
    resource_template one;
    one.uriTemplate = prefix + std::string(name_expression);
    one.name = name;
    one.title = "A variable of " + origin;
    one.description = "The value of one variable of " + origin + ", with secrets masked.";
    one.mimeType = "text/plain";
    all.push_back(std::move(one));
  };
  if (process_) add(process_->prefix(), "env", "the server's process");
  for (const auto& one : *files_) add(one->prefix(), "env-" + one->slug(), one->origin());
  return all;
}

result<complete_result> env_provider::complete(const complete_request& request) {
  const bool is_known = request.argument == "name" && request.uriTemplate.ends_with(name_expression);
  if (!is_known) return complete_result{};
  const auto prefix = request.uriTemplate.substr(0, request.uriTemplate.size() - name_expression.size());
  const auto of = shelf_of(prefix, request);
  if (!of) return tl::unexpected(of.error());
  if (of->prefix != prefix || !of->now) return complete_result{};
  std::vector<std::string> names;
  for (const auto& [uri, one] : of->now->all()) {
    // Values of arguments are text. Names that are not UTF-8 are only in the list.
    if (one.label != one.name) continue;
    if (!request.who.view || request.who.view->may_see(uri)) names.push_back(one.name);
  }
  return complete_from(request.value, names);
}

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  options with;
  auto allow = from.strings("allow");
  if (!allow) return tl::unexpected(std::move(allow.error()));
  if (auto checked = allow_list::of(*allow); !checked) return tl::unexpected(from.wrong("allow", checked.error().public_text));
  const auto file = from.string("file");
  if (!file) return tl::unexpected(file.error());
  const auto files = from.strings("files");
  if (!files) return tl::unexpected(files.error());
  const auto name = from.string("name");
  if (!name) return tl::unexpected(name.error());
  const auto process = from.boolean("process");
  if (!process) return tl::unexpected(process.error());
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(const auto watch, from.boolean("watch"));
  HONDANA_TRY(from.finish());
  if (*name && !*file)
    return tl::unexpected(from.wrong(
        "name", files->empty()
                    ? "it is the name for the key file, which is missing; set file"
                    : "it is the name for the key file only; entries of files are named after their own file names"));
  if (*name && !is_slug(**name)) {
    return tl::unexpected(from.wrong("name", "expected 1 to 40 of a-z, 0-9 and -, such as prod"));
  }
  if (*file) with.files.push_back({*name ? **name : slug_of(**file), from.path_from(**file)});
  for (const auto& one : *files) with.files.push_back({slug_of(one), from.path_from(one)});
  // If files are configured, only these are served by default.
  if (process->value_or(with.files.empty())) with.process = process_environment();
  if (!with.process && with.files.empty()) {
    return tl::unexpected(from.wrong("process", "nothing else is served; remove this key, or name a file"));
  }
  with.allow = std::move(*allow);
  with.redact = redact.value_or(true);
  with.watch = watch.value_or(true);
  with.kept_back = from.kept_back();
  with.log = log;
  auto opened = env_provider::open(std::move(with));
  if (!opened) {
    auto why = std::move(opened.error());
    if (why.code == errc::source_unavailable || why.code == errc::invalid_argument) {
      const auto code = why.code;
      const auto* key = *file ? "file" : files->empty() ? "allow" : "files";
      auto said = from.wrong(key, why.public_text);
      said.code = code;
      said.private_text = std::move(why.private_text);
      return tl::unexpected(std::move(said));
    }
    return tl::unexpected(std::move(why));
  }
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::env
