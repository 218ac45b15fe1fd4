-- claim: hand out due work, each piece to one caller until its lease runs out
-- (RS-3). Tokens only grow and are unique for ever; a token is no smaller than
-- the time, so that a fail-over which lost the last of the counter does not
-- hand them out again. Safe to run twice: the operation's list says what it
-- handed out.
--
-- KEYS  1 token counter  2 claims  3 list of the operation  4.. due work, a
--       sorted set a kind
-- ARGV  1 now  2 end of the lease  3 limit  4 ttl of the list (ms)
--       5.. the kinds, as 4.. of KEYS
-- returns {position of the kind, key, token, ...}; what is due first comes
--       first, what is due together in the order of the kinds, then of keys

-- Renewing the list is a write, so that WAIT waits for the replicas (RS-8).
local done = redis.call('LRANGE', KEYS[3], 0, -1)
if #done > 0 then
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
  return done
end

local limit = tonumber(ARGV[3])
local due, at = {}, {}
for k = 4, #KEYS do
  due[k] = redis.call('ZRANGEBYSCORE', KEYS[k], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, limit)
  at[k] = 1
end

-- The kind whose next piece of work is due first, or nil.
local function earliest()
  local best, score
  for k = 4, #KEYS do
    local s = tonumber(due[k][at[k] + 1])
    if s and (not score or s < score) then best, score = k, s end
  end
  return best
end

-- The next token: 1024 of them a millisecond, as long as a number of Lua holds
-- them (until the year 2112).
local function next_token()
  local n = redis.call('INCR', KEYS[1])
  local floor = tonumber(ARGV[1]) * 1024
  if n < floor and floor < 2^52 then
    n = floor
    redis.call('SET', KEYS[1], string.format('%.0f', n))
  end
  return string.format('%.0f', n)
end

local out = {}
while #out < 3 * limit do
  local k = earliest()
  if not k then break end
  local member = due[k][at[k]]
  at[k] = at[k] + 2
  local token = next_token()
  redis.call('HSET', KEYS[2], ARGV[k + 1] .. ' ' .. member, token .. ' ' .. ARGV[1])
  redis.call('ZADD', KEYS[k], ARGV[2], member)
  out[#out + 1] = string.format('%.0f', k - 4)
  out[#out + 1] = member
  out[#out + 1] = token
  redis.call('RPUSH', KEYS[3], out[#out - 2], member, token)
end
if #out > 0 then redis.call('PEXPIRE', KEYS[3], ARGV[4]) end
return out
