package redisstore

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// partitions is how many lists the inbox has. It is part of the stored form:
// another number would break the order of Threads (RS-3).
const partitions = 16

// keys names every key of a workspace: doc.go has the table. All carry the
// hash tag {workspace}, so that they live in one slot (RS-1).
type keys string

func newKeys(workspace string) keys { return keys("{" + workspace + "}:") }

func (k keys) of(kind, id string) string { return string(k) + kind + ":" + id }
func (k keys) one(name string) string    { return string(k) + name }

// record is the key of a versioned record, as a Guard names it.
func (k keys) record(kind, id string) string {
	if kind == orchestrator.KindPolicy {
		return k.one(kind)
	}
	return k.of(kind, id)
}

func (k keys) form() string                               { return k.one("form") }
func (k keys) message(id gate.TriggerID) string           { return k.of(orchestrator.KindMessage, string(id)) }
func (k keys) raw(id gate.TriggerID) string               { return k.of("raw", string(id)) }
func (k keys) decision(id orchestrator.DecisionID) string { return k.of("decision", string(id)) }
func (k keys) inputs(t gate.TicketID) string              { return k.of("inputs", string(t)) }
func (k keys) acts(t gate.TicketID) string                { return k.of("acts", string(t)) }

func (k keys) dedupe(key string) string            { return k.of("key", key) }
func (k keys) said(id string) string               { return k.of("said", id) }
func (k keys) operation(id string) string          { return k.of("op", id) }
func (k keys) inbox(partition string) string       { return k.of("inbox", partition) }
func (k keys) lane(lane string) string             { return k.of("lane", lane) }
func (k keys) rows() string                        { return k.one("rows") }
func (k keys) due(kind approvals.DueKind) string   { return k.of("due", string(kind)) }
func (k keys) claims() string                      { return k.one("claims") }
func (k keys) token() string                       { return k.one("token") }
func (k keys) tally(set string) string             { return k.of("tally", set) }
func (k keys) logins(source gate.SourceID) string  { return k.of("logins", string(source)) }
func (k keys) live() string                        { return k.one("live") }
func (k keys) evaluating() string                  { return k.one("evaluating") }
func (k keys) log() string                         { return k.one("log") }
func (k keys) wake() string                        { return k.one("wake") }
func (k keys) index(of string) string              { return k.of("index", of) }
func (k keys) indexBy(of, by, value string) string { return k.of("index", of+":"+by+":"+value) }

// claimField is the field of the claims that a piece of work has.
func claimField(kind approvals.DueKind, key string) string { return string(kind) + " " + key }

// partition is the inbox list of a lane (TH-1).
func partition(lane string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(lane))
	return strconv.Itoa(int(h.Sum32() % partitions))
}

// millisUp rounds a time up, so that nothing is due before its time (DE-6).
func millisUp(t time.Time) int64 {
	return max(0, t.Add(time.Millisecond-time.Nanosecond).UnixMilli())
}
