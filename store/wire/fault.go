package wire

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// fault is why something asked for is refused: the protocol's code, and words for whoever reads the client's log. The zero
// fault is none.
type fault struct {
	code int16
	text string
}

// maxFault bounds the words of a fault, bytes: they go out with every answer.
const maxFault = 1024

// refuse makes a fault.
func refuse(e *kerr.Error, format string, args ...any) fault {
	return fault{e.Code, fmt.Sprintf(format, args...)}
}

// bad reports whether there is a fault.
func (f fault) bad() bool { return f.code != 0 }

// message returns the words, nil where there are none.
func (f fault) message() *string {
	if f.text == "" {
		return nil
	}
	s := f.text
	if len(s) > maxFault {
		cut := maxFault
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return &s
}

// faultOf puts an error of the engine into the protocol's words. What the protocol has no code for is
// UNKNOWN_SERVER_ERROR: its text stays here, for it may name files.
func faultOf(err error) fault {
	switch {
	case err == nil:
		return fault{}
	case errors.Is(err, model.ErrNoTopic), errors.Is(err, model.ErrNoPartition):
		return refuse(kerr.UnknownTopicOrPartition, "This server does not host this topic-partition.")
	case errors.Is(err, model.ErrExists):
		return refuse(kerr.TopicAlreadyExists, "%v", err)
	case errors.Is(err, model.ErrOutOfRange):
		return refuse(kerr.OffsetOutOfRange, "%v", err)
	case errors.Is(err, model.ErrRefused):
		return refuse(kerr.PolicyViolation, "%v", err)
	case errors.Is(err, model.ErrInvalid):
		return refuse(kerr.InvalidRequest, "%v", err)
	case errors.Is(err, model.ErrClosed), errors.Is(err, context.Canceled):
		return refuse(kerr.BrokerNotAvailable, "The broker is stopping.")
	}
	return refuse(kerr.KafkaStorageError, "The broker could not write or read its files.")
}

// virtual is the one topic that every client sees and that has no files: groups keep their offsets elsewhere.
const virtual = layout.OffsetsTopic

// VirtualPartitions is how many partitions the virtual topic shows, Kafka's offsets.topic.num.partitions.
const VirtualPartitions = 50

const virtualPartitions = VirtualPartitions
