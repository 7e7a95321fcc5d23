package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups/txn"
)

// addOffsetsToTxn makes a group's offsets part of a transaction (versions 0 to 4).
func (s *Server) addOffsetsToTxn(c *call) (reply, error) {
	req := c.req.(*kmsg.AddOffsetsToTxnRequest)
	r := req.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
	code := s.b.Txns.AddGroup(req.TransactionalID, txn.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}, req.Group)
	r.ErrorCode = fencedBefore(2, c.version, code)
	return r, nil
}
