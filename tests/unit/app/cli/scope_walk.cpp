/// No route tells a caller what it may not read. Every route of every type of source is tried by a caller who lacks one scope,
/// for each scope, and by callers who may list a part of the resources and not read it.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/providers.hpp"
#include "unit/app/cli/route_walk.hpp"
#include "unit/app/cli/walked_server.hpp"

namespace hondana::cli {
namespace {

using transport::asker;

/// A caller with all scopes but `lacking`.
caller_info without_scope(const std::vector<guarded_part>& parts, const std::string& lacking) {
  auth_info shown;
  for (const auto& part : parts)
    if (part.scope != lacking) shown.scopes.push_back(part.scope);
  caller_info made{"somebody", {}, nullptr};
  made.auth_info = std::make_shared<const auth_info>(std::move(shown));
  return made;
}

std::string uris_in_toml(const guarded_part& part) {
  std::string list;
  for (const auto& uri : part.uris) list += (list.empty() ? "\"" : ", \"") + uri + '"';
  return "uris = [" + list + "]\n";
}

/// Subscribes to a resource in each way there is, has the source say that it changed, and returns all that is then told.
std::string told_of_change(server& from, const caller_info& who, const std::string& uri, const std::string& title) {
  const auto quoted = '"' + uri + '"';
  asker by_uri(from, who), with_entry(from, who), stateless(from, who);
  std::string told;
  std::vector<std::pair<asker*, int>> expected;  // with the number of messages
  const auto subscribe = [&](asker& peer, const std::string& request, int messages) {
    const auto answer = peer.ask(request);
    told += answer;
    if (answer.find("\"error\"") == std::string::npos) expected.emplace_back(&peer, messages);
  };
  by_uri.shake_hands("2025-06-18");  // whose notifications have a title
  with_entry.shake_hands("2025-06-18");
  subscribe(by_uri, asker::about("resources/subscribe", uri), 1);
  subscribe(with_entry, asker::request("resources/subscribe", "\"uris\":[" + quoted + ']'), 1);
  subscribe(stateless,
            asker::modern("subscriptions/listen", R"("notifications":{"resourceSubscriptions":[)" + quoted +
                                                      R"(],"dev.hondana/contentChanged":[)" + quoted + "]}"),
            2);
  EXPECT_TRUE(from.notify_resource_updated(uri, title));
  for (const auto& [peer, messages] : expected)
    for (int i = 0; i < messages; ++i) {
      const auto message = peer->receive();
      EXPECT_TRUE(message) << who.identity << " is not told that " << uri << " has changed";
      told += message.value_or("");
    }
  return told;
}

struct outcome {
  std::size_t tries = 0;
  std::vector<std::string> leaks;

  /// Looks for words of `part` in an answer to a caller who may not read it. Words of the request itself are not told to it.
  void look(const std::string& answer, const guarded_part& part, const route& request) {
    ++tries;
    for (const auto& word : part.words) {
      const auto at = answer.find(word);
      if (at == std::string::npos || request.parameters.find(word) != std::string::npos) continue;
      leaks.push_back(request.method + ' ' + request.parameters + ": …" +
                      answer.substr(at - std::min<std::size_t>(at, 80), 120));
    }
  }
};

/// Every type of source has a guarded part. Returns how many types there are, with links and the index.
std::size_t count_sources(const std::vector<guarded_part>& parts) {
  std::set<std::string> schemes;
  for (const auto& part : parts) schemes.insert(part.resource.substr(0, part.resource.find(':')));
  for (const auto& type : provider_types())
    EXPECT_TRUE(schemes.contains(type.describe_scheme().scheme))
        << "sources of type " << type.name
        << " are not tried: give them a part in unit/app/cli/walked_server.hpp, or say here why they have none";
  return schemes.size() + 1;
}

/// Finds all routes as `owner`, who may read everything, and tries each as `reader_of(part)`, who may not read that part.
template <class ReaderOf>
void walk(walked_server& from, const char* name, const caller_info& owner, ReaderOf reader_of) {
  const auto& parts = from.parts();
  const auto sources = count_sources(parts);
  const route_walk all(from.here(), owner, word_stem);
  for (const auto& part : parts) {
    const auto& title = part.words.front();
    for (const auto& word : part.words) EXPECT_NE(all.answers().find(word), std::string::npos) << "no route tells " << word;
    EXPECT_NE(told_of_change(from.here(), owner, part.resource, title).find(title), std::string::npos) << part.resource;
  }
  outcome made;
  for (const auto& part : parts) {
    const caller_info reader = reader_of(part);
    asker peer(from.here(), reader);
    for (const auto& request : all.routes()) made.look(ask(peer, request), part, request);
    made.look(told_of_change(from.here(), reader, part.resource, part.words.front()), part, {"a change of", part.resource});
  }
  const auto routes = all.routes().size() + 1;
  std::printf("%s: routes %zu × sources %zu × scopes %zu: %zu tries, leaks %zu\n", name, routes, sources, parts.size(),
              made.tries, made.leaks.size());
  EXPECT_GE(routes, 1'500u);
  EXPECT_GE(sources, 13u);
  EXPECT_GE(parts.size(), 12u);
  EXPECT_EQ(made.tries, routes * parts.size());
  EXPECT_EQ(made.leaks.size(), 0u);
  for (std::size_t i = 0; i < std::min<std::size_t>(made.leaks.size(), 40); ++i) ADD_FAILURE() << made.leaks[i];
}

// attacks: authorization (content that a rule guards, by every route)
TEST(scope_walk, a_caller_without_a_scope_is_told_nothing_that_it_guards) {
  walked_server from;
  std::string rules;
  for (const auto& part : from.parts())
    rules += "[[auth.rule]]\nmethods = [\"resources/read\"]\n" + uris_in_toml(part) + "scopes = [\"" + part.scope + "\"]\n";
  from.serve(rules);
  walk(from, "without a scope", without_scope(from.parts(), {}),
       [&](const guarded_part& part) { return without_scope(from.parts(), part.scope); });
}

/// Lets a caller of its own list each part and not read it. `conditions` stand in each of these rules.
void serve_for_listing(walked_server& from, const std::string& conditions) {
  std::string rules = "[[access.rule]]\nallow = [\"list\", \"read\"]\n";
  for (const auto& part : from.parts())
    rules += "[[access.rule]]\nidentities = [\"no-" + part.scope + "\"]\n" + uris_in_toml(part) + conditions +
             "allow = [\"list\"]\n";
  from.serve(rules);
}

caller_info lister_of(const guarded_part& part) { return {"no-" + part.scope, {}, nullptr}; }

// attacks: authorization (content of what may only be listed, by every route)
TEST(scope_walk, a_caller_who_may_only_list_is_told_nothing_of_the_content) {
  walked_server from;
  serve_for_listing(from, {});
  walk(from, "listing only", {"owner", {}, nullptr}, lister_of);
}

// attacks: authorization (the same where rules look at entries)
TEST(scope_walk, a_caller_who_may_only_list_by_kind_is_told_nothing_of_the_content) {
  walked_server from;
  std::string kinds;
  for (const auto& type : provider_types())
    for (const auto& kind : type.describe_scheme().kinds) kinds += ", \"" + kind.name + '"';
  serve_for_listing(from, "kinds = [\"memo\", \"link\"" + kinds + "]\n");
  walk(from, "listing only, by kind", {"owner", {}, nullptr}, lister_of);
}

}  // namespace
}  // namespace hondana::cli
