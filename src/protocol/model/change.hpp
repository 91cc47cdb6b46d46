/// What can change while peers are connected.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/input.hpp>
#include <hondana/resource.hpp>
#include <hondana/value.hpp>

namespace hondana::model {

/// One thing that happened; sources report it, the feed passes it on.
struct change {
  enum class what {
    resources,  ///< The list of resources or templates.
    tools,      ///< The list of tools.
    prompts,    ///< The list of prompts.
    content,    ///< One resource.
    entry,      ///< The same, told with its entry to whoever wants that; made of `content`, never reported.
  };
  what kind = what::resources;
  std::string uri{};                      ///< Canonical; of `content` only.
  std::string title{};                    ///< Of that resource, for peers that are shown it; may be empty.
  std::shared_ptr<const resource> now{};  ///< Of `entry` only: as it is now; null when it is not there any more.
  /// Of `content` only: parts of the resource are told of by themselves, and this is of what `uri` names alone.
  bool is_exact = false;
  /// Of `content` only: `uri` is another name of what changed, which rules may hide from who may see `uri`.
  bool is_alias = false;
};

/// A message to whoever listens, about no request.
struct log_message {
  log_level level = log_level::info;
  std::string logger{};  ///< May be empty.
  value data{};
};

/// Which changes somebody wants to hear of.
struct interests {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris{};     ///< As the peer spelled them.
  std::vector<std::string> entries{};  ///< Resources whose entries are to be told.
};

}  // namespace hondana::model
