package meta

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// Records of __consumer_offsets as old brokers wrote them, and what those said of them.
func TestGroupsOfOldBrokers(t *testing.T) {
	decode := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			if b, err = base64.StdEncoding.DecodeString(s); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	noName := func(layout.ID) string { return "" }
	for name, tc := range map[string]struct {
		key, value string
		id         string
		want       string // state, members with what they read, offsets
	}{
		"0.8.2: key and commit of version 0": {
			"AAAABWVpZ2h0AAhvbGQtbm9uZQAAAAA=", "AAAAAAAAAAAAlgAAAAABoivx3jA=",
			"eight", "Empty old-none-0 150 \"\" 1796033601072 -1"},
		"0.9: a group of version 0": {
			"000200057374617973",
			"00000008636f6e73756d657200000001000572616e6765002f636f6e73756d65722d352d36663839386363362d633638632d343633652d393631642d" +
				"37373338343337313135653600000001002f636f6e73756d65722d352d36663839386363362d633638632d343633652d393631642d37373338343337" +
				"3131356536000a636f6e73756d65722d35000a2f3132372e302e302e31000075300000001d00000000000200076f6c642d6c7a3400086f6c642d6e6f" +
				"6e65000000000000002d00000000000200076f6c642d6c7a34000000010000000000086f6c642d6e6f6e65000000010000000000000000",
			"stays", "Stable consumer-5@/127.0.0.1[old-lz4-0 old-none-0]"},
		"1.1: a group of version 1": {
			"000200057374617973",
			"00010008636f6e73756d657200000001000572616e67650031636c69656e742d73746179732d61663466326636302d393539302d343638622d386430" +
				"612d373363363165373865396338000000010031636c69656e742d73746179732d61663466326636302d393539302d343638622d386430612d373363" +
				"363165373865396338000c636c69656e742d7374617973000a2f3132372e302e302e31000493e0000075300000001a00000000000200076d322d677a" +
				"69700005656d707479000000000000003200000000000200076d322d677a697000000001000000000005656d70747900000003000000000000000100" +
				"00000200000000",
			"stays", "Stable client-stays@/127.0.0.1[empty-0 empty-1 empty-2 m2-gzip-0]"},
		"1.1: a commit that says when it expires": {
			"AAEABWluLXR4AAJ0eAAAAAA=", "AAEAAAAAAAAAAAAEdHggMAAAAaIr2kvRAAABojEAp9E=",
			"in-tx", "Empty tx-0 0 \"tx 0\" 1796032056273 1796118456273"},
	} {
		t.Run(name, func(t *testing.T) {
			var all Groups
			if err := all.Apply(GroupRecord{Key: decode(tc.key), Value: decode(tc.value), Timestamp: model.NoTime, ProducerID: -1}); err != nil {
				t.Fatal(err)
			}
			g, ok := all.Group(tc.id, noName)
			got := []string{string(g.State)}
			for _, m := range g.Members {
				got = append(got, fmt.Sprintf("%s@%s%v", m.Client, m.Host, m.Assignment))
			}
			for _, o := range g.Offsets {
				got = append(got, fmt.Sprintf("%s %d %q %d %d", o.TopicPartition, o.Committed, o.Metadata, o.CommittedAt, o.ExpiresAt))
			}
			if !ok || strings.Join(got, " ") != tc.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tc.want)
			}
		})
	}
}
