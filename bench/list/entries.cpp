/// Making entries and listings of them.
#include "entries.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <utility>

namespace list_bench {

using namespace hondana;

std::string path_of(std::size_t number) {
  std::array<char, 64> text{};
  const auto size =
      std::snprintf(text.data(), text.size(), "collection-%04zu/document-%06zu.txt", number / 1000, number % 1'000'000);
  return {text.data(), static_cast<std::size_t>(size)};
}
std::string uri_of(std::size_t number) { return "memo:///" + path_of(number); }

resource entry_of(std::size_t number) {
  resource made;
  made.uri = uri_of(number);
  made.name = path_of(number);
  made.title = "Document " + std::to_string(number);
  made.mime_type = "text/plain";
  made.size = number;
  made.annotations.priority = 0.5;
  return made;
}

std::size_t strings_of(const resource& entry) {
  return entry.uri.size() + entry.name.size() + entry.title.size() + entry.mime_type.size();
}

std::shared_ptr<files::listing> listing_of(const std::shared_ptr<files::served_root>& folder, std::size_t count) {
  auto made = std::make_shared<files::listing>();
  struct stat facts{};
  facts.st_mode = S_IFREG | 0644;
  std::shared_ptr<files::record_block> open;
  for (std::size_t i = 0; i < count; ++i) {
    if (!open) open = std::make_shared<files::record_block>(folder);
    facts.st_ino = i;
    facts.st_size = static_cast<off_t>(i);
    open->add(path_of(i), facts, 1);
    if (open->size() == files::record_block::capacity || i + 1 == count) made->append(std::move(open));
  }
  made->finish();
  return made;
}

}  // namespace list_bench
