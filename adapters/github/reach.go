package github

import (
	"path"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// news is what became of places, and when.
type news struct {
	reach []gate.Reached
	at    time.Time
}

// withReach adds news of what can be reached to an event (EN-5). What is news
// of nothing else travels in its owner's or its Thread's lane.
func (c *call) withReach(ev Event, n news) Event {
	if len(n.reach) == 0 {
		return ev
	}
	if n.at.IsZero() {
		n.at = c.Now
	}
	if ev.Arrival.Change.Kind == gate.NoChange {
		ev.Arrival = gate.Arrival{
			Trigger: gate.Trigger{
				Workspace: c.Config.Workspace, Source: c.Config.ID, IDs: gate.PlatformIDs{Delivery: c.GUID},
				OccurredAt: n.at.UTC(), ReceivedAt: c.Now,
			},
			Keys: []string{gate.DeliveryKey(c.Config.ID, c.GUID)}, Lane: string(n.reach[0].Place),
			Change: gate.Change{Kind: gate.ChangeReach},
		}
	}
	ev.Arrival.Change.Reach = n.reach
	return ev
}

// installed reads who is installed where. An installation is of one owner; the
// repositories of it come and go.
func (c *call) installed() news {
	owner := c.Installation.Account.Login
	if !c.receivesOf(owner) {
		return news{}
	}
	whole := gate.Reached{Place: place(c.Config.ID, owner), Wide: true}
	at := c.Installation.UpdatedAt.Time
	switch c.Event + "." + c.Action {
	case "installation.created":
		return news{append([]gate.Reached{whole}, c.repositories("", c.Repositories...)...), at}
	case "installation.unsuspend":
		return news{[]gate.Reached{whole}, at}
	case "installation.deleted":
		whole.Lost = "the App was uninstalled"
		return news{[]gate.Reached{whole}, at}
	case "installation.suspend":
		whole.Lost = "the App was suspended"
		return news{[]gate.Reached{whole}, at}
	case "installation_repositories.added":
		return news{c.repositories("", c.ReposAdded...), c.Now}
	case "installation_repositories.removed":
		return news{c.repositories("the repository was taken out of the App's installation", c.ReposRemoved...), c.Now}
	}
	return news{}
}

// receivesOf reports whether a repository of the owner can be one of ours.
func (c *call) receivesOf(owner string) bool {
	if !validName(owner) {
		return false
	}
	for _, pattern := range c.Config.Repos {
		of, _, _ := strings.Cut(strings.ToLower(pattern), "/")
		if ok, err := path.Match(of, strings.ToLower(owner)); ok && err == nil {
			return true
		}
	}
	return false
}

// repositories are the places of those that can be ours.
func (c *call) repositories(lost string, list ...repository) []gate.Reached {
	var reach []gate.Reached
	for _, in := range list {
		if r, ok := splitRepo(in.FullName); ok && r.matchesAny(c.Config.Repos) {
			reach = append(reach, gate.Reached{Place: place(c.Config.ID, r.owner, r.name), Lost: lost, Wide: true})
		}
	}
	return reach
}

// repositoryReach reads what became of a repository. Of one that is transferred
// the place of before is lost, and that of now can be reached, perhaps again.
func (c *call) repositoryReach() news {
	if c.Repository == nil {
		return news{}
	}
	switch c.Action {
	case "archived":
		return news{reach: c.repositories("the repository was archived", *c.Repository)}
	case "deleted":
		return news{reach: c.repositories("the repository was deleted", *c.Repository)}
	case "unarchived":
		return news{reach: c.repositories("", *c.Repository)}
	}
	from := c.Changes.Owner.From
	_, name, _ := strings.Cut(c.Repository.FullName, "/")
	was := repository{FullName: from.User.Login + from.Organization.Login + "/" + name}
	return news{reach: append(c.repositories("the repository was transferred away", was), c.repositories("", *c.Repository)...)}
}

// locked: only collaborators may write on a locked conversation, and the App is
// none.
func (c *call) locked(number int64, at timestamp, why Reason) Event {
	lost := ""
	if c.Action == "locked" {
		lost = "the conversation was locked"
	}
	return c.withReach(about(c.thread(number), why), c.threadReach(number, lost, at.Time))
}

func (c *call) threadReach(number int64, lost string, at time.Time) news {
	return news{[]gate.Reached{{Place: gate.PlaceID(c.thread(number)), Lost: lost}}, at}
}
