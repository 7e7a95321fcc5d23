package coordinator

import (
	"context"

	"github.com/strata-kafka/strata/groups"
)

// CommitCheck asks whether a member may commit.
type CommitCheck struct {
	Group      string
	Member     string // "" for none
	Instance   string // "" for none
	Generation int32  // or a member's epoch; negative for a client that is no member
	// Txn is set for offsets that a transaction commits.
	Txn bool
	// Old is set for a client that knows neither consumer groups nor GroupIDNotFound (OffsetCommit below version 9).
	Old bool

	commits []groups.Committed // what is to be committed, where that is known
}

// member reports whether the commit claims to be a member's.
func (r *CommitCheck) member() bool {
	return r.Generation >= 0 || r.Member != "" || r.Instance != ""
}

// CheckCommit says whether a transaction may commit offsets of a group for a member.
func (c *Coordinator) CheckCommit(group, member, instance string, generation int32) groups.Code {
	r := CommitCheck{Group: group, Member: member, Instance: instance, Generation: generation, Txn: true}
	g, code := c.check(r)
	if g != nil {
		c.unlock(g)
	}
	return code
}

// check says whether a commit is allowed; g is the group with its mutex held, or nil where it is not in memory.
func (c *Coordinator) check(r CommitCheck) (g *group, code groups.Code) {
	if g = c.lock(r.Group); g != nil {
		return g, g.kind.mayCommit(r)
	}
	if r.Generation < 0 {
		return nil, groups.None // who is no member may commit for a group that has none, and make it
	}
	known, err := c.s.Known(r.Group)
	switch {
	case err != nil:
		return nil, groups.CoordinatorNotAvailable
	case known.Exists:
		return nil, groups.UnknownMemberID
	case r.Old || r.Txn:
		return nil, groups.IllegalGeneration
	}
	return nil, groups.GroupIDNotFound
}

// Commit stores offsets of a group for a member, or for a client that is none, and returns when they are on the disk, all
// of them or none.
func (c *Coordinator) Commit(ctx context.Context, r CommitCheck, commits []groups.Committed) groups.Code {
	if len(r.Group) > maxGroupID {
		return groups.InvalidGroupID
	}
	r.commits = commits
	g, code := c.check(r)
	var w *groups.Write
	if code == groups.None && len(commits) > 0 {
		var err error
		if w, err = c.s.Stage(r.Group, commits); err != nil {
			code = groups.CoordinatorNotAvailable
		}
	}
	if g != nil {
		c.unlock(g)
	}
	if w != nil && w.Wait(ctx) != nil {
		return groups.CoordinatorNotAvailable
	}
	return code
}
