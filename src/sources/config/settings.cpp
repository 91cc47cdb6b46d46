/// Reads the whole configuration file, including the tables [limits] and [sandbox].
#include "sources/config/settings.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "server/gate/operation_names.hpp"
#include "sources/config/auth_settings.hpp"
#include "sources/config/observability_settings.hpp"
#include "sources/config/search_settings.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr double most_per_second = 1e9;
constexpr std::int64_t most_callers = 10'000'000;
constexpr std::int64_t most_calls = 1024;
constexpr std::int64_t most_waiting = 1'000'000;
constexpr std::int64_t longest_ms = 86'400'000;

/// A rate without a burst gets the burst that fits it, not that of the default rate.
void read_rate(section& from, const std::string& name, rate& into, collector& errors) {
  std::optional<double> given;
  errors.take(from.number(name, 0, most_per_second), given);
  if (given) into = {*given, 0};
  errors.take(from.number(name + "_burst", 0, most_per_second), into.burst);
}

void read_bytes(section& from, rate& into, collector& errors) {
  std::optional<std::uint64_t> given;
  errors.take(from.bytes("bytes"), given);
  if (given) into = {static_cast<double>(*given), 0};
  errors.take(from.bytes("bytes_burst"), into.burst);
}

void read_rates(section from, rates& into, collector& errors) {
  read_rate(from, "requests", into.requests, errors);
  read_bytes(from, into.bytes, errors);
  read_rate(from, "completions", into.completions, errors);
  errors.check(from.finish());
}

}  // namespace

result<server_limits> read_limits(section from) {
  server_limits made;
  collector errors;
  auto longest = made.longest_call.count();
  errors.take(from.integer("longest_call_ms", 1, longest_ms), longest);
  made.longest_call = std::chrono::milliseconds(longest);
  errors.take(from.integer("callers", 1, most_callers), made.callers);
  errors.take(from.boolean("count_loopback"), made.count_loopback);
  std::optional<section> given;
  errors.take(from.subsection("identity"), given);
  if (given) read_rates(std::move(*given), made.per_identity, errors);
  given.reset();
  errors.take(from.subsection("address"), given);
  if (given) read_rates(std::move(*given), made.per_address, errors);
  given.reset();
  errors.take(from.subsection("deadlines_ms"), given);
  if (given) {
    auto all = given->integers_by_name(1, longest_ms);
    if (!all) {
      errors.note(std::move(all.error()));
    } else {
      for (auto& [method, ms] : *all) {
        if (!gate::is_method(method)) {
          errors.note(given->wrong(method, "is not a method with a deadline. Write for example \"resources/read\""));
        }
        made.deadlines.insert_or_assign(std::move(method), std::chrono::milliseconds(ms));
      }
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

result<source_limits> read_source_limits(section& from) {
  source_limits made;
  collector errors;
  errors.take(from.integer("concurrency", 1, most_calls), made.concurrency);
  errors.take(from.integer("waiting", 1, most_waiting), made.waiting);
  errors.take(from.integer("per_caller", 1, most_calls), made.per_caller);
  std::int64_t deadline = 0;
  errors.take(from.integer("deadline_ms", 1, longest_ms), deadline);
  made.deadline = std::chrono::milliseconds(deadline);
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

std::optional<sandbox_mode> sandbox_mode_named(std::string_view name) noexcept {
  if (name == "auto") return sandbox_mode::as_far_as_possible;
  if (name == "required") return sandbox_mode::required;
  if (name == "off") return sandbox_mode::off;
  return {};
}

result<sandbox_settings> read_sandbox(section from) {
  sandbox_settings made;
  collector errors;
  std::optional<std::string> mode;
  errors.take(from.string("mode"), mode);
  if (mode) {
    if (const auto known = sandbox_mode_named(*mode)) {
      made.mode = *known;
    } else {
      errors.note(from.wrong("mode", "expected \"auto\", \"required\" or \"off\""));
    }
  }
  auto folders = from.strings("folders");
  if (!folders) {
    errors.note(std::move(folders.error()));
  } else {
    for (const auto& one : *folders) {
      std::error_code problem;
      const auto whole = std::filesystem::absolute(from.path_from(one), problem);
      if (one.empty() || one.find('\0') != std::string::npos || problem)
        errors.note(from.wrong("folders", "expected paths of folders"));
      made.folders.push_back(whole.lexically_normal().string());
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

template <class Read, class Into>
void read_table(section& root, std::string_view name, Read read, Into& into, collector& errors) {
  std::optional<section> table;
  errors.take(root.subsection(name), table);
  if (!table) return;
  if (auto made = read(std::move(*table))) {
    into = std::move(*made);
  } else {
    errors.note(std::move(made.error()));
  }
}

result<std::chrono::milliseconds> read_stdio(section from) {
  auto drain = settings{}.stdio_drain;
  collector errors;
  errors.take_time(from, "drain_ms", drain);
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return drain;
}

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

/// Why a link cannot be served; empty if it can. Never contains the address, which may include a password.
std::optional<std::string> fault_of_link(const std::optional<std::string>& uri) {
  const std::string remedy = " Give the https:// address that clients should fetch, e.g. uri = \"https://example.com/manual\"";
  if (!uri || uri->empty()) return "missing." + remedy;
  const auto scheme = ascii::in_lower_case(split_uri(*uri).scheme);
  if (scheme == "http") {
    return "begins with http://, which others on the network could read and change. Write https://";
  }
  if (scheme != "https") return "does not begin with https://; other schemes are served by sources." + remedy;
  const auto canonical = canonical_uri(*uri);
  return canonical ? std::nullopt : std::optional(canonical.error().public_text);
}

void read_link(section& from, std::vector<resource>& into, collector& errors) {
  resource link;
  std::optional<std::string> uri;
  errors.take(from.string("uri"), uri);
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
  if (auto fault = fault_of_link(uri)) return errors.note(from.wrong("uri", *fault));
  link.uri = *canonical_uri(*uri);
  if (link.name.empty()) link.name = link.uri;
  into.push_back(std::move(link));
}

}  // namespace

failure settings::wrong(std::string_view key, std::string_view what) const {
  if (file) return file->wrong_inside(key, what);
  return {errc::invalid_argument, std::string(key) + ": " + std::string(what), {}};
}

result<settings> parse(std::string_view text, const std::string& file) {
  HONDANA_TRY(auto root, parse_toml(text, file));
  settings made;
  made.file = root;
  collector errors;
  errors.take(root.string("name"), made.name);
  errors.take(root.string("title"), made.title);
  errors.take(root.string("instructions"), made.instructions);
  errors.take(root.boolean("tools"), made.tools);
  errors.take(root.integer("page_size", 1, 10'000), made.page_size);
  errors.take(root.bytes("read_limit"), made.read_limit);
  errors.take(root.bytes("read_cache"), made.read_cache);
  errors.take(root.bytes("page_cache"), made.page_cache);
  errors.take(root.boolean("announce_lists"), made.announces_lists);
  errors.take(root.boolean("announce_contents"), made.announces_contents);
  errors.take_time(root, "call_deadline_ms", made.call_deadline);
  errors.take_time(root, "stall_limit_ms", made.stall_limit);
  read_table(root, "http", read_http, made.http, errors);
  read_table(root, "stdio", read_stdio, made.stdio_drain, errors);
  std::optional<section> auth;
  errors.take(root.subsection("auth"), auth);
  if (auth) {
    auto read = read_auth(std::move(*auth), made.scopes, made.rules);
    if (read) {
      made.auth = std::move(*read);
    } else {
      errors.note(std::move(read.error()));
    }
  }
  read_table(root, "sandbox", read_sandbox, made.sandbox, errors);
  read_table(root, "audit", read_audit, made.audit, errors);
  read_table(root, "tracing", read_tracing, made.tracing, errors);
  read_table(root, "search", read_search, made.search, errors);
  const auto read_rules = [&made](section from) { return read_access(std::move(from), made.access_tables); };
  read_table(root, "access", read_rules, made.access, errors);
  read_table(root, "limits", read_limits, made.limits, errors);
  read_sources(root, made.sources, errors);
  auto links = root.sections("link");
  if (!links) {
    errors.note(std::move(links.error()));
  } else {
    for (auto& one : *links) read_link(one, made.links, errors);
  }
  errors.check(root.finish());
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
    return fail(errc::invalid_argument, "The configuration file " + path + " has more than 1 MiB, the limit.");
  }
  return parse(text, path);
}

}  // namespace hondana::config
