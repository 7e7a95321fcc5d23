package groups

import (
	"github.com/strata-kafka/strata/model"
)

// LagRange returns the offsets [from, to) of a partition that a group has still to read: from what it committed, or from
// the log start where that lies above, to the log end. ok is false where there is nothing to count: nothing is committed
// (a negative offset), or the log's bounds are not known. from == to means that it has read all.
func LagRange(committed, start, end int64) (from, to int64, ok bool) {
	if committed < 0 || start < 0 || end < 0 {
		return 0, 0, false
	}
	from = max(committed, start)
	return min(from, end), end, true
}

// OffsetRow makes a group's row of a partition from what it committed, the log's bounds (model.Unknown where they are not
// known), and the count of the data records in the LagRange.
//
// The lag is what can be read: offsets below the log start are lost, not lag, and an offset past the log end has lag 0 and
// is Ahead. A negative committed offset is none at all.
func OffsetRow(c Committed, start, end int64, count model.Count) model.GroupOffset {
	row := model.GroupOffset{
		TopicPartition: c.TopicPartition,
		Committed:      c.Offset,
		LeaderEpoch:    c.LeaderEpoch,
		Metadata:       c.Metadata,
		CommittedAt:    c.At,
		ExpiresAt:      c.Expires,
		LogStart:       start,
		LogEnd:         end,
	}
	if c.Offset < 0 {
		row.Committed, row.CommittedAt, row.ExpiresAt, row.Lag = model.Unknown, model.NoTime, model.NoTime, model.NoCount()
		return row
	}
	from, to, ok := LagRange(c.Offset, start, end)
	switch {
	case !ok:
		return row // the lag is unknown
	case from == to:
		row.Lag = model.Exactly(0)
	default:
		row.Lag = count
	}
	row.Lost = max(0, start-c.Offset)
	row.Ahead = max(0, c.Offset-end)
	return row
}

// TotalLag adds the rows' lags up, and tells how many rows have a committed offset and how many have none.
func TotalLag(rows []model.GroupOffset) (lag model.Count, with, without int) {
	lag = model.NoCount()
	for i := range rows {
		if rows[i].Committed < 0 {
			without++
			continue
		}
		with++
		lag = lag.Add(rows[i].Lag)
	}
	return lag, with, without
}
