package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups/txn"
)

// initProducerID gives a producer its id and epoch (versions 0 to 5). Version 6, two-phase commit, is left out, as in
// Kafka 4.4.
func (s *Server) initProducerID(c *call) (reply, error) {
	req := c.req.(*kmsg.InitProducerIDRequest)
	r := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	in := txn.InitRequest{Transactional: req.TransactionalID != nil, Timeout: int64(req.TransactionTimeoutMillis), Expected: txn.Producer{ID: -1, Epoch: -1}}
	if in.Transactional {
		in.TransactionalID = *req.TransactionalID
	}
	if c.version >= 3 {
		in.Expected = txn.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}
	}
	p, code := s.b.Txns.InitProducerID(in)
	r.ProducerID, r.ProducerEpoch, r.ErrorCode = p.ID, p.Epoch, fencedBefore(4, c.version, code)
	return r, nil
}
