/// Fixture servers over memory providers.
#include "transcripts/servers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include <hondana/memory.hpp>
#include <hondana/skills.hpp>

#include "providers/links/links.hpp"
#include "server/core.hpp"
#include "transcripts/handler_server.hpp"

namespace transcripts {
namespace {

using hondana::complete_request;
using hondana::complete_result;
using hondana::content;
using hondana::errc;
using hondana::fail;
using hondana::memory_provider;
using hondana::read_request;
using hondana::reading;
using hondana::resource;
using hondana::resource_template;
using hondana::result;

using provider_ptr = std::shared_ptr<memory_provider>;

void check(const result<void>& done) {
  if (!done) throw std::logic_error(done.error().public_text);
}

resource named(std::string uri, std::string name) {
  resource entry;
  entry.uri = std::move(uri);
  entry.name = std::move(name);
  return entry;
}

std::string variable(const read_request& request, std::string_view name) {
  const auto place = request.match->variables.find(name);
  if (place == request.match->variables.end()) return {};
  const auto* text = std::get_if<std::string>(&place->second);
  return text == nullptr ? std::string() : *text;
}

/// Gives a pattern of letters, a piece at a time.
class letters final : public hondana::byte_reader {
 public:
  explicit letters(std::uint64_t size) : size_(size) {}

  std::uint64_t size() const noexcept override { return size_; }
  result<std::size_t> read(std::span<char> into) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size_ - at_, into.size()));
    for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<char>('a' + (at_ + i) % 26);
    at_ += count;
    return count;
  }
  result<void> rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

/// `main.rs` of the specification's own examples, and the annotated README.
provider_ptr project() {
  auto source = std::make_shared<memory_provider>("project", "file:///project/");
  auto main_rs = named("file:///project/src/main.rs", "main.rs");
  main_rs.title = "Rust Software Application Main File";
  main_rs.description = "Primary application entry point";
  main_rs.mimeType = "text/x-rust";
  main_rs.icons.push_back({"https://example.com/rust-file-icon.png", "image/png", {"48x48"}, {}});
  main_rs.version = "v1";
  main_rs.kind = "file";
  check(source->add(std::move(main_rs), [](const read_request&) -> result<reading> {
    auto found = hondana::text_reading("fn main() {\n    println!(\"Hello world!\");\n}", "text/x-rust");
    found.contents.front().name = "main.rs";
    found.contents.front().title = "Rust Software Application Main File";
    found.version = "v1";
    return found;
  }));
  auto readme = named("file:///project/README.md", "README.md");
  readme.title = "Project Documentation";
  readme.mimeType = "text/markdown";
  readme.size = 7;
  readme.annotations.audience = {hondana::role::user};
  readme.annotations.priority = 0.8;
  readme.annotations.lastModified =
      std::chrono::sys_days{std::chrono::year{2025} / 1 / 12} + std::chrono::hours{15} + std::chrono::seconds{58};
  check(source->add(std::move(readme), std::string("# Hello")));
  return source;
}

/// Contents of every form.
void add_forms(memory_provider& source) {
  auto image = named("demo:///image.png", "image.png");
  image.mimeType = "image/png";
  check(source.add(std::move(image), std::string("\x89PNG\r\n\x1a\n\0\xff", 10)));
  check(source.add(named("demo:///empty", "empty"), std::string()));
  check(source.add(named("demo:///%E6%9C%AC", "\xE6\x9C\xAC"), std::string("\xE6\x9C\xAC\xE6\xA3\x9A \"\\\t\n\x01")));
  check(source.add(named("demo:///broken.txt", "broken.txt"), std::string("a\xFF\xFEz")));
  auto folder = named("demo:///folder", "folder");
  folder.mimeType = "inode/directory";
  check(source.add(std::move(folder), [](const read_request& request) -> result<reading> {
    auto found = hondana::text_reading("demo:///folder/a\ndemo:///folder/b\n", "text/uri-list");
    found.contents.push_back(content{request.asked_uri + "/a",
                                     {},
                                     {},
                                     "text/plain",
                                     hondana::content_form::detect,
                                     std::make_shared<const std::string>("A")});
    return found;
  }));
  check(source.add(named("demo:///large", "large"), [](const read_request&) -> result<reading> {
    reading found;
    content stream;
    stream.mimeType = "text/plain";
    stream.data = std::make_shared<letters>(3u << 20);
    found.contents.push_back(std::move(stream));
    return found;
  }));
}

constexpr std::array failures{
    std::pair{"resource_not_found", errc::resource_not_found},
    std::pair{"access_denied", errc::access_denied},
    std::pair{"invalid_argument", errc::invalid_argument},
    std::pair{"fetch_directly", errc::fetch_directly},
    std::pair{"response_too_large", errc::response_too_large},
    std::pair{"content_changed", errc::content_changed},
    std::pair{"timed_out", errc::timed_out},
    std::pair{"cancelled", errc::cancelled},
    std::pair{"overloaded", errc::overloaded},
    std::pair{"source_unavailable", errc::source_unavailable},
    std::pair{"unsupported", errc::unsupported},
    std::pair{"internal", errc::internal},
};

result<reading> fail_as_asked(const read_request& request) {
  const auto asked = variable(request, "code");
  if (asked == "exception") throw std::runtime_error("a secret of the host");
  if (asked == "empty") return reading{};
  for (const auto& [name, code] : failures) {
    if (asked == name) return fail(code, std::string("This failed on purpose: ") + name, "a secret of the host");
  }
  return fail(errc::resource_not_found, "Resource not found");
}

/// Waits until the request is cancelled or its deadline passes.
result<reading> hold(const read_request& request) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_until(lock, request.stop, request.deadline, [] { return false; });
  if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  return fail(errc::timed_out, "The deadline has passed.");
}

result<reading> report_and_read(const read_request& request) {
  if (request.report) {
    request.report({0.5, 1.0, "half way"});
    request.report({0.25, 1.0, "backwards"});
  }
  return hondana::text_reading("done", "text/plain");
}

template <class Names>
complete_result starting_with(const Names& names, std::string_view prefix) {
  complete_result found;
  for (const auto& name : names) {
    if (std::string_view(name).starts_with(prefix)) found.values.emplace_back(name);
  }
  found.total = found.values.size();
  return found;
}

resource_template template_of(std::string text, std::string name) {
  resource_template entry;
  entry.uriTemplate = std::move(text);
  entry.name = std::move(name);
  return entry;
}

void add_templates(memory_provider& source) {
  auto notes = template_of("demo:///notes/{year}/{title}", "notes");
  notes.title = "Notes";
  notes.description = "Notes of a year";
  notes.mimeType = "text/plain";
  notes.annotations.priority = 0.5;
  notes.icons.push_back({"https://example.com/folder-icon.png", "image/png", {"48x48"}, "dark"});
  check(source.add_template(
      std::move(notes),
      [](const read_request& request) -> result<reading> {
        return hondana::text_reading(variable(request, "year") + ": " + variable(request, "title"), "text/plain");
      },
      [](const complete_request& request) -> result<complete_result> {
        if (request.argument == "year") return starting_with(std::array{"2024", "2025", "2026"}, request.value);
        const auto year =
            std::find_if(request.context.begin(), request.context.end(), [](const auto& one) { return one.first == "year"; });
        if (year == request.context.end()) return starting_with(std::array{"any"}, request.value);
        return starting_with(std::array{"spring of " + year->second, "summer of " + year->second}, request.value);
      }));
  check(source.add_template(
      template_of("demo:///many/{number}", "many"),
      [](const read_request& request) -> result<reading> { return hondana::text_reading(variable(request, "number")); },
      [](const complete_request&) -> result<complete_result> {
        complete_result all;
        for (int i = 0; i < 150; ++i) all.values.push_back(std::to_string(i));
        return all;
      }));
  check(source.add_template(
      template_of("demo:///fails/{code}", "fails"), fail_as_asked,
      [](const complete_request&) -> result<complete_result> { return fail(errc::internal, "", "a secret of the host"); }));
  check(source.add_template(template_of("demo:///held/{name}", "held"), hold));
  check(source.add_template(template_of("demo:///steps/{name}", "steps"), report_and_read));
}

hondana::server_options options_of(std::string title) {
  hondana::server_options options;
  options.name = "transcript-server";
  options.version = "1.2.3";
  options.title = std::move(title);
  options.instructions = "Read demo:///folder first.";
  options.announces_lists = options.announces_contents = false;
  return options;
}

hondana::server demo(std::chrono::milliseconds deadline) {
  auto options = options_of("Transcript Server");
  options.call_deadline = deadline;
  options.read_limit = 4u << 20;
  hondana::server made(std::move(options));
  check(made.add(project()));
  const auto source = std::make_shared<memory_provider>("demo", "demo:///");
  add_forms(*source);
  add_templates(*source);
  check(source->add(named("demo:///oversized", "oversized"), [](const read_request&) -> result<reading> {
    reading found;
    content stream;
    stream.data = std::make_shared<letters>(5u << 20);
    found.contents.push_back(std::move(stream));
    return found;
  }));
  check(made.add(source));
  auto page = hondana::links::make_link(named("https://example.com/guide", "guide"));
  if (!page) throw std::logic_error(page.error().public_text);
  check(made.add(std::make_shared<hondana::links::links_provider>(std::vector<resource>{std::move(*page)})));
  return made;
}

hondana::server paged() {
  auto options = options_of({});
  options.page_size = 2;
  hondana::server made(std::move(options));
  const auto source = std::make_shared<memory_provider>("pages", "page:///");
  for (const std::string name : {"a", "a/b", "a-b", "c", "d"})
    check(source->add(named("page:///" + name, name), std::string(name)));
  for (const std::string name : {"x", "y", "z"}) {
    check(source->add_template(
        template_of("page:///" + name + "/{id}", name),
        [](const read_request& request) -> result<reading> { return hondana::text_reading(variable(request, "id")); }));
  }
  check(made.add(source));
  return made;
}

/// Reading `news:///touch` changes `news:///item`, reading `news:///shuffle` changes the list.
hondana::server changing(bool lists, bool contents) {
  auto options = options_of({});
  options.announces_lists = lists;
  options.announces_contents = contents;
  hondana::server made(std::move(options));
  const auto source = std::make_shared<memory_provider>("news", "news:///");
  const auto add = [&](const char* uri, hondana::model::change what) {
    check(source->add(named(uri, uri), [of = std::weak_ptr(made.engine()), what](const read_request&) -> result<reading> {
      if (const auto there = of.lock()) there->announce(what);
      return hondana::text_reading("done");
    }));
  };
  check(source->add(named("news:///item", "item"), std::string("new")));
  add("news:///touch", {hondana::model::change::what::content, "news:///item", "The Item"});
  add("news:///touch-later", {hondana::model::change::what::content, "news:///later", {}});
  add("news:///shuffle", {hondana::model::change::what::resources});
  check(made.add(source));
  return made;
}

/// Two skills and one nested in the first, two a page; beside them a folder that is no skill.
hondana::server skilled() {
  auto options = options_of({});
  options.page_size = 2;
  hondana::server made(std::move(options));
  const auto source = std::make_shared<hondana::skill_provider>("skills");
  check(source->add("git-workflow", {{"SKILL.md",
                                      "---\nname: git-workflow\ndescription: Follow this team's Git conventions\nlicense: MIT\n"
                                      "metadata: {version: \"1.0\", stable: true}\n---\n# Git\n"},
                                     {"references/BRANCHES.md", "# Branches\n"},
                                     {"references/logo.png", std::string("\x89PNG\0", 5)}}));
  check(source->add("git-workflow/bisecting",
                    {{"SKILL.md", "---\nname: bisecting\ndescription: Find the commit that broke something\n---\n"}}));
  check(source->add("acme/refunds", {{"SKILL.md", "---\nname: refunds\ndescription: Process refunds\n---\n"}}));
  check(made.add(source));
  const auto notes = std::make_shared<memory_provider>("notes", "note:///");
  for (const auto* uri : {"note:///day", "note:///day/empty"}) {
    auto folder = named(uri, "folder");
    folder.mimeType = "inode/directory";
    check(notes->add(std::move(folder), std::string()));
  }
  for (const std::string uri : {"note:///day/morning", "note:///day/evening", "note:///day/evening/late", "note:///days"}) {
    check(notes->add(named(uri, "note"), std::string("text")));
  }
  check(made.add(notes));
  return made;
}

resource note_of(std::string version) {
  auto note = named("shelf:///note", "note");
  note.title = "A Note";
  note.description = "What to remember";
  note.mimeType = "text/markdown";
  note.kind = "note";
  note.version = std::move(version);
  note.metadata = {{"author", std::string("aki")}, {"pages", std::int64_t{3}}, {"draft", false}, {"weight", 0.5}};
  return note;
}

void add_shelf(memory_provider& source) {
  using std::chrono::year;
  check(source.add(note_of("v1"), std::string("# One")));
  auto picture = named("shelf:///picture.png", "picture.png");
  picture.mimeType = "image/png";
  picture.kind = "picture";
  picture.version = "p1";
  check(source.add(std::move(picture), std::string("\x89PNG\r\n\x1a\n", 8)));
  check(source.add(named("shelf:///plain", "plain"), std::string("no version, no type")));
  auto folder = named("shelf:///folder", "folder");
  folder.mimeType = "inode/directory";
  folder.kind = "folder";
  folder.version = "f1";
  check(source.add(std::move(folder), [](const read_request& request) -> result<reading> {
    auto found = hondana::text_reading("shelf:///folder/a\nshelf:///folder/b\n", "inode/directory");
    found.contents.push_back(hondana::text_reading("A").contents.front());
    found.contents.back().uri = request.asked_uri + "/a";
    return found;
  }));
  auto first = named("shelf:///folder/a", "a");
  first.annotations = {{hondana::role::assistant}, 0.9, std::chrono::sys_days{year{2025} / 1 / 12}};
  first.mimeType = "text/plain; charset=utf-8";
  check(source.add(std::move(first), std::string("A")));
  auto second = named("shelf:///folder/b", "b");
  second.annotations = {{hondana::role::user}, 0.1, std::chrono::sys_days{year{2025} / 1 / 10}};
  second.mimeType = "text/plain";
  check(source.add(std::move(second), std::string("B")));
  check(source.add_template(template_of("shelf:///made/{name}", "made"), [](const read_request& request) -> result<reading> {
    auto made = hondana::text_reading("made of " + variable(request, "name"), "text/x-made");
    made.version = "m1";
    return made;
  }));
}

/// Reading `shelf:///edit` changes `shelf:///note`, reading `shelf:///discard` removes it.
hondana::server dialect() {
  auto options = options_of({});
  options.instructions.clear();
  options.page_size = 3;
  options.announces_lists = options.announces_contents = true;
  hondana::server made(std::move(options));
  const auto source = std::make_shared<memory_provider>("shelf", "shelf:///");
  add_shelf(*source);
  const auto add = [&](const char* uri, auto act) {
    check(source->add(
        named(uri, uri),
        [to = std::weak_ptr(made.engine()), of = std::weak_ptr(source), act](const read_request&) -> result<reading> {
          const auto engine = to.lock();
          const auto shelf = of.lock();
          if (engine && shelf) act(*engine, *shelf);
          return hondana::text_reading("done");
        }));
  };
  add("shelf:///edit", [](hondana::core& engine, memory_provider& shelf) {
    check(shelf.add(note_of("v2"), std::string("# Two")));
    engine.announce({hondana::model::change::what::content, "shelf:///note", {}});
  });
  add("shelf:///discard", [](hondana::core& engine, memory_provider& shelf) {
    shelf.remove("shelf:///note");
    engine.announce({hondana::model::change::what::resources});
    engine.announce({hondana::model::change::what::content, "shelf:///note", {}});
  });
  check(made.add(source));
  return made;
}

/// A template that nobody completes but its entries.
hondana::server shelved() {
  hondana::server made(options_of({}));
  const auto source = std::make_shared<memory_provider>("books", "book:///");
  for (const std::string path : {"history/japan", "history/jam-and-marmalade", "history/the_jar", "novels/kokoro",
                                 "novels/%E5%9D%8A%E3%81%A3%E3%81%A1%E3%82%83%E3%82%93", "novels/JuniperAndMoss"}) {
    check(source->add(named("book:///" + path, path), std::string("text")));
  }
  auto preferred = named("book:///novels/jot", "jot");
  preferred.annotations.priority = 0.9;
  check(source->add(std::move(preferred), std::string("text")));
  check(source->add(named("book:///novels/joy", "joy"), std::string("text")));
  check(source->add_template(
      template_of("book:///{genre}/{title}", "books"),
      [](const read_request& request) -> result<reading> { return hondana::text_reading(variable(request, "title")); }));
  check(made.add(source));
  return made;
}

/// Resources with the tools for them, and nothing else that is a tool.
hondana::server bridged() {
  auto options = options_of({});
  options.resource_tools = true;
  hondana::server made(std::move(options));
  const auto source = std::make_shared<memory_provider>("shelf", "shelf:///");
  const auto add = [&](const char* path, const char* mime_type, std::string bytes) {
    auto entry = named(std::string("shelf:///") + path, path);
    entry.mimeType = mime_type;
    if (entry.name == "notes.md") {
      entry.title = "Notes";
      entry.annotations.priority = 0.75;
    }
    check(source->add(std::move(entry), std::move(bytes)));
  };
  add("notes.md", "text/markdown", "# Notes\n\nThe key is under the mat.\n");
  add("logo.png", "image/png", std::string("\x89PNG\0", 5));
  add("chime.wav", "audio/wav", std::string("RIFF\0", 5));
  add("archive.zip", "application/zip", std::string("PK\0", 3));
  add("long.txt", "text/plain", std::string(1500, 'x'));
  check(made.add(source));
  return made;
}

hondana::server plain() {
  auto options = options_of({});
  options.instructions.clear();
  hondana::server made(std::move(options));
  const auto source = std::make_shared<memory_provider>("logs", "file:///logs/");
  auto log = named("file:///logs/app.log", "Application Logs");
  log.mimeType = "text/plain";
  check(source->add(std::move(log), std::string("started\n")));
  check(made.add(source));
  return made;
}

}  // namespace

tl::expected<hondana::server, std::string> make_server(std::string_view name) {
  if (name == "demo") return demo(std::chrono::seconds{30});
  if (name == "hasty") return demo(std::chrono::milliseconds{50});
  if (name == "paged") return paged();
  if (name == "plain") return plain();
  if (name == "skilled") return skilled();
  if (name == "shelved") return shelved();
  if (name == "bridged") return bridged();
  if (name == "changing") return changing(true, true);
  if (name == "listing") return changing(true, false);
  if (name == "watching") return changing(false, true);
  if (name == "dialect") return dialect();
  if (name == "handlers") {
    auto options = options_of("Transcript Server");
    options.announces_lists = true;
    hondana::server made(std::move(options));
    add_handlers(made);
    return made;
  }
  if (name == "empty") return hondana::server(options_of({}));
  return tl::unexpected("there is no fixture server " + std::string(name));
}

}  // namespace transcripts
