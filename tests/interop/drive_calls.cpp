/// drive_calls BASE KEY_FILE TOKEN_URL FILE DOCUMENT DRIVE: each call of hondana's client of Google Drive once, with the files
/// that are named; drive_requests.mjs looks at what it asks. Fails at the first call that does.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "auth/google/access_tokens.hpp"
#include "sources/gdrive/drive/client.hpp"

namespace {

using namespace hondana;

/// What a call gives, or the end of the program.
template <class T>
T must(std::string_view what, drive::api_result<T> got) {
  if (!got) {
    std::cerr << what << ": " << got.error().details.public_text << " (" << got.error().details.private_text << ")\n";
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*got);
}

template <class T>
T must(std::string_view what, result<T> got) {
  if (!got) {
    std::cerr << what << ": " << got.error().public_text << '\n';
    std::exit(1);
  }
  return std::move(*got);
}

drive::content_sink nowhere() {
  drive::content_sink out;
  out.on_data = [](std::string_view) { return result<void>{}; };
  return out;
}

void call_all(const drive::client& google, const std::string& file, const std::string& document, const std::string& team) {
  drive::call_options how;
  must("about.get", google.get_about(how));
  must("drives.list", google.list_drives({}, how));
  must("drives.get", google.get_drive(team, how));

  drive::list_request list;
  list.q = drive::query().name_starts_with("O'Br").trashed(false).text();
  list.order_by = "modifiedTime desc";
  must("files.list", google.list_files(list, how));
  drive::list_request paged;
  paged.page_size = 2;
  paged.page_token = must("files.list, first page", google.list_files(paged, how)).next_page_token;
  must("files.list, second page", google.list_files(paged, how));
  drive::list_request inside;
  inside.corpus = drive::list_request::search_corpus::drive;
  inside.drive_id = team;
  inside.q = drive::query().in_folder(team).text();
  must("files.list of a shared drive", google.list_files(inside, how));

  auto keyed = how;
  keyed.resource_keys = {{file, "0-key"}, {"other", "1-key"}};
  must("files.get", google.get_file(file, keyed));
  const auto into = nowhere();
  must("files.get, media", google.get_content(file, {}, into, how));
  must("files.get, a range", google.get_content(file, drive::byte_range{1, 3}, into, how));
  must("files.export", google.export_content(document, "text/markdown", into, how));

  drive::changes_request changes;
  changes.page_token = must("changes.getStartPageToken", google.get_start_page_token({}, how));
  drive::changes_request of_drive;
  of_drive.drive_id = team;
  of_drive.page_token = must("changes.getStartPageToken of a shared drive", google.get_start_page_token(team, how));
  must("changes.list", google.list_changes(changes, how));
  must("changes.list of a shared drive", google.list_changes(of_drive, how));
  drive::watch_request watch;
  watch.changes = changes;
  watch.id = "channel-1";
  watch.address = "https://hooks.example.com/drive";
  watch.token = "a token";
  watch.ttl = std::chrono::seconds(3600);
  const auto channel = must("changes.watch", google.watch_changes(watch, how));
  must("channels.stop", google.stop_channel(channel.id, channel.resource_id, how));
}

}  // namespace

int main(int count, char** words) {
  if (count != 7) {
    std::cerr << "usage: drive_calls BASE KEY_FILE TOKEN_URL FILE DOCUMENT DRIVE\n";
    return 2;
  }
  google::token_settings who;
  who.locations.file = words[2];
  who.locations.token_url = words[3];
  drive::client_settings how;
  how.base_url = words[1];
  const auto google =
      must("settings", drive::client::create(std::move(how), must("tokens", google::make_access_token_source(std::move(who)))));
  call_all(*google, words[4], words[5], words[6]);
  return 0;
}
