package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// DeleteTopic deletes a topic: its folders are renamed at once, and removed after file.delete.delay.ms. When the process dies
// within, the next one goes on. Errors wrap model.ErrNoTopic.
func (e *Engine) DeleteTopic(ctx context.Context, name string) error {
	return e.DeleteTopics(ctx, []string{name})[0]
}

// DeleteTopics deletes topics, each as DeleteTopic does, and returns what became of them, in their order.
func (e *Engine) DeleteTopics(ctx context.Context, names []string) []error {
	errs := make([]error, len(names))
	end, err := e.begin(ctx)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	defer end()
	e.admin.Lock()
	defer e.admin.Unlock()
	var deaths []*death
	for i, name := range names {
		t, err := e.topic(name)
		if err != nil {
			errs[i] = err
			continue
		}
		deaths = append(deaths, &death{topic: t, at: i, intent: intent{what: intentDelete, topic: name, id: e.learnID(t)}})
	}
	if len(deaths) > 0 {
		e.kill(deaths)
	}
	for _, d := range deaths {
		if d.err != nil {
			errs[d.at] = fmt.Errorf("delete topic %s: %w", d.name, d.err)
		}
	}
	return errs
}

// death is a topic that is being deleted.
type death struct {
	*topic
	at     int // its place in what was asked for
	logs   []*partition.Log
	intent intent
	err    error
}

// kill deletes topics. From the moment that it is written down nothing saves them: what cannot be done now is done at the
// next start. e.admin is held.
func (e *Engine) kill(deaths []*death) {
	fail := func(err error) {
		for _, d := range deaths {
			d.err = errors.Join(d.err, err)
		}
	}
	var intents []intent
	for _, d := range deaths {
		intents = append(intents, d.intent)
	}
	if err := e.intend(intents...); err != nil {
		// On a disk without room this is what makes room: it is done all the same, unprotected.
		e.notice(err.Error())
	}
	e.mu.Lock()
	for _, d := range deaths {
		delete(e.topics, d.name)
		delete(e.ids, d.id)
		e.shape.Add(1)
		for _, l := range d.parts {
			if l != nil {
				d.logs = append(d.logs, l)
			}
		}
	}
	e.mu.Unlock()
	var names []string
	var settled []intent
	for _, d := range deaths {
		due := layout.After(e.nowMS(), e.config(d.configs).FileDeleteDelayMS)
		var errs []error
		for _, l := range d.logs {
			e.writers.forget(l)
			errs = append(errs, l.Abandon(), e.bury(l.Dir(), l.TP(), due))
		}
		e.stale[d.name] = true
		names = append(names, d.name)
		d.err = errors.Join(append(errs, e.unsave(d.name))...)
		if d.err == nil {
			settled = append(settled, d.intent)
		}
	}
	var err error
	if e.o.Forget != nil {
		err = e.o.Forget(names)
	}
	if err == nil {
		err = e.fulfilled(settled...)
	}
	if err = errors.Join(err, e.syncDirs()); err != nil {
		fail(err)
	}
}

// bury renames a partition's folder, to be removed at due (ms).
func (e *Engine) bury(path string, tp model.TopicPartition, due int64) error {
	to, err := rename(path, tp)
	if err == nil {
		e.trash.add(to, due)
	}
	return err
}

// rename gives a partition's folder the name of one that is being deleted, and returns it.
func rename(path string, tp model.TopicPartition) (string, error) {
	id := layout.NewID()
	dir := layout.Dir{TP: tp, State: model.Deleting, ID: hex.EncodeToString(id[:])}
	to := filepath.Join(filepath.Dir(path), dir.String())
	return to, os.Rename(path, to)
}
