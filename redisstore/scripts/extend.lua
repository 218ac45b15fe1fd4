-- extend: renew the lease of a claim that still holds (RS-3).
-- Safe to run twice.
--
-- KEYS  1 claims  2 due work of the kind
-- ARGV  1 claim field  2 token  3 key of the work  4 new end of the lease (ms)
-- returns 'ok' | 'lost'

local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^%d+') ~= ARGV[2] then return 'lost' end
redis.call('ZADD', KEYS[2], 'XX', ARGV[4], ARGV[3])
return 'ok'
