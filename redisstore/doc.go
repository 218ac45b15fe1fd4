// Package redisstore keeps a workspace in Redis: it implements the ports of
// orchestrator and approvals (spec page 08), and decides nothing. It is the
// only user of go-redis.
//
// # Keys
//
// Every key begins with the hash tag {workspace} and a colon, left out below,
// so that one script reaches all of a workspace on a Cluster (RS-1). A
// lifetime is counted from the last write. raw, records and dedupe are
// Options.Retention. The writers: R receive.lua, C commit.lua, L claim.lua,
// E extend.lua, O Open, S Sweep.
//
//	key                              type    lifetime              writer  what
//	form                             string  –                     O       newest form of the layout (RS-7)
//	trigger:<id>                     string  records               R C     Message: a row, see below
//	raw:<id>                         string  raw                   R       payload, compressed (press.go); gone when the
//	                                                                       Message is committed without its Raw (RS-6)
//	thread:<id>                      string  –, not live: records  C S     Thread
//	ticket:<id>                      string  –, ended: records     C       Ticket
//	eval:<id>                        string  –, decided: records   C       Eval
//	chat:<lane>                      string  –                     C       Chat: which Thread is open in a DM (TH-2)
//	reach:<place>                    string  –, reached: records   C       Reach: whether the gateway can speak there
//	                                                                       (EN-5); of a whole Source for ever
//	question:<id>                    string  –, closed: records    C       approvals.Question
//	policy                           string  –                     C       Policy in force
//	version:<number>                 string  –                     C       a Policy that was in force (PV-1)
//	decision:<id>                    string  records               C       Decision
//	inputs:<ticket>                  zset    as its Ticket         C       Inputs by Seq
//	acts:<ticket>                    hash    as its Ticket         C       results by action key (AC-1)
//	key:<dedupe key>                 string  dedupe                R C     Trigger id; "" for what the gateway sent (TR-1, TR-3), and
//	                                                                       for 8 h for what was recalled before it came (TR-4a)
//	tally:<set>                      zset    its youngest member   C       members that limits count (AD-13)
//	logins:<source>                  hash    –                     C       account id by login, "" for nobody; never
//	                                                                       written over (GH-6)
//	live                             set     –                     C S     Threads whose messages are stored anyway (AD-9)
//	evaluating                       set     –                     C       Threads that have an Eval under way (PV-3)
//	inbox:<0..15>                    list    –                     R C     arrivals of a partition, oldest first (RS-3)
//	lane:<lane>                      list    –                     C       row ids of a lane, oldest first (OUT-2)
//	rows                             hash    –                     C       all outbox rows by id
//	said:<row id>                    string  dedupe                C       mark: the row was enqueued (OUT-1)
//	due:<kind>                       zset    –                     R C L E when which work is due; claimed: when the lease ends (RS-5)
//	claims                           hash    –                     L C     "<kind> <key>": "<token> <claimed at>"
//	token                            string  –                     L       the last token
//	index:triggers                   zset    records, so its rows  R C     by received_at
//	index:triggers:source:<source>   zset    records, so its rows  R C
//	index:triggers:thread:<thread>   zset    records               R C
//	index:tickets                    zset    rows: as the Ticket   C S     by created_at
//	index:tickets:state:<state>      zset    rows: as the Ticket   C S
//	index:decisions                  zset    records, so its rows  C       by at
//	index:decisions:thread:<thread>  zset    records               C
//	index:decisions:outcome:<…>      zset    records, so its rows  C
//	index:threads                    zset    rows: as the Thread   C S     by last_activity
//	index:versions                   zset    –                     C       by number
//	index:evals                      zset    –                     C       those under way, by delivered_at
//	index:lost                       zset    –                     C       places that cannot be reached, by the time of it
//	index:questions                  zset    –                     C       open ones, by created_at
//	index:questions:session:<id>     zset    –                     C
//	index:asked:session:<id>         zset    records               C       open or closed, by created_at
//	log                              stream  trimmed; records      C S     event log
//	op:<random>                      string, 1 min                 C L     an operation was done, or what it handed out:
//	                                 list                                  the client may send it twice
//	wake                             channel –                     R C     something may have become due
//
// # Rows
//
// A row is "<number> <form>\n<JSON>". The number is the version of the record,
// 1 where there are no versions, the NotBefore in ms of an outbox row. The form
// is the schema version: a newer gateway reads older ones, an older gateway
// refuses newer ones with orchestrator.ErrNewer and never writes over them
// (RS-7). The number is plain text before the JSON, so that the scripts compare
// it without parsing.
//
// # Scripts
//
// Scripts claim, compare and write; no rule lives in them. commit.lua runs a
// flat program that Go compiled: checks, then writes. All use only what Redis
// 7.0 and miniredis understand alike (scripts_test.go has the list),
// and all may run twice.
//
// # Clocks
//
// Redis is never asked for the time. What is due is compared with the now of
// Claim's caller; lifetimes alone are counted by Redis.
package redisstore
