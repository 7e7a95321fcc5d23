package delivery

import (
	"fmt"

	"github.com/strata-kafka/strata/model"
)

// outcome sorts results.
type outcome int8

const (
	right outcome = iota
	lost
	doubled
	both
)

func outcomeOf(r *model.DeliveryResult) outcome {
	switch {
	case len(r.Lost) > 0 && len(r.Doubled) > 0:
		return both
	case len(r.Lost) > 0:
		return lost
	case len(r.Doubled) > 0:
		return doubled
	}
	return right
}

// situation is what words are chosen by.
type situation struct {
	mode  model.DeliveryMode
	fault model.DeliveryFault
	out   outcome
}

// why explains an outcome.
func why(r *model.DeliveryResult) string {
	if w, ok := reasons()[situation{r.Mode, r.Fault, outcomeOf(r)}]; ok {
		return w
	}
	return fmt.Sprintf("%d lost and %d doubled, which the mode does not promise: look into the topic", len(r.Lost), len(r.Doubled))
}

func reasons() map[situation]string {
	return map[situation]string{
		{model.AtMostOnce, model.NoFault, right}:  "nothing went wrong, so nothing was lost",
		{model.AtLeastOnce, model.NoFault, right}: "nothing went wrong, so nothing was sent or worked on twice",
		{model.ExactlyOnce, model.NoFault, right}: "nothing went wrong",

		{model.AtMostOnce, model.LostRequest, lost}:   "acks=0 awaits no answer: the producer cannot know that the broker never got them",
		{model.AtLeastOnce, model.LostRequest, right}: "no answer came, so the producer sent them again",
		{model.ExactlyOnce, model.LostRequest, right}: "no answer came, so the producer sent them again",

		{model.AtMostOnce, model.LostAck, right}:    "with acks=0 there is no answer that could be lost",
		{model.AtLeastOnce, model.LostAck, doubled}: "no answer came, so the producer sent again what the broker had already written, and nothing tells the two apart",
		{model.ExactlyOnce, model.LostAck, right}:   "sent again, but with the same producer id and sequence: the broker knew the batch, answered, and wrote nothing",

		{model.AtMostOnce, model.KilledProducer, lost}:     "it had written down that they were sent, and died before sending them",
		{model.AtLeastOnce, model.KilledProducer, doubled}: "it had sent them, and died before writing that down: its successor sent them again",
		{model.ExactlyOnce, model.KilledProducer, right}:   "it died with its transaction open; its successor has the same transactional.id, so the broker aborted that, and readers skip what was in it",

		{model.AtMostOnce, model.KilledConsumer, lost}:     "it had committed the offset behind them, and died before working on them: its successor went on behind",
		{model.AtLeastOnce, model.KilledConsumer, doubled}: "it had worked on them, and died before committing: its successor read them again",
		{model.ExactlyOnce, model.KilledConsumer, right}:   "work and offset are one transaction: what it had begun was aborted, and its successor did both again",
	}
}
