package feishu

import (
	"encoding/json"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// readReach makes news of a chat that the bot came into or can speak in no more
// (EN-5); lost says why not. It counts though nothing of the chat is received:
// a Ticket may have its answers there.
func (s Setting) readReach(env envelope, lost string, why Reason) Event {
	var in struct {
		ChatID text `json:"chat_id"`
	}
	chat := ""
	if json.Unmarshal(env.Event, &in) == nil {
		chat = string(in.ChatID)
	}
	if !platformID(chat) {
		return ignored(ReasonUnreadable)
	}
	at, ok := instant(env.Header.CreateTime)
	if !ok {
		at = s.Now
	}
	place := string(s.Config.ID) + "~" + chat
	event := string(env.Header.EventID)
	if event == "" {
		event = string(env.Header.EventType) + ":" + chat + ":" + string(env.Header.CreateTime)
	}
	return Event{Outcome: Changed, Reason: why, Arrival: gate.Arrival{
		Trigger: gate.Trigger{
			Workspace: s.Config.Workspace, Source: s.Config.ID, Place: gate.Place{Chat: chat},
			IDs: gate.PlatformIDs{Event: event}, OccurredAt: at, ReceivedAt: s.Now,
		},
		Keys: []string{string(s.Config.ID) + ":event:" + event}, Lane: place,
		Change: gate.Change{Kind: gate.ChangeReach, Reach: []gate.Reached{{Place: gate.PlaceID(place), Lost: lost, Wide: true}}},
	}}
}
