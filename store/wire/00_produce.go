package wire

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// produce appends batches (Produce 3-13; 0-2 are advertised, for librdkafka compresses only where they are, and closed
// on, as Kafka does). Each partition has one batch, which goes into the log as it came; only where the topic asks for
// another codec it is compressed anew. Version 12 adds partitions to transactions by itself, version 13 names topics by
// id. Records that are null are INVALID_RECORD; Kafka never answers them.
func (s *Server) produce(c *call) (reply, error) {
	if c.conn.produce == nil {
		c.conn.produce = &produceReply{produceRequest: &produceRequest{}}
	}
	p := c.conn.produce
	p.version = c.version
	if err := p.parse(c.body, c.version); err != nil {
		return nil, err
	}
	idempotent, transactional := p.producers()
	c.conn.facts.produced(p.acks, idempotent, p.transactional)
	switch {
	case transactional && p.transactional == nil:
		p.refuseAll(kerr.TransactionalIDAuthorizationFailed.Code)
	case p.acks < -1 || p.acks > 1:
		p.refuseAll(kerr.InvalidRequiredAcks.Code)
	default:
		s.enroll(c, p.produceRequest)
		for i := range p.parts {
			part := &p.parts[i]
			part.producePartAnswer = unanswered()
			s.produceTo(c, &p.topics[part.topic], part)
			part.records = nil // the frame is not ours any longer
		}
	}
	if p.acks != 0 {
		return p, nil
	}
	for i := range p.parts {
		if code := p.parts[i].code; code != 0 {
			return nil, fmt.Errorf("%w: a batch without acks was refused: %w", errClose, kerr.TypedErrorForCode(code))
		}
	}
	return nil, nil
}

// producers says whether any batch is of an idempotent producer, and whether any is transactional.
func (p *produceRequest) producers() (idempotent, transactional bool) {
	for i := range p.parts {
		h, err := record.ParseHeader(p.parts[i].records)
		if err == nil && h.Magic == 2 {
			idempotent = idempotent || h.HasProducer()
			transactional = transactional || h.Transactional()
		}
	}
	return idempotent, transactional
}

// refuseAll gives every partition the same answer.
func (p *produceRequest) refuseAll(code int16) {
	for i := range p.parts {
		p.parts[i].producePartAnswer = unanswered()
		p.parts[i].code = code
	}
}

// produceTo appends the records of one partition.
func (s *Server) produceTo(c *call, t *produceTopic, part *producePart) {
	var l *partition.Log
	gone := kerr.UnknownTopicOrPartition.Code
	if c.version >= produceByID {
		var name string
		gone = kerr.UnknownTopicID.Code
		if l, name = s.b.Engine.FindByID(t.id, part.number); name == "" {
			if part.code = gone; s.virtualByID(t.id) != "" {
				part.code = kerr.InvalidTopicException.Code
			}
			return
		}
	} else {
		l = s.b.Engine.Find(t.name, part.number)
	}
	switch {
	case l == nil && c.version < produceByID && isVirtual(string(t.name)), l != nil && layout.Internal(l.TP().Topic):
		part.code = kerr.InvalidTopicException.Code
		return
	case l == nil:
		part.code = kerr.UnknownTopicOrPartition.Code
		return
	}
	h, batch := part.batch(c.version)
	if part.code != 0 {
		return
	}
	if h.Transactional() {
		code := s.b.Txns.Verify(c.conn.facts.seenTxn, h.ProducerID, h.ProducerEpoch, l.TP(), c.version)
		if part.code = int16(code); code != groups.None {
			if code == groups.InvalidTxnState {
				part.text = "Partition was not added to the transaction"
			}
			return
		}
	}
	if cfg := l.Config(); cfg.Compression != "producer" {
		batch = recompress(batch, h, cfg)
	}
	a, err := l.Append(batch, partition.AppendOptions{Records: true, Guard: s.b.Txns})
	if err != nil {
		part.fail(l, err, gone)
		if part.code == kerr.KafkaStorageError.Code {
			s.cannotWrite(err)
		}
		return
	}
	part.base, part.time, part.logStart = a.First, a.Time, a.Start
}

// cannotWrite tells why producers are refused: they are told that something failed, and not what.
func (s *Server) cannotWrite(err error) {
	line := err.Error()
	if errors.Is(err, syscall.ENOSPC) {
		line = "the disk is full, producers are refused: " + line
	}
	s.notice(line)
}

// batch looks at how the records are put together, and returns the one batch that they must be.
func (p *producePart) batch(version int16) (h record.Header, batch []byte) {
	b := p.records
	if len(b) < record.PrefixSize { // null, or nothing that could be a batch
		p.code = kerr.InvalidRecord.Code
		return h, nil
	}
	size, magic, err := record.PeekSize(b)
	switch {
	case err != nil:
		p.code = kerr.CorruptMessage.Code
		var fe *record.FormatError
		if errors.As(err, &fe) && magic != 2 {
			p.text = err.Error()
		}
		return h, nil
	case magic < 2, size > int64(len(b)):
		p.code = kerr.InvalidRecord.Code
		return h, nil
	}
	// What is behind it and no whole batch is dropped.
	if rest := b[size:]; len(rest) >= record.PrefixSize {
		switch next, _, err := record.PeekSize(rest); {
		case err != nil:
			p.code, p.text = kerr.CorruptMessage.Code, err.Error()
			return h, nil
		case next <= int64(len(rest)):
			p.code = kerr.InvalidRecord.Code
			return h, nil
		}
	}
	if h, err = record.ParseHeader(b); err != nil {
		p.code = kerr.CorruptMessage.Code
		return h, nil
	}
	if h.Codec() == record.Zstd && version < 7 {
		p.code = kerr.UnsupportedCompressionType.Code
	}
	return h, b[:size]
}

// fail puts what the log says into the protocol's words. gone is the code of a topic that was deleted meanwhile.
func (p *producePart) fail(l *partition.Log, err error, gone int16) {
	var r *record.RefusedError
	var pe *partition.ProducerError
	switch {
	case errors.As(err, &r):
		p.refused(l, r)
	case errors.As(err, &pe):
		p.code, p.logStart = producerCode(pe.Reason), logStart(l)
	case errors.Is(err, model.ErrClosed):
		p.code = gone
	default:
		p.code = kerr.KafkaStorageError.Code
	}
}

// refused answers for a batch that the log does not take.
func (p *producePart) refused(l *partition.Log, r *record.RefusedError) {
	p.logStart = logStart(l)
	switch r.Reason {
	case record.Corrupt:
		p.code, p.logStart = kerr.CorruptMessage.Code, -1
	case record.Invalid:
		p.code = kerr.InvalidRecord.Code
		if r.Record >= 0 {
			p.record, p.text = r.Record, r.Error()
		}
	case record.BadTimestamp:
		p.code, p.record, p.text = kerr.InvalidTimestamp.Code, max(r.Record, 0), r.Error()
	case record.TooLarge:
		p.code, p.logStart = kerr.MessageTooLarge.Code, -1
		if int64(len(p.records)) <= l.Config().MaxMessageBytes {
			p.code = kerr.RecordListTooLarge.Code // larger than a segment
		}
	default:
		p.code = kerr.UnknownServerError.Code
	}
}

func logStart(l *partition.Log) int64 {
	b, err := l.Bounds()
	if err != nil {
		return -1
	}
	return b.Start
}

// producerCode returns the code of what is wrong with a producer's batch.
func producerCode(r partition.ProducerReason) int16 {
	switch r {
	case partition.OutOfOrder:
		return kerr.OutOfOrderSequenceNumber.Code
	case partition.OldEpoch:
		return kerr.InvalidProducerEpoch.Code
	case partition.BadTxnState:
		return kerr.InvalidTxnState.Code
	case partition.CoordinatorFenced:
		return kerr.TransactionCoordinatorFenced.Code
	}
	return kerr.UnknownServerError.Code
}
