/// A provider in one file: greetings, one resource for each name in its configuration.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

#include "sources/config/section.hpp"

namespace hondana::toy {
namespace {

constexpr std::string_view prefix = "toy:///";

class toy_provider : public provider {
 public:
  toy_provider(std::string greeting, const std::vector<std::string>& names)
      : greeting_(std::move(greeting)), entries_(entries_for(names)) {}

  [[nodiscard]] std::string name() const override { return "toy"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {std::string(prefix)}; }
  [[nodiscard]] provider_traits traits() const noexcept override { return {.never_blocks = true}; }

  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override { return entries_.page(request); }

  [[nodiscard]] result<read_result> read(const read_request& request) override {
    const auto entry = entries_.find(request.uri);
    if (!entry) return fail(errc::resource_not_found, "There is nobody to greet at " + request.requested_uri);
    return text_read_result(greeting_ + ", " + entry->name + "!\n");
  }

 private:
  static std::vector<resource> entries_for(const std::vector<std::string>& names) {
    std::vector<resource> entries;
    for (const auto& name : names) {
      resource entry;
      entry.uri = std::string(prefix) + percent_encode(name);
      entry.name = name;
      entry.mime_type = "text/plain";
      entry.kind = "greeting";
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  std::string greeting_;
  entry_snapshot entries_;
};

}  // namespace

/// The URIs, for `hondana schemes`.
scheme_documentation describe_scheme() {
  scheme_documentation documentation;
  documentation.scheme = "toy";
  documentation.summary = "Greetings for the names in the configuration.";
  documentation.kinds = {{"greeting", "One name, greeted"}};
  documentation.forms = {{"toy:///{name}", "The greeting of a name"}};
  return documentation;
}

scheme_documentation toy_provider::documentation() const { return toy::describe_scheme(); }

/// Makes the provider from `[[source]]` with `type = "toy"`, `names = [...]` and an optional `greeting`.
result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>&) {
  auto names = section.strings("names");
  if (!names) return tl::unexpected(std::move(names.error()));
  auto greeting = section.string("greeting");
  if (!greeting) return tl::unexpected(std::move(greeting.error()));
  if (auto finished = section.finish(); !finished) return tl::unexpected(std::move(finished.error()));
  return std::make_shared<toy_provider>(greeting->value_or("Hello"), *names);
}

}  // namespace hondana::toy
