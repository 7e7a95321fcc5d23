package logdir

import (
	"context"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// layers returns a topic's configs in the order in which they count: its own, those of this node, those of all nodes.
// known is false where the directory does not tell.
func (d *Dir) layers(img *image, topic string) (layers []map[string]string, known bool) {
	if d.o.Configs != nil {
		return []map[string]string{d.o.Configs(topic)}, true
	}
	t := img.topics[topic]
	if t == nil {
		return nil, false
	}
	layers = append(layers, t.configs)
	if node := d.node(); node >= 0 {
		layers = append(layers, byTopicName(img.brokers[node]))
	}
	return append(layers, byTopicName(img.brokers[-1])), true
}

// byTopicName renames a broker's configs to the topics' configs whose defaults they are.
func byTopicName(broker map[string]string) map[string]string {
	if len(broker) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, def := range layout.Configs() {
		for _, key := range def.Broker {
			if v, ok := broker[key]; ok && def.Validate(v) == nil {
				out[def.Name] = v
				break
			}
		}
	}
	return out
}

// retention returns what is known of a topic's retention. Kafka's default is not assumed: the broker may have its own.
func (d *Dir) retention(img *image, topic string) model.Retention {
	layers, known := d.layers(img, topic)
	if !known {
		return model.Retention{}
	}
	r := layout.ParseRetention(layers...)
	if r.Delete && d.o.Configs == nil && !slices.ContainsFunc(layers, func(l map[string]string) bool { return l["retention.ms"] != "" }) {
		return model.Retention{Unset: true}
	}
	return r
}

// TopicConfig implements model.ConfigReader. Where the directory holds no metadata all is at Kafka's defaults, and each
// Source says that it is not known.
func (d *Dir) TopicConfig(ctx context.Context, topic string) ([]model.ConfigEntry, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	_, ok := d.topics[topic]
	names := d.names()
	d.mu.Unlock()
	if !ok {
		return nil, model.NotFound(model.ErrNoTopic, topic, names)
	}
	layers, known := d.layers(d.image(ctx), topic)
	var out []model.ConfigEntry
	for _, def := range layout.Configs() {
		e := model.ConfigEntry{Name: def.Name, Value: def.Default, Default: def.Default, Source: "default", Doc: def.Doc}
		if !known {
			e.Source = "unknown"
		}
		for i, layer := range layers {
			if v, ok := layer[def.Name]; ok {
				e.Value, e.Source = v, "broker"
				if i == 0 {
					e.Source = "topic"
				}
				break
			}
		}
		out = append(out, e)
	}
	// What is set but not in the table: of another version of Kafka.
	if len(layers) > 0 {
		var odd []string
		for name := range layers[0] {
			if _, ok := layout.Config(name); !ok {
				odd = append(odd, name)
			}
		}
		slices.Sort(odd)
		for _, name := range odd {
			out = append(out, model.ConfigEntry{Name: name, Value: layers[0][name], Source: "topic"})
		}
	}
	return out, nil
}
