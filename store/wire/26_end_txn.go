package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/txn"
)

// endTxn commits or aborts a transaction, and answers when readers see that (versions 0 to 5). Version 5 raises the epoch,
// and answers the producer as it is from then on.
func (s *Server) endTxn(c *call) (reply, error) {
	req := c.req.(*kmsg.EndTxnRequest)
	r := req.ResponseKind().(*kmsg.EndTxnResponse)
	p, code := s.b.Txns.End(req.TransactionalID, txn.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, req.Commit, c.version >= 5)
	r.ErrorCode = fencedBefore(2, c.version, code)
	r.ProducerID, r.ProducerEpoch = -1, -1
	if code == groups.None {
		r.ProducerID, r.ProducerEpoch = p.ID, p.Epoch
	}
	return r, nil
}
