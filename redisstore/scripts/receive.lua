-- receive: claim the dedupe keys, store the message, append it to the inbox (RS-2).
-- Safe to run twice: the same trigger id again is stored, once.
--
-- KEYS  1 record  2 raw payload  3 live threads  4 inbox list  5 due inboxes
--       6 claims  7 index of all  8 index by source  9 index by thread
--       10.. dedupe keys
-- ARGV  1 trigger id  2 record  3 ttl of records  4 raw payload, or ''
--       5 ttl of it  6 ttl of dedupe keys  7 thread that must be live, or ''
--       8 partition  9 claim field of the partition  10 due time
--       11 index score, or '' for what is not listed  12 wake channel  13 '1': replicas must confirm
--       14 index score after which the thread's messages count as waiting
--       (times and ttls in ms)
-- returns 'stored' | 'duplicate' | 'not_live'

local id = ARGV[1]
local mine = false
for i = 10, #KEYS do
  local known = redis.call('GET', KEYS[i])
  if known and known ~= id then
    -- A write, so that WAIT waits for the replicas to have the original.
    if ARGV[13] == '1' then redis.call('SET', KEYS[i], known, 'XX', 'KEEPTTL') end
    return 'duplicate'
  end
  if known then mine = true end
end
if mine or redis.call('EXISTS', KEYS[1]) == 1 then
  if ARGV[13] == '1' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
  return 'stored'
end
-- A thread whose first message still waits in the inbox is not live yet, but will be.
if ARGV[7] ~= '' and redis.call('SISMEMBER', KEYS[3], ARGV[7]) == 0
  and redis.call('ZCOUNT', KEYS[9], '(' .. ARGV[14], '+inf') == 0 then
  return 'not_live'
end

for i = 10, #KEYS do
  redis.call('SET', KEYS[i], id, 'PX', ARGV[6])
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
if ARGV[4] ~= '' then
  redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
end
redis.call('RPUSH', KEYS[4], id)
if redis.call('HEXISTS', KEYS[6], ARGV[9]) == 0 then
  redis.call('ZADD', KEYS[5], 'LT', ARGV[10], ARGV[8])
end
for i = 7, 9 do
  if ARGV[11] == '' then break end
  redis.call('ZADD', KEYS[i], ARGV[11], id)
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end
redis.call('PUBLISH', ARGV[12], '1')
return 'stored'
