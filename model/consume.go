package model

import (
	"context"
	"errors"
)

// JoinRequest asks to become a member of a group.
type JoinRequest struct {
	Group  string
	Topics []string
	Client string // client.id, by which the group's page names the member; "" means strata
	// Earliest begins at the log start where the group has committed nothing; else at the log end.
	Earliest bool
	// Committed leaves out what was aborted, and waits for what is undecided.
	Committed bool
	// Protocol is "" or "classic" for the one in which members assign partitions among themselves, cooperatively; "consumer"
	// for the one of KIP-848, in which the broker does.
	Protocol string
	// Moved is told which partitions the member has, each time that changes; Trouble of what goes wrong while the member
	// goes on. Both are called from any goroutine; nil for nobody.
	Moved   func(now []TopicPartition)
	Trouble func(err error)
}

// Membership is a member of a group. Its methods are called from one goroutine.
type Membership interface {
	// Next returns records, as soon as there are some. The partitions stay the member's until Commit, or the next Next.
	// ErrGone when the broker has ended.
	Next(ctx context.Context) ([]Record, error)
	// Commit says that these records, the first ones of those that Next has returned, are done with.
	Commit(ctx context.Context, done []Record) error
	// Leave leaves the group, so that others have the partitions at once.
	Leave(ctx context.Context) error
}

// GroupJoiner is the ability to read as a member of a group.
type GroupJoiner interface {
	JoinGroup(ctx context.Context, r JoinRequest) (Membership, error)
}

// ErrGone says that the broker which was spoken to has ended.
var ErrGone = errors.New("the broker has ended")

// JournalReason is the ability of a Resetter without a journal to say why it has none.
type JournalReason interface {
	WhyNoJournal() string // "" where there is one
}
