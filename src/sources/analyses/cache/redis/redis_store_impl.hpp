/// The class behind the Redis store of analyses.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sources/analyses/cache/redis/lua_scripts.hpp"
#include "sources/analyses/cache/redis/redis_connection.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"

namespace hondana::analyses {

/// A pool of connections, each used by one caller at a time. Callers wait while all are in use.
class redis_store final : public store {
 public:
  redis_store(redis_options from, redis_address where, tls_context tls);
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<instant> now() const override;
  [[nodiscard]] result<answer> look(const key& of) const override;
  [[nodiscard]] result<std::optional<entry>> get(std::string_view id) const override;
  [[nodiscard]] result<std::optional<summary>> about(std::string_view id) const override;
  [[nodiscard]] result<page> list(const selection& which, std::string_view after, std::size_t most) const override;
  [[nodiscard]] result<std::vector<std::string>> names(naming which, std::string_view prefix, std::size_t most) const override;
  [[nodiscard]] result<std::vector<basis>> bases(std::string_view after, std::size_t most) const override;
  [[nodiscard]] result<based_page> based_on(std::string_view uri, const place_in_based& after, std::size_t most) const override;
  [[nodiscard]] result<claimed> claim(const wish& what) override;
  [[nodiscard]] result<instant> renew(const ticket& by, milliseconds lease) override;
  [[nodiscard]] result<summary> put(const ticket& by, const putting& what) override;
  [[nodiscard]] result<void> fail(const ticket& by, std::string_view why, milliseconds remembered) override;
  [[nodiscard]] result<forgotten> forget(const forgetting& which) override;
  [[nodiscard]] result<forgotten> sweep(const limits& within) override;
  [[nodiscard]] result<void> count(const statistics& more) override;
  [[nodiscard]] result<statistics> counted() const override;
  [[nodiscard]] result<store_facts> facts() const override;
  [[nodiscard]] result<changes> changes_since(std::uint64_t after, milliseconds wait,
                                              const std::stop_token& stop) const override;

 private:
  /// A connection for one caller. After a failure it is closed instead of returned.
  class borrowed;
  /// Whether a command that may have been executed can be sent again.
  enum class repeating : std::uint8_t { harmless, harmful };
  using words = std::vector<std::string_view>;

  [[nodiscard]] result<borrowed> take() const;
  /// Sends any command. Errors: as the store's, also if the server rejects the command.
  [[nodiscard]] result<reply> ask(const words& what, repeating how, milliseconds longer = {}) const;
  [[nodiscard]] result<reply> run(script which, const words& with, repeating how) const;
  [[nodiscard]] result<reply> try_once(const words& what, milliseconds longer, bool& may_repeat) const;
  [[nodiscard]] result<void> look_at_server();
  [[nodiscard]] result<std::string> setting(const char* name) const;
  [[nodiscard]] static tl::unexpected<failure> refused_ticket(const reply& what);
  void log(std::string_view line) const;

  const redis_options options_;
  const redis_address where_;
  const tls_context tls_;
  const std::string root_;
  std::array<std::string, count_of_scripts> digests_{};
  mutable std::mutex taking_;
  mutable std::condition_variable given_back_;
  mutable std::vector<std::unique_ptr<redis_connection>> idle_{};
  mutable std::size_t taken_ = 0;
};

/// Decodes {id, {fields}, body} from a script's reply. Empty if it is null.
[[nodiscard]] std::optional<entry> entry_in(const reply& what, std::int64_t now);
[[nodiscard]] summary summary_in(const reply& id, const reply& fields);
/// Decodes the reply of the script `look`.
[[nodiscard]] answer answer_in(const reply& what);

}  // namespace hondana::analyses
