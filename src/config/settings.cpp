/// Reading and checking the configuration file.
#include "config/settings.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include <hondana/uri.hpp>

#include "config/collector.hpp"
#include "config/toml.hpp"

namespace hondana::config {
namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

void read_sources(section& root, std::vector<source>& into, collector& errors) {
  auto all = root.sections("source");
  if (!all) return errors.note(std::move(all.error()));
  for (auto& one : *all) {
    std::string type;
    errors.take(one.string("type"), type);
    if (type.empty()) errors.note(one.wrong("type", "missing; say which kind of source this is, e.g. type = \"files\""));
    into.push_back({std::move(type), std::move(one)});
  }
}

void read_link(section& from, std::vector<resource>& into, collector& errors) {
  resource link;
  errors.take(from.string("uri"), link.uri);
  errors.take(from.string("name"), link.name);
  errors.take(from.string("title"), link.title);
  errors.take(from.string("description"), link.description);
  errors.take(from.string("mimeType"), link.mimeType);
  auto priority = from.number("priority", 0.0, 1.0);
  if (!priority) {
    errors.note(std::move(priority.error()));
  } else {
    link.annotations.priority = *priority;
  }
  errors.check(from.finish());
  auto canonical = canonical_uri(link.uri);
  if (!canonical || !canonical->starts_with("https://")) {
    return errors.note(from.wrong("uri", "expected an https:// address; other schemes are served by sources"));
  }
  link.uri = std::move(*canonical);
  if (link.name.empty()) link.name = link.uri;
  into.push_back(std::move(link));
}

}  // namespace

result<settings> parse(std::string_view text, const std::string& file) {
  auto root = parse_toml(text, file);
  if (!root) return tl::unexpected(std::move(root.error()));
  settings made;
  collector errors;
  errors.take(root->string("name"), made.name);
  errors.take(root->string("title"), made.title);
  errors.take(root->string("instructions"), made.instructions);
  errors.take(root->boolean("tools"), made.tools);
  errors.take(root->integer("page_size", 1, 10'000), made.page_size);
  errors.take(root->bytes("read_limit"), made.read_limit);
  errors.take(root->bytes("read_cache"), made.read_cache);
  errors.take(root->boolean("announce_lists"), made.announces_lists);
  errors.take(root->boolean("announce_contents"), made.announces_contents);
  errors.take_time(*root, "call_deadline_ms", made.call_deadline);
  errors.take_time(*root, "stall_limit_ms", made.stall_limit);
  std::optional<section> http;
  errors.take(root->subsection("http"), http);
  if (http) {
    auto read = read_http(std::move(*http));
    if (read) {
      made.http = std::move(*read);
    } else {
      errors.note(std::move(read.error()));
    }
  }
  read_sources(*root, made.sources, errors);
  auto links = root->sections("link");
  if (!links) {
    errors.note(std::move(links.error()));
  } else {
    for (auto& one : *links) read_link(one, made.links, errors);
  }
  errors.check(root->finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

result<settings> load(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) {
    return fail(errc::invalid_argument, "Cannot open the configuration file " + path + ": " + std::strerror(errno) +
                                            ". Check the path after --config.");
  }
  std::string text(max_file_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return fail(errc::invalid_argument, "Cannot read the configuration file " + path + ": " + std::strerror(errno) +
                                            ". Check the path after --config.");
  }
  if (text.size() > max_file_bytes) {
    return fail(errc::invalid_argument, "The configuration file " + path + " has more than 1 MiB; that cannot be meant.");
  }
  return parse(text, path);
}

}  // namespace hondana::config
