package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/strata-kafka/strata/model"
)

// sentinels gives the codes that callers branch on the words of model.
var sentinels = map[int16]error{
	kerr.OffsetOutOfRange.Code:         model.ErrOutOfRange,
	kerr.UnknownTopicOrPartition.Code:  model.ErrNoTopic,
	kerr.UnknownTopicID.Code:           model.ErrNoTopic,
	kerr.TopicAlreadyExists.Code:       model.ErrExists,
	kerr.GroupIDNotFound.Code:          model.ErrNoGroup,
	kerr.NonEmptyGroup.Code:            model.ErrRefused,
	kerr.GroupSubscribedToTopic.Code:   model.ErrRefused,
	kerr.UnknownMemberID.Code:          model.ErrRefused, // a commit from outside, while there are members
	kerr.IllegalGeneration.Code:        model.ErrRefused,
	kerr.RebalanceInProgress.Code:      model.ErrRefused,
	kerr.PolicyViolation.Code:          model.ErrRefused,
	kerr.MessageTooLarge.Code:          model.ErrRefused,
	kerr.RecordListTooLarge.Code:       model.ErrRefused,
	kerr.InvalidRecord.Code:            model.ErrRefused,
	kerr.InvalidTimestamp.Code:         model.ErrRefused,
	kerr.InvalidTopicException.Code:    model.ErrInvalid,
	kerr.InvalidPartitions.Code:        model.ErrInvalid,
	kerr.InvalidReplicationFactor.Code: model.ErrInvalid,
	kerr.InvalidConfig.Code:            model.ErrInvalid,
	kerr.InvalidRequest.Code:           model.ErrInvalid,
	kerr.InvalidGroupID.Code:           model.ErrInvalid,
	kerr.OffsetMetadataTooLarge.Code:   model.ErrInvalid,
}

// answer puts a broker's error into words; message is what it says itself, "" for nothing. nil stays nil.
func answer(err error, message string) error {
	if err == nil {
		return nil
	}
	var shards *kadm.ShardErrors
	if errors.As(err, &shards) && len(shards.Errs) > 0 {
		err = shards.Errs[0].Err // what the rest says is the same, or as good
	}
	var ke *kerr.Error
	var already *toldError
	if errors.As(err, &already) || !errors.As(err, &ke) {
		return err
	}
	if message == "" {
		message = ke.Description
	}
	text := &toldError{ke, ke.Message + ": " + message}
	if s, ok := sentinels[ke.Code]; ok {
		return fmt.Errorf("%w: %w", s, text)
	}
	return text
}

// toldError is a broker's error in words.
type toldError struct {
	code *kerr.Error
	text string
}

// Error says what the broker said.
func (e *toldError) Error() string { return e.text }

// Unwrap returns the code.
func (e *toldError) Unwrap() error { return e.code }

// why says what has ended a call that failed: a broker's answer, the Client's end, the time, or the network.
func (c *Client) why(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return model.ErrClosed
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", c.o.Timeout, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return answer(err, "")
}
