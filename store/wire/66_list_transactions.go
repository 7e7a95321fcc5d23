package wire

import (
	"regexp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// listTransactions lists transactional ids (versions 0 to 2), by state and producer id, from version 1 on by how long a
// transaction runs, from 2 on by a pattern that the whole id must match.
func (s *Server) listTransactions(c *call) (reply, error) {
	req := c.req.(*kmsg.ListTransactionsRequest)
	r := req.ResponseKind().(*kmsg.ListTransactionsResponse)
	states := []model.TransactionState{model.TxnEmpty, model.TxnOngoing, model.TxnPrepareCommit, model.TxnPrepareAbort,
		model.TxnCompleteCommit, model.TxnCompleteAbort, model.TxnDead, "PrepareEpochFence"}
	for _, f := range req.StateFilters {
		if !slices.Contains(states, model.TransactionState(f)) {
			r.UnknownStateFilters = append(r.UnknownStateFilters, f)
		}
	}
	var pattern *regexp.Regexp
	if c.version >= 2 && req.TransactionalIDPattern != nil && *req.TransactionalIDPattern != "" {
		var err error
		if pattern, err = regexp.Compile("^(?:" + *req.TransactionalIDPattern + ")$"); err != nil {
			r.ErrorCode = kerr.InvalidRegularExpression.Code
			return r, nil
		}
	}
	longer := int64(-1)
	if c.version >= 1 {
		longer = req.DurationFilterMillis
	}
	now := time.Now().UnixMilli()
	for _, t := range s.b.Txns.Transactions() {
		switch {
		case len(req.StateFilters) > 0 && !slices.Contains(req.StateFilters, string(t.State)),
			len(req.ProducerIDFilters) > 0 && !slices.Contains(req.ProducerIDFilters, t.ProducerID),
			longer >= 0 && now-t.Started <= longer,
			pattern != nil && !pattern.MatchString(t.ID):
			continue
		}
		out := kmsg.NewListTransactionsResponseTransactionState()
		out.TransactionalID, out.ProducerID, out.TransactionState = t.ID, t.ProducerID, string(t.State)
		r.TransactionStates = append(r.TransactionStates, out)
	}
	return r, nil
}
