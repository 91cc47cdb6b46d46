/// Plays a transcript over one line and says where the server departs from it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transcripts/transcript.hpp"

namespace transcripts {

/// One way to play: over what, and in which pieces.
struct manner {
  std::string transport;
  bool bytewise = false;
};

/// A message of the server, with the method of the request it answers (empty: none, or an id that was not sent).
struct emitted {
  std::string revision;  ///< Whose schema it has to follow.
  std::string method;
  std::string message;
};

struct performance {
  std::optional<std::string> fault;  ///< With file and line.
  std::vector<emitted> messages;
};

/// Plays one revision of a transcript. At the end one more request is answered, so that nothing else was on its way.
/// `program` is the stdio server.
[[nodiscard]] performance play(const transcript& what, const std::string& revision, const manner& how,
                               const std::filesystem::path& program);

}  // namespace transcripts
