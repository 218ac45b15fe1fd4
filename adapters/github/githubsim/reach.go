package githubsim

import "strings"

// LockIssue locks a conversation; Unlock opens it again.
func (s *Sim) LockIssue(i Issue, by Account) Delivery {
	return s.Act(i, by, "locked", func(i *Issue) { i.Locked = true })
}

// UnlockIssue opens a locked conversation again.
func (s *Sim) UnlockIssue(i Issue, by Account) Delivery {
	return s.Act(i, by, "unlocked", func(i *Issue) { i.Locked = false })
}

// Suspend stops the App's installation: its tokens are worth nothing.
func (s *Sim) Suspend(owner string, by Account) Delivery {
	return s.installs("suspend", owner, by, true)
}

// Unsuspend lets it go on.
func (s *Sim) Unsuspend(owner string, by Account) Delivery {
	return s.installs("unsuspend", owner, by, false)
}

func (s *Sim) installs(action, owner string, by Account, suspended bool) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suspended = suspended
	return s.delivery("installation", obj{"action": action, "installation": s.installationJSON(owner), "sender": userJSON(by)})
}

func (s *Sim) installationJSON(owner string) obj {
	return obj{"id": s.installed, "account": obj{"login": owner}, "updated_at": stamp(s.Now())}
}

// TakeOut takes a repository out of the App's installation: to the App it is
// not there.
func (s *Sim) TakeOut(r Repo, by Account) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.repos, strings.ToLower(r.FullName()))
	return s.moved("removed", r, by)
}

// PutIn brings it back.
func (s *Sim) PutIn(r Repo, by Account) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[strings.ToLower(r.FullName())] = r
	return s.moved("added", r, by)
}

func (s *Sim) moved(action string, r Repo, by Account) Delivery {
	lists := map[string][]any{"added": {}, "removed": {}}
	lists[action] = append(lists[action], obj{"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": false})
	return s.delivery("installation_repositories", obj{
		"action": action, "installation": s.installationJSON(r.Owner), "sender": userJSON(by), "repository_selection": "selected",
		"repositories_added": lists["added"], "repositories_removed": lists["removed"],
	})
}
