package store

import "maps"

// BaseConfigs returns the topic configs that flags and the server.properties set for all topics, by the topic's name of the
// config.
func (e *Engine) BaseConfigs() map[string]string {
	all := maps.Clone(e.broker.Topic)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, e.o.Broker)
	return all
}
