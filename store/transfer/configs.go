package transfer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

const (
	cleanupPolicy = "cleanup.policy"
	retentionMS   = "retention.ms"
	timestampType = "message.timestamp.type"
	maxMessage    = "max.message.bytes"
	defaultMax    = 1048588 // of max.message.bytes
)

// hold are the configs that a topic has while it is filled, so that nothing of it is deleted, dated, compressed anew or
// refused for want of replicas before it was verified.
func hold(final []model.ConfigChange) []model.ConfigChange {
	most := int64(defaultMax)
	for _, ch := range final {
		if n, err := strconv.ParseInt(ch.Value, 10, 64); ch.Name == maxMessage && err == nil {
			most = max(most, n)
		}
	}
	out := []model.ConfigChange{
		{Name: cleanupPolicy, Value: "delete"}, {Name: retentionMS, Value: "-1"}, {Name: "retention.bytes", Value: "-1"},
		{Name: timestampType, Value: "CreateTime"}, {Name: "compression.type", Value: "producer"},
		{Name: maxMessage, Value: strconv.FormatInt(min(2*most, 1<<31-1), 10)}, // what is coded anew may come out larger
	}
	for _, ch := range final {
		if !slices.ContainsFunc(out, func(h model.ConfigChange) bool { return h.Name == ch.Name }) && !late(ch.Name) {
			out = append(out, ch)
		}
	}
	return out
}

// late reports whether a config could keep records out, and so is set only when they are in.
func late(name string) bool {
	return name == "min.insync.replicas" || strings.HasPrefix(name, "message.timestamp.") || strings.HasPrefix(name, "local.retention.") ||
		strings.HasPrefix(name, "remote.")
}

// windows are sets of configs that let records of any time in, as brokers know them: since 3.6, and before.
func windows() [][]model.ConfigChange {
	const ever = "9223372036854775807"
	return [][]model.ConfigChange{
		{{Name: "message.timestamp.before.max.ms", Value: ever}, {Name: "message.timestamp.after.max.ms", Value: ever}},
		{{Name: "message.timestamp.difference.max.ms", Value: ever}},
		nil,
	}
}

// release turns what a topic was filled with into what is to stay.
func release(final []model.ConfigChange, have []model.ConfigEntry) []model.ConfigChange {
	out := slices.Clone(final)
	for _, h := range slices.Concat(append(windows(), hold(nil))...) {
		stays := func(ch model.ConfigChange) bool { return h.Name == ch.Name }
		set := func(e model.ConfigEntry) bool { return e.Name == h.Name && e.Source == "topic" }
		if !slices.ContainsFunc(final, stays) && slices.ContainsFunc(have, set) {
			out = append(out, model.ConfigChange{Name: h.Name, Unset: true})
		}
	}
	return out
}

// keeps returns for how long (ms) a topic with these configs keeps records; negative: for ever, or it is not known.
func keeps(have []model.ConfigEntry) int64 {
	if p := configOf(have, cleanupPolicy); p != "" && !strings.Contains(p, "delete") {
		return -1
	}
	ms, err := strconv.ParseInt(configOf(have, retentionMS), 10, 64)
	if err != nil {
		return -1
	}
	return ms
}

// held reports whether a topic has the configs of one that is being filled.
func held(have []model.ConfigEntry) bool {
	for _, h := range hold(nil) {
		if h.Name == maxMessage {
			continue
		}
		i := slices.IndexFunc(have, func(e model.ConfigEntry) bool { return e.Name == h.Name })
		if i < 0 || have[i].Value != h.Value || have[i].Source != "topic" {
			return false
		}
	}
	return true
}

// own are the configs that a topic has of its own, but for those that name brokers.
func own(have []model.ConfigEntry) []model.ConfigChange {
	var out []model.ConfigChange
	for _, e := range have {
		if e.Source == "topic" && !strings.HasSuffix(e.Name, ".throttled.replicas") {
			out = append(out, model.ConfigChange{Name: e.Name, Value: e.Value})
		}
	}
	return out
}

func configOf(have []model.ConfigEntry, name string) string {
	for _, e := range have {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// differing names the configs that are set to something else there.
func differing(want []model.ConfigChange, there []model.ConfigEntry) []string {
	var out []string
	for _, ch := range want {
		if v := configOf(there, ch.Name); v != ch.Value {
			out = append(out, ch.Name+"="+v)
		}
	}
	return out
}
