/// A folder of files of variables for each test, and short ways to ask a provider of them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sources/env/env_provider.hpp"

namespace hondana::env {

namespace fs = std::filesystem;

inline result<read_result> read_at(env_provider& from, const std::string& uri) {
  read_request asked;
  asked.uri = asked.requested_uri = uri;
  return from.read(asked);
}

/// What is read, or "error: " and why not.
inline std::string text_at(env_provider& from, const std::string& uri) {
  const auto found = read_at(from, uri);
  if (!found) return "error: " + std::string(name_of(found.error().code));
  return *std::get<shared_bytes>(found->contents.front().data);
}

inline std::string error_at(env_provider& from, const std::string& uri) {
  const auto found = read_at(from, uri);
  return found ? "none" : found.error().public_text;
}

inline metadata facts_at(env_provider& from, const std::string& uri) {
  const auto found = read_at(from, uri);
  return found ? found->contents.front().metadata : metadata();
}

inline std::vector<std::string> listed(env_provider& from, std::shared_ptr<const access_filter> through = {}) {
  list_request asked;
  asked.caller.access_filter = std::move(through);
  const auto page = from.list(asked);
  if (!page) return {"error: " + page.error().public_text};
  std::vector<std::string> all;
  for (const auto& one : page->entries) all.push_back(one.uri);
  return all;
}

inline result<resource> described(env_provider& from, const std::string& uri) {
  describe_request asked;
  asked.uri = uri;
  return from.describe(asked);
}

inline result<complete_result> completed(env_provider& from, const std::string& uri_template, const std::string& typed) {
  complete_request asked;
  asked.uri_template = uri_template;
  asked.argument = "name";
  asked.value = typed;
  return from.complete(asked);
}

/// Everything that can be asked of a source, and what it said to its log, in one text.
inline std::string all_that_is_said(env_provider& from) {
  std::string out;
  const auto add = [&out](std::string_view text) { (out += text) += '\x1E'; };
  const auto add_entry = [&add](const resource& one) {
    for (const auto* text : {&one.uri, &one.name, &one.title, &one.description, &one.version}) add(*text);
  };
  const auto page = from.list({});
  if (!page) return page.error().public_text + page.error().private_text;
  for (const auto& one : page->entries) {
    add_entry(one);
    if (const auto found = read_at(from, one.uri)) {
      const auto& bytes = *std::get<shared_bytes>(found->contents.front().data);
      add(bytes);
      add(found->version);
      if (const auto json = value::parse(bytes); json && json->as_object() != nullptr) {
        for (const auto& [name, text] : *json->as_object()) add(text.as_string() != nullptr ? *text.as_string() : name);
      }
      for (const auto& [name, fact] : found->contents.front().metadata) {
        if (const auto* text = std::get_if<std::string>(&fact)) add(*text);
      }
    } else {
      add(found.error().public_text + found.error().private_text);
    }
    if (const auto entry = described(from, one.uri)) add_entry(*entry);
    children_request children;
    children.uri = one.uri;
    if (const auto inside = from.children(children)) {
      for (const auto& child : inside->entries) add_entry(child);
    } else {
      add(inside.error().public_text + inside.error().private_text);
    }
  }
  for (const auto& one : from.templates()) {
    add(one.uri_template + one.title + one.description);
    if (const auto names = completed(from, one.uri_template, {})) {
      for (const auto& name : names->values) add(name);
    }
  }
  (void)from.inventory({}, [&add](const inventory_item& one) { add(one.name + one.uri + one.reason); });
  add(from.health().detail);
  return out;
}

/// A source of this process alone.
inline std::shared_ptr<env_provider> of_process(std::vector<std::string> environment, std::vector<std::string> allow = {"*"},
                                                bool redact = true) {
  env_options with;
  with.allow = std::move(allow);
  with.process = std::move(environment);
  with.redact = redact;
  auto made = env_provider::open(std::move(with));
  if (!made) throw std::runtime_error(made.error().public_text);
  return *made;
}

struct env_folders : testing::Test {
  fs::path root;
  std::mutex mutex;
  std::vector<std::string> lines;

  env_folders() {
    std::string made = (fs::temp_directory_path() / "env-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    root = made;
  }
  ~env_folders() override {
    fs::permissions(root, fs::perms::owner_all);
    fs::remove_all(root);
  }

  void write(const std::string& below, const std::string& bytes) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below, std::ios::binary) << bytes;
  }
  /// In place, by one call: a file is never empty or half written meanwhile, however slow this is. For texts that grow.
  void grow(const std::string& below, const std::string& bytes) const {
    std::ofstream file(root / below, std::ios::binary | std::ios::in | std::ios::out);
    file << bytes << std::flush;
  }
  /// As editors and programs that are careful write.
  void replace(const std::string& below, const std::string& bytes) const {
    write(below + ".new", bytes);
    fs::rename(root / (below + ".new"), root / below);
  }
  std::string log() {
    const std::lock_guard lock(mutex);
    std::string all;
    for (const auto& one : lines) all += one + '\n';
    return all;
  }
  env_options with_file(const std::string& below, std::vector<std::string> allow = {"*"}) {
    env_options with;
    with.allow = std::move(allow);
    with.files.push_back({"prod", (root / below).string()});
    with.watch = false;
    with.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(line);
    };
    return with;
  }
  std::shared_ptr<env_provider> open(env_options with) {
    auto made = env_provider::open(std::move(with));
    if (!made) throw std::runtime_error(made.error().public_text);
    return *made;
  }
};

}  // namespace hondana::env
