/// Changes made by reads, so that a transcript decides when.
#include "transcripts/changing_servers.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <hondana/memory_provider.hpp>

#include "server/core/core.hpp"
#include "support/must.hpp"
#include "transcripts/entries.hpp"

namespace transcripts {
namespace {

using hondana::memory_provider;
using hondana::read_request;
using hondana::read_result;
using hondana::resource;
using hondana::result;

resource note_of(std::string version) {
  auto note = named("shelf:///note", "note");
  note.title = "A Note";
  note.description = "What to remember";
  note.mime_type = "text/markdown";
  note.kind = "note";
  note.version = std::move(version);
  note.metadata = {{"author", std::string("aki")}, {"pages", std::int64_t{3}}, {"draft", false}, {"weight", 0.5}};
  return note;
}

void add_shelf(memory_provider& source) {
  using std::chrono::year;
  check(source.add(note_of("v1"), std::string("# One")));
  auto picture = named("shelf:///picture.png", "picture.png");
  picture.mime_type = "image/png";
  picture.kind = "picture";
  picture.version = "p1";
  check(source.add(std::move(picture), std::string("\x89PNG\r\n\x1a\n", 8)));
  check(source.add(named("shelf:///plain", "plain"), std::string("no version, no type")));
  auto folder = named("shelf:///folder", "folder");
  folder.mime_type = "inode/directory";
  folder.kind = "folder";
  folder.version = "f1";
  check(source.add(std::move(folder), [](const read_request& request) -> result<read_result> {
    auto found = hondana::text_read_result("shelf:///folder/a\nshelf:///folder/b\n", "inode/directory");
    found.contents.push_back(hondana::text_read_result("A").contents.front());
    found.contents.back().uri = request.requested_uri + "/a";
    return found;
  }));
  auto first = named("shelf:///folder/a", "a");
  first.annotations = {{hondana::chat_role::assistant}, 0.9, std::chrono::sys_days{year{2025} / 1 / 12}};
  first.mime_type = "text/plain; charset=utf-8";
  check(source.add(std::move(first), std::string("A")));
  auto second = named("shelf:///folder/b", "b");
  second.annotations = {{hondana::chat_role::user}, 0.1, std::chrono::sys_days{year{2025} / 1 / 10}};
  second.mime_type = "text/plain";
  check(source.add(std::move(second), std::string("B")));
  check(
      source.add_template(template_of("shelf:///made/{name}", "made"), [](const read_request& request) -> result<read_result> {
        auto made = hondana::text_read_result("made of " + variable(request, "name"), "text/x-made");
        made.version = "m1";
        return made;
      }));
}

}  // namespace

hondana::server changing(bool lists, bool contents) {
  auto options = options_of({});
  options.supports_list_changes = lists;
  options.supports_subscriptions = contents;
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<memory_provider>("news", "news:///");
  const auto add = [&](const char* uri, hondana::model::change what) {
    check(source->add(named(uri, uri), [of = std::weak_ptr(made.core()), what](const read_request&) -> result<read_result> {
      if (const auto there = of.lock()) there->announce(what);
      return hondana::text_read_result("done");
    }));
  };
  check(source->add(named("news:///item", "item"), std::string("new")));
  add("news:///touch", {hondana::model::change::change_kind::content, "news:///item", "The Item"});
  add("news:///touch-later", {hondana::model::change::change_kind::content, "news:///later", {}});
  add("news:///shuffle", {hondana::model::change::change_kind::resources});
  check(made.add(source));
  return made;
}

hondana::server dialect() {
  auto options = options_of({});
  options.instructions.clear();
  options.page_size = 3;
  options.supports_list_changes = options.supports_subscriptions = true;
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<memory_provider>("shelf", "shelf:///");
  add_shelf(*source);
  const auto add = [&](const char* uri, auto act) {
    check(source->add(named(uri, uri), [of = std::weak_ptr(source), act](const read_request&) -> result<read_result> {
      if (const auto shelf = of.lock()) act(*shelf);
      return hondana::text_read_result("done");
    }));
  };
  // Which tells of both changes, of the note and of the list.
  add("shelf:///edit", [](memory_provider& shelf) { check(shelf.add(note_of("v2"), std::string("# Two"))); });
  add("shelf:///discard", [](memory_provider& shelf) { shelf.remove("shelf:///note"); });
  check(made.add(source));
  return made;
}

}  // namespace transcripts
