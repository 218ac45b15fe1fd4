package redisstore

import (
	"strconv"
	"time"
)

// program is what commit.lua is asked to check and to write. A key is named by
// its position in KEYS; key "0" is no key.
type program struct {
	keys          []string
	at            map[string]string
	checks, wants []any
}

// newProgram begins with the operation's mark, which is KEYS[1].
func newProgram(mark string) *program {
	p := &program{at: map[string]string{}}
	p.key(mark)
	return p
}

// key declares a key and returns its position.
func (p *program) key(k string) string {
	if at, ok := p.at[k]; ok {
		return at
	}
	p.keys = append(p.keys, k)
	at := strconv.Itoa(len(p.keys))
	p.at[k] = at
	return at
}

// check adds a check of commit.lua.
func (p *program) check(op string, args ...any) {
	p.checks = append(append(p.checks, op, len(args)), args...)
}

// write adds a write of commit.lua, or a Redis command whose first argument is
// a key's position.
func (p *program) write(op string, args ...any) {
	p.wants = append(append(p.wants, op, len(args)), args...)
}

// set writes a string that lives for ttl, or for ever.
func (p *program) set(key string, value any, ttl time.Duration) {
	if ttl <= 0 {
		p.write("SET", p.key(key), value)
		return
	}
	p.write("SET", p.key(key), value, "PX", ttl.Milliseconds())
}

// lifetime gives a key a ttl, or none.
func (p *program) lifetime(key string, ttl time.Duration) {
	if ttl <= 0 {
		p.write("PERSIST", p.key(key))
		return
	}
	p.write("PEXPIRE", p.key(key), ttl.Milliseconds())
}

// forget takes the rows before a time out of indices: their records are gone
// by then (RS-6).
func (p *program) forget(before time.Time, indices ...string) {
	for _, index := range indices {
		p.write("ZREMRANGEBYSCORE", p.key(index), "-inf", before.UnixMilli())
	}
}

// operationLife is how long the mark of an operation stays: longer than any
// client goes on trying.
const operationLife = time.Minute

// args is ARGV of commit.lua.
func (p *program) args(wake string) []any {
	args := make([]any, 0, 4+len(p.checks)+len(p.wants))
	args = append(args, operationLife.Milliseconds(), form, wake, 5+len(p.checks))
	return append(append(args, p.checks...), p.wants...)
}
