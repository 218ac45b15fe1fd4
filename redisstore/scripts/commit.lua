-- commit: check everything, then write everything, or nothing (RS-4).
-- Safe to run twice: the operation's mark says that it was done.
--
-- The caller writes a flat program: operations of a name, the number of
-- arguments, the arguments. A key is named by its position in KEYS.
--
-- Checks, all of them before the first write:
--   version key n           the record has version n; 0: there is none
--   form key                the row, if there is one, is of a form we know
--   absent key field        the hash has no such field
--   claim key field token   the claim is held under that token
--   room key member most    the sorted set has the member, or fewer than most
-- Writes:
--   due zset claims field at member       no later than at, unless claimed
--   cancel zset claims field member       the work and its claim are gone
--   finish zset claims field member next list rows
--                           give the claim back; due again at next, or if the
--                           list has rows (list, rows: '0' where there is none)
--   say mark lane rows zset claims field member id row at ttl
--                           append a row, once an id (OUT-1)
--   retry rows id row       replace a row that is still there
--   anything else is a Redis command whose first argument is a key
--
-- KEYS  1 mark of the operation  2.. as the program says
-- ARGV  1 ttl of the mark in ms  2 newest form that we know  3 wake channel,
--       or ''  4 position of the first write  5.. the program
-- returns {'ok'} | {'conflict', what} | {'newer', key} | {'lost'}

local function key(i) return KEYS[tonumber(ARGV[i])] end

-- A stored row begins "<number> <form>\n".
local function head(k)
  local h = redis.call('GETRANGE', k, 0, 40)
  if h == '' then return '0', 0 end
  local number, form = string.match(h, '^(%d+) (%d+)\n')
  return number, tonumber(form)
end

local checks = {}

function checks.version(i)
  local version, form = head(key(i))
  if not form or form > tonumber(ARGV[2]) then return {'newer', key(i)} end
  if version ~= ARGV[i + 1] then return {'conflict', key(i)} end
end

function checks.form(i)
  local _, form = head(key(i))
  if not form or form > tonumber(ARGV[2]) then return {'newer', key(i)} end
end

function checks.absent(i)
  if redis.call('HEXISTS', key(i), ARGV[i + 1]) == 1 then
    return {'conflict', key(i) .. ' ' .. ARGV[i + 1]}
  end
end

function checks.claim(i)
  local held = redis.call('HGET', key(i), ARGV[i + 1])
  if not held or string.match(held, '^%d+') ~= ARGV[i + 2] then return {'lost'} end
end

function checks.room(i)
  if redis.call('ZSCORE', key(i), ARGV[i + 1]) then return end
  if redis.call('ZCARD', key(i)) >= tonumber(ARGV[i + 2]) then return {'conflict', key(i)} end
end

-- The earliest time at which the first row of a list may be handed out.
local function from(list, rows)
  local id = redis.call('LINDEX', list, 0)
  local row = rows and redis.call('HGET', rows, id)
  return row and tonumber(string.match(row, '^%d+')) or 0
end

local writes = {}

function writes.due(i)
  if redis.call('HEXISTS', key(i + 1), ARGV[i + 2]) == 0 then
    redis.call('ZADD', key(i), 'LT', ARGV[i + 3], ARGV[i + 4])
  end
end

function writes.cancel(i)
  redis.call('ZREM', key(i), ARGV[i + 3])
  redis.call('HDEL', key(i + 1), ARGV[i + 2])
end

function writes.finish(i)
  local zset, member, next = key(i), ARGV[i + 3], ARGV[i + 4]
  local list, rows = key(i + 5), key(i + 6)
  local held = redis.call('HGET', key(i + 1), ARGV[i + 2])
  redis.call('HDEL', key(i + 1), ARGV[i + 2])
  if next ~= '' then
    redis.call('ZADD', zset, next, member)
  elseif list and redis.call('LLEN', list) > 0 then
    local at = tonumber(string.match(held, '^%d+ (%d+)'))
    redis.call('ZADD', zset, string.format('%.0f', math.max(at, from(list, rows))), member)
  else
    redis.call('ZREM', zset, member)
  end
end

function writes.say(i)
  local lane, rows, zset, member, id = key(i + 1), key(i + 2), key(i + 3), ARGV[i + 6], ARGV[i + 7]
  if redis.call('HEXISTS', rows, id) == 1 then return end
  if not redis.call('SET', key(i), '1', 'NX', 'PX', ARGV[i + 10]) then return end
  redis.call('HSET', rows, id, ARGV[i + 8])
  local n = redis.call('RPUSH', lane, id)
  if redis.call('HEXISTS', key(i + 4), ARGV[i + 5]) == 1 then return end
  redis.call('ZADD', zset, n == 1 and 'LT' or 'NX', ARGV[i + 9], member)
end

function writes.retry(i)
  if redis.call('HEXISTS', key(i), ARGV[i + 1]) == 1 then
    redis.call('HSET', key(i), ARGV[i + 1], ARGV[i + 2])
  end
end

-- Renewing the mark is a write, so that WAIT waits for the replicas (RS-8).
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 1 then return {'ok'} end
local first = tonumber(ARGV[4])
local i = 5
while i < first do
  local refused = checks[ARGV[i]](i + 2)
  if refused then return refused end
  i = i + 2 + tonumber(ARGV[i + 1])
end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
while i <= #ARGV do
  local op, last = ARGV[i], i + 1 + tonumber(ARGV[i + 1])
  if writes[op] then
    writes[op](i + 2)
  else
    redis.call(op, key(i + 2), unpack(ARGV, i + 3, last))
  end
  i = last + 1
end
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[3], '1') end
return {'ok'}
