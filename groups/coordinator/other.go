package coordinator

import "github.com/strata-kafka/strata/groups"

// joinOther serves a join of a classic client in a group that is not classic.
func (c *Coordinator) joinOther(_ *group, r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	return JoinAnswer{Code: groups.InconsistentGroupProtocol, MemberID: r.Member}, nil
}

// syncOther serves a sync in a group that is not classic.
func (c *Coordinator) syncOther(*group, SyncRequest) (SyncAnswer, <-chan SyncAnswer) {
	return SyncAnswer{Code: groups.UnknownMemberID}, nil
}

// heartbeatOther serves a classic heartbeat in a group that is not classic.
func (c *Coordinator) heartbeatOther(*group, string, string, int32) groups.Code {
	return groups.UnknownMemberID
}

// leaveOther has members leave a group that is not classic.
func (c *Coordinator) leaveOther(_ *group, _ []Leaver, codes []groups.Code) *groups.Write {
	for i := range codes {
		codes[i] = groups.UnknownMemberID
	}
	return nil
}

// restoreConsumer takes over a consumer group of the broker before; nil where it cannot be read.
func (c *Coordinator) restoreConsumer(*group, []byte) kind { return nil }
