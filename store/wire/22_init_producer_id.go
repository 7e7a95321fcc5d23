package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/txn"
)

// initProducerID gives a producer its id and epoch (versions 0 to 5). Version 6, two-phase commit, is left out, as in
// Kafka 4.4.
func (s *Server) initProducerID(c *call) (reply, error) {
	req := c.req.(*kmsg.InitProducerIDRequest)
	r := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	in := txn.InitRequest{Transactional: req.TransactionalID != nil, Timeout: int64(req.TransactionTimeoutMillis), ProducerID: -1, Epoch: -1}
	if in.Transactional {
		in.TransactionalID = *req.TransactionalID
	}
	if c.version >= 3 {
		in.ProducerID, in.Epoch = req.ProducerID, req.ProducerEpoch
	}
	p, code := s.b.Txns.InitProducerID(in)
	if code == groups.ProducerFenced && c.version < 4 {
		code = groups.InvalidProducerEpoch
	}
	r.ProducerID, r.ProducerEpoch, r.ErrorCode = p.ID, p.Epoch, int16(code)
	return r, nil
}
