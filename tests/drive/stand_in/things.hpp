/// What the stand-in of Google Drive holds, as tests give it: files, shared drives, and who may see them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drive_test {

namespace mime {
inline constexpr const char* folder = "application/vnd.google-apps.folder";
inline constexpr const char* shortcut = "application/vnd.google-apps.shortcut";
inline constexpr const char* document = "application/vnd.google-apps.document";
inline constexpr const char* spreadsheet = "application/vnd.google-apps.spreadsheet";
inline constexpr const char* presentation = "application/vnd.google-apps.presentation";
inline constexpr const char* drawing = "application/vnd.google-apps.drawing";
inline constexpr const char* script = "application/vnd.google-apps.script";
inline constexpr const char* form = "application/vnd.google-apps.form";
}  // namespace mime

struct permission {
  std::string type = "user";    ///< user, group, domain or anyone.
  std::string role = "reader";  ///< owner, organizer, fileOrganizer, writer, commenter or reader.
  std::string whom{};           ///< The address of a user, or the name of a domain.
  bool is_found = false;        ///< anyone and domain: files.list has it, too (allowFileDiscovery).
};

struct sheet {
  std::string name;
  std::vector<std::vector<std::string>> rows{};
};

struct slide {
  std::string title;
  std::string text{};
  std::string notes{};
};

struct script_file {
  std::string name;
  std::string source;
  std::string type = "server_js";
};

/// A file, a folder, a shortcut or a document. What is left empty is made up as Drive would.
struct file {
  std::string id{};
  std::string name{};
  std::string type = "text/plain";  ///< MIME type; one of `mime` for what is no plain file.
  std::string parent{};             ///< Empty: My Drive of the owner, or the top of the shared drive.
  std::string drive{};              ///< The shared drive it is in; that of its parent when empty.
  std::string owner{};              ///< `setup::owner` when empty; of nobody in a shared drive.
  std::string bytes{};              ///< Content of a plain file; Markdown of a document.
  std::vector<sheet> sheets{};      ///< Of a spreadsheet.
  std::vector<slide> slides{};      ///< Of a presentation.
  std::vector<script_file> scripts{};
  /// Empty: those of the parent; at the top, the owner and all of `setup::readers`.
  std::vector<permission> permissions{};
  std::string created{};   ///< RFC 3339; now when empty.
  std::string modified{};  ///< The same.
  std::string target{};    ///< Of a shortcut: the id it leads to.
  std::string resource_key{};
  bool needs_key = false;   ///< By a link alone it is reached with its resource key only.
  bool is_abusive = false;  ///< Taken for malware: content only to its owner with acknowledgeAbuse.
  bool may_download = true;
  bool has_size = true;                      ///< False: `size` is left out.
  bool is_trashed = false;                   ///< Itself; what lies in a folder that is trashed is so, too.
  std::vector<std::string> starred_by{};     ///< Addresses.
  std::optional<std::size_t> export_size{};  ///< As what its exports count against the 10 MB; their own size otherwise.
  /// Further members of the resource, or other ones than would be made up: the text of a JSON object.
  std::string more{};
};

struct shared_drive {
  std::string id{};
  std::string name{};
  std::vector<permission> members{};  ///< Empty: all of `setup::readers`.
  std::string created{};
  bool is_hidden = false;
};

/// A user's app and a service account that may ask, and how strict the stand-in is.
struct setup {
  std::string owner = "hanako@example.com";
  /// Who sees what nobody was named for: the service account and the user of the browser.
  std::vector<std::string> readers{"reader@stand-in.iam.gserviceaccount.com", "taro@example.com"};
  std::string service_account = "reader@stand-in.iam.gserviceaccount.com";
  /// Whom the service account may impersonate (`sub`).
  std::vector<std::string> delegating{"hanako@example.com", "taro@example.com"};
  std::string user = "taro@example.com";  ///< Who says yes on the page of the browser flow.
  std::string client_id = "1234567890-standin.apps.googleusercontent.com";
  std::string client_secret = "GOCSPX-stand-in-secret";
  std::chrono::seconds token_lifetime{3599};
  std::chrono::seconds most_skew{300};           ///< Between the clock of a JWT and ours.
  std::size_t most_exported = 10 * 1024 * 1024;  /// Bytes of an export.
  std::int64_t most_requests = 0;                ///< In each `quota_window`; 0: any number.
  std::chrono::milliseconds quota_window{60'000};
  bool says_incomplete = false;         ///< Of lists of all drives: incompleteSearch.
  bool redirects_export_links = false;  ///< To a place that wants no token, as Google's lead to googleusercontent.com.
  /// Notices of channels go to this port of 127.0.0.1, whatever host an address names; 0: only loopback addresses are taken.
  std::uint16_t notices_to = 0;
};

/// What goes wrong on order, for the next `times` requests that fit.
struct fault {
  std::string method{};      ///< Empty: any.
  std::string path{};        ///< How the path begins; empty: all of /drive/.
  std::string containing{};  ///< The query has this, as it came; empty: any.
  std::size_t skip = 0;      ///< So many that fit are answered first.
  std::size_t times = 1;

  int status = 0;                        ///< An error instead of the answer; 0: the answer, spoilt as below.
  std::string reason{};                  ///< As "userRateLimitExceeded"; empty: the usual one of the status.
  std::string message{};                 ///< Empty: the real one of the reason.
  std::string body{};                    ///< Not empty: this instead of an error's real body.
  std::string body_type{};               ///< Its type; JSON when empty.
  std::string retry_after{};             ///< Not empty: the field of that name.
  std::string location{};                ///< Not empty: the field of that name, for a redirect.
  bool is_closed = false;                ///< The connection ends without an answer.
  std::size_t stalls_at = SIZE_MAX;      ///< After so many bytes of the body nothing more comes.
  std::size_t cut_at = SIZE_MAX;         ///< After so many bytes of the body the connection ends.
  std::ptrdiff_t wrong_length = 0;       ///< Added to Content-Length.
  std::chrono::milliseconds delay{0};    ///< Before the answer.
  std::chrono::milliseconds a_chunk{0};  ///< Between any two pieces of 1 KiB of the body.
};

/// One request as it came, and what became of it.
struct logged {
  std::string method;
  std::string path;
  std::string query;                                              ///< As it came.
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< Decoded, in their order.
  std::vector<std::pair<std::string, std::string>> fields{};      ///< Names in lower case, sorted.
  std::string body{};
  std::string caller{};  ///< The address that the token stands for.
  int status = 0;
  std::chrono::steady_clock::time_point at{};

  [[nodiscard]] std::string parameter(const std::string& name) const {
    for (const auto& [key, text] : parameters) {
      if (key == name) return text;
    }
    return "";
  }
  [[nodiscard]] std::string field(const std::string& name) const {
    for (const auto& [key, text] : fields) {
      if (key == name) return text;
    }
    return "";
  }
};

}  // namespace drive_test
