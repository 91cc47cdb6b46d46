/// A transcript file, read: who speaks, over what, and what is expected in return.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace transcripts {

/// One line of a conversation.
struct step {
  enum class kind {
    send,              ///< `-> {json}`: a message; gets `_meta` in the stateless era.
    send_raw,          ///< `-> raw TEXT`: these bytes, whatever they are. Escapes: `\n`, `\\`, `\xHH`, `\{COUNT*TEXT}`.
    send_end,          ///< `-> end TEXT`: these bytes without an end of line, then the end of input.
    header,            ///< `-> header NAME: VALUE`: a field of the next POST.
    no_header,         ///< `-> no-header NAME`: the next POST leaves out a field the runner would add.
    bodiless,          ///< `-> http METHOD`: a request without a body.
    time,              ///< `-> time`: the server's clock, which stands still, goes on until what is expected next has come.
                       ///< `-> time SECONDS`: it goes on by so much, whatever comes.
    expect,            ///< `<- {json}`: the next message.
    expect_any_order,  ///< `<~ {json}`: one of the next messages, as many as there are such lines in a row.
    expect_status,     ///< `<- status NUMBER`: of the last POST; ignored where there is no HTTP.
  };
  kind what;
  std::string text;
  std::size_t line = 0;
};

/// `# spec: REVISION PAGE#ANCHOR ...`
struct citation {
  std::string revision;
  std::string place;
};

struct transcript {
  std::filesystem::path file;
  std::vector<std::string> revisions;  ///< One, or all four of the handshake era for `NAME.legacy.txt`.
  std::vector<citation> citations;
  std::string server = "demo";          ///< `# server: NAME`
  std::vector<std::string> transports;  ///< `# transports: memory stdio http`; all by default.
  bool bytewise = true;                 ///< `# input: whole` says no.
  bool handshake = false;               ///< `# open: handshake|none`; by default what the era does.
  bool adds_meta = true;                ///< `# meta: as written` says no.
  std::vector<step> steps;
};

inline constexpr std::string_view modern_revision = "2026-07-28";

/// Reads a transcript. Errors name file and line: a line that is none, a directive that is unknown, a file name without
/// revision, and a revision that no citation justifies.
[[nodiscard]] tl::expected<transcript, std::string> read_transcript(const std::filesystem::path& file);
[[nodiscard]] tl::expected<transcript, std::string> parse_transcript(const std::filesystem::path& file, std::string_view text);

/// The bytes that an escaped text of a raw line stands for.
[[nodiscard]] tl::expected<std::string, std::string> unescape(std::string_view text);

}  // namespace transcripts
