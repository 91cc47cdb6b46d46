/// The Lua scripts that the Redis store runs on the server.
#include "sources/analyses/cache/redis/lua_scripts.hpp"

namespace hondana::analyses {
namespace {

// Redis keys, after the common prefix R:
// * `e:ID` an analysis; `all` every id; `gone` the time when each is deleted.
// * `k:KEY` the ids of a question, with score 1 for complete, 2 for below its thresholds, 0 for computing.
// * `l:KEY` the claim of a question; `n:KEY` its failure; `claims` and `failures` their keys.
// * `p:DIGEST`, `s:SESSION`, `t:TAG` the ids of a prompt, a session, a tag.
// * `u:URI` versions and ids of the analyses based on a resource.
// * `sessions`, `tags`, `providers`, `uris` the known names.
// * `form` the format of the keys (`key_format`); `state` the last token, the last change, and the bytes of all bodies.
// * `news` the last changes; `counts` the statistics.
//
// Fields of an analysis: k key, p prompt, h status, y task, t title, s session, c created, m changed, x expires, g gone. Also f
// confidence, a agreement, q cost, w time taken, r rounds, n providers, b bytes, v version. Also B body, G tags, U context, j
// id of the last put.
//
// A server without free memory rejects a script at its first write that needs memory. So scripts that need memory begin with
// such a write, and nothing is half done. Scripts that free memory begin with a write that needs none, so that they are not
// rejected.
constexpr const char* prelude = R"lua(
local R = KEYS[1]
local T = redis.call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)
local function n(x) return string.format('%.0f', x) end
local function split(text, separator)
  local out = {}
  if text == '' or not text then return out end
  for part in string.gmatch(text, '([^' .. separator .. ']+)') do out[#out + 1] = part end
  return out
end
local function summary(id)
  return redis.call('HMGET', R .. 'e:' .. id, 'k', 'p', 'h', 'y', 't', 's', 'c', 'm', 'x', 'g', 'f', 'a', 'q', 'w', 'r', 'n', 'b', 'v')
end
local function note(what, id, key)
  local c = redis.call('HINCRBY', R .. 'state', 'change', 1)
  if c == 1 then c = redis.call('HINCRBY', R .. 'state', 'change', 1) end
  redis.call('XADD', R .. 'news', 'MAXLEN', '~', 10000, n(c) .. '-0', 'w', what, 'i', id, 'k', key)
  return c
end
local function leave(set, member, names, name)
  redis.call('ZREM', set, member)
  if redis.call('EXISTS', set) == 0 then redis.call('ZREM', R .. names, name) end
end
local function drop(id, what)
  local f = redis.call('HMGET', R .. 'e:' .. id, 'k', 'p', 's', 'G', 'U', 'b', 'h')
  if not f[1] then
    redis.call('ZREM', R .. 'all', id)
    redis.call('ZREM', R .. 'gone', id)
    return 0
  end
  redis.call('DEL', R .. 'e:' .. id)
  redis.call('ZREM', R .. 'all', id)
  redis.call('ZREM', R .. 'gone', id)
  redis.call('ZREM', R .. 'k:' .. f[1], id)
  redis.call('ZREM', R .. 'p:' .. f[2], id)
  if f[3] ~= '' then leave(R .. 's:' .. f[3], id, 'sessions', f[3]) end
  for _, tag in ipairs(split(f[4], '\n')) do leave(R .. 't:' .. tag, id, 'tags', tag) end
  for _, member in ipairs(split(f[5], '\n')) do
    local uri, version = string.match(member, '^(.-)\31(.*)$')
    if uri then leave(R .. 'u:' .. uri, version .. '\31' .. id, 'uris', uri) end
  end
  if f[7] == '0' and redis.call('HGET', R .. 'l:' .. f[1], 'id') == id then
    redis.call('DEL', R .. 'l:' .. f[1])
    redis.call('ZREM', R .. 'claims', f[1])
  end
  redis.call('HINCRBY', R .. 'state', 'bytes', '-' .. f[6])
  note(what, id, f[1])
  return 1
end
local function answer(key)
  local entry, claim, failure, fresh = false, false, false, false
  local id = redis.call('ZRANGEBYSCORE', R .. 'k:' .. key, 1, 1, 'LIMIT', 0, 1)[1]
  if id then
    local f = summary(id)
    if f[1] and tonumber(f[10]) > now then
      entry = {id, f, redis.call('HGET', R .. 'e:' .. id, 'B')}
      fresh = tonumber(f[9]) > now
    end
  end
  local l = redis.call('HMGET', R .. 'l:' .. key, 'id', 'who', 'until')
  if l[1] and tonumber(l[3]) > now then claim = l end
  if not claim then
    local reason = redis.call('GET', R .. 'n:' .. key)
    if reason then failure = {reason, n(now + redis.call('PTTL', R .. 'n:' .. key))} end
  end
  return {n(now), entry, claim, failure}, fresh
end
local function holder(id, token, secret)
  local f = redis.call('HMGET', R .. 'e:' .. id, 'k', 'h')
  if not f[1] then return nil, 'none' end
  if f[2] ~= '0' then return nil, 'put' end
  local l = redis.call('HMGET', R .. 'l:' .. f[1], 'id', 'token', 'until', 'secret')
  if l[1] ~= id or l[2] ~= token or not l[4] or l[4] ~= secret then return nil, 'none' end
  return f[1], tonumber(l[3])
end
-- Of what is being computed: bytes, and entries. Each has a claim, of which there are few.
local function computed()
  local bytes, entries = 0, 0
  for _, key in ipairs(redis.call('ZRANGE', R .. 'claims', 0, -1)) do
    local id = redis.call('HGET', R .. 'l:' .. key, 'id')
    local f = id and redis.call('HMGET', R .. 'e:' .. id, 'b', 'h') or {}
    if f[2] == '0' then
      bytes = bytes + tonumber(f[1])
      entries = entries + 1
    end
  end
  return bytes, entries
end
local function has_room(size, old, small, max)
  return size <= tonumber(small) or size <= old or computed() + size - old <= tonumber(max)
end
local function versions(uri, max)
  local out, first = {}, '-'
  while #out < max do
    local member = redis.call('ZRANGEBYLEX', R .. 'u:' .. uri, first, '+', 'LIMIT', 0, 1)[1]
    if not member then break end
    local version = string.match(member, '^(.-)\31')
    out[#out + 1] = version
    first = '[' .. version .. '\32'
  end
  return out
end
)lua";

// ARGV: key.
constexpr const char* look_up_script = R"lua(
return (answer(ARGV[1]))
)lua";

// ARGV: id, whether to return the body.
constexpr const char* get_script = R"lua(
local f = summary(ARGV[1])
if not f[1] or tonumber(f[10]) <= now then return false end
local body = ''
if ARGV[2] == '1' then body = redis.call('HGET', R .. 'e:' .. ARGV[1], 'B') end
return {n(now), {ARGV[1], f, body}}
)lua";

// ARGV: prefix of the set ('' for all), its name, the id to continue after, limit.
constexpr const char* list_script = R"lua(
local ids
local first = ARGV[3] == '' and '-' or '(' .. ARGV[3]
if ARGV[1] == 'k:' then
  ids = {}
  for _, id in ipairs(redis.call('ZRANGE', R .. 'k:' .. ARGV[2], 0, -1)) do
    if id > ARGV[3] then ids[#ids + 1] = id end
  end
  table.sort(ids)
  while #ids > tonumber(ARGV[4]) do table.remove(ids) end
else
  ids = redis.call('ZRANGEBYLEX', R .. (ARGV[1] == '' and 'all' or ARGV[1] .. ARGV[2]), first, '+', 'LIMIT', 0, ARGV[4])
end
local out = {}
for i, id in ipairs(ids) do
  local f = summary(id)
  out[i] = {id, f[1] and f or false, redis.call('HGET', R .. 'e:' .. id, 'G')}
end
return {n(now), out}
)lua";

// ARGV: prefix of the ids, limit.
constexpr const char* ids_script = R"lua(
local out = {}
for _, id in ipairs(redis.call('ZRANGEBYLEX', R .. 'all', '[' .. ARGV[1], '[' .. ARGV[1] .. '\255', 'LIMIT', 0, ARGV[2])) do
  local removed_at = redis.call('HGET', R .. 'e:' .. id, 'g')
  if removed_at and tonumber(removed_at) > now then out[#out + 1] = id end
end
return out
)lua";

// ARGV: the URI to continue after, limit.
constexpr const char* resource_versions_script = R"lua(
local out = {}
for i, uri in ipairs(redis.call('ZRANGEBYLEX', R .. 'uris', ARGV[1] == '' and '-' or '(' .. ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
  out[i] = {uri, versions(uri, 64)}
end
return out
)lua";

// ARGV: URI, the version and id to continue after, limit.
constexpr const char* by_resource_script = R"lua(
local out = {}
for i, member in ipairs(redis.call('ZRANGEBYLEX', R .. 'u:' .. ARGV[1], ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'LIMIT', 0, ARGV[3])) do
  local id = string.sub(member, -32)
  local f = summary(id)
  out[i] = {member, id, f[1] and f or false}
end
return {n(now), out}
)lua";

constexpr const char* info_script = R"lua(
local first = redis.call('ZRANGE', R .. 'all', 0, 0)[1]
local last = redis.call('ZRANGE', R .. 'all', -1, -1)[1]
return {redis.call('ZCARD', R .. 'all'), redis.call('HGET', R .. 'state', 'bytes') or '0', redis.call('ZCARD', R .. 'claims'),
  last and redis.call('HGET', R .. 'e:' .. last, 'c') or false, first and redis.call('HGET', R .. 'e:' .. first, 'c') or false}
)lua";

// ARGV: the change to continue after.
constexpr const char* changes_script = R"lua(
local last = redis.call('HGET', R .. 'state', 'change') or '1'
local first = redis.call('XRANGE', R .. 'news', '-', '+', 'COUNT', 1)[1]
return {last, first and first[1] or '0-0', ARGV[1] == '0' and {} or redis.call('XRANGE', R .. 'news', '(' .. ARGV[1] .. '-0', '+', 'COUNT', 1000)}
)lua";

// ARGV: key, prompt, task, title, session, tags, context, claimant, lease, whether forced, 20 random digits, body. Then limit
// of claims, whether to claim despite a fresh answer, secret of the ticket, bytes of a small body, limit of bytes being
// computed.
constexpr const char* claim_script = R"lua(
local key, session, random, body = ARGV[1], ARGV[5], ARGV[11], ARGV[12]
local entry, fresh = answer(key)
local l = redis.call('HMGET', R .. 'l:' .. key, 'id', 'token', 'until', 'secret')
if l[1] and string.sub(l[1], 13) == random and l[4] == ARGV[15] then return {entry, {l[1], l[2], l[3]}} end
if l[1] and tonumber(l[3]) > now then return {entry, false} end
if ARGV[10] ~= '1' and ((fresh and ARGV[14] ~= '1') or entry[4]) then return {entry, false} end
if not l[1] and redis.call('ZCARD', R .. 'claims') >= tonumber(ARGV[13]) then return {entry, 'claims'} end
local late = l[1] and tonumber(redis.call('HGET', R .. 'e:' .. l[1], 'b')) or 0
if not has_room(#body, late, ARGV[16], ARGV[17]) then return {entry, 'bytes'} end
local context = {}
for i, member in ipairs(split(ARGV[7], '\n')) do
  local uri, version = string.match(member, '^(.-)\31(.*)$')
  if not uri then return redis.error_reply('ERR what it is based on is malformed') end
  context[i] = {uri, version}
end
local form = redis.call('GET', R .. 'form')
if form and form ~= '1' then return redis.error_reply('ERR a newer version of this program writes under this prefix') end
if not form then redis.call('SET', R .. 'form', '1') end
local token = redis.call('HINCRBY', R .. 'state', 'token', 1)
if l[1] then drop(l[1], '3') end
if ARGV[10] == '1' then
  redis.call('DEL', R .. 'n:' .. key)
  redis.call('ZREM', R .. 'failures', key)
end
local left = 281474976710655 - now
local id = string.format('%06x%06x', math.floor(left / 16777216), left % 16777216) .. random
local ending = now + tonumber(ARGV[9])
local c = note('0', id, key)
redis.call('HSET', R .. 'e:' .. id, 'k', key, 'p', ARGV[2], 'h', '0', 'y', ARGV[3], 't', ARGV[4], 's', session, 'c', n(now), 'm', n(now),
  'x', n(ending), 'g', n(ending), 'f', '0', 'a', '0', 'q', '0', 'w', '0', 'r', '0', 'n', '0', 'b', #body, 'v', n(c), 'B', body,
  'G', ARGV[6], 'U', ARGV[7], 'j', '')
redis.call('ZADD', R .. 'all', 0, id)
redis.call('ZADD', R .. 'gone', n(ending + 600000), id)
redis.call('ZADD', R .. 'k:' .. key, 0, id)
redis.call('ZADD', R .. 'p:' .. ARGV[2], 0, id)
if session ~= '' then
  redis.call('ZADD', R .. 's:' .. session, 0, id)
  redis.call('ZADD', R .. 'sessions', 0, session)
end
for _, tag in ipairs(split(ARGV[6], '\n')) do
  redis.call('ZADD', R .. 't:' .. tag, 0, id)
  redis.call('ZADD', R .. 'tags', 0, tag)
end
for _, member in ipairs(context) do
  redis.call('ZADD', R .. 'u:' .. member[1], 0, member[2] .. '\31' .. id)
  redis.call('ZADD', R .. 'uris', 0, member[1])
end
redis.call('HSET', R .. 'l:' .. key, 'id', id, 'token', n(token), 'until', n(ending), 'who', ARGV[8], 'secret', ARGV[15])
redis.call('ZADD', R .. 'claims', n(ending), key)
redis.call('HINCRBY', R .. 'state', 'bytes', #body)
return {entry, {id, n(token), n(ending)}}
)lua";

// ARGV: id, token, secret, lease.
constexpr const char* renew_script = R"lua(
local key, held = holder(ARGV[1], ARGV[2], ARGV[3])
if not key then return {held} end
local last = math.max(held, now + tonumber(ARGV[4]))
local ending = n(last)
redis.call('HSET', R .. 'l:' .. key, 'until', ending)
redis.call('ZADD', R .. 'claims', ending, key)
redis.call('HSET', R .. 'e:' .. ARGV[1], 'x', ending, 'g', ending)
redis.call('ZADD', R .. 'gone', n(last + 600000), ARGV[1])
return {'ok', ending}
)lua";

// ARGV: id, token, key, prompt, status, task, title, session, confidence, agreement, cost, time taken, rounds, providers, tags,
// names of providers. Then time fresh (or lease), time stale, 20 random digits, body, limit of names of providers, secret,
// bytes of a small body, limit of bytes being computed.
constexpr const char* put_script = R"lua(
local id, mode, session, body = ARGV[1], ARGV[5], ARGV[8], ARGV[20]
local e = R .. 'e:' .. id
if redis.call('HGET', e, 'j') == ARGV[19] then return {'ok', {id, summary(id), ''}} end
local key, ending = holder(id, ARGV[2], ARGV[22])
if not key then return {ending} end
local old = redis.call('HMGET', e, 'p', 's', 'G', 'b')
if key ~= ARGV[3] or old[1] ~= ARGV[4] then return {'other'} end
if mode == '0' and not has_room(#body, tonumber(old[4]), ARGV[23], ARGV[24]) then return {'bytes'} end
local c = note(mode == '0' and '1' or '2', id, key)
local expires = now + tonumber(ARGV[17])
if mode == '0' and ending > expires then expires = ending end
local removed_at = mode == '0' and expires or expires + tonumber(ARGV[18])
if old[2] ~= session then
  if old[2] ~= '' then leave(R .. 's:' .. old[2], id, 'sessions', old[2]) end
  if session ~= '' then
    redis.call('ZADD', R .. 's:' .. session, 0, id)
    redis.call('ZADD', R .. 'sessions', 0, session)
  end
end
if old[3] ~= ARGV[15] then
  for _, tag in ipairs(split(old[3], '\n')) do leave(R .. 't:' .. tag, id, 'tags', tag) end
  for _, tag in ipairs(split(ARGV[15], '\n')) do
    redis.call('ZADD', R .. 't:' .. tag, 0, id)
    redis.call('ZADD', R .. 'tags', 0, tag)
  end
end
for _, name in ipairs(split(ARGV[16], '\n')) do
  if redis.call('ZCARD', R .. 'providers') < tonumber(ARGV[21]) then redis.call('ZADD', R .. 'providers', 0, name) end
end
redis.call('HSET', e, 'h', mode, 'y', ARGV[6], 't', ARGV[7], 's', session, 'm', n(now), 'x', n(expires), 'g', n(removed_at), 'f', ARGV[9],
  'a', ARGV[10], 'q', ARGV[11], 'w', ARGV[12], 'r', ARGV[13], 'n', ARGV[14], 'b', #body, 'v', n(c), 'B', body, 'G', ARGV[15],
  'j', ARGV[19])
redis.call('HINCRBY', R .. 'state', 'bytes', #body - tonumber(old[4]))
redis.call('ZADD', R .. 'gone', n(mode == '0' and removed_at + 600000 or removed_at), id)
redis.call('ZADD', R .. 'k:' .. key, mode, id)
if mode == '0' then
  redis.call('HSET', R .. 'l:' .. key, 'until', n(expires))
  redis.call('ZADD', R .. 'claims', n(expires), key)
else
  redis.call('DEL', R .. 'l:' .. key)
  redis.call('ZREM', R .. 'claims', key)
  redis.call('DEL', R .. 'n:' .. key)
  redis.call('ZREM', R .. 'failures', key)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', R .. 'k:' .. key, mode, 2)) do
    if other ~= id then drop(other, '4') end
  end
end
return {'ok', {id, summary(id), ''}}
)lua";

// ARGV: id, token, secret, reason, how long it is remembered.
constexpr const char* fail_script = R"lua(
local key, reason = holder(ARGV[1], ARGV[2], ARGV[3])
if not key then return {reason} end
drop(ARGV[1], '3')
local long = tonumber(ARGV[5])
if long > 0 then
  redis.call('SET', R .. 'n:' .. key, ARGV[4], 'PX', n(long))
  redis.call('ZADD', R .. 'failures', n(now + long), key)
end
return {'ok'}
)lua";

// ARGV: selection ('id', 't:', 's:', 'k:', 'u:', 'all'), its name, current versions, limit, whether an unknown version is
// current.
constexpr const char* erase_script = R"lua(
local selector, which, max = ARGV[1], ARGV[2], tonumber(ARGV[4])
local ids = {}
if selector == 'id' then
  ids = {which}
elseif selector == 'u:' then
  local holds = {}
  for _, version in ipairs(split(ARGV[3], '\n')) do holds[version] = true end
  holds[''] = ARGV[5] == '1'
  for _, version in ipairs(versions(which, math.huge)) do
    if not holds[version] and #ids <= max then
      for _, member in ipairs(redis.call('ZRANGEBYLEX', R .. 'u:' .. which, '[' .. version .. '\31', '(' .. version .. '\32', 'LIMIT', 0, max + 1)) do
        ids[#ids + 1] = string.sub(member, #version + 2)
      end
    end
  end
else
  ids = redis.call('ZRANGE', R .. (selector == 'all' and 'all' or selector .. which), 0, max)
end
local count = 0
for i, id in ipairs(ids) do
  if i <= max then count = count + drop(id, '4') end
end
if selector == 'k:' then
  redis.call('DEL', R .. 'n:' .. which)
  redis.call('ZREM', R .. 'failures', which)
elseif selector == 'all' then
  for _, key in ipairs(redis.call('ZRANGE', R .. 'failures', 0, -1)) do redis.call('DEL', R .. 'n:' .. key) end
  redis.call('DEL', R .. 'failures')
end
return {count, #ids <= max and 1 or 0}
)lua";

// ARGV: limits of bytes, entries and age; limit of deletions; limit of analyses being computed.
constexpr const char* sweep_script = R"lua(
local max, count = tonumber(ARGV[4]), 0
redis.call('ZREMRANGEBYSCORE', R .. 'failures', '-inf', n(now))
local over = redis.call('ZRANGEBYSCORE', R .. 'gone', '-inf', n(now), 'LIMIT', 0, max)
for _, id in ipairs(over) do count = count + drop(id, '4') end
if #over == max then return {count, 0} end
local bytes = tonumber(redis.call('HGET', R .. 'state', 'bytes') or '0')
local entries = redis.call('ZCARD', R .. 'all')
if bytes > tonumber(ARGV[1]) or entries > tonumber(ARGV[2]) then
  -- The limits are those of what is whole.
  local bytes_computed, entries_computed = computed()
  bytes = bytes - bytes_computed
  entries = entries - entries_computed
end
local first, left = '+', tonumber(ARGV[5]) + max
while left > 0 do
  -- What is being computed stays, and there may be more of that than a page has.
  local page = redis.call('ZREVRANGEBYLEX', R .. 'all', first, '-', 'LIMIT', 0, max)
  for _, id in ipairs(page) do
    if count >= max then return {count, 0} end
    local f = redis.call('HMGET', R .. 'e:' .. id, 'c', 'b', 'h')
    if f[1] and f[3] ~= '0' then
      local is_old = tonumber(f[1]) + tonumber(ARGV[3]) <= now
      if not is_old and bytes <= tonumber(ARGV[1]) and entries <= tonumber(ARGV[2]) then return {count, 1} end
      bytes = bytes - tonumber(f[2])
      entries = entries - 1
      count = count + drop(id, '4')
    end
    first = '(' .. id
  end
  if #page < max then break end
  left = left - #page
end
return {count, count >= max and 0 or 1}
)lua";

// ARGV: pairs of field and amount; integers, or decimals for costs. After the first write, no command may fail.
constexpr const char* add_statistics_script = R"lua(
local full = {}
for i = 1, #ARGV, 2 do
  local sum = (tonumber(redis.call('HGET', R .. 'counts', ARGV[i]) or '0') or 0) + tonumber(ARGV[i + 1])
  full[i] = sum > 9000000000000000000 and not string.find(ARGV[i], 'cost')
end
for i = 1, #ARGV, 2 do
  if full[i] then
    redis.call('HSET', R .. 'counts', ARGV[i], '9000000000000000000')
  elseif string.find(ARGV[i], 'cost') then
    redis.call('HINCRBYFLOAT', R .. 'counts', ARGV[i], ARGV[i + 1])
  else
    redis.call('HINCRBY', R .. 'counts', ARGV[i], ARGV[i + 1])
  end
end
return 1
)lua";

constexpr std::array<const char*, script_count> script_sources{
    look_up_script,     get_script,  list_script,    ids_script,   resource_versions_script,
    by_resource_script, info_script, changes_script, claim_script, renew_script,
    put_script,         fail_script, erase_script,   sweep_script, add_statistics_script};

}  // namespace

const std::string& script_text(script id) {
  static const auto texts = [] {
    std::array<std::string, script_count> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::string(prelude) + script_sources[i];
    return out;
  }();
  return texts[static_cast<std::size_t>(id)];
}

}  // namespace hondana::analyses
