/// Answers of Google Drive: the first byte says of which call, or which status a refusal has; what is taken has identifiers
/// that may stand in a URL and page tokens that may stand in a request, and no error repeats what came.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/drive/drive_error.hpp"
#include "sources/gdrive/drive/request_sender.hpp"

namespace {

using namespace hondana;

void demand(bool holds) {
  if (!holds) std::abort();
}

bool is_page_token(const std::string& text) {
  return text.size() <= drive::max_page_token_bytes &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void check(const drive::file& one) {
  demand(drive::is_id(one.id) && one.name.size() <= drive::max_name_bytes);
  demand(std::all_of(one.parents.begin(), one.parents.end(), [](const auto& id) { return drive::is_id(id); }));
  demand(one.drive_id.empty() || drive::is_id(one.drive_id));
  demand(one.resource_key.empty() || drive::is_id(one.resource_key));
  demand(!one.shortcut_target || drive::is_id(one.shortcut_target->target));
  demand(one.web_link.empty() || one.web_link.starts_with("https://"));
  for (const auto& [type, link] : one.export_links) {
    const auto place = drive::check_link(link, "https://www.googleapis.com");
    demand(!place.is_allowed || link.starts_with("https://") || link.starts_with("HTTPS://") || link.size() > 8);
    demand(!place.receives_token || place.is_allowed);
    static_cast<void>(type);
  }
  constexpr std::int64_t latest = 253'402'300'800'000;  // the year 10000
  if (one.modified && one.modified->time_since_epoch().count() >= 0 && one.modified->time_since_epoch().count() < latest)
    demand(drive::parse_time(drive::format_time(*one.modified)) == one.modified);
}

void check(const std::vector<drive::entry_warning>& all) {
  demand(all.size() <= 20);
  for (const auto& one : all)
    demand((one.id.empty() || drive::is_id(one.id)) && !one.message.empty() &&
           std::all_of(one.message.begin(), one.message.end(), [](char c) { return c >= ' ' && c < 0x7f; }));
}

template <class T>
void check_error(const result<T>& got) {
  demand(got || (got.error().code == errc::protocol_error && !got.error().public_text.empty()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 9) {
    case 0: {
      const auto got = drive::parse_file_page(text);
      check_error(got);
      if (!got) break;
      demand(got->files.size() <= drive::max_page_size && is_page_token(got->next_page_token));
      for (const auto& one : got->files) check(one);
      check(got->warnings);
      break;
    }
    case 1: {
      const auto got = drive::parse_change_page(text);
      check_error(got);
      if (!got) break;
      demand(is_page_token(got->next_page_token) && is_page_token(got->new_start_page_token) &&
             !(got->next_page_token.empty() && got->new_start_page_token.empty()));
      for (const auto& one : got->changes) {
        demand(drive::is_id(one.id));
        if (one.current_file) check(*one.current_file);
      }
      check(got->warnings);
      break;
    }
    case 2: {
      const auto got = drive::parse_file(text);
      check_error(got);
      if (got) check(*got);
      break;
    }
    case 3:
      check_error(drive::parse_drive_page(text));
      break;
    case 4:
      check_error(drive::parse_about(text));
      break;
    case 5:
      check_error(drive::parse_channel(text));
      break;
    case 6:
      check_error(drive::parse_start_token(text));
      break;
    case 7: {
      const auto range = drive::parse_content_range(text);
      demand(!range || (range->first <= range->last && (!range->total_bytes || *range->total_bytes > range->last)));
      break;
    }
    default: {
      constexpr int statuses[] = {302, 400, 401, 403, 404, 410, 416, 429, 500, 503};
      const auto why = drive::classify_error(statuses[data[0] / 9 % 10], text, {},
                                             {.operation = "read it", .account = "a@b", .has_page_token = (data[0] & 1) != 0});
      demand(!why.details.public_text.empty() && why.details.private_text.size() < 2'000 && why.reason.size() <= 203);
      for (const auto* one : {&why.details.public_text, &why.details.private_text, &why.reason})
        demand(std::all_of(one->begin(), one->end(), [](char c) { return c >= ' ' && c < 0x7f; }));
    }
  }
  return 0;
}
