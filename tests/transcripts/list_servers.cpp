/// Lists of entries, templates and skills.
#include "transcripts/list_servers.hpp"

#include <memory>
#include <string>
#include <utility>

#include <hondana/memory_provider.hpp>
#include <hondana/skill_provider.hpp>

#include "support/must.hpp"
#include "transcripts/entries.hpp"

namespace transcripts {

using hondana::memory_provider;
using hondana::read_request;
using hondana::read_result;
using hondana::result;

hondana::server paged() {
  auto options = options_of({});
  options.page_size = 2;
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<memory_provider>("pages", "page:///");
  for (const std::string name : {"a", "a/b", "a-b", "c", "d"})
    check(source->add(named("page:///" + name, name), std::string(name)));
  for (const std::string name : {"x", "y", "z"}) {
    check(source->add_template(
        template_of("page:///" + name + "/{id}", name),
        [](const read_request& request) -> result<read_result> { return hondana::text_read_result(variable(request, "id")); }));
  }
  check(made.add(source));
  return made;
}

hondana::server plain() {
  auto options = options_of({});
  options.instructions.clear();
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<memory_provider>("logs", "file:///logs/");
  auto log = named("file:///logs/app.log", "Application Logs");
  log.mime_type = "text/plain";
  check(source->add(std::move(log), std::string("started\n")));
  check(made.add(source));
  return made;
}

hondana::server shelved() {
  hondana::server made = must(hondana::server::create(options_of({})));
  const auto source = std::make_shared<memory_provider>("books", "book:///");
  for (const std::string path : {"history/japan", "history/jam-and-marmalade", "history/the_jar", "novels/kokoro",
                                 "novels/%E5%9D%8A%E3%81%A3%E3%81%A1%E3%82%83%E3%82%93", "novels/JuniperAndMoss"}) {
    check(source->add(named("book:///" + path, path), std::string("text")));
  }
  auto preferred = named("book:///novels/jot", "jot");
  preferred.annotations.priority = 0.9;
  check(source->add(std::move(preferred), std::string("text")));
  check(source->add(named("book:///novels/joy", "joy"), std::string("text")));
  check(source->add_template(template_of("book:///{genre}/{title}", "books"),
                             [](const read_request& request) -> result<read_result> {
                               return hondana::text_read_result(variable(request, "title"));
                             }));
  check(made.add(source));
  return made;
}

hondana::server bridged() {
  auto options = options_of({});
  options.has_resource_tools = true;
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<memory_provider>("shelf", "shelf:///");
  const auto add = [&](const char* path, const char* mime_type, std::string bytes) {
    auto entry = named(std::string("shelf:///") + path, path);
    entry.mime_type = mime_type;
    if (entry.name == "notes.md") {
      entry.title = "Notes";
      entry.annotations.priority = 0.75;
    }
    check(source->add(std::move(entry), std::move(bytes)));
  };
  add("notes.md", "text/markdown", "# Notes\n\nThe key is under the mat.\n");
  add("logo.png", "image/png", std::string("\x89PNG\r\n\x1a\n\0", 9));
  add("chime.wav", "audio/wav", std::string("RIFF\4\0\0\0WAVE", 12));
  add("archive.zip", "application/zip", std::string("PK\3\4\0", 5));
  add("long.txt", "text/plain", std::string(1500, 'x'));
  check(made.add(source));
  return made;
}

hondana::server skilled() {
  auto options = options_of({});
  options.page_size = 2;
  hondana::server made = must(hondana::server::create(std::move(options)));
  const auto source = std::make_shared<hondana::skill_provider>("skills");
  check(source->add("git-workflow", {{"SKILL.md",
                                      "---\nname: git-workflow\ndescription: Follow this team's Git conventions\nlicense: MIT\n"
                                      "metadata: {version: \"1.0\", stable: true}\n---\n# Git\n"},
                                     {"references/BRANCHES.md", "# Branches\n"},
                                     {"references/logo.png", std::string("\x89PNG\r\n\x1a\n\0", 9)}}));
  check(source->add("git-workflow/bisecting",
                    {{"SKILL.md", "---\nname: bisecting\ndescription: Find the commit that broke something\n---\n"}}));
  check(source->add("acme/refunds", {{"SKILL.md", "---\nname: refunds\ndescription: Process refunds\n---\n"}}));
  check(made.add(source));
  const auto notes = std::make_shared<memory_provider>("notes", "note:///");
  for (const auto* uri : {"note:///day", "note:///day/empty"}) {
    auto folder = named(uri, "folder");
    folder.mime_type = "inode/directory";
    check(notes->add(std::move(folder), std::string()));
  }
  for (const std::string uri : {"note:///day/morning", "note:///day/evening", "note:///day/evening/late", "note:///days"}) {
    check(notes->add(named(uri, "note"), std::string("text")));
  }
  check(made.add(notes));
  return made;
}

}  // namespace transcripts
