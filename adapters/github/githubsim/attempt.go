package githubsim

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Attempt is one try to make a delivery.
type Attempt struct {
	ID         int64
	GUID       string
	At         time.Time
	Status     string // OK, or what went wrong
	Code       int
	Redelivery bool
	Delivery   Delivery
	// hook is where it was sent.
	hook string
}

// attempted keeps a try to make a delivery.
func (s *Sim) attempted(d Delivery, hook string, again bool, a Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := Attempt{ID: s.id(), GUID: d.GUID, At: s.Now(), Status: "OK", Code: a.Status, Redelivery: again, Delivery: d, hook: hook}
	switch {
	case err != nil:
		at.Status, at.Code = "failed to connect to host", 0
	case a.Status >= 300:
		at.Status = "Invalid HTTP Response: " + strconv.Itoa(a.Status)
	}
	s.attempts = append(s.attempts, at)
	s.notify()
}

func (a *Attempt) json() obj {
	return obj{
		"id": a.ID, "guid": a.GUID, "delivered_at": stamp(a.At), "redelivery": a.Redelivery, "duration": 0.1,
		"status": a.Status, "status_code": a.Code, "event": a.Delivery.Event, "action": a.Delivery.Action,
	}
}

// hooks is the one hook of a repository: where deliveries went.
func (s *Sim) hooks(*apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	if n := len(s.attempts); n > 0 {
		list = append(list, obj{"id": 1, "active": true, "config": obj{"url": s.attempts[n-1].hook, "secret": "********"}})
	}
	return good(list)
}

// deliveries lists the tries, newest first, by cursor.
func (s *Sim) deliveries(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := c.r.URL.Query()
	size, before := atoi(q.Get("per_page")), int64(atoi(q.Get("cursor")))
	if size <= 0 {
		size = 30
	}
	list := []any{}
	out := good(nil)
	for n := len(s.attempts) - 1; n >= 0; n-- {
		a := s.attempts[n]
		if before != 0 && a.ID >= before {
			continue
		}
		if len(list) == size {
			out.cursor = strconv.FormatInt(s.attempts[n+1].ID, 10)
			break
		}
		list = append(list, a.json())
	}
	out.body = list
	return out
}

// deliveryOf is the try that a call names. The lock is held.
func (s *Sim) deliveryOf(id int64) *Attempt {
	for n := range s.attempts {
		if s.attempts[n].ID == id {
			return &s.attempts[n]
		}
	}
	return nil
}

func (s *Sim) getDelivery(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.deliveryOf(c.number(len(c.path) - 1))
	if a == nil {
		return notFound()
	}
	body := a.json()
	body["request"] = obj{"headers": obj{"X-GitHub-Event": a.Delivery.Event}, "payload": json.RawMessage(a.Delivery.Body)}
	return good(body)
}

// redeliver makes a delivery again, after it has answered 202.
func (s *Sim) redeliver(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.deliveryOf(c.number(len(c.path) - 2))
	if a == nil {
		return notFound()
	}
	d, hook := a.Delivery, a.hook
	go func() { _, _ = s.send(context.WithoutCancel(c.r.Context()), hook, d, true) }()
	return apiReply{status: http.StatusAccepted, body: obj{}}
}
