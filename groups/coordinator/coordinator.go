// Package coordinator is the group coordinator of the embedded broker: it has members join and leave, and knows who may
// commit.
package coordinator

import "github.com/strata-kafka/strata/groups"

// Coordinator coordinates groups. Its methods may be called from any goroutine.
type Coordinator struct {
	s *groups.Service
}

// New returns a Coordinator whose groups are those of s.
func New(s *groups.Service) *Coordinator { return &Coordinator{s: s} }
