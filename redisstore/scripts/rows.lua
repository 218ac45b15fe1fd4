-- rows: read the oldest rows of a claimed list, if the claim still holds (RS-3).
-- Writes nothing.
--
-- KEYS  1 claims  2 list  3 hash of the rows; without it the list has them
-- ARGV  1 claim field  2 token  3 limit
-- returns {'lost'} | {'ok', row, ...}

local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^%d+') ~= ARGV[2] then return {'lost'} end
local out = {'ok'}
local limit = tonumber(ARGV[3])
if limit <= 0 then return out end
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, limit - 1)) do
  out[#out + 1] = KEYS[3] and redis.call('HGET', KEYS[3], id) or id
end
return out
