/// Resources in memory behind a catalog, and the tools called as the table of handlers calls them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/tools/resource_tools.hpp"
#include "server/tools/scanning_search.hpp"
#include "unit/server/catalog/scripted_provider.hpp"

namespace hondana::tools {

/// Gives its bytes in pieces of seven.
class slow_reader final : public byte_reader {
 public:
  explicit slow_reader(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto count = std::min({bytes_.size() - at_, into.size(), std::size_t{7}});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
    at_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    at_ = 0;
    if (changes_between_passes) bytes_.front() = '!';
    return {};
  }
  bool changes_between_passes = false;

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class bridged : public testing::Test {
 protected:
  struct book {
    resource entry;
    std::vector<resource_content> contents;
  };

  bridged() {
    source->on_list = [this](const list_request& request) {
      list_result page;
      for (const auto& [uri, one] : books) {
        if (compare_by_segment(uri, request.after_key) <= 0) continue;
        if (page.entries.size() == request.limit) {
          page.next_key = page.entries.back().uri;
          break;
        }
        page.entries.push_back(one.entry);
      }
      return page;
    };
    source->on_read = [this](const read_request& request) -> result<read_result> {
      const auto found = books.find(request.uri);
      if (found == books.end()) return fail(errc::resource_not_found, "Resource not found");
      read_result made;
      made.contents = found->second.contents;
      made.version = found->second.entry.version;
      return made;
    };
  }

  resource& add(const std::string& name, std::string bytes, std::string mime_type = "text/plain") {
    resource_content one;
    one.mime_type = mime_type;
    one.data = std::make_shared<const std::string>(bytes);
    auto& made = books["memo:///" + name];
    made = {{.uri = "memo:///" + name, .name = name, .mime_type = std::move(mime_type), .size = bytes.size()}, {one}};
    made.entry.version = "1";
    return made.entry;
  }

  result<tool_outcome> call_for_outcome(std::string_view name, const std::string& arguments) {
    if (!place->current().catalog) {
      const auto gate = gate::gate::make(rules).value();
      place->put({*test::arrange({source}, {.page_size = 3}, gate), gate, std::make_shared<executor::timers>()});
    }
    tool_call call;
    call.name = name;
    call.arguments = value::parse(arguments).value();
    call.caller.access_filter = view;
    call.caller.auth_info = proved;
    call.caller.access_filter = place->current().gate->filter_of(call.caller);
    for (const auto& one : tools(place, std::make_shared<const scanning_engine>())) {
      if (one.entry.name == name) return one.handler(call);
    }
    throw std::logic_error("no such tool");
  }
  tool_result call(std::string_view name, const std::string& arguments) {
    auto outcome = call_for_outcome(name, arguments);
    EXPECT_TRUE(outcome) << outcome.error().public_text;
    return outcome ? std::get<tool_result>(std::move(*outcome)) : tool_result{};
  }
  failure refusal(std::string_view name, const std::string& arguments) {
    auto outcome = call_for_outcome(name, arguments);
    EXPECT_FALSE(outcome);
    return outcome ? failure{} : outcome.error();
  }

  manual_clock clock;  // stands still: lists and searches look for a second or two at most
  std::shared_ptr<test::scripted_provider> source =
      std::make_shared<test::scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  struct by_segment {
    bool operator()(const std::string& a, const std::string& b) const { return compare_by_segment(a, b) < 0; }
  };
  std::map<std::string, book, by_segment> books;
  std::shared_ptr<tools::services_holder> place = std::make_shared<tools::services_holder>();
  std::shared_ptr<const hondana::access_filter> view;
  scope_rules rules;  // as they are at the first call
  std::shared_ptr<const auth_info> proved;
};

/// A string member of each element of an array of structured content.
inline std::vector<std::string> strings_at(const tool_result& from, const char* array, const char* member) {
  std::vector<std::string> all;
  const auto elements = from.structured_content->array_at(array).value();
  for (const auto& one : elements) all.push_back(one.string_at(member).value_or("-"));
  return all;
}

}  // namespace hondana::tools
